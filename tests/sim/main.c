/* stria-sim: the deterministic world of the recorder. See --help. */
#include "support/clock.h"
#include "tests/sim/run.h"

#include <inttypes.h>
#include <time.h>

/* In whichever way power is cut: everything that was not flushed is kept, dropped or torn, or each write has
 * its own fate. */
#define CUT_MANNERS 4u

struct tally {
    uint64_t runs, failures;
    struct sim_cover cover;
};

static void tell_failure(const struct sim_command *command, uint64_t seed, struct sim_options options,
                         const char *failure)
{
    printf("FAILED seed %" PRIu64 ": %s\n  replay: stria-sim --from %" PRIu64, seed, failure, seed);
    sim_options_print(stdout, &options);
    printf(" --trace\n");
    if (command->shrink) {
        sim_shrink(seed, &options);
        printf("  smaller: stria-sim --from %" PRIu64, seed);
        sim_options_print(stdout, &options);
        printf(" --trace\n");
        struct sim_cover cover = {0};
        struct sim_result result = sim_run(seed, &options, &cover, stdout);
        printf("  %s\n", result.failure);
    }
    fflush(stdout);
}

static void run_seed(const struct sim_command *command, struct tally *tally, uint64_t seed,
                     const struct sim_options *options, struct sim_result *result)
{
    *result = sim_run(seed, options, &tally->cover, command->trace ? stdout : NULL);
    tally->runs++;
    if (command->twice && !result->failure[0]) {
        struct sim_cover cover = {0};
        struct sim_result second = sim_run(seed, options, &cover, NULL);
        if (second.hash != result->hash)
            snprintf(result->failure, sizeof(result->failure), "a second run goes another way");
    }
    if (result->failure[0]) {
        tally->failures++;
        tell_failure(command, seed, *options, result->failure);
    }
}

/* First without a cut, which tells how many steps there are; then a cut at each of them. */
static void run_exhaustively(const struct sim_command *command, struct tally *tally, uint64_t seed)
{
    struct sim_options options = command->options;
    struct sim_result result;
    options.without[SIM_FAULT_POWER_CUT] = true;
    uint32_t lives = options.lives;
    options.lives = 1;
    run_seed(command, tally, seed, &options, &result);
    options.lives = lives ? lives : 2;
    uint64_t steps = result.steps;
    for (uint64_t step = 1; step <= steps && tally->failures < command->failures_max; step++) {
        for (uint32_t manner = 0; manner < CUT_MANNERS; manner++) {
            options.cut_step = step;
            options.cut = (enum sim_cut)manner;
            options.cut_fixed = manner != SIM_CUT_MIXED;
            run_seed(command, tally, seed, &options, &result);
        }
    }
}

static int sum_up(const struct sim_command *command, const struct tally *tally)
{
    uint64_t took_ms = (uint64_t)clock() * 1000 / CLOCKS_PER_SEC + 1;
    uint64_t per_minute = tally->runs * 60000 / took_ms;
    uint64_t bytes_per_s = tally->cover.simulated_bytes / took_ms * 1000;
    uint32_t missed = 0;
    if (command->coverage || command->require_coverage)
        missed = sim_cover_print(stdout, &tally->cover);
    printf("%" PRIu64 " runs, %" PRIu64 " failed; %" PRIu64
           " chunks, %.1f GB simulated in %.2f s of processor time: %" PRIu64 " runs a minute, %.1f GB/s\n",
           tally->runs, tally->failures, tally->cover.chunks, (double)tally->cover.simulated_bytes / 1e9,
           (double)took_ms / 1e3, per_minute, (double)bytes_per_s / 1e9);
    if (command->expect_failure) {
        printf(tally->failures ? "noticed at run %" PRIu64 "\n" : "NOT NOTICED in %" PRIu64 " runs\n",
               tally->runs);
        return tally->failures == 0;
    }
    if (command->require_coverage && missed > 0) {
        printf("%u of the rare events were never reached\n", missed);
        return 1;
    }
    if (per_minute < command->seeds_per_minute_min || bytes_per_s < command->bytes_per_s_min) {
        printf("slower than it has to be\n");
        return 1;
    }
    return tally->failures > 0;
}

int main(int argc, char **argv)
{
    struct sim_command command;
    static struct tally tally;
    int status = sim_command_parse(&command, argc, argv);
    if (status)
        return status;
    uint64_t started_ns = stria_clock_ns();
    for (uint64_t seed = command.from; seed < command.from + command.seeds; seed++) {
        struct sim_result result;
        if (command.mode == SIM_MODE_EXHAUSTIVE)
            run_exhaustively(&command, &tally, seed);
        else
            run_seed(&command, &tally, seed, &command.options, &result);
        bool late =
            command.seconds_max && stria_clock_ns() - started_ns > command.seconds_max * 1000000000ull;
        if (tally.failures >= (command.expect_failure ? 1 : command.failures_max) || late)
            break;
    }
    return sum_up(&command, &tally);
}
