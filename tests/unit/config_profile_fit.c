#include "config/profile_fit.h"
#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MB        1000000ull
#define GB        1000000000ull
#define SECOND_NS 1000000000ull

static struct stria_profile profile, fitted;
static struct stria_problems problems;
static struct stria_trouble trouble;
static struct stria_model model;

static void find(const char *name)
{
    cr_assert_eq(stria_profile_find(name, &profile, &problems), STRIA_OK);
}

/* A linear fill of an empty drive in virtual time, by bins of so long. */
static size_t measure(const struct stria_model_parameters *parameters, uint64_t bytes, uint64_t bin_ns,
                      struct stria_fit_bin *bins, size_t max)
{
    uint64_t ends_ns[8] = {0};
    size_t count = 0;
    stria_model_init(&model, parameters, 1);
    for (uint64_t at = 0, i = 0; at < bytes; at += MB, i++) {
        ends_ns[i % 8] = stria_model_submit(&model, ends_ns[i % 8], STRIA_MODEL_WRITE, at, MB);
        const size_t bin = ends_ns[i % 8] / bin_ns;
        cr_assert_lt(bin, max);
        while (count <= bin)
            bins[count++] = (struct stria_fit_bin){0, bin_ns};
        bins[bin].bytes += MB;
    }
    return count;
}

static double time_to_write_s(const struct stria_model_parameters *parameters, uint64_t bytes)
{
    uint64_t end_ns = 0;
    stria_model_init(&model, parameters, 1);
    for (uint64_t at = 0; at < bytes; at += 8 * MB)
        end_ns = stria_model_submit(&model, 0, STRIA_MODEL_WRITE, at, 8 * MB);
    return (double)end_ns / 1e9;
}

Test(config_profile_fit, a_fitted_profile_takes_as_long_as_the_measured_drive_at_every_size)
{
    static struct stria_fit_bin bins[20000];
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++) {
        find(text->name);
        cr_assert_eq(stria_profile_scale(&profile, 0.02, 0.1, &trouble), STRIA_OK);
        const struct stria_model_parameters *real = &profile.parameters;
        const uint64_t bytes = real->capacity_bytes / 10 * 7;
        const size_t count = measure(real, bytes, SECOND_NS, bins, 20000);
        const int code = stria_profile_fit(bins, count, "x", real->capacity_bytes, &fitted, &trouble);
        cr_assert_eq(code, STRIA_OK, "%s: %s", text->name, trouble.sentence);
        cr_assert_leq(fitted.parameters.law.step_count, STRIA_FIT_STEPS_MAX);
        for (unsigned tenth = 1; tenth <= 10; tenth++) {
            const double measured_s = time_to_write_s(real, bytes / 10 * tenth);
            const double fitted_s = time_to_write_s(&fitted.parameters, bytes / 10 * tenth);
            cr_assert_float_eq(fitted_s / measured_s, 1.0, 0.05, "%s to %u/10: %.2f s instead of %.2f",
                               text->name, tenth, fitted_s, measured_s);
        }
    }
}

Test(config_profile_fit, a_flat_and_noisy_drive_becomes_one_step)
{
    static struct stria_fit_bin bins[1000];
    struct stria_random random;
    stria_random_seed(&random, 3);
    for (unsigned i = 0; i < 1000; i++)
        bins[i] = (struct stria_fit_bin){stria_random_between(&random, 90, 110) * MB, SECOND_NS / 10};
    cr_assert_eq(stria_profile_fit(bins, 1000, "Flat", 0, &fitted, &trouble), STRIA_OK);
    cr_assert_eq(fitted.parameters.law.step_count, 1);
    cr_assert_float_eq((double)fitted.parameters.law.steps[0].bytes_per_s, 1e9, 1e7);
    cr_assert_str_eq(fitted.model, "Flat");
}

Test(config_profile_fit, counting_whole_chunks_in_short_bins_makes_no_steps)
{
    static struct stria_fit_bin bins[400];
    uint64_t counted = 0;
    for (unsigned i = 0; i < 400; i++) {
        /* 7.6 chunks of 1 MiB in each bin, then 2.3. */
        const uint64_t chunks = (i < 200 ? (i + 1) * 76 : 200 * 76 + (i - 199) * 23) / 10;
        bins[i] = (struct stria_fit_bin){(chunks - counted) << 20, SECOND_NS / 10};
        counted = chunks;
    }
    cr_assert_eq(stria_profile_fit(bins, 400, "x", 0, &fitted, &trouble), STRIA_OK);
    cr_assert_eq(fitted.parameters.law.step_count, 2);
    cr_assert_float_eq((double)fitted.parameters.law.steps[0].bytes_per_s, 76 * 1048576.0, 1e6);
    cr_assert_float_eq((double)fitted.parameters.law.steps[1].bytes_per_s, 23 * 1048576.0, 1e6);
}

Test(config_profile_fit, a_cliff_is_found_where_it_is)
{
    static struct stria_fit_bin bins[100];
    for (unsigned i = 0; i < 100; i++)
        bins[i] = (struct stria_fit_bin){i < 30 ? 2 * GB : GB / 5, SECOND_NS};
    cr_assert_eq(stria_profile_fit(bins, 100, "x", 500 * GB, &fitted, &trouble), STRIA_OK);
    cr_assert_eq(fitted.parameters.law.step_count, 2);
    cr_assert_eq(fitted.parameters.law.steps[0].until_bytes, 60 * GB);
    cr_assert_eq(fitted.parameters.law.steps[0].bytes_per_s, 2 * GB);
    cr_assert_eq(fitted.parameters.law.steps[1].bytes_per_s, GB / 5);
}

Test(config_profile_fit, time_without_a_byte_counts)
{
    const struct stria_fit_bin bins[] = {
        {GB, SECOND_NS}, {0, SECOND_NS}, {GB, SECOND_NS}, {0, SECOND_NS}, {0, SECOND_NS}};
    cr_assert_eq(stria_profile_fit(bins, 5, "x", 0, &fitted, &trouble), STRIA_OK);
    cr_assert_float_eq(time_to_write_s(&fitted.parameters, 2 * GB), 5.0, 0.01);
}

Test(config_profile_fit, what_cannot_be_fitted_gets_a_sentence)
{
    const struct stria_fit_bin nothing = {0, SECOND_NS};
    cr_assert_eq(stria_profile_fit(&nothing, 1, "x", 0, &fitted, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "nothing was written"));
    const struct stria_fit_bin much = {2 * GB, SECOND_NS};
    cr_assert_eq(stria_profile_fit(&much, 1, "x", GB, &fitted, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "more than a drive of 1000000000 bytes holds"));
    const struct stria_fit_bin absurd = {1u << 30, 1};
    cr_assert_eq(stria_profile_fit(&absurd, 1, "x", 0, &fitted, &trouble), STRIA_OK);
    cr_assert_leq(fitted.parameters.law.steps[0].bytes_per_s, STRIA_WRITE_RATE_MAX);
}
