/* Several drives surveyed at once. */
#ifndef STRIA_TOOLS_SURVEY_LIST_H
#define STRIA_TOOLS_SURVEY_LIST_H

#include "survey/drive.h"

/* All zero is an empty list. */
struct stria_survey_list {
    uint32_t count;
    struct stria_survey_drive **drives; /* each owned */
    struct stria_trouble *troubles;     /* of each, its code STRIA_OK if it could be surveyed */
};

/* Surveys one more drive; one of another host is connected for it, and stays so if connections are kept
 * (stria_fabrics_keep). One that cannot be surveyed is in the list too, with its trouble, and its code is
 * returned; STRIA_ERR_NO_MEMORY: the list may be as before. trouble, unless null, says it in any case. */
int stria_survey_list_add(struct stria_survey_list *list, const char *root, const char *path,
                          struct stria_trouble *trouble);

/* Adds all that could be drives; idle: of these only those that nobody but an array uses.
 * STRIA_ERR_NO_MEMORY: not all are in the list. */
int stria_survey_list_add_all(struct stria_survey_list *list, const char *root, bool idle,
                              struct stria_trouble *trouble);

/* Frees all of it and leaves an empty list. */
void stria_survey_list_clear(struct stria_survey_list *list);

#endif
