#include "firmware/measure.h"

#include "core/code.h"
#include "core/ratio.h"
#include "core/summary.h"
#include "core/synthetic.h"
#include "firmware/arena.h"
#include "firmware/console.h"
#include "firmware/load.h"

#define REPEATS_MAX 16u
#define SIZES_MAX   8u
#define SLOTS       16u

static unsigned long mib(uint64_t bytes)
{
    return (unsigned long)(bytes >> 20);
}

static int begin(struct stria_bare_load *load, struct stria_bare_array *array,
                 const struct stria_firmware_options *options)
{
    *load = (struct stria_bare_load){.array = array,
                                     .zones = 1,
                                     .chunks = options->bytes / array->chunk_bytes,
                                     .depth = (uint32_t)options->depth,
                                     .slot_count = SLOTS};
    const size_t bytes = (size_t)SLOTS * array->chunk_bytes;
    uint8_t *ring = stria_arena_take(bytes, STRIA_PAGE_BYTES, "what is written");
    if (!ring)
        return STRIA_ERR_NO_MEMORY;
    /* Drives that compress must not find it easy. */
    stria_synthetic_fill(ring, bytes, 0, options->seed);
    load->ring = ring;
    if (load->chunks > 0)
        return STRIA_OK;
    stria_console_say("stria: size=%lu is less than a chunk", (unsigned long)options->bytes);
    return STRIA_ERR_INVALID;
}

static int complain(const struct stria_bare_load *load, int code)
{
    if (code == STRIA_ERR_NO_SPACE)
        stria_console_say("stria: there is no room for %lu MiB in free extents: ask for a smaller size",
                          mib(load->chunks * load->array->chunk_bytes));
    else if (code != STRIA_OK)
        stria_console_say("stria: writing failed: %s", stria_code_text(code));
    return code;
}

/* The repeats of one measurement; minima are added to those of the drive. */
struct minima {
    uint64_t values[REPEATS_MAX * 64];
    uint32_t count;
};

static int repeat(const struct stria_bare_load *load, uint64_t repeats, const char *what, uint64_t number,
                  struct minima *minima)
{
    uint64_t least = UINT64_MAX, bytes = 0, duration_ns = 0;
    for (uint64_t round = 0; round < repeats; round++) {
        struct stria_bare_load_result result;
        const int code = stria_bare_load_run(load, &result);
        if (code != STRIA_OK)
            return code;
        bytes += result.bytes;
        duration_ns += result.duration_ns;
        if (!result.has_least)
            continue;
        minima->values[minima->count++] = result.least_bytes_per_s;
        if (result.least_bytes_per_s < least)
            least = result.least_bytes_per_s;
    }
    const unsigned long mean = mib(stria_ratio_bytes_per_s(bytes, duration_ns ? duration_ns : 1));
    if (least == UINT64_MAX)
        stria_console_say("drive %u: %s %lu: mean %lu MiB/s, too short for a minimum", load->drive, what,
                          (unsigned long)number, mean);
    else
        stria_console_say("drive %u: %s %lu: mean %lu MiB/s, least %lu MiB/s", load->drive, what,
                          (unsigned long)number, mean, mib(least));
    return STRIA_OK;
}

static void rate(uint32_t drive, const struct minima *minima)
{
    struct stria_summary summary;
    if (!stria_summary_of(minima->values, minima->count, &summary))
        stria_console_say("drive %u: no rating: every run was shorter than 100 ms: ask for a larger size",
                          drive);
    else
        stria_console_say("drive %u: rating %lu MiB/s: least of %u minima, mean %lu, deviation %lu", drive,
                          mib(summary.rating), summary.count, mib(summary.mean), mib(summary.deviation));
}

static int measure_zones(struct stria_bare_load *load, const struct stria_firmware_options *options,
                         struct minima *minima)
{
    load->zones = (uint32_t)options->zones;
    for (load->zone = 0; load->zone < load->zones; load->zone++) {
        const int code = repeat(load, options->repeats, "zone", load->zone, minima);
        if (code != STRIA_OK)
            return code;
    }
    return STRIA_OK;
}

static int measure_sizes(struct stria_bare_load *load, const struct stria_firmware_options *options,
                         struct minima *minima)
{
    const uint64_t first = load->chunks;
    int code = STRIA_OK;
    for (uint32_t size = 0; size < SIZES_MAX && code == STRIA_OK; size++) {
        load->chunks = first << size;
        code = repeat(load, options->repeats, "MiB", mib(load->chunks * load->array->chunk_bytes), minima);
    }
    const bool any = load->chunks > first;
    load->chunks = first;
    /* A row ends where there is no more room; one without a beginning is a mistake. */
    return code == STRIA_ERR_NO_SPACE && any ? STRIA_OK : code;
}

static int measure(struct stria_bare_array *array, const struct stria_firmware_options *options,
                   int (*work)(struct stria_bare_load *, const struct stria_firmware_options *,
                               struct minima *))
{
    static struct minima minima;
    struct stria_bare_load load;
    int code = begin(&load, array, options);
    for (load.drive = 0; code == STRIA_OK && load.drive < array->member_count; load.drive++) {
        if (!array->members[load.drive].drive)
            continue;
        minima.count = 0;
        code = complain(&load, work(&load, options, &minima));
        if (code == STRIA_OK)
            rate(load.drive, &minima);
    }
    return code;
}

int stria_bare_measure_zones(struct stria_bare_array *array, const struct stria_firmware_options *options)
{
    return measure(array, options, measure_zones);
}

int stria_bare_measure_sizes(struct stria_bare_array *array, const struct stria_firmware_options *options)
{
    return measure(array, options, measure_sizes);
}

int stria_bare_measure_loop(struct stria_bare_array *array, const struct stria_firmware_options *options,
                            uint64_t *bytes_per_s)
{
    struct stria_bare_load load;
    struct stria_bare_load_result result;
    int code = begin(&load, array, options);
    if (code != STRIA_OK)
        return code;
    load.drive = STRIA_DRIVES_MAX;
    code = complain(&load, stria_bare_load_run(&load, &result));
    if (code == STRIA_OK && result.duration_ns > 0)
        *bytes_per_s = stria_ratio_bytes_per_s(result.bytes, result.duration_ns);
    return code;
}
