#include "engine/choose.h"

#include "core/assert.h"
#include "core/ratio.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define POINTS        256u
#define REQUEST_BYTES (4u << 20)
#define MIXES_MAX     (1u << 20)

/* Stalls fall elsewhere in the simulation than in a drive's own curve: what is only just impossible is tried
 * all the same. */
#define DOUBT_PER_MILLE 20u

/* What one drive of a kind can have taken at the end of each of so many equal parts of the time. */
struct served {
    uint64_t bytes[POINTS];
};

static int measure(const struct stria_kind *kind, uint64_t duration_ns, uint64_t seed, struct served *served,
                   struct stria_trouble *trouble)
{
    struct stria_model *model = malloc(sizeof(*model));
    if (!model)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for a drive model");
    const uint64_t capacity_bytes = kind->parameters->capacity_bytes;
    uint64_t now_ns = 0, done_bytes = 0;
    unsigned point = 0;
    stria_model_init(model, kind->parameters, seed);
    while (point < POINTS) {
        const uint64_t end_ns = stria_ratio_scale(duration_ns, point + 1, POINTS);
        if (now_ns >= end_ns || done_bytes == capacity_bytes) {
            served->bytes[point++] = done_bytes;
            continue;
        }
        const uint64_t left = capacity_bytes - done_bytes;
        const uint64_t bytes = left < REQUEST_BYTES ? left : REQUEST_BYTES;
        stria_model_submit(model, now_ns, STRIA_MODEL_WRITE, done_bytes, bytes);
        now_ns = stria_model_busy_until_ns(model);
        done_bytes += bytes;
    }
    free(model);
    return STRIA_OK;
}

/* Whether these drives could carry the stream if nothing ever waited: a drive that gets less than it can take
 * has taken less at any time. */
static bool possible(const struct stria_simulate_config *config, const struct served *served,
                     const uint32_t *counts, uint32_t kind_count)
{
    for (unsigned point = 0; point < POINTS; point++) {
        const uint64_t wanted = stria_ratio_scale(config->size_bytes, point + 1, POINTS);
        stria_u128 taken = 0;
        for (uint32_t kind = 0; kind < kind_count; kind++)
            /* NOLINTNEXTLINE(clang-analyzer-core.UndefinedBinaryOperatorResult): all points were filled */
            taken += (stria_u128)counts[kind] * served[kind].bytes[point];
        if (taken * (1000 + DOUBT_PER_MILLE) / 1000 + config->buffer_bytes < wanted)
            return false;
    }
    return true;
}

/* Simulates a mix and makes it the choice if it loses nothing. */
static int try_mix(const struct stria_simulate_config *config, const struct stria_kind *kinds,
                   const uint32_t *counts, uint32_t kind_count, struct stria_choice *choice,
                   struct stria_trouble *trouble)
{
    struct stria_simulate_config mix = *config;
    struct stria_simulation simulation;
    double price = 0;
    mix.stop_at_loss = true;
    mix.drive_count = 0;
    for (uint32_t kind = 0; kind < kind_count; kind++) {
        for (uint32_t i = 0; i < counts[kind]; i++)
            mix.drives[mix.drive_count++] = kinds[kind].parameters;
        price += counts[kind] * kinds[kind].price;
    }
    if (stria_simulate_capacity_bytes(&mix) < config->size_bytes)
        return STRIA_OK;
    const int code = stria_simulate(&mix, &simulation, trouble);
    if (code != STRIA_OK)
        return code;
    if (simulation.lossless) {
        choice->found = true;
        choice->drive_count = mix.drive_count;
        choice->buffer_bytes = simulation.meter->buffer_high_water_bytes;
        choice->price = price;
        memcpy(choice->counts, counts, kind_count * sizeof(*counts));
    }
    stria_simulation_clear(&simulation);
    return STRIA_OK;
}

static uint64_t duration_ns(const struct stria_simulate_config *config)
{
    return stria_ratio_scale(config->size_bytes, STRIA_SECOND_NS, config->rate_bytes_per_s);
}

int stria_choose_fewest(const struct stria_simulate_config *config, const struct stria_kind *kind,
                        struct stria_choice *choice, struct stria_trouble *trouble)
{
    struct served served;
    *choice = (struct stria_choice){0};
    int code = measure(kind, duration_ns(config), config->seed, &served, trouble);
    for (uint32_t count = 1; code == STRIA_OK && count <= STRIA_DRIVES_MAX && !choice->found; count++)
        if (possible(config, &served, &count, 1))
            code = try_mix(config, kind, &count, 1, choice, trouble);
    return code;
}

/* A mix to be looked at. Larger ones are made from it by adding a drive of kind last or of a later one, so
 * that each mix is made once. */
struct mix {
    double price;
    uint32_t drive_count;
    uint32_t last;
    uint8_t counts[STRIA_KINDS_MAX];
};

/* A heap, cheapest first. */
struct mixes {
    struct mix *list;
    uint32_t count, capacity;
};

static bool before(const struct mix *a, const struct mix *b)
{
    if (a->price != b->price)
        return a->price < b->price;
    return a->drive_count < b->drive_count;
}

static void swap(struct mix *a, struct mix *b)
{
    const struct mix other = *a;
    *a = *b;
    *b = other;
}

static bool push(struct mixes *mixes, const struct mix *mix)
{
    if (mixes->count == mixes->capacity) {
        const uint32_t capacity = mixes->capacity ? 2 * mixes->capacity : 256;
        struct mix *list = capacity <= MIXES_MAX ? realloc(mixes->list, capacity * sizeof(*list)) : NULL;
        if (!list)
            return false;
        mixes->list = list;
        mixes->capacity = capacity;
    }
    uint32_t at = mixes->count++;
    mixes->list[at] = *mix;
    for (; at > 0 && before(&mixes->list[at], &mixes->list[(at - 1) / 2]); at = (at - 1) / 2)
        swap(&mixes->list[at], &mixes->list[(at - 1) / 2]);
    return true;
}

static struct mix pop(struct mixes *mixes)
{
    STRIA_ASSERT(mixes->count > 0);
    const struct mix first = mixes->list[0];
    mixes->list[0] = mixes->list[--mixes->count];
    for (uint32_t at = 0;;) {
        uint32_t least = at;
        for (uint32_t child = 2 * at + 1; child <= 2 * at + 2 && child < mixes->count; child++)
            if (before(&mixes->list[child], &mixes->list[least]))
                least = child;
        if (least == at)
            return first;
        swap(&mixes->list[at], &mixes->list[least]);
        at = least;
    }
}

static bool push_larger(struct mixes *mixes, const struct mix *mix, const struct stria_kind *kinds,
                        uint32_t kind_count)
{
    for (uint32_t kind = mix->last; mix->drive_count < STRIA_DRIVES_MAX && kind < kind_count; kind++) {
        struct mix larger = *mix;
        larger.price += kinds[kind].price;
        larger.drive_count++;
        larger.last = kind;
        larger.counts[kind]++;
        if (kinds[kind].price > 0 && !push(mixes, &larger))
            return false;
    }
    return true;
}

static int search(const struct stria_simulate_config *config, const struct stria_kind *kinds,
                  uint32_t kind_count, const struct served *served, struct mixes *mixes,
                  struct stria_choice *choice, struct stria_trouble *trouble)
{
    bool room = push_larger(mixes, &(struct mix){0}, kinds, kind_count);
    int code = STRIA_OK;
    while (room && mixes->count > 0 && !choice->found && code == STRIA_OK) {
        const struct mix mix = pop(mixes);
        uint32_t counts[STRIA_KINDS_MAX];
        for (uint32_t kind = 0; kind < kind_count; kind++)
            counts[kind] = mix.counts[kind];
        if (possible(config, served, counts, kind_count))
            code = try_mix(config, kinds, counts, kind_count, choice, trouble);
        room = push_larger(mixes, &mix, kinds, kind_count);
    }
    if (!room && !choice->found)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY,
                                 "%" PRIu32 " kinds of drives make too many mixes: name fewer", kind_count);
    return code;
}

int stria_choose_cheapest(const struct stria_simulate_config *config, const struct stria_kind *kinds,
                          uint32_t kind_count, struct stria_choice *choice, struct stria_trouble *trouble)
{
    STRIA_ASSERT(kind_count <= STRIA_KINDS_MAX);
    struct served *served = malloc((kind_count + 1) * sizeof(*served));
    struct mixes mixes = {0};
    *choice = (struct stria_choice){0};
    if (!served)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory for service curves");
    int code = STRIA_OK;
    for (uint32_t kind = 0; code == STRIA_OK && kind < kind_count; kind++)
        code = measure(&kinds[kind], duration_ns(config), config->seed, &served[kind], trouble);
    if (code == STRIA_OK)
        code = search(config, kinds, kind_count, served, &mixes, choice, trouble);
    free(mixes.list);
    free(served);
    return code;
}
