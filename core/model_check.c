#include "core/assert.h"
#include "core/model.h"
#include "core/ratio.h"

#define CAPACITY_BYTES_MAX ((uint64_t)1 << 60)
#define BITS_PER_CELL_MAX  8u
#define POWER_MW_MAX       1000000u
#define TEMPERATURE_MC_MAX 1000000

struct findings {
    const struct stria_model_parameters *parameters;
    struct stria_model_fault *faults;
    unsigned max;
    unsigned count;
    bool stalls_hold; /* the stalls obey their own rule, so that rates can be held against them */
    bool worn;        /* the law looked at now is the worn one */
};

static void require(struct findings *findings, bool holds, enum stria_model_rule rule, unsigned index)
{
    if (holds)
        return;
    if (findings->count < findings->max)
        findings->faults[findings->count] = (struct stria_model_fault){rule, index, findings->worn};
    findings->count++;
}

/* A mean rate that the link can carry with the stalls made up for. */
static bool write_rate_fits(const struct findings *findings, uint64_t bytes_per_s)
{
    const uint64_t link_bytes_per_s = findings->parameters->link_bytes_per_s;
    if (bytes_per_s == 0 || !findings->stalls_hold)
        return bytes_per_s <= link_bytes_per_s;
    const uint64_t gross = stria_model_gross_bytes_per_s(findings->parameters, bytes_per_s);
    return gross > 0 && gross <= link_bytes_per_s;
}

static bool ascending(const struct stria_rate_step *steps, unsigned i)
{
    return steps[i].until_bytes > (i == 0 ? 0 : steps[i - 1].until_bytes);
}

static void check_table(struct findings *findings, const struct stria_write_law *law)
{
    require(findings, law->step_count >= 1 && law->step_count <= STRIA_WRITE_STEPS_MAX,
            STRIA_MODEL_RULE_LAW_EMPTY, 0);
    require(findings, law->held_per_mille <= 1000, STRIA_MODEL_RULE_CELLS, 0);
    for (unsigned i = 0; i < law->step_count && i < STRIA_WRITE_STEPS_MAX; i++) {
        require(findings, ascending(law->steps, i), STRIA_MODEL_RULE_LAW_ORDER, i);
        require(findings, law->steps[i].bytes_per_s > 0, STRIA_MODEL_RULE_LAW_RATE, i);
        require(findings, write_rate_fits(findings, law->steps[i].bytes_per_s),
                STRIA_MODEL_RULE_LAW_ABOVE_LINK, i);
    }
}

static void check_cache(struct findings *findings, const struct stria_write_law *law)
{
    require(findings, law->slc_bytes_per_s > 0 && write_rate_fits(findings, law->slc_bytes_per_s),
            STRIA_MODEL_RULE_SLC_RATE, 0);
    require(findings, write_rate_fits(findings, law->direct_bytes_per_s), STRIA_MODEL_RULE_DIRECT_RATE, 0);
    require(findings, law->fold_bytes_per_s > 0 && write_rate_fits(findings, law->fold_bytes_per_s),
            STRIA_MODEL_RULE_FOLD_RATE, 0);
    require(findings,
            law->bits_per_cell >= 1 && law->bits_per_cell <= BITS_PER_CELL_MAX &&
                law->dynamic_per_mille <= 1000,
            STRIA_MODEL_RULE_CELLS, 0);
    require(findings, law->static_bytes <= findings->parameters->capacity_bytes, STRIA_MODEL_RULE_CACHE_SIZE,
            0);
    if (law->go_bytes == 0)
        return;
    require(findings, law->go_bytes_per_s > 0 && write_rate_fits(findings, law->go_bytes_per_s),
            STRIA_MODEL_RULE_GO_RATE, 0);
    require(findings,
            law->stop_bytes >= 1 && law->go_bytes <= CAPACITY_BYTES_MAX &&
                law->stop_bytes <= CAPACITY_BYTES_MAX,
            STRIA_MODEL_RULE_GO_BYTES, 0);
}

static void check_law(struct findings *findings, const struct stria_write_law *law, bool worn)
{
    findings->worn = worn;
    if (law->kind == STRIA_WRITE_LAW_TABLE)
        check_table(findings, law);
    else
        check_cache(findings, law);
    findings->worn = false;
}

static void check_zones(struct findings *findings)
{
    const struct stria_model_zones *writes = &findings->parameters->write_zones;
    const struct stria_model_zones *reads = &findings->parameters->read_zones;
    require(findings, writes->count <= STRIA_MODEL_ZONES_MAX, STRIA_MODEL_RULE_WRITE_ZONE, 0);
    require(findings, reads->count <= STRIA_MODEL_ZONES_MAX, STRIA_MODEL_RULE_READ_ZONE, 0);
    for (unsigned i = 0; i < writes->count && i < STRIA_MODEL_ZONES_MAX; i++)
        require(findings,
                ascending(writes->zones, i) && writes->zones[i].bytes_per_s > 0 &&
                    write_rate_fits(findings, writes->zones[i].bytes_per_s),
                STRIA_MODEL_RULE_WRITE_ZONE, i);
    for (unsigned i = 0; i < reads->count && i < STRIA_MODEL_ZONES_MAX; i++)
        require(findings,
                ascending(reads->zones, i) && reads->zones[i].bytes_per_s > 0 &&
                    reads->zones[i].bytes_per_s <= findings->parameters->link_bytes_per_s,
                STRIA_MODEL_RULE_READ_ZONE, i);
}

static bool stall_holds(const struct stria_model_stall *stall)
{
    return stall->interval_bytes_mean > 0 && stall->interval_bytes_mean <= CAPACITY_BYTES_MAX &&
           stall->length_ns_min <= stall->length_ns_max && stall->length_ns_max <= STRIA_MODEL_TIME_NS_MAX;
}

static void check_stalls(struct findings *findings)
{
    const struct stria_model_parameters *p = findings->parameters;
    const unsigned before = findings->count;
    require(findings, p->stall_count <= STRIA_MODEL_STALLS_MAX, STRIA_MODEL_RULE_STALL, 0);
    for (unsigned i = 0; i < p->stall_count && i < STRIA_MODEL_STALLS_MAX; i++)
        require(findings, stall_holds(&p->stalls[i]), STRIA_MODEL_RULE_STALL, i);
    findings->stalls_hold = findings->count == before;
}

static bool temperature_in_range(int64_t temperature_mc)
{
    return temperature_mc >= -TEMPERATURE_MC_MAX && temperature_mc <= TEMPERATURE_MC_MAX;
}

static void check_heat(struct findings *findings)
{
    const struct stria_heat_parameters *heat = &findings->parameters->heat;
    require(findings,
            temperature_in_range(heat->ambient_mc) && heat->resistance_mk_per_w <= POWER_MW_MAX &&
                heat->active_mw <= POWER_MW_MAX && heat->idle_mw <= heat->active_mw &&
                heat->hysteresis_mk <= TEMPERATURE_MC_MAX,
            STRIA_MODEL_RULE_HEAT, 0);
    uint64_t rate_above = STRIA_HEAT_FULL_PER_MILLE;
    int64_t limit_below_mc = -TEMPERATURE_MC_MAX - 1;
    for (unsigned i = 0; i < STRIA_HEAT_LEVELS && heat->levels[i].rate_per_mille > 0; i++) {
        require(findings,
                heat->levels[i].rate_per_mille <= rate_above && heat->levels[i].limit_mc > limit_below_mc &&
                    temperature_in_range(heat->levels[i].limit_mc),
                STRIA_MODEL_RULE_HEAT, i + 1);
        rate_above = heat->levels[i].rate_per_mille;
        limit_below_mc = heat->levels[i].limit_mc;
    }
}

static void check_times(struct findings *findings)
{
    const struct stria_model_parameters *p = findings->parameters;
    const uint64_t times_ns[] = {
        p->write_latency_ns, p->read_latency_ns, p->command_ns,           p->flush_ns,
        p->trim_ns,          p->idle_ns,         p->heat.time_constant_ns};
    for (unsigned i = 0; i < sizeof(times_ns) / sizeof(times_ns[0]); i++)
        require(findings, times_ns[i] <= STRIA_MODEL_TIME_NS_MAX, STRIA_MODEL_RULE_TIME, i);
}

unsigned stria_model_check(const struct stria_model_parameters *parameters, struct stria_model_fault *faults,
                           unsigned max)
{
    struct findings findings = {.parameters = parameters, .faults = faults, .max = max};
    check_stalls(&findings);
    require(&findings, parameters->capacity_bytes >= 1 && parameters->capacity_bytes <= CAPACITY_BYTES_MAX,
            STRIA_MODEL_RULE_CAPACITY, 0);
    require(&findings,
            parameters->link_bytes_per_s >= 1 && parameters->link_bytes_per_s <= STRIA_WRITE_RATE_MAX,
            STRIA_MODEL_RULE_LINK, 0);
    check_law(&findings, &parameters->law, false);
    if (parameters->worn_after_bytes > 0)
        check_law(&findings, &parameters->worn, true);
    require(&findings,
            parameters->read_bytes_per_s >= 1 && parameters->read_bytes_per_s <= parameters->link_bytes_per_s,
            STRIA_MODEL_RULE_READ_RATE, 0);
    require(&findings, parameters->refill_bytes_per_s <= parameters->link_bytes_per_s,
            STRIA_MODEL_RULE_REFILL, 0);
    require(&findings, parameters->interference_per_mille <= 1000, STRIA_MODEL_RULE_INTERFERENCE, 0);
    check_zones(&findings);
    check_heat(&findings);
    check_times(&findings);
    return findings.count;
}
