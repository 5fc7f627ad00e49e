#include "tools/survey_list.h"

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

int stria_survey_list_add(struct stria_survey_list *list, const char *root, const char *path)
{
    if (!grow(list))
        return STRIA_ERR_NO_MEMORY;
    return stria_survey_read(root, path, list->drives[list->count - 1], &list->troubles[list->count - 1]);
}

struct add_all {
    struct stria_survey_list *list;
    const char *root;
    bool idle;
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
    const struct add_all *all = user;
    const uint32_t before = all->list->count;
    const int code = stria_survey_list_add(all->list, all->root, path);
    /* One that has just gone is no drive. */
    if (all->list->count > before && (code != STRIA_OK || (all->idle && !is_idle(all->list->drives[before]))))
        drop_last(all->list);
    return code != STRIA_ERR_NO_MEMORY;
}

void stria_survey_list_add_all(struct stria_survey_list *list, const char *root, bool idle)
{
    struct add_all all = {list, root, idle};
    stria_survey_each(root, add_one, &all);
}

void stria_survey_list_clear(struct stria_survey_list *list)
{
    while (list->count)
        drop_last(list);
    free(list->drives);
    free(list->troubles);
    *list = (struct stria_survey_list){0};
}
