/* How long stria_writer_begin takes on an array with one recording, and with a thousand.
 *
 * Overwrites every PATH. */
#include "engine/array.h"
#include "engine/create.h"
#include "support/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define RECORDINGS  1000u
#define TURNS       21u
#define CHUNK_BYTES (64u << 10)

static void die(const char *sentence)
{
    fprintf(stderr, "stria_bench_begin: %s\n", sentence);
    exit(3);
}

/* Makes a recording of one chunk; how long it took to begin, in milliseconds. */
static double begin(struct stria_array *array, unsigned number)
{
    struct stria_trouble trouble;
    struct stria_writer *writer;
    char name[32];
    snprintf(name, sizeof(name), "r%u", number);
    uint64_t start_ns = stria_clock_ns();
    if (stria_writer_begin(array, &(struct stria_writer_options){.name = name}, &writer, &trouble) !=
        STRIA_OK)
        die(trouble.sentence);
    uint64_t took_ns = stria_clock_ns() - start_ns;
    void *buffer;
    if (stria_writer_acquire(writer, UINT64_MAX, &buffer) != STRIA_OK)
        die("no buffer");
    stria_writer_commit(writer, buffer, CHUNK_BYTES);
    if (stria_writer_end(writer) != STRIA_OK)
        die("a recording did not end");
    stria_writer_free(writer);
    return (double)took_ns / 1e6;
}

static int ascending(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

/* The median of several beginnings, each removed again. */
static double measure(struct stria_array *array)
{
    struct stria_trouble trouble;
    double took_ms[TURNS];
    for (unsigned turn = 0; turn < TURNS; turn++) {
        took_ms[turn] = begin(array, RECORDINGS + turn);
        char name[32];
        snprintf(name, sizeof(name), "r%u", RECORDINGS + turn);
        if (stria_array_remove(array, name, &trouble) != STRIA_OK)
            die(trouble.sentence);
    }
    qsort(took_ms, TURNS, sizeof(took_ms[0]), ascending);
    return took_ms[TURNS / 2];
}

int main(int argc, char **argv)
{
    struct stria_trouble trouble;
    struct stria_array *array;
    struct stria_array_config *config = calloc(1, sizeof(*config));
    snprintf(config->file, sizeof(config->file), "bench");
    snprintf(config->name, sizeof(config->name), "bench");
    config->policy = STRIA_POLICY_ADAPTIVE;
    config->chunk_bytes = CHUNK_BYTES;
    config->buffer_bytes = (uint64_t)16 << 20;
    config->depth = 8;
    config->commit_interval_ns = 200000000;
    config->write_deadline_ns = UINT64_C(60000000000);
    for (int index = 1; index < argc && config->drive_count < STRIA_DRIVES_MAX; index++) {
        struct stria_drive_config *drive = &config->drives[config->drive_count++];
        snprintf(drive->name, sizeof(drive->name), "d%d", index);
        snprintf(drive->path, sizeof(drive->path), "%s", argv[index]);
    }
    if (config->drive_count == 0)
        die("usage: stria_bench_begin PATH...");
    if (stria_array_create(config, NULL, &trouble) != STRIA_OK ||
        stria_array_open_config(config, true, &array, &trouble) != STRIA_OK)
        die(trouble.sentence);
    begin(array, 0);
    double few_ms = measure(array);
    for (unsigned number = 1; number < RECORDINGS; number++)
        begin(array, number);
    printf("%.2f ms with 1 recording, %.2f ms with %u\n", few_ms, measure(array), RECORDINGS);
    stria_array_close(array);
    free(config);
    return 0;
}
