/* Arrays against each other, by average, by minimum, and by what sensor they carry. */
#include "core/ratio.h"
#include "support/json.h"
#include "support/units.h"
#include "tools/simulate.h"
#include "tools/status.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SIZES_MAX 3u
#define POLICIES  2u

static const enum stria_policy policies[POLICIES] = {STRIA_POLICY_RAID0, STRIA_POLICY_ADAPTIVE};

enum figure { FIGURE_MEAN, FIGURE_MINIMUM, FIGURE_LOSSLESS, FIGURES };

static const char *const figure_keys[FIGURES] = {"mean_bytes_per_s", "minimum_bytes_per_s",
                                                 "lossless_bytes_per_s"};

/* Of one array under one policy at one size; zero where it does not hold as much. */
struct cell {
    uint64_t figures[FIGURES];
};

struct table {
    uint32_t size_count;
    uint64_t sizes[SIZES_MAX];
    struct cell cells[SIMULATE_ARRAYS_MAX][SIZES_MAX][POLICIES];
};

static void choose_sizes(const struct simulate_job *job, struct table *table)
{
    static const uint64_t usual[SIZES_MAX] = {100000000000, 200000000000, 400000000000};
    table->size_count = job->config.size_bytes > 0 ? 1 : SIZES_MAX;
    for (uint32_t i = 0; i < table->size_count; i++)
        table->sizes[i] = job->config.size_bytes > 0
                              ? job->config.size_bytes
                              : (uint64_t)((double)usual[i] * job->capacity_scale + 0.5);
}

static void measure(const struct stria_simulation *simulation, uint64_t size_bytes, uint64_t buffer_bytes,
                    struct cell *cell)
{
    uint64_t duration_ns;
    struct stria_sustained_figure second = {0};
    uint64_t lossless = 0;
    if (simulation->stored_bytes < size_bytes)
        return;
    const struct stria_curve curve = stria_simulation_curve(simulation, size_bytes, &duration_ns);
    if (duration_ns > 0)
        cell->figures[FIGURE_MEAN] = stria_ratio_bytes_per_s(size_bytes, duration_ns);
    if (stria_sustained_of_curve(&curve, STRIA_SECOND_NS, &second))
        cell->figures[FIGURE_MINIMUM] = second.bytes_per_s;
    if (stria_simulation_lossless(simulation, size_bytes, buffer_bytes, &lossless))
        cell->figures[FIGURE_LOSSLESS] = lossless;
}

/* One run at the largest size that the array holds shows all the sizes. */
static int fill_array(const struct simulate_job *job, uint32_t index, uint32_t policy, struct table *table,
                      struct stria_trouble *trouble)
{
    struct stria_simulate_config config = simulate_config_of(job, &job->arrays[index]);
    struct stria_simulation simulation;
    config.policy = policies[policy];
    config.size_bytes = table->sizes[table->size_count - 1];
    simulate_prolong(&config);
    int code = simulate_check_extent(&config, trouble);
    if (code == STRIA_OK)
        code = stria_simulate(&config, &simulation, trouble);
    if (code != STRIA_OK)
        return code;
    for (uint32_t size = 0; size < table->size_count; size++)
        measure(&simulation, table->sizes[size], config.buffer_bytes, &table->cells[index][size][policy]);
    stria_simulation_clear(&simulation);
    return STRIA_OK;
}

/* The array of the highest figure, or array_count where none holds as much. */
static uint32_t winner(const struct simulate_job *job, const struct table *table, uint32_t size,
                       uint32_t policy, enum figure figure)
{
    uint32_t best = job->array_count;
    uint64_t highest = 0;
    for (uint32_t i = 0; i < job->array_count; i++) {
        if (table->cells[i][size][policy].figures[figure] > highest) {
            highest = table->cells[i][size][policy].figures[figure];
            best = i;
        }
    }
    return best;
}

static void add_winners(struct json_object *row, const struct simulate_job *job, const struct table *table,
                        uint32_t size, uint32_t policy)
{
    struct json_object *object = stria_json_add_object(row, "best");
    for (unsigned figure = 0; figure < FIGURES; figure++) {
        const uint32_t best = winner(job, table, size, policy, (enum figure)figure);
        stria_json_add_text(object, figure_keys[figure],
                            best < job->array_count ? job->arrays[best].text : NULL);
    }
}

static int write_table(const struct simulate_job *job, const struct table *table)
{
    struct json_object *document = simulate_document(job);
    struct json_object *rows = stria_json_add_array(document, "compare");
    for (uint32_t size = 0; size < table->size_count; size++) {
        for (uint32_t policy = 0; policy < POLICIES; policy++) {
            struct json_object *row = stria_json_append_object(rows);
            stria_json_add_u64(row, "size_bytes", table->sizes[size]);
            stria_json_add_text(row, "policy", stria_policy_text(policies[policy]));
            struct json_object *arrays = stria_json_add_array(row, "arrays");
            for (uint32_t i = 0; i < job->array_count; i++) {
                const struct cell *cell = &table->cells[i][size][policy];
                struct json_object *array = stria_json_append_object(arrays);
                stria_json_add_text(array, "array", job->arrays[i].text);
                for (unsigned figure = 0; figure < FIGURES; figure++)
                    stria_json_add_figure(array, figure_keys[figure], cell->figures[figure] > 0,
                                          cell->figures[figure]);
            }
            add_winners(row, job, table, size, policy);
        }
    }
    return simulate_write_document(document);
}

static void print_row(const struct simulate_job *job, const struct table *table, uint32_t size,
                      uint32_t policy, uint32_t array)
{
    char drives[1024];
    simulate_print_drives(job->arrays[array].profiles, job->arrays[array].drive_count, drives,
                          sizeof(drives));
    printf("| %g GB | %s | %s |", (double)table->sizes[size] / 1e9, stria_policy_text(policies[policy]),
           drives);
    for (unsigned figure = 0; figure < FIGURES; figure++) {
        const uint64_t value = table->cells[array][size][policy].figures[figure];
        const char *mark = winner(job, table, size, policy, (enum figure)figure) == array ? "**" : "";
        if (value > 0)
            printf(" %s%" PRIu64 "%s |", mark, (value + 500000) / 1000000, mark);
        else
            printf(" - |");
    }
    printf("\n");
}

/* In Markdown, so that it can go into a report as it is. */
static void print_table(const struct simulate_job *job, const struct table *table)
{
    char buffer[STRIA_UNITS_TEXT_BYTES];
    printf("| recorded | policy | array | average MB/s | minimum MB/s (1 s) | lossless MB/s (%s) |\n",
           stria_size_print(buffer, sizeof(buffer), job->config.buffer_bytes));
    printf("| ---: | --- | --- | ---: | ---: | ---: |\n");
    for (uint32_t size = 0; size < table->size_count; size++)
        for (uint32_t policy = 0; policy < POLICIES; policy++)
            for (uint32_t array = 0; array < job->array_count; array++)
                print_row(job, table, size, policy, array);
}

int simulate_compare(const struct simulate_job *job)
{
    struct table *table = calloc(1, sizeof(*table));
    struct stria_trouble trouble = {STRIA_ERR_NO_MEMORY, "out of memory"};
    int code = table ? STRIA_OK : STRIA_ERR_NO_MEMORY;
    int status = STRIA_STATUS_OK;
    if (code == STRIA_OK)
        choose_sizes(job, table);
    for (uint32_t array = 0; array < job->array_count; array++)
        for (uint32_t policy = 0; policy < POLICIES && code == STRIA_OK; policy++)
            code = fill_array(job, array, policy, table, &trouble);
    if (code != STRIA_OK)
        status = stria_status_fail("simulate", &trouble);
    else if (job->json)
        status = write_table(job, table);
    else
        print_table(job, table);
    free(table);
    return status;
}
