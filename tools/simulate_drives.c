/* Which drives are simulated, and what the three ways to ask have in common. */
#include "core/ratio.h"
#include "support/json.h"
#include "support/units.h"
#include "tools/simulate.h"
#include "tools/status.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_NS ((uint64_t)366 * 86400 * 1000000000)

static int read_profile(struct simulate_job *job, const char *name, struct stria_profile *profile,
                        struct stria_problems *problems)
{
    struct stria_trouble trouble = {0};
    int code = stria_profile_find(name, profile, problems);
    if (code != STRIA_OK)
        return code;
    code = stria_profile_scale(profile, job->capacity_scale, job->rate_scale, &trouble);
    if (code != STRIA_OK)
        stria_problems_add(problems, "%s", trouble.sentence);
    return code;
}

/* The profile of that name in the job, read if it is not there yet; null with a problem told. */
static struct stria_profile *profile_of(struct simulate_job *job, const char *name, int *code,
                                        struct stria_problems *problems)
{
    for (uint32_t i = 0; i < job->profile_count; i++)
        if (strcmp(job->profile_names[i], name) == 0)
            return job->profiles[i];
    if (job->profile_count == SIMULATE_PROFILES_MAX) {
        stria_problems_add(problems, "more than %u different profiles cannot be simulated at once",
                           SIMULATE_PROFILES_MAX);
        *code = STRIA_ERR_INVALID;
        return NULL;
    }
    struct stria_profile *profile = malloc(sizeof(*profile));
    char *kept = strdup(name);
    *code = profile && kept ? read_profile(job, name, profile, problems) : STRIA_ERR_NO_MEMORY;
    if (*code != STRIA_OK) {
        free(profile);
        free(kept);
        return NULL;
    }
    job->profile_names[job->profile_count] = kept;
    job->profiles[job->profile_count++] = profile;
    return profile;
}

static int add_drives(struct simulate_job *job, struct simulate_array *array, const char *term,
                      struct stria_problems *problems)
{
    int code = STRIA_OK;
    uint64_t count = 1;
    const size_t digits = strspn(term, "0123456789");
    const bool counted = digits > 0 && (term[digits] == '*' || strncmp(term + digits, "×", 2) == 0);
    if (counted)
        count = digits < 4 ? strtoull(term, NULL, 10) : UINT64_MAX;
    const char *name = counted ? term + digits + (term[digits] == '*' ? 1 : 2) : term;
    if (count == 0 || count > STRIA_DRIVES_MAX - array->drive_count) {
        stria_problems_add(problems, "'%.200s' makes an array of no drives, or of more than %u: name 1 to %u",
                           array->text, STRIA_DRIVES_MAX, STRIA_DRIVES_MAX);
        return STRIA_ERR_INVALID;
    }
    struct stria_profile *profile = profile_of(job, name, &code, problems);
    for (; code == STRIA_OK && count > 0; count--)
        array->profiles[array->drive_count++] = profile;
    return code;
}

int simulate_add_drives(struct simulate_job *job, struct simulate_array *array, const char *text,
                        struct stria_problems *problems)
{
    int code = STRIA_OK;
    char *terms = strdup(text);
    char *rest = terms;
    array->text = text;
    if (!terms)
        return STRIA_ERR_NO_MEMORY;
    for (char *term = strsep(&rest, "+"); term && code == STRIA_OK; term = strsep(&rest, "+"))
        code = add_drives(job, array, term, problems);
    free(terms);
    return code;
}

struct stria_simulate_config simulate_config_of(const struct simulate_job *job,
                                                const struct simulate_array *array)
{
    struct stria_simulate_config config = job->config;
    config.drive_count = array->drive_count;
    for (uint32_t i = 0; i < array->drive_count; i++)
        config.drives[i] = &array->profiles[i]->parameters;
    return config;
}

void simulate_prolong(struct stria_simulate_config *config)
{
    const uint64_t capacity = stria_simulate_capacity_bytes(config);
    config->rate_bytes_per_s = 0;
    if (config->size_bytes > 0 && config->size_bytes < capacity)
        config->size_bytes += config->buffer_bytes;
    if (config->size_bytes > capacity)
        config->size_bytes = capacity;
}

int simulate_check_extent(const struct stria_simulate_config *config, struct stria_trouble *trouble)
{
    const uint64_t capacity = stria_simulate_capacity_bytes(config);
    const uint64_t size = config->size_bytes && config->size_bytes < capacity ? config->size_bytes : capacity;
    if (size / config->chunk_bytes > STRIA_SIMULATE_CHUNKS_MAX)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "a recording of %" PRIu64 " chunks is more than can be simulated: give a "
                                 "--size, a larger --chunk or a smaller --capacity-scale",
                                 size / config->chunk_bytes);
    if (config->rate_bytes_per_s > 0 &&
        stria_ratio_scale(config->size_bytes > size ? config->size_bytes : size, STRIA_SECOND_NS,
                          config->rate_bytes_per_s) > STREAM_NS)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "a recording of more than a year cannot be simulated: give a shorter "
                                 "--duration, a smaller --size or a higher --rate");
    return STRIA_OK;
}

uint32_t simulate_buffers(const struct simulate_job *job, uint64_t buffers[SIMULATE_BUFFERS_MAX])
{
    uint32_t count = 0;
    bool own = false;
    for (uint64_t bytes = (uint64_t)64 << 20; bytes <= (uint64_t)16 << 30; bytes *= 4) {
        if (!own && job->config.buffer_bytes <= bytes) {
            own = true;
            buffers[count++] = job->config.buffer_bytes;
        }
        if (bytes != job->config.buffer_bytes)
            buffers[count++] = bytes;
    }
    if (!own)
        buffers[count++] = job->config.buffer_bytes;
    return count;
}

void simulate_print_drives(struct stria_profile *const *profiles, uint32_t count, char *out, size_t size)
{
    size_t length = 0;
    out[0] = '\0';
    for (uint32_t first = 0, next; first < count && length < size; first = next) {
        for (next = first; next < count && profiles[next] == profiles[first];)
            next++;
        const int added =
            next - first == 1
                ? snprintf(out + length, size - length, "%s%s", first ? " + " : "", profiles[first]->name)
                : snprintf(out + length, size - length, "%s%" PRIu32 " × %s", first ? " + " : "",
                           next - first, profiles[first]->name);
        length += (size_t)added;
    }
}

void simulate_add_sustained(struct json_object *object, const struct stria_curve *curve)
{
    struct json_object *sustained = stria_json_add_object(object, "sustained_bytes_per_s");
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        struct stria_sustained_figure figure = {0};
        char key[16];
        snprintf(key, sizeof(key), "%" PRIu32 "s", stria_sustained_windows_s[window]);
        const bool known =
            stria_sustained_of_curve(curve, stria_sustained_windows_s[window] * STRIA_SECOND_NS, &figure);
        stria_json_add_figure(sustained, key, known, figure.bytes_per_s);
    }
}

struct json_object *simulate_document(const struct simulate_job *job)
{
    const struct stria_simulate_config *config = &job->config;
    struct json_object *document = json_object_new_object();
    if (!document)
        stria_memory_missing();
    stria_json_add_text(document, "schema", "stria.simulate/1");
    struct json_object *asked = stria_json_add_object(document, "asked");
    stria_json_add_figure(asked, "rate_bytes_per_s", config->rate_bytes_per_s > 0, config->rate_bytes_per_s);
    stria_json_add_figure(asked, "size_bytes", config->size_bytes > 0, config->size_bytes);
    stria_json_add_text(asked, "policy", stria_policy_text(config->policy));
    stria_json_add_u64(asked, "buffer_bytes", config->buffer_bytes);
    stria_json_add_u64(asked, "chunk_bytes", config->chunk_bytes);
    stria_json_add_u64(asked, "depth", config->depth);
    stria_json_add_u64(asked, "seed", config->seed);
    return document;
}

int simulate_write_document(struct json_object *document)
{
    static const char *const keys[] = {"verdict",
                                       "stream_bytes",
                                       "stored_bytes",
                                       "dropped_bytes",
                                       "duration_ns",
                                       "first_loss",
                                       "limit",
                                       "capacity_bytes",
                                       "mean_bytes_per_s",
                                       "lossless_bytes_per_s",
                                       "sustained_bytes_per_s",
                                       "buffer",
                                       "drives",
                                       "series",
                                       "want",
                                       "compare"};
    struct stria_trouble trouble = {0};
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        if (!json_object_object_get_ex(document, keys[i], NULL))
            stria_json_add_text(document, keys[i], NULL);
    const int code = stria_json_write(document, "-", &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("simulate", &trouble);
}
