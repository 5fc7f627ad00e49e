/* How fast the backends are by themselves: one thread keeps every given drive full of writes, as the
 * recorder's pump does, and the processor time it takes is told. To compare with
 *
 *     fio --name=a --filename=PATH --ioengine=io_uring --direct=1 --rw=write --bs=1M --iodepth=8 \
 *         --fixedbufs --registerfiles …                                  (one job for each path)
 */
#include "backends/backend.h"
#include "backends/split.h"
#include "backends/threaded.h"
#include "support/bell.h"
#include "support/clock.h"
#include "support/units.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

struct bench {
    const char *const *paths;
    unsigned drive_count;
    bool plain;   /* no threads */
    bool machine; /* tell the processor time of all that the machine does */
    bool digests;
    bool reads;
    uint32_t depth;
    uint64_t length;
    uint64_t seconds;
    struct stria_drive *drives[STRIA_DRIVES_MAX];
    uint64_t next[STRIA_DRIVES_MAX]; /* offset of each drive's next request */
    uint64_t bytes[STRIA_DRIVES_MAX];
    uint32_t in_flight;
    char *memory;
    struct stria_bell bell;
};

static const char usage[] =
    "usage: stria_bench_drives [--plain] [--machine] [--digests] [--read] [--depth N] "
    "[--block SIZE] [--seconds N] PATH...\n"
    "Overwrites every PATH.\n"
    "  --plain    all drives on one thread, instead of a thread for each\n"
    "  --machine  tell the processor time of all that the machine does, not only ours\n"
    "  --digests  hash every block\n";

static void drives_open(struct bench *bench)
{
    struct stria_trouble trouble = {0};
    const uint64_t share = (uint64_t)bench->depth * bench->length;
    struct stria_region region = {.bytes = share * bench->drive_count};
    region.base =
        mmap(NULL, region.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (region.base == MAP_FAILED) {
        perror("memory");
        exit(3);
    }
    bench->memory = region.base;
    for (uint64_t i = 0; i < region.bytes; i++)
        bench->memory[i] = (char)(i * 2654435761u >> 13);
    for (unsigned i = 0; i < bench->drive_count; i++) {
        struct stria_drive_options options = {
            .path = bench->paths[i], .exclusive = true, .direct = true, .depth = bench->depth};
        struct stria_drive *drive = NULL;
        int code = stria_drive_open(&options, &drive, &trouble);
        if (code == STRIA_OK && bench->length > drive->traits.transfer_bytes_max)
            code = stria_split_wrap(drive, 0, bench->depth, &drive, &trouble);
        if (code == STRIA_OK && !bench->plain)
            code =
                stria_threaded_wrap(drive, (void (*)(void *))stria_bell_ring, &bench->bell, &drive, &trouble);
        if (code == STRIA_OK)
            code = drive->backend->attach(drive, &region, 1);
        if (code < 0) {
            fprintf(stderr, "%s\n", trouble.sentence[0] ? trouble.sentence : stria_code_text(code));
            exit(3);
        }
        if (drive->traits.note[0])
            fprintf(stderr, "%s: %s\n", drive->traits.path, drive->traits.note);
        bench->drives[i] = drive;
    }
}

static void drive_submit(struct bench *bench, unsigned index, uint64_t tag)
{
    struct stria_drive *drive = bench->drives[index];
    struct stria_io io = {
        .op = bench->reads ? STRIA_IO_READ : STRIA_IO_WRITE,
        .offset = bench->next[index],
        .length = bench->length,
        .data = bench->memory + ((uint64_t)index * bench->depth + tag) * bench->length,
        .tag = tag,
        .digest_wanted = bench->digests,
        .digest_bytes = bench->length,
    };
    if (drive->backend->submit(drive, &io) < 0) {
        fprintf(stderr, "%s: cannot submit\n", drive->traits.path);
        exit(3);
    }
    bench->in_flight++;
    bench->next[index] += bench->length;
    if (bench->next[index] + bench->length > drive->traits.drive_bytes)
        bench->next[index] = 0;
}

/* Polls one drive and refills it; how many requests had finished. */
static int drive_turn(struct bench *bench, unsigned index, uint64_t wait_ns, bool refill)
{
    struct stria_drive *drive = bench->drives[index];
    struct stria_done done[STRIA_DEPTH_MAX];
    int count = drive->backend->poll(drive, done, STRIA_DEPTH_MAX, wait_ns);
    for (int i = 0; i < count; i++) {
        if (done[i].code < 0 || done[i].bytes != bench->length) {
            fprintf(stderr, "%s: %s\n", drive->traits.path, stria_code_text(done[i].code));
            exit(3);
        }
        bench->in_flight--;
        bench->bytes[index] += done[i].bytes;
        if (refill)
            drive_submit(bench, index, done[i].tag);
    }
    return count;
}

static void bench_run(struct bench *bench)
{
    const uint64_t end_ns = stria_clock_ns() + bench->seconds * STRIA_NS_PER_S;
    for (unsigned i = 0; i < bench->drive_count; i++)
        for (uint64_t tag = 0; tag < bench->depth; tag++)
            drive_submit(bench, i, tag);
    while (bench->in_flight) {
        uint32_t ticket = stria_bell_listen(&bench->bell);
        const bool refill = stria_clock_ns() < end_ns;
        int count = 0;
        for (unsigned i = 0; i < bench->drive_count; i++)
            count += drive_turn(bench, i, bench->plain ? 200000 / bench->drive_count : 0, refill);
        if (count == 0 && !bench->plain)
            stria_bell_wait(&bench->bell, ticket, STRIA_NS_PER_S);
    }
}

/* Time that all processors were not idle, from some instant on. The kernel measures how long it idles; who
 * runs it samples a hundred times a second, and never sees who naps from one sample to the next. */
static uint64_t machine_cpu_ns(void)
{
    unsigned long long user, nice, system, idle, waiting;
    FILE *file = fopen("/proc/stat", "re");
    const bool read =
        file && fscanf(file, "cpu %llu %llu %llu %llu %llu", &user, &nice, &system, &idle, &waiting) == 5;
    if (file)
        fclose(file);
    if (!read) {
        fputs("/proc/stat does not tell what the processors do\n", stderr);
        exit(3);
    }
    return stria_clock_ns() * (uint64_t)sysconf(_SC_NPROCESSORS_ONLN) -
           (idle + waiting) * (STRIA_NS_PER_S / (unsigned long)sysconf(_SC_CLK_TCK));
}

static uint64_t cpu_ns_of(const struct bench *bench)
{
    return bench->machine ? machine_cpu_ns() : stria_clock_cpu_ns();
}

static void bench_tell(const struct bench *bench, uint64_t duration_ns, uint64_t cpu_ns)
{
    struct rusage use;
    getrusage(RUSAGE_SELF, &use);
    uint64_t bytes = 0;
    for (unsigned i = 0; i < bench->drive_count; i++)
        bytes += bench->bytes[i];
    printf("%.0f MB/s, %.4f processor seconds for each GB, %ld + %ld switches of threads\n",
           (double)bytes * 1e3 / (double)duration_ns, (double)cpu_ns / (double)bytes, use.ru_nvcsw,
           use.ru_nivcsw);
}

static void options_read(struct bench *bench, int argc, char **argv)
{
    static const struct option options[] = {
        {"plain", no_argument, NULL, 'p'},         {"machine", no_argument, NULL, 'm'},
        {"digests", no_argument, NULL, 'h'},       {"read", no_argument, NULL, 'r'},
        {"depth", required_argument, NULL, 'd'},   {"block", required_argument, NULL, 'b'},
        {"seconds", required_argument, NULL, 's'}, {NULL, 0, NULL, 0},
    };
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;)
        switch (option) {
        case 'p':
            bench->plain = true;
            break;
        case 'm':
            bench->machine = true;
            break;
        case 'h':
            bench->digests = true;
            break;
        case 'r':
            bench->reads = true;
            break;
        case 'd':
            bench->depth = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        case 'b':
            if (stria_size_parse(optarg, &bench->length, NULL) < 0)
                exit(2);
            break;
        case 's':
            bench->seconds = strtoull(optarg, NULL, 10);
            break;
        default:
            fputs(usage, stderr);
            exit(2);
        }
    bench->paths = (const char *const *)argv + optind;
    bench->drive_count = (unsigned)(argc - optind);
}

int main(int argc, char **argv)
{
    static struct bench bench = {.depth = 8, .length = 1u << 20, .seconds = 5};
    options_read(&bench, argc, argv);
    if (bench.drive_count < 1 || bench.drive_count > STRIA_DRIVES_MAX) {
        fputs(usage, stderr);
        return 2;
    }
    drives_open(&bench);
    uint64_t begin_ns = stria_clock_ns(), begin_cpu_ns = cpu_ns_of(&bench);
    bench_run(&bench);
    bench_tell(&bench, stria_clock_ns() - begin_ns, cpu_ns_of(&bench) - begin_cpu_ns);
    for (unsigned i = 0; i < bench.drive_count; i++)
        bench.drives[i]->backend->close(bench.drives[i]);
    return 0;
}
