/* What `stria simulate` does, one function each; each returns an exit status. */
#ifndef STRIA_TOOLS_SIMULATE_H
#define STRIA_TOOLS_SIMULATE_H

#include "config/profile.h"
#include "engine/choose.h"

#include <json-c/json.h>

/* Drives to be simulated together, in order. */
struct simulate_array {
    const char *text; /* as it was written */
    uint32_t drive_count;
    struct stria_profile *profiles[STRIA_DRIVES_MAX]; /* neighbours may be the same; owned by the job */
};

#define SIMULATE_PROFILES_MAX STRIA_KINDS_MAX
#define SIMULATE_ARRAYS_MAX   16u

struct simulate_job {
    bool json;
    double capacity_scale, rate_scale;   /* of every profile */
    struct stria_simulate_config config; /* without drives; size and rate zero where not given */
    struct stria_profile *profiles[SIMULATE_PROFILES_MAX]; /* each once; owned … */
    char *profile_names[SIMULATE_PROFILES_MAX];            /* … as the names by which they were asked for */
    uint32_t profile_count;
    struct simulate_array array;                       /* of all --drive */
    struct simulate_array arrays[SIMULATE_ARRAYS_MAX]; /* of each --compare */
    uint32_t array_count;
};

/* One recording: lossless or not, and what the drives can. */
int simulate_run(const struct simulate_job *job);

/* The fewest drives of each profile, and the cheapest mix, for the job's rate and size. */
int simulate_want(const struct simulate_job *job);

/* A table of arrays under both policies. */
int simulate_compare(const struct simulate_job *job);

/* Adds drives as "[COUNT*]PROFILE[+…]" names them to an array; profiles not seen before are read. */
int simulate_add_drives(struct simulate_job *job, struct simulate_array *array, const char *text,
                        struct stria_problems *problems);

/* The configuration with this array's drives. */
struct stria_simulate_config simulate_config_of(const struct simulate_job *job,
                                                const struct simulate_array *array);

/* As fast as the drives go, and for a buffer more than is asked about, as far as there is room: see
 * stria_simulation_curve. */
void simulate_prolong(struct stria_simulate_config *config);

/* A sentence if so many chunks, or a stream so long, are more than anybody would wait for. */
int simulate_check_extent(const struct stria_simulate_config *config, struct stria_trouble *trouble);

/* A document with its schema and what is asked; and its end: keys that were not added are there as null. */
struct json_object *simulate_document(const struct simulate_job *job);
int simulate_write_document(struct json_object *document);

/* sustained_bytes_per_s by window, from a curve. */
void simulate_add_sustained(struct json_object *object, const struct stria_curve *curve);

/* Buffers for which lossless rates are told, and the job's own among them; at most
 * SIMULATE_BUFFERS_MAX, rising. Returns how many. */
#define SIMULATE_BUFFERS_MAX 8u
uint32_t simulate_buffers(const struct simulate_job *job, uint64_t buffers[SIMULATE_BUFFERS_MAX]);

/* "2 × samsung-980 + samsung-sm961". */
void simulate_print_drives(struct stria_profile *const *profiles, uint32_t count, char *out, size_t size);

#endif
