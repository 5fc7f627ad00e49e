#include "core/model.h"

#include <criterion/criterion.h>

#define GB 1000000000ull

static struct stria_model_parameters good(void)
{
    return (struct stria_model_parameters){
        .capacity_bytes = 500 * GB,
        .link_bytes_per_s = 3 * GB,
        .law = {.kind = STRIA_WRITE_LAW_TABLE,
                .step_count = 2,
                .steps = {{20 * GB, 2 * GB}, {500 * GB, 1 * GB}}},
        .read_bytes_per_s = 2 * GB,
    };
}

static struct stria_model_parameters good_cache(void)
{
    struct stria_model_parameters p = good();
    p.law = (struct stria_write_law){.kind = STRIA_WRITE_LAW_CACHE,
                                     .slc_bytes_per_s = 2 * GB,
                                     .direct_bytes_per_s = GB,
                                     .fold_bytes_per_s = GB / 2,
                                     .static_bytes = GB,
                                     .dynamic_per_mille = 1000,
                                     .bits_per_cell = 3};
    return p;
}

static void assert_only(const struct stria_model_parameters *p, enum stria_model_rule rule, unsigned index)
{
    struct stria_model_fault faults[8];
    const unsigned count = stria_model_check(p, faults, 8);
    cr_assert_eq(count, 1, "%u faults, the first %d, expected %d", count, (int)faults[0].rule, (int)rule);
    cr_assert_eq(faults[0].rule, rule, "rule %d, expected %d", (int)faults[0].rule, (int)rule);
    cr_assert_eq(faults[0].index, index);
}

Test(model_check, good_parameters_have_no_fault)
{
    struct stria_model_parameters p = good();
    cr_assert_eq(stria_model_check(&p, NULL, 0), 0);
    p = good_cache();
    cr_assert_eq(stria_model_check(&p, NULL, 0), 0);
}

#define BREAKS(base, assignment, rule, index)                                                                \
    do {                                                                                                     \
        struct stria_model_parameters p = base();                                                            \
        assignment;                                                                                          \
        assert_only(&p, rule, index);                                                                        \
    } while (0)

Test(model_check, each_rule_of_the_table_law_is_found)
{
    BREAKS(good, p.capacity_bytes = 0, STRIA_MODEL_RULE_CAPACITY, 0);
    BREAKS(good, p.law.step_count = 0, STRIA_MODEL_RULE_LAW_EMPTY, 0);
    BREAKS(good, p.law.steps[1].until_bytes = 20 * GB, STRIA_MODEL_RULE_LAW_ORDER, 1);
    BREAKS(good, p.law.steps[0].bytes_per_s = 0, STRIA_MODEL_RULE_LAW_RATE, 0);
    BREAKS(good, p.law.steps[0].bytes_per_s = 4 * GB, STRIA_MODEL_RULE_LAW_ABOVE_LINK, 0);
    BREAKS(good, p.law.held_per_mille = 1001, STRIA_MODEL_RULE_CELLS, 0);
}

Test(model_check, each_rule_of_the_cache_law_is_found)
{
    BREAKS(good_cache, p.law.slc_bytes_per_s = 0, STRIA_MODEL_RULE_SLC_RATE, 0);
    BREAKS(good_cache, p.law.direct_bytes_per_s = 4 * GB, STRIA_MODEL_RULE_DIRECT_RATE, 0);
    BREAKS(good_cache, p.law.fold_bytes_per_s = 0, STRIA_MODEL_RULE_FOLD_RATE, 0);
    BREAKS(good_cache, p.law.bits_per_cell = 0, STRIA_MODEL_RULE_CELLS, 0);
    BREAKS(good_cache, p.law.static_bytes = 501 * GB, STRIA_MODEL_RULE_CACHE_SIZE, 0);
    BREAKS(good_cache, (p.law.go_bytes = 1, p.law.stop_bytes = 1), STRIA_MODEL_RULE_GO_RATE, 0);
    BREAKS(good_cache, (p.law.go_bytes = 1, p.law.go_bytes_per_s = 1), STRIA_MODEL_RULE_GO_BYTES, 0);
}

Test(model_check, each_rule_of_the_rest_is_found)
{
    BREAKS(good, p.read_bytes_per_s = 0, STRIA_MODEL_RULE_READ_RATE, 0);
    BREAKS(good, p.read_bytes_per_s = 4 * GB, STRIA_MODEL_RULE_READ_RATE, 0);
    BREAKS(good, p.refill_bytes_per_s = 4 * GB, STRIA_MODEL_RULE_REFILL, 0);
    BREAKS(good, p.interference_per_mille = 1001, STRIA_MODEL_RULE_INTERFERENCE, 0);
    BREAKS(good, p.idle_ns = UINT64_MAX, STRIA_MODEL_RULE_TIME, 5);
    BREAKS(good, (p.write_zones.count = 1, p.write_zones.zones[0] = (struct stria_rate_step){GB, 4 * GB}),
           STRIA_MODEL_RULE_WRITE_ZONE, 0);
    BREAKS(good, (p.read_zones.count = 1, p.read_zones.zones[0] = (struct stria_rate_step){0, GB}),
           STRIA_MODEL_RULE_READ_ZONE, 0);
    BREAKS(good, p.stall_count = 1, STRIA_MODEL_RULE_STALL, 0);
    BREAKS(good, (p.heat.idle_mw = 2, p.heat.active_mw = 1), STRIA_MODEL_RULE_HEAT, 0);
    BREAKS(good, p.heat.levels[0].rate_per_mille = 1001, STRIA_MODEL_RULE_HEAT, 1);
}

Test(model_check, stalls_count_against_the_link)
{
    struct stria_model_parameters p = good();
    p.law.steps[0].bytes_per_s = 2900000000;
    cr_assert_eq(stria_model_check(&p, NULL, 0), 0);
    p.stall_count = 1;
    p.stalls[0] = (struct stria_model_stall){100 * GB / 1000, 10000000, 10000000};
    assert_only(&p, STRIA_MODEL_RULE_LAW_ABOVE_LINK, 0);
}

Test(model_check, every_fault_is_counted_and_those_that_fit_are_told)
{
    struct stria_model_parameters p = {0};
    struct stria_model_fault faults[2];
    cr_assert_gt(stria_model_check(&p, faults, 2), 2);
    cr_assert_eq(faults[0].rule, STRIA_MODEL_RULE_CAPACITY);
    cr_assert_eq(faults[1].rule, STRIA_MODEL_RULE_LINK);
}

Test(model_check, a_fault_of_the_worn_law_says_so)
{
    struct stria_model_parameters p = good();
    p.worn_after_bytes = GB;
    struct stria_model_fault fault = {0};
    cr_assert_eq(stria_model_check(&p, &fault, 1), 1);
    cr_assert(fault.worn);
    cr_assert_eq(fault.rule, STRIA_MODEL_RULE_LAW_EMPTY);
}
