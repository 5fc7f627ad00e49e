#include "tools/survey_list.h"

#include "backends/fabrics.h"

#include <stdio.h>
#include <stdlib.h>

static bool grow(struct stria_survey_list *list)
{
    const size_t count = list->count + 1u;
    /* NOLINTNEXTLINE(bugprone-sizeof-expression): a list of pointers */
    struct stria_survey_drive **drives = realloc(list->drives, count * sizeof(*drives));
    if (drives)
        list->drives = drives;
    struct stria_trouble *troubles = realloc(list->troubles, count * sizeof(*troubles));
    if (troubles)
        list->troubles = troubles;
    struct stria_survey_drive *drive = drives && troubles ? malloc(sizeof(*drive)) : NULL;
    if (!drive)
        return false;
    list->drives[list->count] = drive;
    list->troubles[list->count] = (struct stria_trouble){0};
    list->count++;
    return true;
}

static void drop_last(struct stria_survey_list *list)
{
    free(list->drives[--list->count]);
}

/* As the device that it is here, by the name that the user has for it. */
static int read_far(const char *url, struct stria_survey_drive *drive, struct stria_trouble *trouble)
{
    struct stria_fabrics_reach reach;
    const int reached = stria_fabrics_reach(url, &reach, trouble);
    if (reached != STRIA_OK) {
        stria_survey_read("", url, drive, NULL);
        return reached;
    }
    const int code = stria_survey_read("", reach.device, drive, trouble);
    snprintf(drive->path, sizeof(drive->path), "%s", url);
    stria_fabrics_leave(&reach);
    return code;
}

int stria_survey_list_add(struct stria_survey_list *list, const char *root, const char *path,
                          struct stria_trouble *trouble)
{
    if (!grow(list))
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to look at %s", path);
    struct stria_survey_drive *drive = list->drives[list->count - 1];
    struct stria_trouble *its = &list->troubles[list->count - 1];
    const int code = stria_fabrics_url_is(path) && !root[0] ? read_far(path, drive, its)
                                                            : stria_survey_read(root, path, drive, its);
    if (trouble)
        *trouble = *its;
    return code;
}

struct add_all {
    struct stria_survey_list *list;
    const char *root;
    bool idle;
    int code;
    struct stria_trouble *trouble;
};

static bool is_idle(const struct stria_survey_drive *drive)
{
    for (uint32_t i = 0; i < drive->user_count; i++)
        if (drive->users[i].use != STRIA_SURVEY_ARRAY)
            return false;
    return true;
}

static bool add_one(const char *path, void *user)
{
    struct add_all *all = user;
    const uint32_t before = all->list->count;
    struct stria_trouble trouble = {0};
    const int code = stria_survey_list_add(all->list, all->root, path, &trouble);
    /* One that has just gone is no drive. */
    if (all->list->count > before && (code != STRIA_OK || (all->idle && !is_idle(all->list->drives[before]))))
        drop_last(all->list);
    if (code != STRIA_ERR_NO_MEMORY)
        return true;
    all->code = code;
    if (all->trouble)
        *all->trouble = trouble;
    return false;
}

int stria_survey_list_add_all(struct stria_survey_list *list, const char *root, bool idle,
                              struct stria_trouble *trouble)
{
    struct add_all all = {.list = list, .root = root, .idle = idle, .trouble = trouble};
    stria_survey_each(root, add_one, &all);
    return all.code;
}

void stria_survey_list_clear(struct stria_survey_list *list)
{
    while (list->count)
        drop_last(list);
    free(list->drives);
    free(list->troubles);
    *list = (struct stria_survey_list){0};
}
