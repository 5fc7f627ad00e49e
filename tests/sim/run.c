#include "tests/sim/run.h"

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

/* Processor time after which a run is taken for one that never ends. */
#define RUN_SECONDS_MAX 60

static sigjmp_buf trapped;

static void on_trap(int number)
{
    siglongjmp(trapped, number);
}

static void catch_traps(void)
{
    static const int signals[] = {SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGFPE, SIGVTALRM};
    struct sigaction action = {.sa_handler = on_trap, .sa_flags = SA_NODEFER};
    for (size_t index = 0; index < sizeof(signals) / sizeof(signals[0]); index++)
        sigaction(signals[index], &action, NULL);
}

struct sim_result sim_run(uint64_t seed, const struct sim_options *options, struct sim_cover *cover,
                          FILE *trace)
{
    static struct sim_world *world;
    struct sim_result result = {.failure = ""};
    struct sim_scenario scenario = sim_scenario_make(seed, options);
    const struct itimerval limit = {.it_value.tv_sec = RUN_SECONDS_MAX};
    catch_traps();
    setitimer(ITIMER_VIRTUAL, &limit, NULL);
    world = calloc(1, sizeof(*world));
    world->cover = cover;
    world->trace.out = trace;
    int number = sigsetjmp(trapped, 1);
    if (number == 0) {
        sim_world_run(world, &scenario);
        snprintf(result.failure, sizeof(result.failure), "%s", world->failure);
        result.hash = world->trace.hash;
        result.steps = world->step;
        sim_world_free(world);
        free(world);
    } else {
        /* What the trap left is not to be trusted, so its memory is not given back. */
        snprintf(result.failure, sizeof(result.failure),
                 "an assertion failed, memory was violated or there is no end: %s", strsignal(number));
        result.steps = world->step;
    }
    return result;
}

static bool fails(uint64_t seed, const struct sim_options *options)
{
    struct sim_cover cover = {0};
    return sim_run(seed, options, &cover, NULL).failure[0] != 0;
}

static bool try_number(uint64_t seed, struct sim_options *options, uint32_t *number, uint32_t value)
{
    uint32_t old = *number;
    if (value == 0 || value == old)
        return false;
    *number = value;
    if (fails(seed, options))
        return true;
    *number = old;
    return false;
}

/* The smallest value that still fails, as halving finds it. */
static bool lower(uint64_t seed, struct sim_options *options, uint32_t *number, uint32_t now)
{
    bool moved = false;
    for (uint32_t step = now / 2; step > 0; step /= 2)
        while (now > step && try_number(seed, options, number, now - step)) {
            now -= step;
            moved = true;
        }
    return moved;
}

static bool drop_faults(uint64_t seed, struct sim_options *options)
{
    bool moved = false;
    struct sim_scenario scenario = sim_scenario_make(seed, options);
    for (uint32_t fault = 0; fault < SIM_FAULTS; fault++) {
        if (!scenario.faults[fault])
            continue;
        struct sim_options old = *options;
        options->without[fault] = true;
        options->with[fault] = false;
        if (fails(seed, options))
            moved = true;
        else
            *options = old;
    }
    return moved;
}

void sim_shrink(uint64_t seed, struct sim_options *options)
{
    bool moved = true;
    while (moved) {
        struct sim_scenario scenario = sim_scenario_make(seed, options);
        moved = drop_faults(seed, options);
        moved |= lower(seed, options, &options->lives, scenario.lives);
        moved |= lower(seed, options, &options->chunks, scenario.chunks);
        moved |= lower(seed, options, &options->drives, scenario.drive_count);
    }
}
