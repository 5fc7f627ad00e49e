/* How long stria_writer_begin takes on an array with one recording, and on one with a thousand: in turns, the
 * first half of the drives being the one array, the second the other.
 *
 * Overwrites every PATH. */
#include "engine/array.h"
#include "engine/create.h"
#include "support/clock.h"

#include <stdio.h>
#include <stdlib.h>

#define RECORDINGS  1000u
#define TURNS       101u
#define CHUNK_BYTES (64u << 10)

static _Noreturn void die(const char *sentence)
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

/* As begin(), for a recording that is removed again. */
static double begin_and_remove(struct stria_array *array)
{
    struct stria_trouble trouble;
    double took_ms = begin(array, RECORDINGS);
    char name[32];
    snprintf(name, sizeof(name), "r%u", RECORDINGS);
    if (stria_array_remove(array, name, &trouble) != STRIA_OK)
        die(trouble.sentence);
    return took_ms;
}

static struct stria_array *array_on(char **paths, int count, unsigned recordings)
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
    config->read_deadline_ns = UINT64_C(60000000000);
    for (int index = 0; index < count; index++) {
        struct stria_drive_config *drive = &config->drives[config->drive_count++];
        snprintf(drive->name, sizeof(drive->name), "d%d", index);
        snprintf(drive->path, sizeof(drive->path), "%s", paths[index]);
    }
    if (stria_array_create(config, NULL, NULL, &trouble) != STRIA_OK ||
        stria_array_open_config(config, true, &array, &trouble) != STRIA_OK)
        die(trouble.sentence);
    free(config);
    for (unsigned number = 0; number < recordings; number++)
        begin(array, number);
    return array;
}

int main(int argc, char **argv)
{
    const int half = (argc - 1) / 2;
    if (half < 1 || half > (int)STRIA_DRIVES_MAX)
        die("usage: stria_bench_begin PATH PATH...");
    struct stria_array *few = array_on(argv + 1, half, 1);
    struct stria_array *many = array_on(argv + 1 + half, half, RECORDINGS);
    double few_ms[TURNS], many_ms[TURNS];
    for (unsigned turn = 0; turn < TURNS; turn++) {
        few_ms[turn] = begin_and_remove(few);
        many_ms[turn] = begin_and_remove(many);
    }
    qsort(few_ms, TURNS, sizeof(few_ms[0]), ascending);
    qsort(many_ms, TURNS, sizeof(many_ms[0]), ascending);
    printf("%.2f ms with 1 recording, %.2f ms with %u\n", few_ms[TURNS / 2], many_ms[TURNS / 2], RECORDINGS);
    stria_array_close(few);
    stria_array_close(many);
    return 0;
}
