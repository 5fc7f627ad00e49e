/* The producer's side of a recording. */
#include "config/keys.h"
#include "engine/trim.h"
#include "engine/writer_internal.h"
#include "support/clock.h"
#include "support/uuid.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Cells that are kept free for a recording: begun, ended, and such losses as are to be expected. */
#define CATALOGUE_ENTRIES 64u

/* 4 MiB of memory; half a million chunks may be under way to being durable. */
#define WINDOW_CHUNKS (STRIA_WINDOW_CHUNKS_MAX / 2)

/* Stream offsets are below 2^63, and half of that is more than drives can hold. */
#define SKIPPED_BYTES_MAX (1ull << 62)

#define NS_PER_S 1000000000u

static void default_name(char name[STRIA_NAME_BYTES], uint64_t unix_ns)
{
    time_t seconds = (time_t)(unix_ns / NS_PER_S);
    struct tm parts;
    gmtime_r(&seconds, &parts);
    char date[32];
    strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &parts);
    snprintf(name, STRIA_NAME_BYTES, "%s-%03u", date, (unsigned)(unix_ns / 1000000 % 1000));
}

static int choose_name(struct stria_writer *writer, const char *wanted, struct stria_trouble *trouble)
{
    const struct stria_array *array = writer->array;
    if (!wanted || !wanted[0])
        default_name(writer->name, writer->started_unix_ns);
    else if (!stria_name_allowed(wanted))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "a recording cannot be named '%.64s': a name is %s", wanted,
                                 stria_name_allowed_text);
    else
        memcpy(writer->name, wanted, strlen(wanted) + 1);
    if (stria_inventory_find(&array->inventory, writer->name))
        return stria_trouble_set(
            trouble, STRIA_ERR_EXISTS,
            "array %s has a recording named %s already: choose another name or remove it with 'stria rm'",
            array->name, writer->name);
    return STRIA_OK;
}

static int check_array(const struct stria_array *array, struct stria_trouble *trouble)
{
    if (!array->writable)
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION, "array %s is open for reading only",
                                 array->name);
    if (array->busy)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY, "array %s is recording already", array->name);
    if (array->readers)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "array %s is being read: close the readers before recording", array->name);
    if (stria_array_room(array) == 0)
        return stria_trouble_set(trouble, STRIA_ERR_ARRAY_FULL,
                                 "array %s is full: remove recordings with 'stria rm'", array->name);
    return STRIA_OK;
}

static void complain(struct stria_writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void complain(struct stria_writer *writer, const char *format, ...)
{
    const size_t used = strlen(writer->complaint);
    const size_t begin = used > 0 && used + 3 < sizeof(writer->complaint) ? used + 2 : used;
    va_list arguments;
    memcpy(writer->complaint + used, "; ", begin - used);
    va_start(arguments, format);
    vsnprintf(writer->complaint + begin, sizeof(writer->complaint) - begin, format, arguments);
    va_end(arguments);
}

static int create_ring(struct stria_writer *writer, const struct stria_writer_options *options,
                       struct stria_trouble *trouble)
{
    const struct stria_array *array = writer->array;
    uint64_t chunk = array->chunk_bytes;
    uint64_t bytes = options->memory ? options->memory_bytes : array->config->buffer_bytes;
    uint64_t slots = bytes / chunk;
    if (slots > STRIA_SLOTS_MAX)
        slots = STRIA_SLOTS_MAX;
    if (slots < STRIA_SLOTS_MIN || (uintptr_t)options->memory % STRIA_PAGE_BYTES != 0)
        return stria_trouble_set(
            trouble, STRIA_ERR_INVALID,
            "the buffer must be aligned to %u bytes and hold at least %u chunks of %" PRIu64 " KiB",
            STRIA_PAGE_BYTES, STRIA_SLOTS_MIN, chunk >> 10);
    writer->slot_count = (uint32_t)slots;
    if (options->memory)
        stria_ring_adopt(&writer->ring, options->memory, slots * chunk);
    else if (stria_ring_create(&writer->ring, slots * chunk, trouble) != STRIA_OK)
        return STRIA_ERR_NO_MEMORY;
    if (writer->ring.owned && !writer->ring.locked)
        complain(writer,
                 "the buffer of %" PRIu64 " MiB is not locked and may be paged out, which stalls the stream: "
                 "raise the locked-memory limit (ulimit -l, LimitMEMLOCK=)",
                 slots * chunk >> 20);
    writer->slot_data = calloc(slots, sizeof(*writer->slot_data));
    if (!writer->slot_data || stria_intake_create(&writer->intake, writer->slot_count, array->chunk_bytes,
                                                  &writer->array->bell) != STRIA_OK)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for %" PRIu64 " slots", slots);
    for (uint64_t slot = 0; slot < slots; slot++)
        writer->slot_data[slot] = writer->ring.base + slot * chunk;
    return STRIA_OK;
}

struct notes {
    char of[STRIA_DRIVES_MAX][sizeof(((struct stria_traits *)0)->note)];
};

/* What drives lack since they know the ring's memory, told once where several lack the same. */
static void complain_of_notes(struct stria_writer *writer, const struct notes *before)
{
    const struct stria_array *array = writer->array;
    for (uint32_t index = 0; index < array->member_count; index++) {
        const struct stria_drive *drive = array->members[index].drive;
        uint32_t earlier = 0, later = 0;
        if (!drive || strcmp(drive->traits.note, before->of[index]) == 0)
            continue;
        for (uint32_t other = 0; other < array->member_count; other++) {
            const struct stria_drive *its = array->members[other].drive;
            const bool same = other != index && its && strcmp(its->traits.note, before->of[other]) != 0 &&
                              strcmp(its->traits.note, drive->traits.note) == 0;
            earlier += same && other < index;
            later += same && other > index;
        }
        if (earlier == 0 && later > 0)
            complain(writer, "%.200s and %u more: %s", drive->traits.path, later, drive->traits.note);
        else if (earlier == 0)
            complain(writer, "%.200s: %s", drive->traits.path, drive->traits.note);
    }
}

/* Drives may have been lost before, too, while what is free was trimmed. */
static int attach_drives(struct stria_writer *writer, struct stria_trouble *trouble)
{
    struct stria_array *array = writer->array;
    struct notes before = {0};
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_member *member = &array->members[index];
        const struct stria_region regions[] = {
            {writer->ring.base, writer->ring.bytes},
            {member->staging, STRIA_STAGING_BYTES},
        };
        if (!member->drive)
            continue;
        memcpy(before.of[index], member->drive->traits.note, sizeof(before.of[index]));
        int code = member->drive->backend->attach(member->drive, regions, 2);
        if (code != STRIA_OK)
            stria_array_drop(array, index, stria_code_text(code));
    }
    complain_of_notes(writer, &before);
    return stria_array_present(array) > 0 ? STRIA_OK : stria_array_no_drive_left(array, trouble);
}

static void detach_drives(const struct stria_array *array)
{
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_drive *drive = array->members[index].drive;
        if (drive)
            drive->backend->attach(drive, NULL, 0);
    }
}

static uint64_t newest_checkpoint(const struct stria_array *array)
{
    return array->inventory.checkpoint_serial > array->checkpoint_serial ? array->inventory.checkpoint_serial
                                                                         : array->checkpoint_serial;
}

static int create_recorder(struct stria_writer *writer, struct stria_trouble *trouble)
{
    struct stria_array *array = writer->array;
    struct stria_recorder_drive drives[STRIA_DRIVES_MAX] = {0};
    for (uint32_t index = 0; index < array->member_count; index++) {
        struct stria_member *member = &array->members[index];
        uint32_t depth = array->config->depth;
        drives[index] = (struct stria_recorder_drive){
            .geometry = member->super.geometry,
            .binding = stria_superblock_binding(&member->super),
            .ledger = member->ledger,
            .extent_state = member->extent_state,
            .staging = member->staging,
            .checkpoint_serial = newest_checkpoint(array),
            .depth = depth,
            .present = member->drive != NULL,
        };
        if (!member->drive)
            continue;
        if (depth + STRIA_DEPTH_EXTRA > member->drive->traits.depth_max &&
            member->drive->traits.depth_max > STRIA_DEPTH_EXTRA)
            drives[index].depth = member->drive->traits.depth_max - STRIA_DEPTH_EXTRA;
        drives[index].no_space_is_loss = member->drive->traits.block_device;
    }
    const struct stria_recorder_config config = {
        .drive_count = array->member_count,
        .drives = drives,
        .catalogue = &array->catalogue,
        .policy = array->policy,
        .recording = writer->recording,
        .name = writer->name,
        .wall_ns = writer->started_unix_ns,
        .chunk_bytes = array->chunk_bytes,
        .block_bytes = array->block_bytes,
        .slot_count = writer->slot_count,
        .window_chunks = WINDOW_CHUNKS,
        .commit_interval_ns = array->config->commit_interval_ns,
        .deadline_ns = array->config->write_deadline_ns,
        .digest = !writer->unhashed,
    };
    size_t bytes = stria_recorder_memory_bytes(&config);
    void *memory = bytes > 0 ? aligned_alloc(16, (bytes + 15) & ~(size_t)15) : NULL;
    if (!memory)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for the recorder");
    writer->recorder = stria_recorder_init(memory, &config);
    return STRIA_OK;
}

static int create_meter(struct stria_writer *writer, struct stria_trouble *trouble)
{
    const struct stria_meter_config config = {
        .drive_count = writer->array->member_count,
        .bins = STRIA_METER_BINS_DEFAULT,
        .start_ns = writer->started_ns,
    };
    size_t bytes = stria_meter_bytes(config.drive_count, config.bins);
    void *memory = aligned_alloc(16, (bytes + 15) & ~(size_t)15);
    if (!memory)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for the measurements");
    writer->meter = stria_meter_init(memory, &config);
    return STRIA_OK;
}

static int start_thread(struct stria_writer *writer, struct stria_trouble *trouble)
{
    int error = pthread_create(&writer->thread, NULL, stria_writer_run, writer);
    if (error != 0)
        return stria_trouble_set(trouble, STRIA_ERR_SYSTEM,
                                 "the system gives no thread for recording (%s): raise the limits on "
                                 "processes and memory (ulimit -u, ulimit -v)",
                                 stria_errno_text(error));
    writer->thread_runs = true;
    pthread_mutex_lock(&writer->lock);
    while (!writer->started && !writer->finished)
        pthread_cond_wait(&writer->changed, &writer->lock);
    bool started = writer->started;
    pthread_mutex_unlock(&writer->lock);
    if (started)
        return STRIA_OK;
    char reasons[512] = "";
    for (uint32_t index = 0; index < writer->array->member_count; index++) {
        const struct stria_member *member = &writer->array->members[index];
        const size_t used = strlen(reasons);
        struct stria_drive_status status;
        stria_recorder_drive_status(writer->recorder, index, &status);
        if (member->drive)
            snprintf(reasons + used, sizeof(reasons) - used, "%s%s: %s", used > 0 ? "; " : "",
                     member->drive->traits.path, stria_code_text(status.code));
        else if (member->config)
            snprintf(reasons + used, sizeof(reasons) - used, "%s%s", used > 0 ? "; " : "", member->complaint);
    }
    return stria_trouble_set(trouble, STRIA_ERR_GONE, "array %s: no drive could begin the recording: %s",
                             writer->array->name, reasons);
}

/* Two parts of one array may each record while the other is away, and meet again: the identities must not. */
static uint64_t new_identity(const struct stria_array *array)
{
    uint64_t next = array->inventory.next_recording;
    if (stria_array_present(array) == array->member_count)
        return next;
    uint8_t random[16];
    uint32_t jump;
    stria_uuid_draw(random);
    memcpy(&jump, random, sizeof(jump));
    return next + jump;
}

/* A drive that knows what is free has room to work in: untrimmed ones stall. */
static void discard_free(struct stria_array *array)
{
    struct stria_extent_set set;
    stria_extent_set_fill(&set, array, STRIA_EXTENT_FREE);
    stria_array_trim(array, &set);
    stria_extent_set_clear(&set);
}

int stria_writer_begin(struct stria_array *array, const struct stria_writer_options *options,
                       struct stria_writer **out, struct stria_trouble *trouble)
{
    static const struct stria_writer_options defaults;
    if (!options)
        options = &defaults;
    int code = check_array(array, trouble);
    if (code != STRIA_OK)
        return code;
    struct stria_writer *writer = calloc(1, sizeof(*writer));
    if (!writer)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory");
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->changed, NULL);
    writer->array = array;
    writer->unhashed = options->unhashed;
    writer->started_unix_ns = stria_clock_wall_ns();
    array->busy = true;
    code = choose_name(writer, options->name, trouble);
    if (code == STRIA_OK)
        code = stria_array_close_interrupted(array, trouble);
    /* Those that got no end keep its room: a recording whose checkpoints replaced theirs would shorten them.
     */
    if (code == STRIA_OK)
        code = stria_array_reserve(
            array, CATALOGUE_ENTRIES + stria_inventory_open_ended(&array->inventory, &array->inventory_input),
            trouble);
    if (code == STRIA_OK && array->config->discard)
        discard_free(array);
    if (code == STRIA_OK)
        code = create_ring(writer, options, trouble);
    writer->recording = new_identity(array);
    /* What was prepared is not part of it. */
    writer->started_unix_ns = stria_clock_wall_ns();
    writer->started_ns = stria_clock_ns();
    if (code == STRIA_OK)
        code = attach_drives(writer, trouble);
    if (code == STRIA_OK)
        code = create_recorder(writer, trouble);
    if (code == STRIA_OK)
        code = create_meter(writer, trouble);
    if (code == STRIA_OK)
        code = stria_writer_create_pump(writer, trouble);
    if (code == STRIA_OK)
        code = start_thread(writer, trouble);
    if (code != STRIA_OK) {
        stria_writer_free(writer);
        return code;
    }
    *out = writer;
    return STRIA_OK;
}

int stria_writer_acquire(struct stria_writer *writer, uint64_t wait_ns, void **buffer)
{
    uint32_t slot;
    int code = stria_intake_acquire(&writer->intake, wait_ns, &slot);
    if (code == STRIA_OK)
        *buffer = writer->slot_data[slot] = writer->ring.base + (size_t)slot * writer->array->chunk_bytes;
    return code;
}

int stria_writer_commit(struct stria_writer *writer, void *buffer, size_t length_bytes)
{
    size_t chunk = writer->array->chunk_bytes;
    size_t offset = (size_t)((uint8_t *)buffer - writer->ring.base);
    if (offset % chunk != 0 || offset / chunk >= writer->slot_count || length_bytes == 0 ||
        length_bytes > chunk)
        return STRIA_ERR_INVALID;
    return stria_intake_commit(&writer->intake, (uint32_t)(offset / chunk), length_bytes, stria_clock_ns());
}

int stria_writer_commit_own(struct stria_writer *writer, void *memory, size_t length_bytes, uint64_t wait_ns)
{
    if ((uintptr_t)memory % STRIA_PAGE_BYTES != 0 || length_bytes == 0 ||
        length_bytes > writer->array->chunk_bytes)
        return STRIA_ERR_INVALID;
    uint32_t slot;
    int code = stria_intake_acquire(&writer->intake, wait_ns, &slot);
    if (code != STRIA_OK)
        return code;
    writer->slot_data[slot] = memory;
    writer->intake.own_memory[slot] = memory;
    code = stria_intake_commit(&writer->intake, slot, length_bytes, stria_clock_ns());
    if (code != STRIA_OK)
        writer->intake.own_memory[slot] = NULL;
    return code;
}

void *stria_writer_reclaim(struct stria_writer *writer)
{
    return stria_intake_reclaim(&writer->intake);
}

int stria_writer_skip(struct stria_writer *writer, uint64_t length_bytes, enum stria_gap_cause cause)
{
    if (length_bytes == 0 || length_bytes % writer->array->chunk_bytes != 0 || cause == STRIA_GAP_NONE ||
        length_bytes > SKIPPED_BYTES_MAX - writer->skipped_bytes)
        return STRIA_ERR_INVALID;
    int code = stria_intake_skip(&writer->intake, length_bytes, cause);
    if (code == STRIA_OK)
        writer->skipped_bytes += length_bytes;
    return code;
}

int stria_writer_end(struct stria_writer *writer)
{
    if (!writer->thread_runs)
        return writer->code;
    stria_intake_close(&writer->intake);
    pthread_join(writer->thread, NULL);
    writer->thread_runs = false;
    return writer->code;
}

void stria_writer_free(struct stria_writer *writer)
{
    if (!writer)
        return;
    struct stria_array *array = writer->array;
    stria_writer_end(writer);
    bool abandoned = stria_writer_settle_array(writer);
    free(writer->pump);
    free(writer->meter);
    free(writer->gaps.gaps);
    free(writer->recorder);
    detach_drives(array);
    if (!abandoned)
        stria_ring_destroy(&writer->ring);
    stria_intake_destroy(&writer->intake);
    free(writer->slot_data);
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->changed);
    array->busy = false;
    free(writer);
}
