/* What reading back costs: verifies the recording that stria_bench_record left on the given files or devices,
 * or reads it through as export does, and tells throughput and processor time.
 *
 * Changes nothing. Meant to be run beside fio reading the same targets one after the other. */
#include "engine/verify.h"

#include "engine/array.h"
#include "engine/reader.h"
#include "support/clock.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] = "usage: stria_bench_verify [--depth N] [--read] PATH...\n"
                            "--read reads the stream in order instead. Prints one line: GB/s, CPU s/GB. The "
                            "throughput of verifying is from the first read to the last, as fio's.\n";

static _Noreturn void die(const char *sentence)
{
    fprintf(stderr, "stria_bench_verify: %s\n", sentence);
    exit(3);
}

static uint64_t verify(struct stria_array *array, uint32_t depth, uint64_t *took_ns)
{
    struct stria_verify_result result;
    struct stria_trouble trouble;
    const struct stria_verify_options options = {.depth = depth};
    if (stria_array_verify(array, &options, &result, &trouble) != STRIA_OK)
        die(trouble.sentence);
    uint64_t bytes = result.bytes;
    *took_ns = result.duration_ns;
    if (result.damaged)
        die("the recording is damaged");
    stria_verify_result_free(&result);
    return bytes;
}

static uint64_t read_through(struct stria_array *array)
{
    struct stria_reader *reader;
    struct stria_trouble trouble;
    if (stria_reader_open(array, "bench", &reader, &trouble) != STRIA_OK)
        die(trouble.sentence);
    uint64_t offset = 0;
    for (;;) {
        const void *data;
        enum stria_read_verdict verdict;
        int64_t count = stria_reader_view(reader, offset, &data, &verdict);
        if (count < 0 || verdict != STRIA_READ_OK)
            die("the recording is damaged");
        if (count == 0)
            break;
        offset += (uint64_t)count;
    }
    stria_reader_close(reader);
    return offset;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {
        {"depth", required_argument, NULL, 'd'}, {"read", no_argument, NULL, 'r'}, {NULL, 0, NULL, 0}};
    struct stria_array_config *config = calloc(1, sizeof(*config));
    uint32_t depth = 0;
    bool read = false;
    for (int letter; (letter = getopt_long(argc, argv, "", longs, NULL)) != -1;) {
        if (letter == 'd')
            depth = (uint32_t)strtoul(optarg, NULL, 10);
        else if (letter == 'r')
            read = true;
        else
            die(usage);
    }
    snprintf(config->file, sizeof(config->file), "bench");
    config->chunk_initial = true;
    config->depth = 32;
    config->write_deadline_ns = UINT64_C(60000000000);
    config->read_deadline_ns = UINT64_C(60000000000);
    for (int index = optind; index < argc && config->drive_count < STRIA_DRIVES_MAX; index++) {
        struct stria_drive_config *drive = &config->drives[config->drive_count++];
        snprintf(drive->path, sizeof(drive->path), "%s", argv[index]);
    }
    if (config->drive_count == 0)
        die(usage);
    struct stria_array *array;
    struct stria_trouble trouble;
    if (stria_array_open_config(config, false, &array, &trouble) != STRIA_OK)
        die(trouble.sentence);
    uint64_t cpu_ns = stria_clock_cpu_ns(), start_ns = stria_clock_ns();
    uint64_t took_ns = 0;
    double gigabytes = (double)(read ? read_through(array) : verify(array, depth, &took_ns)) / 1e9;
    const uint64_t whole_ns = stria_clock_ns() - start_ns;
    double took_s = (double)(read ? whole_ns : took_ns) / 1e9;
    printf("%.3f GB/s  %.4f CPU s/GB\n", gigabytes / took_s,
           (double)(stria_clock_cpu_ns() - cpu_ns) / 1e9 / gigabytes);
    stria_array_close(array);
    free(config);
    return 0;
}
