/* Random drives, requests and faults, by seed. A block holds what was written to it last, or what is in
 * flight or has failed since; whatever is read back has to be one of them. */
#include "tests/nvme/rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define UNIT_BYTES 16384u /* pieces of the drive that are written as one */
#define UNITS      64u
#define SLOTS      16u
#define ROUNDS     200u
#define SEEDS      40u

/* What a unit may hold: the seeds of its bytes. */
struct unit {
    uint64_t sure; /* zero: never written, or a write has failed */
};

struct job {
    bool busy;
    enum stria_nvme_op op;
    uint32_t unit;
    uint64_t seed;
};

struct fuzz {
    struct rig rig;
    struct unit units[UNITS];
    struct job jobs[SLOTS];
    uint64_t next_seed;
    uint64_t failed, done;
};

static struct model_options draw_options(struct model *dice)
{
    struct model_options options = model_defaults();
    options.seed = dice->random;
    options.stride = (uint32_t)model_draw(dice, 5);
    options.page_min = model_chance(dice, 300) ? (uint32_t)model_draw(dice, 4) : 0;
    options.entries_max = 2 + (uint32_t)model_draw(dice, model_chance(dice, 500) ? 6 : 60);
    options.mdts = (uint8_t)model_draw(dice, 6);
    options.block_bytes = model_chance(dice, 300) ? 4096 : 512;
    options.block_count = (uint64_t)UNITS * UNIT_BYTES / options.block_bytes;
    options.namespace_id = 1 + (uint32_t)model_draw(dice, 3);
    options.no_list = options.namespace_id == 1 && model_chance(dice, 200);
    options.write_through = model_chance(dice, 200);
    options.never_aborts = model_chance(dice, 500);
    options.scattered = model_chance(dice, 300);
    options.latency_ns = 1 + model_draw(dice, 3000000);
    options.patience_ns = 50000000;
    options.memory = (enum model_memory)model_draw(dice, 3);
    return options;
}

static struct model_faults draw_faults(struct model *dice)
{
    uint32_t often[8];
    for (unsigned i = 0; i < 8; i++)
        often[i] = model_chance(dice, 400) ? (uint32_t)model_draw(dice, 30) : 0;
    return (struct model_faults){often[0],      often[1], often[2], often[3] * 10,
                                 often[4] * 10, often[5], often[6], often[7] / 4};
}

static uint8_t *data_of(struct fuzz *fuzz, uint32_t slot)
{
    return fuzz->rig.data + (uint64_t)slot * 4 * UNIT_BYTES + (slot % 4) * 512;
}

static void submit(struct fuzz *fuzz, uint32_t slot)
{
    struct job *job = &fuzz->jobs[slot];
    struct model *dice = &fuzz->rig.model;
    const uint32_t unit = (uint32_t)model_draw(dice, UNITS);
    const uint64_t kind = model_draw(dice, 100);
    *job = (struct job){.busy = true, .unit = unit, .op = STRIA_NVME_FLUSH};
    /* Nothing is said of the order of requests that are in flight at once: one for each unit. */
    for (uint32_t i = 0; i < SLOTS; i++)
        if (i != slot && fuzz->jobs[i].busy && fuzz->jobs[i].op != STRIA_NVME_FLUSH &&
            fuzz->jobs[i].unit == unit)
            goto flush;
    if (kind < 50)
        job->op = STRIA_NVME_WRITE;
    else if (kind < 95)
        job->op = STRIA_NVME_READ;
flush:
    if (job->op == STRIA_NVME_WRITE) {
        job->seed = fuzz->next_seed++;
        rig_fill(data_of(fuzz, slot), UNIT_BYTES, job->seed);
    }
    const bool transfers = job->op != STRIA_NVME_FLUSH;
    const struct stria_nvme_request request = {
        .op = job->op,
        .offset = transfers ? (uint64_t)unit * UNIT_BYTES : 0,
        .bytes = transfers ? UNIT_BYTES : 0,
        .data = transfers ? data_of(fuzz, slot) : NULL,
        .tag = slot,
    };
    cr_assert(stria_nvme_drive_submit(&fuzz->rig.drive, &request) == STRIA_OK);
}

static void finish(struct fuzz *fuzz, const struct stria_nvme_done *done, uint64_t seed)
{
    cr_assert(done->tag < SLOTS && fuzz->jobs[done->tag].busy, "seed %llu: tag %llu",
              (unsigned long long)seed, (unsigned long long)done->tag);
    struct job *job = &fuzz->jobs[done->tag];
    struct unit *unit = &fuzz->units[job->unit];
    job->busy = false;
    fuzz->done++;
    fuzz->failed += done->code < 0;
    if (job->op == STRIA_NVME_WRITE)
        unit->sure = done->code == STRIA_OK ? job->seed : 0;
    else if (job->op == STRIA_NVME_READ && done->code == STRIA_OK && unit->sure)
        cr_assert(rig_is(data_of(fuzz, (uint32_t)done->tag), UNIT_BYTES, unit->sure),
                  "seed %llu: unit %u is not what was written", (unsigned long long)seed, job->unit);
}

/* Polls until so many requests are left. False when the drive was given up. */
static bool drain(struct fuzz *fuzz, uint32_t left, uint64_t seed)
{
    while (fuzz->rig.drive.busy_count > left) {
        struct stria_nvme_done done;
        const int code = rig_wait(&fuzz->rig, &done);
        if (fuzz->rig.drive.controller.state == STRIA_NVME_FAILED)
            return false;
        (void)code;
        finish(fuzz, &done, seed);
    }
    return true;
}

static uint32_t free_job(const struct fuzz *fuzz)
{
    uint32_t slot = 0;
    while (fuzz->jobs[slot].busy)
        slot++;
    return slot;
}

/* True when the drive lived to the end. */
static bool run(struct fuzz *fuzz, uint64_t seed, bool faulty)
{
    struct model dice = {.random = seed * 0x9e3779b97f4a7c15ull + 1};
    model_draw(&dice, 2);
    const struct model_options options = draw_options(&dice);
    const struct model_faults faults = draw_faults(&dice);
    memset(fuzz, 0, sizeof(*fuzz));
    fuzz->next_seed = 1;
    rig_open(&fuzz->rig, &options, 1 + (uint32_t)model_draw(&dice, 16));
    if (faulty)
        fuzz->rig.model.options.faults = faults;
    bool alive = true;
    for (uint32_t round = 0; alive && round < ROUNDS; round++) {
        submit(fuzz, free_job(fuzz));
        alive = drain(fuzz, (uint32_t)model_draw(&dice, SLOTS), seed);
    }
    alive = alive && drain(fuzz, 0, seed);
    if (alive)
        rig_close(&fuzz->rig);
    else
        rig_drop(&fuzz->rig);
    return alive;
}

static uint64_t first_seed(void)
{
    const char *text = getenv("STRIA_NVME_SEED");
    return text ? strtoull(text, NULL, 10) : 1;
}

static uint64_t seed_count(void)
{
    const char *text = getenv("STRIA_NVME_SEEDS");
    return text ? strtoull(text, NULL, 10) : SEEDS;
}

Test(nvme_fuzz, well_behaved_drives_of_every_kind)
{
    static struct fuzz fuzz;
    for (uint64_t seed = first_seed(); seed < first_seed() + seed_count(); seed++) {
        cr_assert(run(&fuzz, seed, false), "seed %llu", (unsigned long long)seed);
        cr_assert(fuzz.failed == 0 && fuzz.done == ROUNDS, "seed %llu", (unsigned long long)seed);
        cr_assert(fuzz.rig.drive.controller.resets == 0 && fuzz.rig.drive.controller.strays == 0);
    }
}

Test(nvme_fuzz, drives_that_misbehave)
{
    static struct fuzz fuzz;
    uint64_t alive = 0, failed = 0, resets = 0;
    for (uint64_t seed = first_seed(); seed < first_seed() + seed_count(); seed++) {
        alive += run(&fuzz, seed, true);
        failed += fuzz.failed;
        resets += fuzz.rig.drive.controller.resets;
    }
    /* Faults that never strike would prove nothing, and a drive that always dies as little. */
    cr_expect(seed_count() < SEEDS || (failed > 0 && resets > 0));
    cr_expect(seed_count() < SEEDS || alive > seed_count() / 2, "%llu of %llu lived",
              (unsigned long long)alive, (unsigned long long)seed_count());
}
