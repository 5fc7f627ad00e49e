#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/ending.h"
#include "tools/opening.h"
#include "tools/status.h"

#include <inttypes.h>
#include <stdlib.h>

struct ls_options {
    bool json;
};

static const struct stria_option options[] = {
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints one JSON document, stria.ls/1, instead of tables",
     offsetof(struct ls_options, json), NULL},
    {.name = NULL},
};

static void add_drive(struct json_object *list, const struct stria_drive_info *drive)
{
    struct json_object *object = stria_json_append_object(list);
    stria_json_add_text(object, "path", drive->path);
    stria_json_add_text(object, "serial", drive->serial[0] ? drive->serial : NULL);
    stria_json_add_text(object, "name", drive->name);
    stria_json_add_bool(object, "present", drive->present);
    stria_json_add_u64(object, "bytes", drive->bytes);
    stria_json_add_u64(object, "free_bytes", drive->free_bytes);
    stria_json_add_u64(object, "data_offset_bytes", drive->data_offset_bytes);
    stria_json_add_text(object, "complaint", drive->complaint[0] ? drive->complaint : NULL);
}

static void add_recording(struct json_object *list, const struct stria_recording_info *recording)
{
    char started[STRIA_UNITS_TEXT_BYTES];
    struct json_object *object = stria_json_append_object(list);
    stria_json_add_text(object, "name", recording->name);
    stria_json_add_u64(object, "id", recording->id);
    stria_json_add_u64(object, "bytes", recording->bytes);
    stria_json_add_u64(object, "length_bytes", recording->length_bytes);
    stria_json_add_u64(object, "dropped_bytes", recording->dropped_bytes);
    stria_json_add_bool(object, "complete", recording->complete);
    stria_json_add_text(object, "started",
                        stria_date_print(started, sizeof(started), recording->started_unix_ns));
    stria_json_add_figure(object, "duration_ns", recording->duration_ns != 0, recording->duration_ns);
    stria_json_add_text(object, "policy", recording->raid0 ? "raid0" : "adaptive");
    stria_json_add_bool(object, "plain_raid0", recording->plain_raid0);
    stria_json_add_figure(object, "base_row", recording->raid0, recording->base_row);
}

static int print_document(const struct stria_array *array, const struct stria_array_info *info)
{
    struct stria_trouble trouble = {0};
    struct json_object *document = json_object_new_object();
    if (!document)
        stria_memory_missing();
    stria_json_add_text(document, "schema", "stria.ls/1");
    struct json_object *about = stria_json_add_object(document, "array");
    stria_json_add_text(about, "uuid", info->uuid);
    stria_json_add_text(about, "name", info->name);
    stria_json_add_text(about, "policy", info->raid0 ? "raid0" : "adaptive");
    stria_json_add_u64(about, "chunk_bytes", info->chunk_bytes);
    struct json_object *drives = stria_json_add_array(document, "drives");
    struct json_object *recordings = stria_json_add_array(document, "recordings");
    for (uint32_t i = 0; i < info->drive_count; i++) {
        struct stria_drive_info drive;
        if (stria_array_drive(array, i, &drive) == STRIA_OK)
            add_drive(drives, &drive);
    }
    for (uint32_t i = 0; i < info->recording_count; i++) {
        struct stria_recording_info recording;
        if (stria_array_recording(array, i, &recording) == STRIA_OK)
            add_recording(recordings, &recording);
    }
    int code = stria_json_write(document, "-", &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("ls", &trouble);
}

static void print_drives(const struct stria_array *array, const struct stria_array_info *info)
{
    char used[STRIA_UNITS_TEXT_BYTES], free_text[STRIA_UNITS_TEXT_BYTES];
    printf("\n  %-12s %-26s %-26s %s\n", "drive", "used", "free", "path");
    for (uint32_t i = 0; i < info->drive_count; i++) {
        struct stria_drive_info drive;
        if (stria_array_drive(array, i, &drive) != STRIA_OK)
            continue;
        if (drive.present)
            printf("  %-12s %-26s %-26s %s%s%s\n", stria_shown(drive.name),
                   stria_size_print_both(used, sizeof(used), drive.bytes),
                   stria_size_print_both(free_text, sizeof(free_text), drive.free_bytes),
                   stria_shown(drive.path), drive.serial[0] ? " serial " : "", stria_shown(drive.serial));
        else
            printf("  %-12s not there\n", stria_shown(drive.name));
    }
}

static void print_recordings(const struct stria_array *array, const struct stria_array_info *info)
{
    if (info->recording_count == 0) {
        printf("\n  no recordings\n");
        return;
    }
    printf("\n  %-24s %-26s %-26s %-26s %s\n", "recording", "stored", "dropped", "started", "state");
    for (uint32_t i = 0; i < info->recording_count; i++) {
        struct stria_recording_info recording;
        char stored[STRIA_UNITS_TEXT_BYTES], dropped[STRIA_UNITS_TEXT_BYTES], started[STRIA_UNITS_TEXT_BYTES];
        if (stria_array_recording(array, i, &recording) != STRIA_OK)
            continue;
        printf("  %-24s %-26s %-26s %-26s %s\n", stria_shown(recording.name),
               stria_size_print_both(stored, sizeof(stored), recording.bytes),
               stria_size_print_both(dropped, sizeof(dropped), recording.dropped_bytes),
               stria_date_print(started, sizeof(started), recording.started_unix_ns),
               recording.complete ? "complete" : "cut short");
    }
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct ls_options *ls = given;
    struct stria_array_info info;
    int status;
    (void)operand_count;
    if (!stria_ending_at_once_with("ls", operands[0], &status))
        return status;
    struct stria_array *array = stria_opening_open("ls", operands[0], false, &status);
    if (!array)
        return status;
    if (stria_ending_asked("ls", &status)) {
        stria_array_close(array);
        return status;
    }
    stria_array_describe(array, &info);
    status = STRIA_STATUS_OK;
    if (ls->json) {
        status = print_document(array, &info);
    } else {
        char chunk[STRIA_UNITS_TEXT_BYTES];
        printf("array '%s' %s, %s, chunks of %s\n", stria_shown(info.name), info.uuid,
               info.raid0 ? "raid0" : "adaptive", stria_size_print(chunk, sizeof(chunk), info.chunk_bytes));
        print_drives(array, &info);
        print_recordings(array, &info);
    }
    stria_array_close(array);
    return status;
}

const struct stria_command stria_command_ls = {
    .name = "ls",
    .summary = "lists an array's drives and recordings",
    .operands = "ARRAY.ini",
    .operands_min = 1,
    .operands_max = 1,
    .description = "Lists the drives with their free space, and the recordings in the order in which they "
                   "were begun. The\n"
                   "time that it takes depends on the array's size, not on what is stored on it.",
    .options = options,
    .options_bytes = sizeof(struct ls_options),
    .run = run,
};
