#include "config/profile.h"
#include "support/json.h"
#include "support/plain.h"
#include "support/units.h"
#include "tools/fake.h"
#include "tools/status.h"

#include <stdio.h>
#include <stdlib.h>

#define ROWS         25u
#define PARTS        16u         /* of a row at least, of which the slowest is shown beside its mean … */
#define PART_BYTES   (64u << 20) /* … and of at most this size */
#define BAR_COLUMNS  48u
#define REST_NS      (3600ull * 1000000000u)
#define BEHIND_BYTES (1u << 20) /* request that keeps the drive's queue filled */

struct row {
    uint64_t offset_bytes;
    uint64_t bytes;
    uint64_t bytes_per_s;     /* mean */
    uint64_t bytes_per_s_min; /* of its slowest part */
};

static uint64_t rate(uint64_t bytes, uint64_t ns)
{
    return ns == 0 ? 0 : (uint64_t)((double)bytes * 1e9 / (double)ns);
}

/* Writes one row's range, request behind request, from now_ns on. */
static uint64_t write_row(struct stria_model *model, uint64_t now_ns, struct row *row)
{
    const uint64_t begun_ns = now_ns;
    const uint64_t part_bytes = row->bytes / PARTS < PART_BYTES ? row->bytes / PARTS + 1 : PART_BYTES;
    uint64_t done_bytes = 0;
    row->bytes_per_s_min = UINT64_MAX;
    while (done_bytes < row->bytes) {
        const uint64_t left = row->bytes - done_bytes;
        const uint64_t bytes = left < part_bytes ? left : part_bytes;
        const uint64_t before_ns = now_ns;
        for (uint64_t at = 0; at < bytes; at += BEHIND_BYTES) {
            const uint64_t piece = bytes - at < BEHIND_BYTES ? bytes - at : BEHIND_BYTES;
            stria_model_submit(model, now_ns, STRIA_MODEL_WRITE, row->offset_bytes + done_bytes + at, piece);
            now_ns = stria_model_busy_until_ns(model);
        }
        const uint64_t here = rate(bytes, now_ns - before_ns);
        row->bytes_per_s_min = here < row->bytes_per_s_min ? here : row->bytes_per_s_min;
        done_bytes += bytes;
    }
    row->bytes_per_s = rate(row->bytes, now_ns - begun_ns);
    return now_ns;
}

/* A fill of the empty drive from one end to the other; or each place by itself, trimmed and rested before. */
static bool make_rows(const struct stria_model_parameters *parameters, bool each_by_itself,
                      struct row rows[ROWS])
{
    struct stria_model *model = malloc(sizeof(*model));
    if (!model)
        return false;
    stria_model_init(model, parameters, 1);
    uint64_t now_ns = 0;
    for (unsigned i = 0; i < ROWS; i++) {
        const uint64_t begin = parameters->capacity_bytes / ROWS * i;
        const uint64_t end =
            i + 1 == ROWS ? parameters->capacity_bytes : parameters->capacity_bytes / ROWS * (i + 1);
        rows[i] = (struct row){.offset_bytes = begin, .bytes = end - begin};
        if (each_by_itself)
            now_ns = stria_model_trim(model, now_ns, 0, parameters->capacity_bytes) + REST_NS;
        if (rows[i].bytes > 0)
            now_ns = write_row(model, now_ns, &rows[i]);
    }
    free(model);
    return true;
}

static void print_rows(const char *title, const struct row rows[ROWS])
{
    uint64_t fastest = 1;
    for (unsigned i = 0; i < ROWS; i++)
        fastest = rows[i].bytes_per_s > fastest ? rows[i].bytes_per_s : fastest;
    printf("\n  %-19s %8s %8s  %s\n", "GB", "MB/s", "lowest", title);
    for (unsigned i = 0; i < ROWS; i++) {
        const unsigned columns =
            (unsigned)((double)rows[i].bytes_per_s / (double)fastest * BAR_COLUMNS + 0.5);
        printf("  %8.4g – %-8.4g %8.1f %8.1f  ", (double)rows[i].offset_bytes / 1e9,
               (double)(rows[i].offset_bytes + rows[i].bytes) / 1e9, (double)rows[i].bytes_per_s / 1e6,
               (double)rows[i].bytes_per_s_min / 1e6);
        for (unsigned column = 0; column < columns; column++)
            fputs("█", stdout);
        fputs(columns ? "\n" : "▏\n", stdout);
    }
}

static void print_traits(const struct stria_profile *profile)
{
    const struct stria_model_parameters *p = &profile->parameters;
    char text[STRIA_UNITS_TEXT_BYTES];
    printf("%s: %s, %s\n\n", stria_shown(profile->name), stria_shown(profile->model),
           stria_size_print_both(text, sizeof(text), p->capacity_bytes));
    printf("  link at most   %s\n", stria_rate_print_both(text, sizeof(text), p->link_bytes_per_s));
    printf("  reads          %s\n", stria_rate_print_both(text, sizeof(text), p->read_bytes_per_s));
    if (p->refill_bytes_per_s > 0) {
        printf("  recovers       at %s", stria_rate_print_both(text, sizeof(text), p->refill_bytes_per_s));
        printf(", after %s of rest\n", stria_time_print_short(text, sizeof(text), p->idle_ns));
    } else {
        printf("  recovers       by trim only\n");
    }
    for (unsigned i = 0; i < p->stall_count; i++) {
        printf("  stalls         about every %s",
               stria_size_print_both(text, sizeof(text), p->stalls[i].interval_bytes_mean));
        printf(" for %s", stria_time_print_short(text, sizeof(text), p->stalls[i].length_ns_min));
        printf(" to %s\n", stria_time_print_short(text, sizeof(text), p->stalls[i].length_ns_max));
    }
    for (unsigned i = 0;
         i < STRIA_HEAT_LEVELS && p->heat.levels[i].rate_per_mille > 0 && p->heat.time_constant_ns; i++)
        printf("  throttles      at %.1f °C to %.1f %%\n", (double)p->heat.levels[i].limit_mc / 1000,
               (double)p->heat.levels[i].rate_per_mille / 10);
    if (profile->price > 0)
        printf("  price          %g\n", profile->price);
}

static void add_rows(struct json_object *document, const char *key, const struct row rows[ROWS])
{
    struct json_object *list = stria_json_add_array(document, key);
    for (unsigned i = 0; i < ROWS; i++) {
        struct json_object *object = stria_json_append_object(list);
        stria_json_add_u64(object, "offset_bytes", rows[i].offset_bytes);
        stria_json_add_u64(object, "length_bytes", rows[i].bytes);
        stria_json_add_u64(object, "bytes_per_s", rows[i].bytes_per_s);
        stria_json_add_u64(object, "bytes_per_s_min", rows[i].bytes_per_s_min);
    }
}

static void add_profile(struct json_object *object, const struct stria_profile *profile)
{
    stria_json_add_text(object, "name", profile->name);
    stria_json_add_text(object, "model", profile->model);
    stria_json_add_u64(object, "capacity_bytes", profile->parameters.capacity_bytes);
    stria_json_add_u64(object, "link_bytes_per_s", profile->parameters.link_bytes_per_s);
    stria_json_add_u64(object, "read_bytes_per_s", profile->parameters.read_bytes_per_s);
    stria_json_add_real(object, "price", profile->price > 0 ? profile->price : 0.0 / 0.0);
}

static int write_document(struct json_object *document)
{
    struct stria_trouble trouble = {0};
    const int code = stria_json_write(document, "-", &trouble);
    json_object_put(document);
    return code == STRIA_OK ? STRIA_STATUS_OK : stria_status_fail("fake", &trouble);
}

static struct json_object *new_document(void)
{
    struct json_object *document = json_object_new_object();
    if (!document)
        stria_memory_missing();
    stria_json_add_text(document, "schema", "stria.fake/1");
    return document;
}

static int show(const struct stria_profile *profile, bool json)
{
    struct row fill[ROWS], places[ROWS];
    if (!make_rows(&profile->parameters, false, fill) || !make_rows(&profile->parameters, true, places)) {
        struct stria_trouble trouble = {STRIA_ERR_NO_MEMORY, "out of memory"};
        return stria_status_fail("fake", &trouble);
    }
    if (json) {
        struct json_object *document = new_document();
        add_profile(stria_json_add_object(document, "profile"), profile);
        add_rows(document, "fill", fill);
        add_rows(document, "places", places);
        return write_document(document);
    }
    print_traits(profile);
    print_rows("filled from end to end", fill);
    if (profile->parameters.write_zones.count > 0)
        print_rows("each place by itself, trimmed and rested", places);
    return STRIA_STATUS_OK;
}

int fake_show(const char *name, const struct fake_options *options)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    const int code = stria_profile_find(name, &profile, &problems);
    int status = STRIA_STATUS_OK;
    if (code == STRIA_OK)
        status = show(&profile, options->json);
    else
        status = stria_status_fail_all("fake", code, &problems);
    stria_problems_clear(&problems);
    return status;
}

int fake_list(const struct fake_options *options)
{
    struct json_object *document = options->json ? new_document() : NULL;
    struct json_object *list = document ? stria_json_add_array(document, "profiles") : NULL;
    if (!document)
        printf("%-22s %9s  %9s %9s %9s  %s\n", "profile", "GB", "fast MB/s", "slow MB/s", "read MB/s",
               "model");
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++) {
        struct stria_profile profile;
        struct stria_problems problems = {0};
        struct row fill[ROWS];
        const int code = stria_profile_find(text->name, &profile, &problems);
        if (code != STRIA_OK || !make_rows(&profile.parameters, false, fill)) {
            json_object_put(document);
            const int status =
                stria_status_fail_all("fake", code == STRIA_OK ? STRIA_ERR_NO_MEMORY : code, &problems);
            stria_problems_clear(&problems);
            return status;
        }
        if (document)
            add_profile(stria_json_append_object(list), &profile);
        else
            printf("%-22s %9.4g  %9.1f %9.1f %9.1f  %s\n", profile.name,
                   (double)profile.parameters.capacity_bytes / 1e9, (double)fill[0].bytes_per_s / 1e6,
                   (double)fill[ROWS - 1].bytes_per_s / 1e6,
                   (double)profile.parameters.read_bytes_per_s / 1e6, stria_shown(profile.model));
    }
    return document ? write_document(document) : STRIA_STATUS_OK;
}
