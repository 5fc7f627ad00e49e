#include "engine/choose.h"

#include "config/profile.h"

#include <criterion/criterion.h>

#define MB 1000000u

static struct stria_model_parameters small_drive(const char *name)
{
    struct stria_profile profile;
    struct stria_problems problems = {0};
    cr_assert_eq(stria_profile_find(name, &profile, &problems), STRIA_OK);
    cr_assert_eq(stria_profile_scale(&profile, 0.001, 1, NULL), STRIA_OK);
    return profile.parameters;
}

static struct stria_simulate_config wanted(uint64_t mb_per_s, uint64_t mb)
{
    return (struct stria_simulate_config){.policy = STRIA_POLICY_ADAPTIVE,
                                          .chunk_bytes = STRIA_CHUNK_BYTES_MIN,
                                          .depth = 8,
                                          .buffer_bytes = 100u * STRIA_CHUNK_BYTES_MIN,
                                          .rate_bytes_per_s = mb_per_s * MB,
                                          .size_bytes = mb * MB,
                                          .seed = 1};
}

static bool carries(struct stria_simulate_config config, const struct stria_kind *kinds, uint32_t kind_count,
                    const uint32_t *counts, uint64_t buffer_bytes)
{
    struct stria_simulation simulation;
    struct stria_trouble trouble = {0};
    config.buffer_bytes = buffer_bytes;
    for (uint32_t kind = 0; kind < kind_count; kind++)
        for (uint32_t i = 0; i < counts[kind]; i++)
            config.drives[config.drive_count++] = kinds[kind].parameters;
    cr_assert_eq(stria_simulate(&config, &simulation, &trouble), STRIA_OK, "%s", trouble.sentence);
    const bool lossless = simulation.lossless;
    stria_simulation_clear(&simulation);
    return lossless;
}

Test(choose, the_fewest_drives_carry_the_stream_with_the_buffer_told_and_one_less_does_not)
{
    static const char *const names[] = {"samsung-980", "samsung-980-pro", "samsung-sm961", "enterprise-3840"};
    for (unsigned name = 0; name < sizeof(names) / sizeof(names[0]); name++) {
        struct stria_model_parameters drive = small_drive(names[name]);
        const struct stria_kind kind = {.parameters = &drive};
        const struct stria_simulate_config config = wanted(2900, 600);
        struct stria_choice choice;
        struct stria_trouble trouble = {0};
        cr_assert_eq(stria_choose_fewest(&config, &kind, &choice, &trouble), STRIA_OK, "%s",
                     trouble.sentence);
        cr_assert(choice.found);
        cr_assert_leq(choice.buffer_bytes, config.buffer_bytes);
        cr_assert(carries(config, &kind, 1, &choice.drive_count, choice.buffer_bytes));
        cr_assert_not(
            carries(config, &kind, 1, &choice.drive_count, choice.buffer_bytes - config.chunk_bytes));
        const uint32_t fewer = choice.drive_count - 1;
        cr_assert(fewer == 0 || !carries(config, &kind, 1, &fewer, config.buffer_bytes));
    }
}

Test(choose, what_32_drives_cannot_carry_is_not_found)
{
    struct stria_model_parameters drive = small_drive("teclast-240");
    const struct stria_kind kind = {.parameters = &drive};
    const struct stria_simulate_config config = wanted(5000, 7000);
    struct stria_choice choice;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_choose_fewest(&config, &kind, &choice, &trouble), STRIA_OK);
    cr_assert_not(choice.found);
}

Test(choose, no_cheaper_mix_than_the_cheapest_carries_the_stream)
{
    struct stria_model_parameters drives[3] = {small_drive("samsung-980"), small_drive("samsung-sm961"),
                                               small_drive("samsung-980-pro")};
    const struct stria_kind kinds[3] = {{&drives[0], 45}, {&drives[1], 80}, {&drives[2], 100}};
    const struct stria_simulate_config config = wanted(2600, 400);
    struct stria_choice choice;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_choose_cheapest(&config, kinds, 3, &choice, &trouble), STRIA_OK, "%s",
                 trouble.sentence);
    cr_assert(choice.found);
    cr_assert(carries(config, kinds, 3, choice.counts, choice.buffer_bytes));
    uint32_t cheaper = 0;
    for (uint32_t a = 0; a <= 4; a++)
        for (uint32_t b = 0; b <= 4; b++)
            for (uint32_t c = 0; c <= 4; c++) {
                const uint32_t counts[3] = {a, b, c};
                if (a + b + c == 0 || a * 45 + b * 80 + c * 100 >= choice.price)
                    continue;
                cheaper++;
                cr_assert_not(carries(config, kinds, 3, counts, config.buffer_bytes), "%u + %u + %u", a, b,
                              c);
            }
    cr_assert_gt(cheaper, 0);
}

Test(choose, kinds_without_a_price_are_in_no_mix)
{
    struct stria_model_parameters drive = small_drive("samsung-sm961");
    const struct stria_kind kinds[2] = {{&drive, 0}, {&drive, 10}};
    const struct stria_simulate_config config = wanted(1400, 100);
    struct stria_choice choice;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_choose_cheapest(&config, kinds, 2, &choice, &trouble), STRIA_OK);
    cr_assert(choice.found);
    cr_assert_eq(choice.counts[0], 0);
    cr_assert_eq(choice.counts[1], 1);
    cr_assert_eq(stria_choose_cheapest(&config, kinds, 1, &choice, &trouble), STRIA_OK);
    cr_assert_not(choice.found);
}
