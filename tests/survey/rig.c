#define _GNU_SOURCE

#include "tests/survey/rig.h"

#include "tests/survey/tree.h"

#include <criterion/criterion.h>
#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define DRIVES_MAX 16u

char tree[64];
static struct stria_survey_drive *drives[DRIVES_MAX];
static unsigned drive_count;

void rig_begin(const char *name)
{
    snprintf(tree, sizeof(tree), "/tmp/stria-survey-XXXXXX");
    cr_assert(mkdtemp(tree));
    if (name)
        cr_assert_eq(tree_make(TREES, name, tree), 0);
}

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status, (void)kind, (void)walk;
    return remove(path);
}

void rig_end(void)
{
    while (drive_count)
        free(drives[--drive_count]);
    nftw(tree, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void rig_change(const char *format, ...)
{
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof(line), format, arguments);
    va_end(arguments);
    cr_assert_eq(tree_change(tree, line), 0, "%s", line);
}

struct stria_survey_drive *rig_drive(const char *path)
{
    struct stria_trouble trouble = {0};
    cr_assert_lt(drive_count, DRIVES_MAX);
    struct stria_survey_drive *drive = malloc(sizeof(*drive));
    cr_assert(drive);
    drives[drive_count++] = drive;
    cr_assert_eq(stria_survey_read(tree, path, drive, &trouble), STRIA_OK, "%s", trouble.sentence);
    return drive;
}
