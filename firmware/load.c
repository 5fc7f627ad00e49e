#include "firmware/load.h"

#include "core/code.h"
#include "core/ratio.h"
#include "core/series.h"
#include "core/space.h"
#include "firmware/processor.h"

#define BINS       1024u
#define DONE_BATCH 64u

struct lane {
    struct stria_drive *drive; /* null: takes no part */
    const struct stria_bare_member *member;
    uint64_t position, end; /* next extent to look at, and where the zone ends */
    uint32_t in_flight;
};

struct loading {
    const struct stria_bare_load *load;
    struct lane lanes[STRIA_DRIVES_MAX];
    uint64_t left; /* chunks not yet handed to a drive */
    uint64_t next_slot;
    struct stria_series series;
};

static bool next_free(struct lane *lane)
{
    while (lane->position < lane->end && lane->member->extent_state[lane->position] != STRIA_EXTENT_FREE)
        lane->position++;
    return lane->position < lane->end;
}

static uint64_t count_free(const struct lane *lane)
{
    uint64_t count = 0;
    for (uint64_t position = lane->position; position < lane->end; position++)
        count += lane->member->extent_state[position] == STRIA_EXTENT_FREE;
    return count;
}

/* Chunks that all lanes together have room for. */
static uint64_t prepare_lanes(struct loading *loading)
{
    const struct stria_bare_load *load = loading->load;
    uint64_t room = 0;
    for (uint32_t index = 0; index < load->array->member_count; index++) {
        const struct stria_bare_member *member = &load->array->members[index];
        struct lane *lane = &loading->lanes[index];
        *lane = (struct lane){.member = member};
        if (!member->drive || (load->drive != STRIA_DRIVES_MAX && load->drive != index))
            continue;
        const uint64_t count = member->super.geometry.extent_count;
        lane->drive = &member->drive->base;
        lane->position = load->zone * count / load->zones;
        lane->end = (load->zone + 1) * count / load->zones;
        room += count_free(lane);
    }
    return room;
}

static int submit(struct loading *loading, struct lane *lane)
{
    const struct stria_bare_load *load = loading->load;
    const uint32_t chunk_bytes = load->array->chunk_bytes;
    const struct stria_io io = {
        .op = STRIA_IO_WRITE,
        .offset = stria_geometry_extent_offset(&lane->member->super.geometry, lane->position),
        .length = chunk_bytes,
        .data = (uint8_t *)(uintptr_t)load->ring + loading->next_slot % load->slot_count * chunk_bytes,
    };
    const int code = lane->drive->backend->submit(lane->drive, &io);
    if (code != STRIA_OK)
        return code;
    lane->position++;
    lane->in_flight++;
    loading->next_slot++;
    loading->left--;
    return STRIA_OK;
}

static int turn_lane(struct loading *loading, struct lane *lane)
{
    struct stria_done done[DONE_BATCH];
    int code = STRIA_OK;
    while (code == STRIA_OK && loading->left > 0 && lane->in_flight < loading->load->depth && next_free(lane))
        code = submit(loading, lane);
    if (code != STRIA_OK && code != STRIA_ERR_FULL)
        return code;
    const int count = lane->in_flight > 0 ? lane->drive->backend->poll(lane->drive, done, DONE_BATCH, 0) : 0;
    const uint64_t now_ns = count > 0 ? stria_clock_ns() : 0;
    for (int index = 0; index < count; index++) {
        lane->in_flight--;
        if (done[index].code != STRIA_OK)
            return done[index].code;
        stria_series_add(&loading->series, now_ns, done[index].bytes);
    }
    return count < 0 ? count : STRIA_OK;
}

static bool busy(const struct loading *loading)
{
    bool any = loading->left > 0;
    for (uint32_t index = 0; index < loading->load->array->member_count; index++)
        any |= loading->lanes[index].in_flight > 0;
    return any;
}

static int write_all(struct loading *loading)
{
    while (busy(loading)) {
        for (uint32_t index = 0; index < loading->load->array->member_count; index++) {
            struct lane *lane = &loading->lanes[index];
            const int code = lane->drive ? turn_lane(loading, lane) : STRIA_OK;
            if (code != STRIA_OK)
                return code;
        }
    }
    return STRIA_OK;
}

static int flush_all(const struct loading *loading)
{
    struct stria_bare_job jobs[STRIA_DRIVES_MAX];
    const struct stria_bare_array *array = loading->load->array;
    for (uint32_t index = 0; index < array->member_count; index++)
        jobs[index] = (struct stria_bare_job){
            .drive = loading->lanes[index].drive ? array->members[index].drive : NULL, .op = STRIA_IO_FLUSH};
    stria_bare_jobs_run(jobs, array->member_count, array->deadline_ns);
    for (uint32_t index = 0; index < array->member_count; index++)
        if (jobs[index].drive && jobs[index].code != STRIA_OK)
            return jobs[index].code;
    return STRIA_OK;
}

int stria_bare_load_run(const struct stria_bare_load *load, struct stria_bare_load_result *result)
{
    static struct loading loading;
    static uint64_t bins[BINS];
    loading = (struct loading){.load = load, .left = load->chunks};
    if (prepare_lanes(&loading) < load->chunks)
        return STRIA_ERR_NO_SPACE;
    const uint64_t start_ns = stria_clock_ns();
    stria_series_init(&loading.series, bins, BINS, start_ns, STRIA_SERIES_INTERVAL_NS);
    int code = write_all(&loading);
    if (code == STRIA_OK)
        code = flush_all(&loading);
    const uint64_t end_ns = stria_clock_ns();
    uint64_t least_bytes;
    *result =
        (struct stria_bare_load_result){.bytes = load->chunks * load->array->chunk_bytes,
                                        .duration_ns = end_ns - start_ns,
                                        .has_least = stria_series_bytes_min(&loading.series, &least_bytes)};
    if (result->has_least)
        result->least_bytes_per_s = stria_ratio_bytes_per_s(least_bytes, loading.series.interval_ns);
    return code;
}
