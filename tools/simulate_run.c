/* One recording, simulated: as fast as the drives go, then with the sensor, then on until it ends by itself.
 */
#include "core/ratio.h"
#include "support/json.h"
#include "tools/simulate_answer.h"
#include "tools/status.h"

#include <pthread.h>

/* The end of a recording that nobody would make is looked for in larger steps, with as many bytes in flight:
 * at most so much larger. */
#define COARSE 8u

/* As fast as the drives go: no more than fits, since what does not fit is no matter of speed. */
static int run_free(const struct stria_simulate_config *asked, struct simulate_answer *answer,
                    struct stria_trouble *trouble)
{
    struct stria_simulate_config config = *asked;
    const uint64_t capacity = stria_simulate_capacity_bytes(asked);
    simulate_prolong(&config);
    const int code = stria_simulate(&config, &answer->free_run, trouble);
    if (code != STRIA_OK)
        return code;
    uint64_t bytes = asked->size_bytes > 0 && asked->size_bytes < capacity ? asked->size_bytes : capacity;
    if (asked->duration_ns > 0 && answer->free_run.stream_bytes < bytes)
        bytes = 0;
    answer->recorded_bytes = bytes;
    answer->curve = stria_simulation_curve(&answer->free_run, bytes, &answer->curve_ns);
    answer->curve_bytes = bytes;
    if (bytes == 0) {
        /* Not what had come, of which a buffer was still to be stored. */
        answer->curve_ns = answer->curve.count * answer->curve.interval_ns;
        for (uint32_t bin = 0; bin < answer->curve.count; bin++)
            answer->curve_bytes += answer->curve.bins[bin];
    }
    return STRIA_OK;
}

static struct stria_simulate_config coarser(const struct stria_simulate_config *asked)
{
    struct stria_simulate_config config = *asked;
    const uint64_t slots = config.buffer_bytes / config.chunk_bytes;
    uint32_t times = COARSE;
    while (times > 1 && (config.chunk_bytes * times > STRIA_CHUNK_BYTES_MAX || config.depth % times != 0 ||
                         slots / times < 8 * config.drive_count))
        times /= 2;
    config.chunk_bytes *= times;
    if (times > 1)
        config.depth = config.depth / times < 2 ? 2 : config.depth / times;
    return config;
}

static void set_limit(struct simulate_answer *answer, const struct stria_simulation *simulation)
{
    answer->limit_known = true;
    answer->limit_full = simulation->lossless || simulation->first_loss.cause == STRIA_GAP_FULL;
    answer->limit_ns = simulation->lossless ? simulation->source_ns : simulation->first_loss.time_ns;
    answer->limit_bytes =
        simulation->lossless ? simulation->stored_bytes : simulation->first_loss.offset_bytes;
}

/* Until when a recording at this rate could go on. */
static int find_limit(const struct stria_simulate_config *asked, struct simulate_answer *answer,
                      struct stria_trouble *trouble)
{
    if (!answer->paced.lossless || answer->paced.stream_bytes >= answer->paced.capacity_bytes) {
        set_limit(answer, &answer->paced);
        return STRIA_OK;
    }
    struct stria_simulate_config config = coarser(asked);
    struct stria_simulation simulation;
    config.size_bytes = 0;
    config.stop_at_loss = true;
    /* Nothing that goes on for years is worth the wait. */
    if (simulate_check_extent(&config, NULL) != STRIA_OK)
        return STRIA_OK;
    const int code = stria_simulate(&config, &simulation, trouble);
    if (code != STRIA_OK)
        return code;
    set_limit(answer, &simulation);
    stria_simulation_clear(&simulation);
    return STRIA_OK;
}

struct free_run {
    const struct stria_simulate_config *config;
    struct simulate_answer *answer;
    int code;
    struct stria_trouble trouble;
};

static void *run_free_beside(void *context)
{
    struct free_run *run = context;
    run->code = run_free(run->config, run->answer, &run->trouble);
    return NULL;
}

static int run_paced(const struct stria_simulate_config *config, struct simulate_answer *answer,
                     struct stria_trouble *trouble)
{
    if (config->rate_bytes_per_s == 0)
        return STRIA_OK;
    const int code = stria_simulate(config, &answer->paced, trouble);
    return code == STRIA_OK ? find_limit(config, answer, trouble) : code;
}

/* The runs with and without the sensor know nothing of each other: a core each. */
static int answer_all(const struct simulate_job *job, struct simulate_answer *answer,
                      struct stria_trouble *trouble)
{
    const struct stria_simulate_config config = simulate_config_of(job, &job->array);
    struct free_run beside = {.config = &config, .answer = answer};
    pthread_t thread;
    int code = simulate_check_extent(&config, trouble);
    if (code != STRIA_OK)
        return code;
    answer->rate_bytes_per_s = config.rate_bytes_per_s;
    answer->array = &job->array;
    const bool threaded = pthread_create(&thread, NULL, run_free_beside, &beside) == 0;
    if (!threaded)
        run_free_beside(&beside);
    code = run_paced(&config, answer, trouble);
    if (threaded)
        pthread_join(thread, NULL);
    if (beside.code != STRIA_OK)
        *trouble = beside.trouble;
    return beside.code != STRIA_OK ? beside.code : code;
}

int simulate_run(const struct simulate_job *job)
{
    struct simulate_answer answer = {0};
    struct stria_trouble trouble = {0};
    const int code = answer_all(job, &answer, &trouble);
    int status = STRIA_STATUS_OK;
    if (code != STRIA_OK)
        status = stria_status_fail("simulate", &trouble);
    else if (job->json)
        status = simulate_write_answer(job, &answer);
    else
        simulate_print_answer(job, &answer);
    if (status == STRIA_STATUS_OK && answer.rate_bytes_per_s > 0 && !answer.paced.lossless)
        status = STRIA_STATUS_NOT_WHOLE;
    stria_simulation_clear(&answer.free_run);
    stria_simulation_clear(&answer.paced);
    return status;
}
