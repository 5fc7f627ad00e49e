#include "core/knee.h"

#include "core/random.h"

#include <criterion/criterion.h>

enum { BINS_MAX = 2000 };

static const uint64_t second_ns = 1000000000;

/* A curve in the making: stretches of a rate, each bin off by up to `noise` percent. */
struct sketch {
    uint64_t bins[BINS_MAX];
    uint32_t count;
    uint64_t noise_percent;
    struct stria_random random;
};

static void draw(struct sketch *sketch, uint32_t bins, uint64_t rate)
{
    for (uint32_t i = 0; i < bins; i++) {
        const uint64_t reach = rate * sketch->noise_percent / 100;
        sketch->bins[sketch->count++] = rate - reach + stria_random_below(&sketch->random, 2 * reach + 1);
    }
}

static bool knee_of(const struct sketch *sketch, struct stria_knee *knee)
{
    const struct stria_curve curve = {sketch->bins, sketch->count, second_ns / 10};
    return stria_knee_find(&curve, knee);
}

Test(knee, a_cliff_is_found_to_the_bin)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 380, 570);
    draw(&sketch, 620, 175);
    cr_assert(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_ns, 38 * second_ns);
    cr_assert_eq(knee.at_bytes, UINT64_C(380) * 570);
    cr_assert_eq(knee.before_bytes_per_s, 5700u);
    cr_assert_eq(knee.after_bytes_per_s, 1750u);
}

Test(knee, a_late_fall_is_found)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 900, 400);
    draw(&sketch, 40, 200);
    cr_assert(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_ns, 90 * second_ns);
}

Test(knee, an_even_rate_has_none)
{
    struct sketch sketch = {.noise_percent = 0};
    struct stria_knee knee = {.at_bytes = 77};
    draw(&sketch, 1000, 400);
    cr_assert_not(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_bytes, 77u);
}

Test(knee, too_few_bins_have_none)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    cr_assert_not(knee_of(&sketch, &knee));
    draw(&sketch, 10, 400);
    draw(&sketch, 9, 100);
    cr_assert_not(knee_of(&sketch, &knee));
    draw(&sketch, 1, 100);
    cr_assert(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_bytes, 4000u);
}

Test(knee, a_rise_is_none)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 300, 100);
    draw(&sketch, 300, 400);
    cr_assert_not(knee_of(&sketch, &knee));
}

Test(knee, a_pause_is_none)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 300, 400);
    draw(&sketch, 100, 0);
    draw(&sketch, 300, 400);
    cr_assert_not(knee_of(&sketch, &knee));
}

Test(knee, what_comes_and_goes_is_none)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    for (int i = 0; i < 10; i++) {
        draw(&sketch, 60, 400);
        draw(&sketch, 30, 100);
    }
    cr_assert_not(knee_of(&sketch, &knee));
}

Test(knee, a_slope_all_along_is_none)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    for (uint64_t i = 0; i < 1000; i++)
        draw(&sketch, 1, 2000 - i);
    cr_assert_not(knee_of(&sketch, &knee));
}

Test(knee, a_fall_of_less_than_a_fifth_is_none)
{
    struct sketch sketch = {0}, deeper = {0};
    struct stria_knee knee;
    draw(&sketch, 300, 1000);
    draw(&sketch, 300, 801);
    cr_assert_not(knee_of(&sketch, &knee));
    draw(&deeper, 300, 1000);
    draw(&deeper, 300, 800);
    cr_assert(knee_of(&deeper, &knee));
}

Test(knee, a_pause_before_the_fall_does_not_hide_it)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 100, 400);
    draw(&sketch, 100, 0);
    draw(&sketch, 300, 400);
    draw(&sketch, 400, 100);
    cr_assert(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_ns, 50 * second_ns);
    cr_assert_eq(knee.at_bytes, UINT64_C(400) * 400);
}

Test(knee, a_pause_that_fits_better_than_the_fall_is_passed_over)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 100, 1000);
    draw(&sketch, 100, 0);
    draw(&sketch, 100, 1000);
    draw(&sketch, 250, 500);
    cr_assert(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_ns, 30 * second_ns);
}

Test(knee, of_two_steps_down_the_larger_counts)
{
    struct sketch sketch = {0};
    struct stria_knee knee;
    draw(&sketch, 300, 1000);
    draw(&sketch, 300, 900);
    draw(&sketch, 300, 200);
    cr_assert(knee_of(&sketch, &knee));
    cr_assert_eq(knee.at_ns, 60 * second_ns);
    cr_assert_eq(knee.before_bytes_per_s, 9500u);
}

Test(knee, noise_moves_it_little_and_invents_none)
{
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct sketch even = {.noise_percent = 40}, cliff = {.noise_percent = 40};
        stria_random_seed(&even.random, seed);
        stria_random_seed(&cliff.random, seed);
        struct stria_knee knee;
        draw(&even, 600, 10000);
        cr_assert_not(knee_of(&even, &knee), "seed %lu", (unsigned long)seed);
        const uint32_t at = 50 + (uint32_t)stria_random_below(&cliff.random, 500);
        draw(&cliff, at, 10000);
        draw(&cliff, 600 - at, 3000);
        cr_assert(knee_of(&cliff, &knee), "seed %lu", (unsigned long)seed);
        const uint64_t bin = knee.at_ns / (second_ns / 10);
        cr_assert(bin + 2 >= at && bin <= at + 2, "seed %lu: %lu for %u", (unsigned long)seed,
                  (unsigned long)bin, at);
    }
}
