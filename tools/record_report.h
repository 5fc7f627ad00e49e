/* What a recording's run was like: the JSON document stria.record/1, and the table for people. */
#ifndef STRIA_TOOLS_RECORD_REPORT_H
#define STRIA_TOOLS_RECORD_REPORT_H

#include "core/limits.h"
#include "core/meter.h"
#include "stria.h"

#include <json-c/json.h>
#include <stdio.h>

/* Everything a report says comes from here. */
struct stria_record_report {
    struct stria_array_info array;
    struct stria_drive_info drives[STRIA_DRIVES_MAX]; /* array.drive_count of them */
    struct stria_drive_progress progress[STRIA_DRIVES_MAX];
    struct stria_result result;
    const struct stria_gap_info *gaps; /* result.gap_count of them */
    const struct stria_meter *meter;   /* finished, of as many drives */
    uint64_t buffer_bytes;
};

/* A new document, for json_object_put(). */
struct json_object *stria_record_report_document(const struct stria_record_report *report);

/* The table. */
void stria_record_report_print(const struct stria_record_report *report, FILE *out);

#endif
