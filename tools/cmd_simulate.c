#include "core/geometry.h"
#include "core/ratio.h"
#include "support/units.h"
#include "tools/commands.h"
#include "tools/simulate.h"
#include "tools/status.h"

#include <inttypes.h>
#include <stdlib.h>

#define BUFFER_BYTES_DEFAULT ((uint64_t)512 << 20)
#define DEPTH_DEFAULT        8u

struct options {
    struct stria_texts drives, compare;
    struct stria_figure rate, size, duration, buffer, chunk, depth, want, seed;
    unsigned policy;
    const char *capacity_scale, *rate_scale;
    bool json;
};

static const char *const policies[] = {"adaptive", "raid0", NULL};

static const struct stria_option options[] = {
    {"drive", 0, STRIA_OPTION_TEXTS, "PROFILE",
     "A drive of the array: a profile's name or file; 4*PROFILE is four of them",
     offsetof(struct options, drives), NULL},
    {"rate", 0, STRIA_OPTION_RATE, "RATE", "Of the sensor; without it, only what the drives can is told",
     offsetof(struct options, rate), NULL},
    {"size", 0, STRIA_OPTION_SIZE, "SIZE", "Of the recording; as much as the array holds without it",
     offsetof(struct options, size), NULL},
    {"duration", 0, STRIA_OPTION_TIME, "TIME", "Of the recording", offsetof(struct options, duration), NULL},
    {"policy", 0, STRIA_OPTION_CHOICE, NULL, "Who takes the next chunk, as in array.ini",
     offsetof(struct options, policy), policies},
    {"buffer", 0, STRIA_OPTION_SIZE, "SIZE", "Memory between sensor and drives; 512MiB",
     offsetof(struct options, buffer), NULL},
    {"chunk", 0, STRIA_OPTION_SIZE, "SIZE", "The unit of striping; 1MiB", offsetof(struct options, chunk),
     NULL},
    {"depth", 0, STRIA_OPTION_NUMBER, "NUMBER", "Writes in flight on each drive; 8",
     offsetof(struct options, depth), NULL},
    {"want", 0, STRIA_OPTION_RATE, "RATE",
     "Looks for the fewest drives of each profile, and with prices in them for the\n"
     "cheapest mix, that carry RATE for the --duration with at most the --buffer",
     offsetof(struct options, want), NULL},
    {"compare", 0, STRIA_OPTION_TEXTS, "ARRAY",
     "An array such as 2*samsung-980 or samsung-980+samsung-sm961: a table of these, by\n"
     "average, minimum and lossless rate, at 100, 200 and 400 GB or the --size",
     offsetof(struct options, compare), NULL},
    {"capacity-scale", 0, STRIA_OPTION_TEXT, "NUMBER", "Multiplies the sizes in all profiles",
     offsetof(struct options, capacity_scale), NULL},
    {"rate-scale", 0, STRIA_OPTION_TEXT, "NUMBER", "Multiplies the rates in all profiles",
     offsetof(struct options, rate_scale), NULL},
    {"seed", 0, STRIA_OPTION_NUMBER, "NUMBER", "Of the drives' stalls; 1", offsetof(struct options, seed),
     NULL},
    {"json", 0, STRIA_OPTION_FLAG, NULL, "Prints one JSON document, stria.simulate/1",
     offsetof(struct options, json), NULL},
    {.name = NULL},
};

static int wrong(struct stria_trouble *trouble, const char *sentence)
{
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s: see 'stria simulate --help'", sentence);
}

static int check_combination(const struct options *o, struct stria_trouble *trouble)
{
    if (o->compare.count > 0 && (o->drives.count > 0 || o->want.given || o->rate.given || o->duration.given))
        return wrong(trouble, "--compare stands without --drive, --rate, --duration and --want");
    if (o->want.given && o->rate.given)
        return wrong(trouble, "--want RATE stands in place of --rate");
    if (o->want.given && !o->duration.given && !o->size.given)
        return wrong(trouble, "--want needs a --duration or a --size: for how long is it wanted");
    if (o->drives.count == 0 && o->compare.count == 0 && !o->want.given)
        return wrong(trouble, "name the drives with --drive PROFILE ('stria fake ls' lists profiles)");
    if ((o->rate.given && o->rate.value == 0) || (o->want.given && o->want.value == 0))
        return wrong(trouble, "a sensor's rate is more than zero");
    if (o->size.given && o->size.value == 0)
        return wrong(trouble, "a --size of nothing cannot be simulated");
    if (o->duration.given && o->duration.value == 0)
        return wrong(trouble, "a --duration of nothing cannot be simulated");
    return STRIA_OK;
}

static int check_chunk_and_depth(const struct options *o, struct stria_trouble *trouble)
{
    const uint64_t chunk = o->chunk.value;
    if (o->chunk.given && !stria_chunk_bytes_valid(chunk))
        return wrong(trouble, "--chunk takes a power of two from 64KiB to 16MiB");
    if (o->depth.given && (o->depth.value == 0 || o->depth.value > STRIA_DEPTH_MAX))
        return wrong(trouble, "--depth takes a whole number from 1 to 256");
    return STRIA_OK;
}

static int take_scale(const char *name, const char *text, double *scale, struct stria_trouble *trouble)
{
    struct stria_trouble reason = {0};
    *scale = 1;
    if (!text || stria_ratio_parse(text, scale, &reason) == STRIA_OK)
        return STRIA_OK;
    return stria_trouble_set(trouble, STRIA_ERR_INVALID, "--%s: %s", name, reason.sentence);
}

/* The size of what is simulated: the smaller one of what was asked for. */
static uint64_t size_of(const struct options *o, uint64_t rate)
{
    uint64_t size = o->size.value;
    if (o->duration.given && rate > 0) {
        const uint64_t made = stria_ratio_scale(rate, o->duration.value, STRIA_SECOND_NS);
        size = !o->size.given || made < size ? made : size;
        size = size ? size : 1;
    }
    return size;
}

static int make_config(const struct options *o, struct simulate_job *job, struct stria_trouble *trouble)
{
    int code = check_combination(o, trouble);
    if (code == STRIA_OK)
        code = check_chunk_and_depth(o, trouble);
    if (code == STRIA_OK)
        code = take_scale("capacity-scale", o->capacity_scale, &job->capacity_scale, trouble);
    if (code == STRIA_OK)
        code = take_scale("rate-scale", o->rate_scale, &job->rate_scale, trouble);
    const uint64_t rate = o->want.given ? o->want.value : o->rate.value;
    job->json = o->json;
    job->config = (struct stria_simulate_config){
        .policy = o->policy == 0 ? STRIA_POLICY_ADAPTIVE : STRIA_POLICY_RAID0,
        .chunk_bytes = o->chunk.given ? (uint32_t)o->chunk.value : STRIA_CHUNK_BYTES_DEFAULT,
        .depth = o->depth.given ? (uint32_t)o->depth.value : DEPTH_DEFAULT,
        .buffer_bytes = o->buffer.given ? o->buffer.value : BUFFER_BYTES_DEFAULT,
        .rate_bytes_per_s = rate,
        .size_bytes = size_of(o, rate),
        .duration_ns = rate == 0 ? o->duration.value : 0,
        .seed = o->seed.given ? o->seed.value : 1,
    };
    const uint64_t slots = job->config.buffer_bytes / job->config.chunk_bytes;
    if (code == STRIA_OK && (slots < STRIA_SLOTS_MIN || slots > STRIA_SLOTS_MAX))
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "--buffer takes %u to %u chunks, which are %" PRIu64 "KiB to %" PRIu64 "MiB",
                                 STRIA_SLOTS_MIN, STRIA_SLOTS_MAX,
                                 (uint64_t)STRIA_SLOTS_MIN * job->config.chunk_bytes >> 10,
                                 (uint64_t)STRIA_SLOTS_MAX * job->config.chunk_bytes >> 20);
    return code;
}

/* Without a --drive, --want looks at every profile that is part of the program. */
static int find_drives(const struct options *o, struct simulate_job *job, struct stria_problems *problems)
{
    int code = STRIA_OK;
    for (unsigned i = 0; i < o->drives.count && code == STRIA_OK; i++)
        code = simulate_add_drives(job, &job->array, o->drives.list[i], problems);
    for (unsigned i = 0; i < o->compare.count && code == STRIA_OK; i++) {
        if (job->array_count == SIMULATE_ARRAYS_MAX) {
            stria_problems_add(problems, "--compare stands more than %u times", SIMULATE_ARRAYS_MAX);
            return STRIA_ERR_INVALID;
        }
        struct simulate_array *array = &job->arrays[job->array_count++];
        code = simulate_add_drives(job, array, o->compare.list[i], problems);
    }
    for (const struct stria_profile_text *text = stria_profile_texts;
         o->want.given && o->drives.count == 0 && text->name && code == STRIA_OK; text++)
        code = simulate_add_drives(job, &job->array, text->name, problems);
    return code;
}

static int run(const void *given, char **operands, int operand_count)
{
    const struct options *o = given;
    struct simulate_job job = {0};
    struct stria_trouble trouble = {0};
    struct stria_problems problems = {0};
    int status;
    (void)operands;
    (void)operand_count;
    int code = make_config(o, &job, &trouble);
    if (code != STRIA_OK)
        return stria_status_fail("simulate", &trouble);
    code = find_drives(o, &job, &problems);
    if (code != STRIA_OK)
        status = stria_status_fail_all("simulate", code, &problems);
    else if (o->want.given)
        status = simulate_want(&job);
    else if (o->compare.count > 0)
        status = simulate_compare(&job);
    else
        status = simulate_run(&job);
    stria_problems_clear(&problems);
    for (uint32_t i = 0; i < job.profile_count; i++) {
        free(job.profiles[i]);
        free(job.profile_names[i]);
    }
    return status;
}

const struct stria_command stria_command_simulate = {
    .name = "simulate",
    .summary = "tells what an array of modelled drives would record without loss",
    .operands = "",
    .operands_min = 0,
    .operands_max = 0,
    .description =
        "Runs the recorder against models of drives, in virtual time: hours in seconds, without the drives.\n"
        "It tells whether a sensor of --rate loses anything, and if so when, where, why and how much; what "
        "the\n"
        "array carries with buffers of several sizes; and until when it would go on. The drives begin "
        "empty,\n"
        "cool and rested.",
    .options = options,
    .options_bytes = sizeof(struct options),
    .interruptible = true,
    .run = run,
};
