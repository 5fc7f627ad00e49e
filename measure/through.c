#include "config/array.h"
#include "engine/array.h"
#include "measure/content.h"
#include "measure/through_internal.h"
#include "support/units.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char stria_through_prefix[] = "stria-bench-";

/* The array is ours alone, so that whoever made them is gone. */
static void remove_stale(struct stria_through *through)
{
    struct stria_recording_info info;
    for (uint32_t i = 0; stria_array_recording(through->array, i, &info) == STRIA_OK;) {
        if (strncmp(info.name, stria_through_prefix, strlen(stria_through_prefix)) != 0 ||
            stria_array_remove(through->array, info.name, NULL) != STRIA_OK)
            i++;
        else
            through->stale++;
    }
}

static int open_array(struct stria_through *through, struct stria_trouble *trouble)
{
    const char *file = through->config.file;
    int code = stria_array_open_config(&through->config, true, &through->array, trouble);
    if (code != STRIA_OK)
        return code;
    remove_stale(through);
    stria_array_describe(through->array, &through->info);
    if (through->info.drives_missing == 0 && !through->info.complaint[0])
        return STRIA_OK;
    code = stria_trouble_set(trouble, STRIA_ERR_NOT_FOUND,
                             "%s is not whole, and would be measured as less than it is: %.256s", file,
                             through->info.complaint[0] ? through->info.complaint : "a drive is missing");
    stria_array_close(through->array);
    through->array = NULL;
    return code;
}

static void describe_drives(struct stria_through *through)
{
    for (uint32_t i = 0; i < through->config.drive_count; i++) {
        struct stria_drive_info drive;
        struct stria_target *target = &through->targets[i];
        stria_target_describe(&through->config.drives[i], target);
        if (stria_array_drive(through->array, i, &drive) == STRIA_OK)
            target->size_bytes = drive.drive_bytes;
    }
}

int stria_through_open(const struct stria_array_config *config, uint64_t buffer_bytes, uint64_t seed,
                       struct stria_target *targets, struct stria_through **out,
                       struct stria_trouble *trouble)
{
    struct stria_through *through = calloc(1, sizeof(*through));
    if (!through)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    const struct stria_content content = {.seed = seed};
    through->config = *config;
    through->targets = targets;
    through->config.discard = false;
    if (buffer_bytes)
        through->config.buffer_bytes = buffer_bytes;
    int code = STRIA_OK;
    if (through->config.buffer_bytes < (uint64_t)STRIA_SLOTS_MIN * config->chunk_bytes)
        code = stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "--buffer is less than %u chunks, with which nothing can be recorded: give more",
            STRIA_SLOTS_MIN);
    if (code == STRIA_OK)
        code = open_array(through, trouble);
    if (code == STRIA_OK)
        code = stria_ring_create(&through->ring, through->config.buffer_bytes, trouble);
    if (code != STRIA_OK) {
        stria_array_close(through->array);
        free(through);
        return code;
    }
    stria_content_prepare(&content, through->ring.base, through->ring.bytes);
    describe_drives(through);
    *out = through;
    return STRIA_OK;
}

static void remove_recording(struct stria_through *through)
{
    if (through->recording[0] && through->array)
        (void)stria_array_remove(through->array, through->recording, NULL);
    through->recording[0] = '\0';
}

void stria_through_close(struct stria_through *through)
{
    if (!through)
        return;
    remove_recording(through);
    stria_array_close(through->array);
    stria_ring_destroy(&through->ring);
    free(through);
}

uint64_t stria_through_free_bytes(const struct stria_through *through)
{
    return through->info.extents_free * through->info.chunk_bytes;
}

/* Recording nothing gives all free extents back, if discard is set. */
static int discard(struct stria_through *through, struct stria_trouble *trouble)
{
    struct stria_writer *writer = NULL;
    char name[STRIA_NAME_BYTES];
    snprintf(name, sizeof(name), "%s%d-trim", stria_through_prefix, (int)getpid());
    const struct stria_writer_options options = {
        .name = name, .memory = through->ring.base, .memory_bytes = through->ring.bytes};
    int code = stria_writer_begin(through->array, &options, &writer, trouble);
    if (code != STRIA_OK)
        return code;
    code = stria_writer_end(writer);
    stria_writer_free(writer);
    return code == STRIA_OK ? stria_array_remove(through->array, name, trouble) : code;
}

bool stria_through_trim(struct stria_through *through, char *reason, size_t size)
{
    struct stria_trouble trouble = {0};
    remove_recording(through);
    for (uint32_t i = 0; i < through->config.drive_count; i++)
        if (!stria_target_knows_trim(&through->targets[i], reason, size))
            return false;
    stria_array_close(through->array);
    through->config.discard = true;
    int code = open_array(through, &trouble);
    if (code == STRIA_OK)
        code = discard(through, &trouble);
    through->config.discard = false;
    stria_array_close(through->array);
    through->array = NULL;
    if (code == STRIA_OK)
        code = open_array(through, &trouble);
    else
        (void)open_array(through, NULL);
    if (code != STRIA_OK)
        snprintf(reason, size, "TRIM failed: %s", stria_code_text(code));
    return code == STRIA_OK;
}

/* Named so that whoever finds it knows that it may be removed. */
static void name_recording(struct stria_through *through)
{
    snprintf(through->recording, sizeof(through->recording), "%s%d-%u", stria_through_prefix, (int)getpid(),
             ++through->recorded);
}

struct stria_writer *stria_through_begin(struct stria_through *through, struct stria_trouble *trouble)
{
    struct stria_writer *writer = NULL;
    remove_recording(through);
    name_recording(through);
    const struct stria_writer_options options = {
        .name = through->recording, .memory = through->ring.base, .memory_bytes = through->ring.bytes};
    if (!through->array)
        stria_trouble_set(trouble, STRIA_ERR_GONE, "%s cannot be opened any more", through->config.file);
    else if (stria_writer_begin(through->array, &options, &writer, trouble) == STRIA_OK)
        return writer;
    through->recording[0] = '\0';
    return NULL;
}
