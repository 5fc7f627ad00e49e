/* What the whole recorder costs: records chunks from a producer that costs nothing (it fills each buffer
 * once, before the clock starts) onto the given files or devices, and tells throughput and processor time.
 *
 * Overwrites every PATH. Meant to be run beside fio on the same targets: see bench/run.py. */
#include "core/limits.h"
#include "engine/array.h"
#include "engine/create.h"
#include "support/clock.h"
#include "support/units.h"

#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: stria_bench_record [--unhashed] [--raid0] [--depth N] [--chunk SIZE] "
                            "[--buffer SIZE] --size SIZE PATH...\n"
                            "Overwrites every PATH; --size is the length of the recording. Prints one line: "
                            "GB/s, CPU s/GB, dropped bytes.\n";

struct options {
    bool unhashed;
    uint64_t size, chunk, buffer;
    struct stria_array_config *config;
};

static _Noreturn void die(const char *sentence)
{
    fprintf(stderr, "stria_bench_record: %s\n", sentence);
    exit(3);
}

static uint64_t size_of(const char *text)
{
    uint64_t bytes;
    struct stria_trouble trouble;
    if (stria_size_parse(text, &bytes, &trouble) != STRIA_OK)
        die(trouble.sentence);
    return bytes;
}

static void parse(int argc, char **argv, struct options *options)
{
    static const struct option longs[] = {
        {"unhashed", no_argument, NULL, 'u'},
        {"raid0", no_argument, NULL, 'r'},
        {"depth", required_argument, NULL, 'd'},
        {"chunk", required_argument, NULL, 'c'},
        {"buffer", required_argument, NULL, 'b'},
        {"size", required_argument, NULL, 's'},
        {NULL, 0, NULL, 0},
    };
    struct stria_array_config *config = options->config;
    for (int letter; (letter = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (letter == 'u')
            options->unhashed = true;
        else if (letter == 'r')
            config->policy = STRIA_POLICY_RAID0;
        else if (letter == 'd')
            config->depth = (uint32_t)strtoul(optarg, NULL, 10);
        else if (letter == 'c')
            config->chunk_bytes = (uint32_t)size_of(optarg);
        else if (letter == 'b')
            config->buffer_bytes = size_of(optarg);
        else if (letter == 's')
            options->size = size_of(optarg);
        else
            die(usage);
    }
    for (int index = optind; index < argc && config->drive_count < STRIA_DRIVES_MAX; index++) {
        struct stria_drive_config *drive = &config->drives[config->drive_count++];
        snprintf(drive->name, sizeof(drive->name), "d%d", index - optind);
        snprintf(drive->path, sizeof(drive->path), "%s", argv[index]);
    }
    if (config->drive_count == 0 || options->size == 0)
        die(usage);
}

/* Takes every buffer that there is, and fills it with words that are all different: media may store bytes
 * that are all alike faster. Returns how many there are. */
static size_t take_filled(struct stria_writer *writer, const struct options *options, void **buffers,
                          size_t max)
{
    size_t count = 0;
    uint64_t word = 1;
    while (count < max && stria_writer_acquire(writer, 0, &buffers[count]) == STRIA_OK) {
        uint64_t *words = buffers[count++];
        for (size_t index = 0; index < options->config->chunk_bytes / sizeof(*words); index++)
            words[index] = word = word * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    }
    return count;
}

/* What making and storing the stream took; setting up the buffer is not part of it, as in fio. */
struct cost {
    uint64_t took_ns, cpu_ns;
};

static struct cost record(struct stria_array *array, const struct options *options,
                          struct stria_result *result)
{
    struct stria_trouble trouble;
    struct stria_writer *writer;
    const struct stria_writer_options writer_options = {.name = "bench", .unhashed = options->unhashed};
    if (stria_writer_begin(array, &writer_options, &writer, &trouble) != STRIA_OK)
        die(trouble.sentence);
    const size_t max = options->size / options->config->chunk_bytes;
    void **buffers = calloc(max + 1, sizeof(*buffers));
    const size_t filled = take_filled(writer, options, buffers, max);
    size_t taken = 0;
    int code;
    uint64_t start_ns = stria_clock_ns();
    uint64_t start_cpu_ns = stria_clock_cpu_ns();
    for (uint64_t sent = 0; sent < options->size; sent += options->config->chunk_bytes) {
        void *buffer;
        if (taken < filled)
            buffer = buffers[taken++];
        else if ((code = stria_writer_acquire(writer, UINT64_MAX, &buffer)) != STRIA_OK)
            die(stria_code_text(code));
        stria_writer_commit(writer, buffer, options->config->chunk_bytes);
    }
    stria_writer_end(writer);
    const struct cost cost = {stria_clock_ns() - start_ns, stria_clock_cpu_ns() - start_cpu_ns};
    stria_writer_result(writer, result);
    stria_writer_free(writer);
    free(buffers);
    return cost;
}

int main(int argc, char **argv)
{
    struct options options = {.config = calloc(1, sizeof(*options.config))};
    struct stria_array_config *config = options.config;
    snprintf(config->file, sizeof(config->file), "bench");
    snprintf(config->name, sizeof(config->name), "bench");
    config->policy = STRIA_POLICY_ADAPTIVE;
    config->chunk_bytes = STRIA_CHUNK_BYTES_DEFAULT;
    config->buffer_bytes = (uint64_t)64 << 20;
    config->depth = 8;
    config->commit_interval_ns = 200000000;
    config->write_deadline_ns = UINT64_C(60000000000);
    config->read_deadline_ns = UINT64_C(60000000000);
    parse(argc, argv, &options);
    struct stria_trouble trouble;
    struct stria_array *array;
    if (stria_array_create(config, NULL, NULL, &trouble) != STRIA_OK ||
        stria_array_open_config(config, true, &array, &trouble) != STRIA_OK)
        die(trouble.sentence);
    struct stria_result result;
    const struct cost cost = record(array, &options, &result);
    double gigabytes = (double)result.info.bytes / 1e9;
    printf("%.3f GB/s  %.4f CPU s/GB  %" PRIu64 " bytes dropped\n", gigabytes / ((double)cost.took_ns / 1e9),
           (double)cost.cpu_ns / 1e9 / gigabytes, result.info.dropped_bytes);
    stria_array_close(array);
    free(options.config);
    return 0;
}
