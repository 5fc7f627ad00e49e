/* The null ceiling: how fast the core, the pump and the hash are when the media cost nothing. One thread
 * records onto null drives; beside it, in turns, XXH3 alone runs over the same cold memory. */
#include "backends/backend.h"
#include "core/digest.h"
#include "engine/pump.h"
#include "support/clock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define DRIVES       4u
#define RING_BYTES   ((size_t)512 << 20) /* far beyond any cache */
#define DRIVE_BYTES  ((uint64_t)1 << 40)
#define HASHED_BYTES ((uint64_t)2 << 30)
#define CHUNKS       ((uint64_t)400000)
#define ROUNDS_MAX   99u

struct bench {
    struct stria_drive *drives[DRIVES];
    struct stria_recorder_drive members[DRIVES];
    uint8_t *ring;
    void **slot_data;
    uint32_t *free_slots;
    uint32_t free_count;
    uint32_t slot_count;
    uint32_t chunk_bytes;
    struct stria_catalogue catalogue;
    struct stria_recorder *recorder;
    struct stria_pump *pump;
    bool finished;
};

static void *allocate(size_t bytes)
{
    void *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
        fputs("stria_bench_ceiling: out of memory\n", stderr);
        exit(3);
    }
    if (bytes == RING_BYTES)
        madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static void on_released(void *context, uint32_t slot)
{
    struct bench *bench = context;
    bench->free_slots[bench->free_count++] = slot;
}

static void on_finished(void *context, int code)
{
    (void)code;
    ((struct bench *)context)->finished = true;
}

static void open_drive(struct bench *bench, uint32_t index)
{
    struct stria_trouble trouble = {0};
    struct stria_drive_options options = {.path = "null:1TiB", .depth = 16};
    struct stria_recorder_drive *member = &bench->members[index];
    if (stria_drive_open(&options, &bench->drives[index], &trouble) != STRIA_OK ||
        stria_geometry_plan(&member->geometry, DRIVE_BYTES, bench->chunk_bytes, 4096) != STRIA_OK) {
        fprintf(stderr, "stria_bench_ceiling: %s\n", trouble.sentence);
        exit(3);
    }
    member->binding = (struct stria_ledger_binding){.drive_index = index, .generation = 1};
    member->ledger = allocate(member->geometry.ledger_bytes);
    member->extent_state = allocate(member->geometry.extent_count);
    member->staging = allocate(STRIA_STAGING_BYTES);
    member->depth = 8;
    member->present = true;
}

static struct bench *set_up(uint32_t chunk_bytes, bool digest)
{
    static const uint8_t uuid[STRIA_UUID_BYTES];
    struct bench *bench = calloc(1, sizeof(*bench));
    bench->chunk_bytes = chunk_bytes;
    bench->slot_count = (uint32_t)(RING_BYTES / chunk_bytes);
    bench->ring = allocate(RING_BYTES);
    memset(bench->ring, 0x5a, RING_BYTES);
    bench->slot_data = calloc(bench->slot_count, sizeof(*bench->slot_data));
    bench->free_slots = calloc(bench->slot_count, sizeof(*bench->free_slots));
    for (uint32_t slot = 0; slot < bench->slot_count; slot++) {
        bench->slot_data[slot] = bench->ring + (size_t)slot * chunk_bytes;
        bench->free_slots[bench->free_count++] = bench->slot_count - 1 - slot;
    }
    for (uint32_t index = 0; index < DRIVES; index++)
        open_drive(bench, index);
    stria_catalogue_format(&bench->catalogue, allocate(STRIA_CATALOGUE_HALF_MAX), STRIA_CATALOGUE_HALF_MAX,
                           uuid, 1);
    const struct stria_recorder_config config = {
        .drive_count = DRIVES,
        .drives = bench->members,
        .catalogue = &bench->catalogue,
        .policy = STRIA_POLICY_ADAPTIVE,
        .recording = 1,
        .name = "ceiling",
        .wall_ns = 1,
        .chunk_bytes = chunk_bytes,
        .block_bytes = 4096,
        .slot_count = bench->slot_count,
        .window_chunks = STRIA_WINDOW_CHUNKS_MAX,
        .commit_interval_ns = 200000000,
        .deadline_ns = UINT64_MAX / 4,
        .digest = digest,
    };
    bench->recorder = stria_recorder_init(allocate(stria_recorder_memory_bytes(&config)), &config);
    const struct stria_pump_config pump = {
        .recorder = bench->recorder,
        .drive_count = DRIVES,
        .drives = bench->drives,
        .slot_count = bench->slot_count,
        .slot_data = bench->slot_data,
        .listener = {.context = bench, .released = on_released, .finished = on_finished},
    };
    bench->pump = stria_pump_init(allocate(stria_pump_memory_bytes(&pump)), &pump);
    return bench;
}

static void tear_down(struct bench *bench)
{
    for (uint32_t index = 0; index < DRIVES; index++) {
        bench->drives[index]->backend->close(bench->drives[index]);
        munmap(bench->members[index].ledger, bench->members[index].geometry.ledger_bytes);
        munmap(bench->members[index].extent_state, bench->members[index].geometry.extent_count);
    }
    munmap(bench->ring, RING_BYTES);
    free(bench->slot_data);
    free(bench->free_slots);
    free(bench);
}

static void feed(struct bench *bench, enum stria_event_kind kind, uint32_t slot)
{
    stria_pump_feed(bench->pump, &(struct stria_event){.kind = kind,
                                                       .now_ns = stria_clock_ns(),
                                                       .slot = slot,
                                                       .length_bytes = bench->chunk_bytes});
}

/* Records so many chunks and returns the time that it took. */
static uint64_t record(struct bench *bench, uint64_t chunks)
{
    feed(bench, STRIA_EVENT_BEGIN, 0);
    while (!stria_recorder_accepts(bench->recorder))
        stria_pump_poll(bench->pump, stria_clock_ns());
    uint64_t start_ns = stria_clock_ns();
    for (uint64_t sent = 0; sent < chunks;) {
        /* Leave some slots unused, so that each comes round only after the whole ring: cold. */
        while (sent < chunks && bench->free_count > 0 &&
               stria_recorder_slots_used(bench->recorder) < DRIVES * 8) {
            uint32_t slot = bench->free_slots[0];
            memmove(bench->free_slots, bench->free_slots + 1, --bench->free_count * sizeof(slot));
            feed(bench, STRIA_EVENT_COMMIT, slot);
            sent++;
        }
        stria_pump_poll(bench->pump, stria_clock_ns());
        if (stria_clock_ns() >= stria_pump_due_ns(bench->pump))
            feed(bench, STRIA_EVENT_TICK, 0);
    }
    feed(bench, STRIA_EVENT_END, 0);
    while (!bench->finished) {
        stria_pump_poll(bench->pump, stria_clock_ns());
        feed(bench, STRIA_EVENT_TICK, 0);
    }
    return stria_clock_ns() - start_ns;
}

struct alone {
    double gigabytes_per_s, cpu_s_per_gigabyte;
};

static struct alone hash_alone(uint32_t chunk_bytes)
{
    uint8_t *memory = allocate(RING_BYTES);
    memset(memory, 0x5a, RING_BYTES);
    uint64_t sum = 0;
    uint64_t start_ns = stria_clock_ns();
    uint64_t start_cpu_ns = stria_clock_cpu_ns();
    for (uint64_t done = 0; done < HASHED_BYTES; done += chunk_bytes)
        sum += stria_digest_seeded(done, memory + done % RING_BYTES, chunk_bytes);
    uint64_t took_ns = stria_clock_ns() - start_ns;
    uint64_t cpu_ns = stria_clock_cpu_ns() - start_cpu_ns;
    munmap(memory, RING_BYTES);
    /* The sum is used, so that the loop stays. */
    return (struct alone){(double)HASHED_BYTES / (double)took_ns + (sum == 1 ? 1e-9 : 0),
                          (double)cpu_ns / (double)HASHED_BYTES};
}

static double record_hashed(uint32_t chunk_bytes)
{
    struct bench *bench = set_up(chunk_bytes, true);
    uint64_t took_ns = record(bench, HASHED_BYTES / chunk_bytes);
    tear_down(bench);
    return (double)HASHED_BYTES / (double)took_ns;
}

static int ascending(const void *a, const void *b)
{
    double difference = *(const double *)a - *(const double *)b;
    return (difference > 0) - (difference < 0);
}

static double median(double *values, unsigned count)
{
    qsort(values, count, sizeof(values[0]), ascending);
    return values[count / 2];
}

static void compare(unsigned rounds)
{
    double alone[ROUNDS_MAX], hashed[ROUNDS_MAX], ratio[ROUNDS_MAX], rate[ROUNDS_MAX];
    for (unsigned round = 0; round < rounds; round++) {
        alone[round] = hash_alone(1u << 20).gigabytes_per_s;
        hashed[round] = record_hashed(1u << 20);
        ratio[round] = hashed[round] / alone[round];
        struct bench *bench = set_up(1u << 20, false);
        rate[round] = (double)CHUNKS * 1e9 / (double)record(bench, CHUNKS);
        tear_down(bench);
    }
    printf("XXH3 alone, cold memory, 1 MiB        %6.2f GB/s\n", median(alone, rounds));
    printf("core, pump and XXH3, no media          %6.2f GB/s\n", median(hashed, rounds));
    printf("ratio (at least 0.8)                   %6.2f\n", median(ratio, rounds));
    printf("without hashing (at least 200000)    %8.0f chunks/s on one thread\n", median(rate, rounds));
}

/* stria_bench_ceiling [ROUNDS | --hash] */
int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--hash") == 0) {
        const struct alone alone = hash_alone(1u << 20);
        printf("%.2f GB/s  %.4f CPU s/GB\n", alone.gigabytes_per_s, alone.cpu_s_per_gigabyte);
        return 0;
    }
    unsigned long rounds = argc > 1 ? strtoul(argv[1], NULL, 10) : 5;
    if (rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "stria_bench_ceiling: the rounds are 1 to %u\n", ROUNDS_MAX);
        return 2;
    }
    compare((unsigned)rounds);
    return 0;
}
