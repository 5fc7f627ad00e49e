/* A survey as JSON: stable keys, null for what is unknown. */
#ifndef STRIA_SURVEY_JSON_H
#define STRIA_SURVEY_JSON_H

#include "survey/drive.h"
#include "survey/host.h"

#include <json-c/json.h>

/* A figure: null if unknown. */
void stria_survey_add(struct json_object *object, const char *key, struct stria_survey_figure figure);

/* A figure of 0 and 1 as false and true. */
void stria_survey_add_flag(struct json_object *object, const char *key, struct stria_survey_figure figure);

/* All that is known of a drive, into an empty object; as in stria.drives/1. */
void stria_survey_add_drive(struct json_object *object, const struct stria_survey_drive *drive);

/* The same of the machine. */
void stria_survey_add_host(struct json_object *object, const struct stria_survey_host *host);

#endif
