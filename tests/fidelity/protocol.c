#include "tests/fidelity/protocol.h"

#include <stdio.h>
#include <stdlib.h>

#define SECOND_NS 1000000000u
#define GB        1000000000u
#define REST_NS   ((uint64_t)600 * SECOND_NS)

static void *allocate(uint64_t count)
{
    void *memory = calloc(count, sizeof(uint64_t));
    if (!memory) {
        fputs("out of memory\n", stderr);
        abort();
    }
    return memory;
}

static int ascending(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static void run_requests(struct stria_model *model, uint64_t begun_ns, const struct protocol_run *run,
                         struct protocol_result *result)
{
    uint64_t slot_ns[PROTOCOL_DEPTH_MAX];
    for (unsigned i = 0; i < PROTOCOL_DEPTH_MAX; i++)
        slot_ns[i] = begun_ns;
    const enum stria_model_op op = run->read ? STRIA_MODEL_READ : STRIA_MODEL_WRITE;
    uint64_t done_bytes = 0;
    for (uint64_t i = 0; i < result->request_count; i++) {
        uint64_t *slot = &slot_ns[i % run->depth];
        const uint64_t left = run->bytes - done_bytes;
        const uint64_t bytes = left < run->block_bytes ? left : run->block_bytes;
        const uint64_t submitted_ns = *slot;
        *slot = stria_model_submit(model, submitted_ns, op, run->offset_bytes + done_bytes, bytes);
        done_bytes += bytes;
        result->latency_ns[i] = *slot - submitted_ns;
        result->duration_ns = *slot - begun_ns;
        while (result->gigabyte_count < done_bytes / GB)
            result->gigabyte_ns[result->gigabyte_count++] = result->duration_ns;
        slot_ns[i % run->depth] = *slot;
    }
}

/* The same requests once more, by the seconds in which they ended. */
static void count_seconds(const struct protocol_run *run, struct protocol_result *result)
{
    result->second_count = result->duration_ns / SECOND_NS + 1;
    result->second_bytes = allocate(result->second_count);
    uint64_t *ends_ns = allocate(result->request_count);
    for (uint64_t i = 0; i < result->request_count; i++) {
        const uint64_t submitted_ns = i < run->depth ? 0 : ends_ns[i - run->depth];
        ends_ns[i] = submitted_ns + result->latency_ns[i];
        const uint64_t left = run->bytes - i * run->block_bytes;
        result->second_bytes[ends_ns[i] / SECOND_NS] += left < run->block_bytes ? left : run->block_bytes;
    }
    free(ends_ns);
}

void protocol_run(struct stria_model *model, uint64_t *now_ns, const struct protocol_run *run,
                  struct protocol_result *result)
{
    *result = (struct protocol_result){0};
    if (run->block_bytes == 0 || run->depth == 0 || run->depth > PROTOCOL_DEPTH_MAX)
        abort();
    *now_ns = stria_model_trim(model, *now_ns, 0, model->parameters.capacity_bytes) + REST_NS;
    stria_model_advance(model, *now_ns);
    result->temperature_before_mc = stria_model_temperature_mc(model);
    result->request_count = (run->bytes + run->block_bytes - 1) / run->block_bytes;
    result->latency_ns = allocate(result->request_count);
    result->gigabyte_ns = allocate(run->bytes / GB + 1);
    run_requests(model, *now_ns, run, result);
    count_seconds(run, result);
    *now_ns += result->duration_ns;
    stria_model_advance(model, *now_ns);
    result->temperature_after_mc = stria_model_temperature_mc(model);
    qsort(result->latency_ns, result->request_count, sizeof(uint64_t), ascending);
}

void protocol_free(struct protocol_result *result)
{
    free(result->latency_ns);
    free(result->second_bytes);
    free(result->gigabyte_ns);
    *result = (struct protocol_result){0};
}

uint64_t protocol_percentile_ns(const struct protocol_result *result, double percent)
{
    const uint64_t below = (uint64_t)((double)result->request_count * percent / 100);
    return result->latency_ns[below < result->request_count ? below : result->request_count - 1];
}

uint64_t protocol_second_min(const struct protocol_result *result)
{
    uint64_t least = UINT64_MAX;
    for (uint64_t i = 0; i + 1 < result->second_count; i++)
        least = result->second_bytes[i] < least ? result->second_bytes[i] : least;
    return least;
}

uint64_t protocol_second_max(const struct protocol_result *result)
{
    uint64_t most = 0;
    for (uint64_t i = 0; i + 1 < result->second_count; i++)
        most = result->second_bytes[i] > most ? result->second_bytes[i] : most;
    return most;
}

uint64_t protocol_knee_gb(const struct protocol_result *result)
{
    for (uint64_t i = 1; i < result->gigabyte_count; i++) {
        const uint64_t took_ns = result->gigabyte_ns[i] - result->gigabyte_ns[i - 1];
        if (2 * took_ns > 3 * result->gigabyte_ns[0])
            return i;
    }
    return result->gigabyte_count;
}
