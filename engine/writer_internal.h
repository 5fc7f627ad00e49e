/* The inside of a writer: what the producer's thread, the pump's thread and onlookers share. */
#ifndef STRIA_ENGINE_WRITER_INTERNAL_H
#define STRIA_ENGINE_WRITER_INTERNAL_H

#include "core/meter.h"
#include "engine/array_internal.h"
#include "engine/filling.h"
#include "engine/intake.h"
#include "engine/pump.h"
#include "engine/ring.h"
#include "engine/writer.h"

#include <pthread.h>

#define STRIA_GAPS_LISTED_MAX 65536u

/* The gaps, as they were told. Neighbours of one cause and drive are one. */
struct stria_gap_list {
    struct stria_gap *gaps;
    uint32_t count, capacity;
    uint64_t unlisted_bytes;
};

/* A drive that was given up; code STRIA_OK: it was not. */
struct stria_writer_loss {
    int code;
    uint64_t time_ns; /* monotonic */
};

struct stria_writer {
    struct stria_array *array;
    struct stria_ring ring;
    void **slot_data;
    uint32_t slot_count;
    struct stria_intake intake;
    struct stria_recorder *recorder;
    struct stria_pump *pump;
    struct stria_meter *meter;
    uint64_t recording;
    uint64_t started_ns; /* monotonic */
    uint64_t ended_ns;
    uint64_t started_unix_ns;
    char name[STRIA_NAME_BYTES];
    pthread_t thread;
    bool thread_runs;
    bool unhashed;
    char complaint[768];    /* what could not be had at the beginning */
    uint64_t skipped_bytes; /* the producer's alone */

    /* Written by the pump's thread under lock, read by anybody under it. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool started, finished;
    int code;
    struct stria_progress progress;
    struct stria_drive_progress drives[STRIA_DRIVES_MAX];

    /* The pump's thread alone, until it has ended. */
    struct stria_gap_list gaps;
    struct stria_writer_loss losses[STRIA_DRIVES_MAX];
    uint64_t durable_bytes;
    uint64_t snapshot_ns;
    struct stria_filling filling;
    bool end_fed;
    bool over; /* the recorder has finished */
};

/* The pump, for the drives that are there. */
int stria_writer_create_pump(struct stria_writer *writer, struct stria_trouble *trouble);

/* After the end: drives that were given up leave the array, and it takes stock anew. True if a request never
 * ended, so that the memory it uses must stay. */
bool stria_writer_settle_array(struct stria_writer *writer);

/* The pump's thread. */
void *stria_writer_run(void *writer);

#endif
