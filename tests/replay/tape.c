#include "tests/replay/tape.h"

#include "backends/backend.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Blocks are written whole or not at all: the smallest there are. */
#define TORN_BYTES 512u

struct taped_drive {
    struct stria_drive drive;
    struct stria_drive *inner;
    uint32_t number;
    struct {
        uint64_t tag, event;
        bool busy;
    } in_flight[STRIA_DEPTH_MAX];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct tape_event *events;
static uint64_t event_count, event_room;
static bool running;
static char paths[STRIA_DRIVES_MAX][256];
static uint32_t path_count;

static const struct stria_backend tape_backend;

int __real_stria_drive_open(const struct stria_drive_options *options, struct stria_drive **drive,
                            struct stria_trouble *trouble);
int __wrap_stria_drive_open(const struct stria_drive_options *options, struct stria_drive **drive,
                            struct stria_trouble *trouble);

static void must(bool done)
{
    if (!done)
        abort();
}

static uint64_t put(struct tape_event event)
{
    pthread_mutex_lock(&lock);
    if (event_count == event_room) {
        event_room = event_room ? event_room * 2 : 1024;
        events = realloc(events, event_room * sizeof(*events));
        must(events);
    }
    event.end = TAPE_NEVER;
    events[event_count] = event;
    const uint64_t index = event_count++;
    pthread_mutex_unlock(&lock);
    return index;
}

/* What began at an index has ended well. */
static void put_end(uint64_t begin)
{
    const uint64_t end = put((struct tape_event){.kind = TAPE_ENDED});
    pthread_mutex_lock(&lock);
    events[begin].end = end;
    pthread_mutex_unlock(&lock);
}

static uint32_t number_of(const char *path)
{
    for (uint32_t i = 0; i < path_count; i++)
        if (strcmp(paths[i], path) == 0)
            return i;
    must(path_count < STRIA_DRIVES_MAX && strlen(path) < sizeof(paths[0]));
    strcpy(paths[path_count], path);
    return path_count++;
}

int __wrap_stria_drive_open(const struct stria_drive_options *options, struct stria_drive **drive,
                            struct stria_trouble *trouble)
{
    int code = __real_stria_drive_open(options, drive, trouble);
    if (code != STRIA_OK || !running || options->read_only)
        return code;
    struct taped_drive *taped = calloc(1, sizeof(*taped));
    must(taped);
    taped->drive = (struct stria_drive){.backend = &tape_backend, .traits = (*drive)->traits};
    taped->inner = *drive;
    taped->number = number_of(options->path);
    *drive = &taped->drive;
    return STRIA_OK;
}

static int tape_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    struct taped_drive *taped = (struct taped_drive *)drive;
    int code = taped->inner->backend->attach(taped->inner, regions, count);
    drive->traits = taped->inner->traits;
    return code;
}

/* Noted before the drive has it, so that no end is noted before its beginning. */
static int tape_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct taped_drive *taped = (struct taped_drive *)drive;
    struct tape_event event = {
        .kind = TAPE_WRITE, .drive = taped->number, .offset = io->offset, .bytes = io->length};
    if (io->op != STRIA_IO_WRITE && io->op != STRIA_IO_FLUSH)
        return taped->inner->backend->submit(taped->inner, io);
    unsigned at = 0;
    while (at < STRIA_DEPTH_MAX && taped->in_flight[at].busy)
        at++;
    must(at < STRIA_DEPTH_MAX);
    if (io->op == STRIA_IO_WRITE) {
        event.data = malloc(io->length);
        must(event.data);
        memcpy(event.data, io->data, io->length);
    } else {
        event.kind = TAPE_FLUSH;
    }
    const uint64_t index = put(event);
    int code = taped->inner->backend->submit(taped->inner, io);
    /* What was not accepted stays on the tape as a write that may have happened, as far as anybody knows. */
    if (code == STRIA_OK) {
        taped->in_flight[at].tag = io->tag;
        taped->in_flight[at].event = index;
        taped->in_flight[at].busy = true;
    }
    return code;
}

static int tape_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct taped_drive *taped = (struct taped_drive *)drive;
    int count = taped->inner->backend->poll(taped->inner, done, max, wait_ns);
    for (int i = 0; i < count; i++) {
        unsigned at = 0;
        while (at < STRIA_DEPTH_MAX &&
               !(taped->in_flight[at].busy && taped->in_flight[at].tag == done[i].tag))
            at++;
        if (at == STRIA_DEPTH_MAX)
            continue;
        taped->in_flight[at].busy = false;
        if (done[i].code == STRIA_OK)
            put_end(taped->in_flight[at].event);
    }
    return count;
}

static void tape_wake(struct stria_drive *drive)
{
    struct taped_drive *taped = (struct taped_drive *)drive;
    if (taped->inner->backend->wake)
        taped->inner->backend->wake(taped->inner);
}

static void tape_close(struct stria_drive *drive)
{
    struct taped_drive *taped = (struct taped_drive *)drive;
    taped->inner->backend->close(taped->inner);
    free(taped);
}

static const struct stria_backend tape_backend = {
    .name = "tape",
    .attach = tape_attach,
    .submit = tape_submit,
    .poll = tape_poll,
    .wake = tape_wake,
    .close = tape_close,
};

void tape_start(void)
{
    running = true;
}

void tape_stop(void)
{
    running = false;
}

void tape_mark(uint32_t mark, uint64_t value)
{
    if (running)
        put((struct tape_event){.kind = TAPE_MARK, .mark = mark, .value = value});
}

uint64_t tape_length(void)
{
    return event_count;
}

const struct tape_event *tape_event(uint64_t index)
{
    return &events[index];
}

/* The begin of the last flush that ended before the cut: writes that ended before it are durable. */
static uint64_t barrier_of(uint32_t drive, uint64_t limit)
{
    for (uint64_t i = limit; i-- > 0;)
        if (events[i].kind == TAPE_FLUSH && events[i].drive == drive && events[i].end < limit)
            return i;
    return 0;
}

static void lay(uint8_t *image, const struct tape_event *write)
{
    memcpy(image + write->offset, write->data, write->bytes);
}

static void lay_torn(uint8_t *image, const struct tape_event *write, struct stria_random *random)
{
    for (uint64_t at = 0; at < write->bytes; at += TORN_BYTES)
        if (stria_random_below(random, 2))
            memcpy(image + write->offset + at, write->data + at, TORN_BYTES);
}

void tape_cut(uint8_t *image, uint32_t drive, uint64_t limit, struct stria_random *random,
              struct tape_left *left)
{
    const uint64_t barrier = barrier_of(drive, limit);
    for (uint64_t i = 0; i < limit; i++) {
        if (events[i].kind != TAPE_WRITE || events[i].drive != drive)
            continue;
        if (events[i].end < barrier) {
            lay(image, &events[i]);
            left->durable++;
            continue;
        }
        switch (stria_random_below(random, 3)) {
        case 0:
            lay(image, &events[i]);
            left->kept++;
            break;
        case 1:
            lay_torn(image, &events[i], random);
            left->torn++;
            break;
        default:
            left->dropped++;
        }
    }
}

void tape_erase(void)
{
    for (uint64_t i = 0; i < event_count; i++)
        free(events[i].data);
    free(events);
    events = NULL;
    event_count = event_room = 0;
    path_count = 0;
}
