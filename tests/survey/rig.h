/* A recorded tree for each test, in a scratch folder that is gone afterwards. */
#ifndef TESTS_SURVEY_RIG_H
#define TESTS_SURVEY_RIG_H

#include "survey/drive.h"

#define TREES "tests/survey/trees"

extern char tree[64]; /* the folder, for root */

/* Makes the tree of this name, or an empty one for null; for .init and .fini of a suite. */
void rig_begin(const char *name);
void rig_end(void);

/* Changes the tree by one line of a manifest. */
void rig_change(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Surveys one drive of it, which must be there. Freed by rig_end(). */
struct stria_survey_drive *rig_drive(const char *path);

#endif
