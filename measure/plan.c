#include "measure/plan.h"

#include "core/ratio.h"
#include "support/clock.h"
#include "support/units.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GENERATOR_SHARE     0.8 /* of its rate, from which on the generator may be what was measured */
#define BLOCK_BYTES_DEFAULT (1ull << 20)
#define DEPTH_DEFAULT       8u
#define WATCH_NS            200000000ull

uint64_t stria_bench_block(const struct stria_bench *bench)
{
    if (bench->options->array)
        return bench->options->array->chunk_bytes;
    return bench->options->blocks.count ? bench->options->blocks.values[0] : BLOCK_BYTES_DEFAULT;
}

uint32_t stria_bench_depth(const struct stria_bench_options *options)
{
    if (options->array)
        return options->array->depth;
    return options->depths.count ? (uint32_t)options->depths.values[0] : DEPTH_DEFAULT;
}

uint64_t stria_bench_size_max(const struct stria_bench_options *options)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < options->sizes.count; i++)
        if (options->sizes.values[i] > most)
            most = options->sizes.values[i];
    return most;
}

struct stria_round_plan *stria_bench_plan(struct stria_bench *bench, uint32_t repeat, const char *point, ...)
{
    if (bench->plan_count == bench->plan_capacity) {
        bench->plan_capacity = bench->plan_capacity ? 2 * bench->plan_capacity : 16;
        bench->plans = realloc(bench->plans, bench->plan_capacity * sizeof(*bench->plans));
        if (!bench->plans)
            abort();
    }
    struct stria_round_plan *plan = &bench->plans[bench->plan_count++];
    *plan = (struct stria_round_plan){.repeat = repeat,
                                      .seed = bench->options->seed,
                                      .block_bytes = stria_bench_block(bench),
                                      .depth = stria_bench_depth(bench->options)};
    va_list arguments;
    va_start(arguments, point);
    vsnprintf(plan->point, sizeof(plan->point), point, arguments);
    va_end(arguments);
    return plan;
}

void stria_bench_stop(struct stria_bench *bench, const char *format, ...)
{
    struct stria_bench_result *result = bench->result;
    va_list arguments;
    va_start(arguments, format);
    if (!result->why[0])
        vsnprintf(result->why, sizeof(result->why), format, arguments);
    va_end(arguments);
    bench->stopped = true;
    result->partial = true;
}

/* What one round takes, as far as it is known: by its own time, or by its bytes at the mean rate so far. */
static bool guess(const struct stria_bench *bench, const struct stria_round_plan *plan, uint64_t *ns)
{
    *ns += plan->keeps ? 0 : bench->options->rest_ns + bench->options->warm_up_ns;
    if (plan->runtime_ns)
        *ns += plan->runtime_ns;
    else if (bench->done_bytes)
        *ns += stria_ratio_scale(plan->bytes_max * (bench->through ? 1 : bench->result->target_count),
                                 bench->done_ns, bench->done_bytes);
    return plan->runtime_ns || bench->done_bytes;
}

static struct stria_told guess_left(const struct stria_bench *bench, const struct stria_crew_moment *moment)
{
    struct stria_bench so_far = *bench;
    uint64_t ns = 0, spent_ns = stria_clock_ns() - bench->phase_ns;
    if (moment) {
        so_far.done_bytes += moment->bytes;
        so_far.done_ns += moment->elapsed_ns;
    }
    if (bench->phase != STRIA_BENCH_REST)
        spent_ns += bench->plan && !bench->plan->keeps ? bench->options->rest_ns : 0;
    for (uint32_t i = bench->current; i < bench->plan_count; i++)
        if (!guess(&so_far, &bench->plans[i], &ns))
            return (struct stria_told){0};
    const bool known = bench->current < bench->plan_count && !bench->test->adaptive;
    return (struct stria_told){known, ns > spent_ns ? ns - spent_ns : 0};
}

bool stria_bench_watch(struct stria_bench *bench, const struct stria_crew_moment *crew)
{
    const struct stria_bench_options *options = bench->options;
    const struct stria_bench_moment moment = {
        .test = bench->test->about.name,
        .phase = bench->phase,
        .plan = bench->plan,
        .round = bench->result->round_count,
        .round_count = bench->test->adaptive ? 0 : bench->plan_count,
        .elapsed_ns = stria_clock_ns() - bench->started_ns,
        .left_ns = guess_left(bench, crew),
        .crew = crew,
        .targets = bench->result->targets,
        .target_count = bench->result->target_count,
    };
    if (options->watch && !options->watch(options->context, &moment))
        stria_bench_stop(bench, "it was stopped");
    for (uint32_t i = 0; options->stop_at_c && i < bench->result->target_count; i++) {
        struct stria_health health;
        stria_target_health(&bench->result->targets[i], &health);
        if (health.temperature_c.known && health.temperature_c.value >= options->stop_at_c)
            stria_bench_stop(bench, "%.128s reached %" PRIu64 " °C", bench->result->targets[i].config.path,
                             health.temperature_c.value);
    }
    return !bench->stopped;
}

static bool watch_crew(void *context, const struct stria_crew_moment *moment)
{
    return stria_bench_watch(context, moment);
}

static void enter(struct stria_bench *bench, enum stria_bench_phase phase)
{
    bench->phase = phase;
    bench->phase_ns = stria_clock_ns();
    stria_bench_watch(bench, NULL);
}

static void trim(struct stria_bench *bench, bool *trimmed, char *reason, size_t size)
{
    struct stria_bench_result *result = bench->result;
    char why[128];
    enter(bench, STRIA_BENCH_TRIM);
    *trimmed = true;
    if (bench->through)
        *trimmed = stria_through_trim(bench->through, reason, size);
    for (uint32_t i = 0; !bench->through && i < result->target_count && !bench->stopped; i++) {
        if (stria_target_trim(&result->targets[i], why, sizeof(why)))
            continue;
        if (*trimmed)
            snprintf(reason, size, "%s", why);
        *trimmed = false;
    }
    /* Said once: it is the same each time. */
    if (!*trimmed && result->round_count == 0 && bench->options->say) {
        char sentence[256];
        snprintf(sentence, sizeof(sentence), "no TRIM before the rounds: %s", reason);
        bench->options->say(bench->options->context, sentence);
    }
}

static uint64_t rest(struct stria_bench *bench)
{
    enter(bench, STRIA_BENCH_REST);
    const uint64_t since_ns = stria_clock_ns(),
                   until_ns = stria_clock_after(since_ns, bench->options->rest_ns);
    for (uint64_t now_ns = since_ns; now_ns < until_ns && stria_bench_watch(bench, NULL);
         now_ns = stria_clock_ns())
        stria_clock_sleep_until(until_ns - now_ns < WATCH_NS ? until_ns : now_ns + WATCH_NS);
    return stria_clock_ns() - since_ns;
}

static int run_plan(struct stria_bench *bench, const struct stria_round_plan *plan, struct stria_round *round)
{
    if (bench->through) {
        bench->through->context = bench;
        bench->through->watch = watch_crew;
        return plan->write ? stria_through_record(bench->through, plan, round, bench->trouble)
                           : stria_through_play(bench->through, plan, round, bench->trouble);
    }
    const struct stria_crew crew = {
        .targets = bench->result->targets,
        .count = bench->result->target_count,
        .buffer_bytes = bench->result->buffer_bytes,
        .context = bench,
        .watch = watch_crew,
    };
    return stria_crew_run(&crew, plan, round, bench->trouble);
}

static int warm_up(struct stria_bench *bench, const struct stria_round_plan *plan)
{
    struct stria_round round;
    struct stria_round_plan warm = *plan;
    warm.bytes_max = 0;
    warm.runtime_ns = bench->options->warm_up_ns;
    warm.compare = false;
    enter(bench, STRIA_BENCH_WARM_UP);
    const int code = run_plan(bench, &warm, &round);
    stria_round_free(&round);
    return code;
}

/* A rate near to that at which the data are made may be the maker's: a thread for each drive, or one before
 * an array. */
static void doubt_generator(const struct stria_bench *bench, const struct stria_round *round)
{
    const struct stria_bench_result *result = bench->result;
    const uint64_t makers = bench->through ? 1 : result->target_count;
    const uint64_t made = result->generator_bytes_per_s;
    char sentence[256], rate[STRIA_UNITS_TEXT_BYTES];
    if (!round->plan.write || !round->figures.mean.known || round->above_link || !bench->options->say ||
        (double)round->figures.mean.value < GENERATOR_SHARE * (double)made * (double)makers)
        return;
    snprintf(sentence, sizeof(sentence),
             "'%s' came near to the %s at which the data are made: the drives may be faster than was seen",
             round->plan.point, stria_rate_print_both(rate, sizeof(rate), made * makers));
    bench->options->say(bench->options->context, sentence);
}

/* What a round says about the bench as a whole. */
static void judge(struct stria_bench *bench, const struct stria_round *round)
{
    struct stria_bench_result *result = bench->result;
    char rate[STRIA_UNITS_TEXT_BYTES], link[STRIA_UNITS_TEXT_BYTES];
    if (round->code != STRIA_OK)
        stria_bench_stop(bench, "%.128s cannot go on: %s", result->targets[round->failed_drive].config.path,
                         stria_code_text(round->code));
    if (!round->above_link || result->refused)
        return;
    const struct stria_target *target = &result->targets[round->link_drive];
    result->refused = true;
    snprintf(result->why, sizeof(result->why),
             "'%s' on %.64s came to %s, above the %s that its link carries: what answered was a cache",
             round->plan.point, target->config.path,
             stria_rate_print_both(
                 rate, sizeof(rate),
                 stria_ratio_bytes_per_s(round->drive_bytes[round->link_drive], round->duration_ns)),
             stria_rate_print_both(link, sizeof(link), target->link_bytes_per_s.value));
}

static struct stria_round *new_round(struct stria_bench_result *result)
{
    struct stria_round *rounds = realloc(result->rounds, (result->round_count + 1) * sizeof(*rounds));
    if (!rounds)
        abort();
    result->rounds = rounds;
    return &rounds[result->round_count];
}

bool stria_bench_round(struct stria_bench *bench, const struct stria_round_plan *plan)
{
    struct stria_round round;
    bool trimmed = false;
    char reason[sizeof(round.trim_reason)] = "what is on the drive is kept";
    uint64_t rested_ns = 0;
    bench->plan = plan;
    if (!plan->keeps) {
        trim(bench, &trimmed, reason, sizeof(reason));
        rested_ns = bench->stopped ? 0 : rest(bench);
    }
    if (!bench->stopped && bench->options->warm_up_ns && !plan->keeps && warm_up(bench, plan) != STRIA_OK)
        return false;
    if (bench->stopped)
        return false;
    enter(bench, STRIA_BENCH_ROUND);
    if (run_plan(bench, plan, &round) != STRIA_OK) {
        stria_round_free(&round);
        return false;
    }
    round.trimmed = trimmed;
    snprintf(round.trim_reason, sizeof(round.trim_reason), "%s", trimmed ? "" : reason);
    round.rested_ns = rested_ns;
    round.begin_ns -= bench->started_ns;
    bench->done_bytes += round.bytes;
    bench->done_ns += round.duration_ns;
    judge(bench, &round);
    doubt_generator(bench, &round);
    *new_round(bench->result) = round;
    bench->result->round_count++;
    return !bench->stopped;
}

int stria_bench_rounds(struct stria_bench *bench)
{
    for (; bench->current < bench->plan_count; bench->current++)
        if (!stria_bench_round(bench, &bench->plans[bench->current]))
            return bench->stopped ? STRIA_OK : bench->trouble->code;
    return STRIA_OK;
}
