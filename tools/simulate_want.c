/* Which drives carry a sensor. */
#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/simulate.h"
#include "tools/status.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct wants {
    struct stria_choice of_kind[SIMULATE_PROFILES_MAX]; /* by profile of the job */
    struct stria_choice mix;
    bool priced; /* some profile has a price, so that there is a mix */
};

/* Profiles are tried side by side, as many as there are cores. */
struct search {
    const struct simulate_job *job;
    struct wants *wants;
    struct stria_kind kinds[SIMULATE_PROFILES_MAX];
    pthread_mutex_t lock; /* for all below */
    uint32_t next, done;
    int code;
    struct stria_trouble trouble;
};

static void show_progress(const struct search *search)
{
    if (isatty(STDERR_FILENO))
        fprintf(stderr, "\rtried %" PRIu32 " of %" PRIu32 " profiles%s", search->done,
                search->job->profile_count, search->done == search->job->profile_count ? "\r\033[K" : "");
}

static void *search_profiles(void *context)
{
    struct search *search = context;
    const struct stria_simulate_config config = search->job->config;
    pthread_mutex_lock(&search->lock);
    while (search->next < search->job->profile_count && search->code == STRIA_OK) {
        const uint32_t kind = search->next++;
        struct stria_trouble trouble = {0};
        pthread_mutex_unlock(&search->lock);
        const int code =
            stria_choose_fewest(&config, &search->kinds[kind], &search->wants->of_kind[kind], &trouble);
        pthread_mutex_lock(&search->lock);
        search->done++;
        if (code != STRIA_OK && search->code == STRIA_OK) {
            search->code = code;
            search->trouble = trouble;
        }
        show_progress(search);
    }
    pthread_mutex_unlock(&search->lock);
    return NULL;
}

static int find_of_each_kind(struct search *search)
{
    pthread_t threads[SIMULATE_PROFILES_MAX];
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint32_t beside = 0;
    while (beside + 1 < search->job->profile_count && (long)beside + 1 < cores &&
           pthread_create(&threads[beside], NULL, search_profiles, search) == 0)
        beside++;
    search_profiles(search);
    while (beside > 0)
        pthread_join(threads[--beside], NULL);
    return search->code;
}

static int find(const struct simulate_job *job, struct wants *wants, struct stria_trouble *trouble)
{
    struct search search = {.job = job, .wants = wants, .lock = PTHREAD_MUTEX_INITIALIZER};
    for (uint32_t i = 0; i < job->profile_count; i++) {
        search.kinds[i] = (struct stria_kind){&job->profiles[i]->parameters, job->profiles[i]->price};
        wants->priced |= search.kinds[i].price > 0;
    }
    int code = find_of_each_kind(&search);
    if (code != STRIA_OK)
        *trouble = search.trouble;
    else if (wants->priced)
        code = stria_choose_cheapest(&job->config, search.kinds, job->profile_count, &wants->mix, trouble);
    return code;
}

static bool any_found(const struct simulate_job *job, const struct wants *wants)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): the caller has allocated it */
    bool found = wants->mix.found;
    for (uint32_t i = 0; i < job->profile_count; i++)
        found |= wants->of_kind[i].found;
    return found;
}

/* The drives of a choice that may be a mix: counts are by profile of the job. */
static uint32_t drives_of(const struct simulate_job *job, const struct stria_choice *choice,
                          struct stria_profile *profiles[STRIA_DRIVES_MAX])
{
    uint32_t count = 0;
    for (uint32_t kind = 0; kind < job->profile_count; kind++)
        for (uint32_t i = 0; i < choice->counts[kind]; i++)
            profiles[count++] = job->profiles[kind];
    return count;
}

static void add_choice(struct json_object *object, const struct stria_choice *choice)
{
    stria_json_add_figure(object, "drives", choice->found, choice->drive_count);
    stria_json_add_figure(object, "buffer_bytes", choice->found, choice->buffer_bytes);
    stria_json_add_real(object, "price", choice->found && choice->price > 0 ? choice->price : NAN);
}

static int write_wants(const struct simulate_job *job, const struct wants *wants)
{
    struct json_object *document = simulate_document(job);
    struct json_object *want = stria_json_add_object(document, "want");
    struct json_object *list = stria_json_add_array(want, "profiles");
    for (uint32_t i = 0; i < job->profile_count; i++) {
        struct json_object *object = stria_json_append_object(list);
        stria_json_add_text(object, "profile", job->profiles[i]->name);
        add_choice(object, &wants->of_kind[i]);
    }
    if (!wants->mix.found) {
        stria_json_add_text(want, "cheapest", NULL);
        return simulate_write_document(document);
    }
    struct json_object *cheapest = stria_json_add_object(want, "cheapest");
    struct json_object *mix = stria_json_add_object(cheapest, "mix");
    for (uint32_t i = 0; i < job->profile_count; i++)
        if (wants->mix.counts[i] > 0)
            stria_json_add_u64(mix, job->profile_names[i], wants->mix.counts[i]);
    add_choice(cheapest, &wants->mix);
    return simulate_write_document(document);
}

static void print_wants(const struct simulate_job *job, const struct wants *wants)
{
    char rate[STRIA_UNITS_TEXT_BYTES], size[STRIA_UNITS_TEXT_BYTES];
    printf("for a sensor of %s", stria_rate_print_both(rate, sizeof(rate), job->config.rate_bytes_per_s));
    printf(" and %s, %s, with a buffer of at most %s\n\n",
           stria_size_print_both(size, sizeof(size), job->config.size_bytes),
           stria_policy_text(job->config.policy),
           stria_size_print_both(rate, sizeof(rate), job->config.buffer_bytes));
    printf("  %-24s %6s %14s %10s\n", "profile", "drives", "buffer MiB", "price");
    for (uint32_t i = 0; i < job->profile_count; i++) {
        const struct stria_choice *choice = &wants->of_kind[i];
        if (!choice->found) {
            printf("  %-24s %6s\n", stria_shown(job->profiles[i]->name), "none");
            continue;
        }
        printf("  %-24s %6" PRIu32 " %14.0f ", stria_shown(job->profiles[i]->name), choice->drive_count,
               (double)choice->buffer_bytes / (1 << 20));
        if (choice->price > 0)
            printf("%10.2f\n", choice->price);
        else
            printf("%10s\n", "-");
    }
    if (wants->mix.found) {
        struct stria_profile *profiles[STRIA_DRIVES_MAX];
        char drives[1024];
        simulate_print_drives(profiles, drives_of(job, &wants->mix, profiles), drives, sizeof(drives));
        printf("\ncheapest: %s for %.2f, with a buffer of %s\n", drives, wants->mix.price,
               stria_size_print_both(size, sizeof(size), wants->mix.buffer_bytes));
    }
    if (!any_found(job, wants))
        printf("\nno number of these drives up to %u carries it\n", STRIA_DRIVES_MAX);
}

int simulate_want(const struct simulate_job *job)
{
    struct wants *wants = calloc(1, sizeof(*wants));
    struct stria_trouble trouble = {STRIA_ERR_NO_MEMORY, "out of memory"};
    int code = wants ? STRIA_OK : STRIA_ERR_NO_MEMORY;
    int status = STRIA_STATUS_OK;
    if (code == STRIA_OK)
        code = find(job, wants, &trouble);
    if (code != STRIA_OK)
        status = stria_status_fail("simulate", &trouble);
    else if (job->json)
        status = write_wants(job, wants);
    else
        print_wants(job, wants);
    if (status == STRIA_STATUS_OK && !any_found(job, wants))
        status = STRIA_STATUS_NOT_WHOLE;
    free(wants);
    return status;
}
