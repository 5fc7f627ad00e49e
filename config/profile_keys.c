#include "config/profile_keys.h"

#include <stdio.h>
#include <string.h>

const struct stria_unit stria_units[] = {
    {STRIA_DIMENSION_TEXT, "", 1},
    {STRIA_DIMENSION_NUMBER, "", 1},
    {STRIA_DIMENSION_SIZE, "gb", 1e9},
    {STRIA_DIMENSION_SIZE, "bytes", 1},
    {STRIA_DIMENSION_SIZE, "kb", 1e3},
    {STRIA_DIMENSION_SIZE, "mb", 1e6},
    {STRIA_DIMENSION_SIZE, "tb", 1e12},
    {STRIA_DIMENSION_SIZE, "kib", 1024.0},
    {STRIA_DIMENSION_SIZE, "mib", 1048576.0},
    {STRIA_DIMENSION_SIZE, "gib", 1073741824.0},
    {STRIA_DIMENSION_SIZE, "tib", 1099511627776.0},
    {STRIA_DIMENSION_RATE, "gb_per_s", 1e9},
    {STRIA_DIMENSION_RATE, "bytes_per_s", 1},
    {STRIA_DIMENSION_RATE, "mb_per_s", 1e6},
    {STRIA_DIMENSION_RATE, "mib_per_s", 1048576.0},
    {STRIA_DIMENSION_RATE, "gib_per_s", 1073741824.0},
    {STRIA_DIMENSION_TIME, "ms", 1e6},
    {STRIA_DIMENSION_TIME, "ns", 1},
    {STRIA_DIMENSION_TIME, "us", 1e3},
    {STRIA_DIMENSION_TIME, "s", 1e9},
    {STRIA_DIMENSION_PERCENT, "percent", 10},
    {STRIA_DIMENSION_TEMPERATURE, "c", 1000},
    {STRIA_DIMENSION_KELVIN, "k", 1000},
    {STRIA_DIMENSION_RESISTANCE, "k_per_w", 1000},
    {STRIA_DIMENSION_POWER, "w", 1000},
    {STRIA_DIMENSION_TEXT, NULL, 0},
};

const char *const stria_profile_sections[STRIA_PROFILE_SECTIONS] = {
    [STRIA_PROFILE_DRIVE] = "drive",
    [STRIA_PROFILE_LINK] = "link",
    [STRIA_PROFILE_WRITE] = "write",
    [STRIA_PROFILE_WRITE_TABLE] = "write.table",
    [STRIA_PROFILE_WRITE_CACHE] = "write.cache",
    [STRIA_PROFILE_WRITE_WORN] = "write.worn",
    [STRIA_PROFILE_WRITE_ZONES] = "write.zones",
    [STRIA_PROFILE_READ] = "read",
    [STRIA_PROFILE_READ_ZONES] = "read.zones",
    [STRIA_PROFILE_RECOVERY] = "recovery",
    [STRIA_PROFILE_MIXED] = "mixed",
    [STRIA_PROFILE_HEAT] = "heat",
    [STRIA_PROFILE_STALL_1] = "stall.1",
    [STRIA_PROFILE_STALL_1 + 1] = "stall.2",
    [STRIA_PROFILE_STALL_1 + 2] = "stall.3",
    [STRIA_PROFILE_STALL_4] = "stall.4",
};

#define SIZE_MAX_BYTES 1152921504606846976.0 /* 2^60 */
#define RATE_MAX       1e12                  /* STRIA_WRITE_RATE_MAX */
#define TIME_MAX_NS    86400e9               /* STRIA_MODEL_TIME_NS_MAX */
#define STEPS          STRIA_WRITE_STEPS_MAX
#define ZONES          STRIA_MODEL_ZONES_MAX

#define AT(member)        offsetof(struct stria_profile, member)
#define PARAMETER(member) AT(parameters.member)
#define SIZE(member)      STRIA_DIMENSION_SIZE, STRIA_FIELD_U64, PARAMETER(member), 0
#define RATE(member)      STRIA_DIMENSION_RATE, STRIA_FIELD_U64, PARAMETER(member), 0
#define TIME(member)      STRIA_DIMENSION_TIME, STRIA_FIELD_U64, PARAMETER(member), 0
#define PERCENT(member)   STRIA_DIMENSION_PERCENT, STRIA_FIELD_U64, PARAMETER(member), 0
#define UNTIL(member, n)  STRIA_DIMENSION_SIZE, STRIA_FIELD_UNTIL, PARAMETER(member), n
#define RATES(member, n)  STRIA_DIMENSION_RATE, STRIA_FIELD_RATE, PARAMETER(member), n

const struct stria_profile_key stria_profile_keys[] = {
    {STRIA_PROFILE_DRIVE, "model", STRIA_DIMENSION_TEXT, STRIA_FIELD_TEXT, AT(model), 0, true, 0, 0},
    {STRIA_PROFILE_DRIVE, "capacity", SIZE(capacity_bytes), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_DRIVE, "price", STRIA_DIMENSION_NUMBER, STRIA_FIELD_DOUBLE, AT(price), 0, false, 0, 1e9},
    {STRIA_PROFILE_LINK, "rate", RATE(link_bytes_per_s), true, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE, "latency", TIME(write_latency_ns), false, 0, TIME_MAX_NS},
    {STRIA_PROFILE_WRITE, "command", TIME(command_ns), false, 0, TIME_MAX_NS},
    {STRIA_PROFILE_WRITE, "flush", TIME(flush_ns), false, 0, TIME_MAX_NS},
    {STRIA_PROFILE_WRITE, "trim", TIME(trim_ns), false, 0, TIME_MAX_NS},
    {STRIA_PROFILE_WRITE_TABLE, "until", UNTIL(law.steps, STEPS), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_TABLE, "rate", RATES(law.steps, STEPS), true, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE_TABLE, "held", PERCENT(law.held_per_mille), false, 0, 1000},
    {STRIA_PROFILE_WRITE_CACHE, "slc", RATE(law.slc_bytes_per_s), true, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE_CACHE, "direct", RATE(law.direct_bytes_per_s), false, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE_CACHE, "fold", RATE(law.fold_bytes_per_s), true, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE_CACHE, "static", SIZE(law.static_bytes), true, 0, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_CACHE, "dynamic", PERCENT(law.dynamic_per_mille), true, 0, 1000},
    {STRIA_PROFILE_WRITE_CACHE, "bits_per_cell", STRIA_DIMENSION_NUMBER, STRIA_FIELD_U64,
     PARAMETER(law.bits_per_cell), 0, true, 1, 8},
    {STRIA_PROFILE_WRITE_CACHE, "go", SIZE(law.go_bytes), false, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_CACHE, "go_rate", RATE(law.go_bytes_per_s), false, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE_CACHE, "stop", SIZE(law.stop_bytes), false, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_WORN, "after", SIZE(worn_after_bytes), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_WORN, "until", UNTIL(worn.steps, STEPS), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_WORN, "rate", RATES(worn.steps, STEPS), true, 1, RATE_MAX},
    {STRIA_PROFILE_WRITE_WORN, "held", PERCENT(worn.held_per_mille), false, 0, 1000},
    {STRIA_PROFILE_WRITE_ZONES, "until", UNTIL(write_zones.zones, ZONES), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_WRITE_ZONES, "rate", RATES(write_zones.zones, ZONES), true, 1, RATE_MAX},
    {STRIA_PROFILE_READ, "rate", RATE(read_bytes_per_s), true, 1, RATE_MAX},
    {STRIA_PROFILE_READ, "latency", TIME(read_latency_ns), false, 0, TIME_MAX_NS},
    {STRIA_PROFILE_READ_ZONES, "until", UNTIL(read_zones.zones, ZONES), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_READ_ZONES, "rate", RATES(read_zones.zones, ZONES), true, 1, RATE_MAX},
    {STRIA_PROFILE_RECOVERY, "idle", TIME(idle_ns), true, 0, TIME_MAX_NS},
    {STRIA_PROFILE_RECOVERY, "refill", RATE(refill_bytes_per_s), true, 1, RATE_MAX},
    {STRIA_PROFILE_MIXED, "interference", PERCENT(interference_per_mille), true, 0, 1000},
    {STRIA_PROFILE_HEAT, "ambient", STRIA_DIMENSION_TEMPERATURE, STRIA_FIELD_U64, PARAMETER(heat.ambient_mc),
     0, true, -100000, 200000},
    {STRIA_PROFILE_HEAT, "resistance", STRIA_DIMENSION_RESISTANCE, STRIA_FIELD_U64,
     PARAMETER(heat.resistance_mk_per_w), 0, true, 0, 1000000},
    {STRIA_PROFILE_HEAT, "idle", STRIA_DIMENSION_POWER, STRIA_FIELD_U64, PARAMETER(heat.idle_mw), 0, true, 0,
     1000000},
    {STRIA_PROFILE_HEAT, "active", STRIA_DIMENSION_POWER, STRIA_FIELD_U64, PARAMETER(heat.active_mw), 0, true,
     0, 1000000},
    {STRIA_PROFILE_HEAT, "time_constant", TIME(heat.time_constant_ns), true, 1, TIME_MAX_NS},
    {STRIA_PROFILE_HEAT, "warm", STRIA_DIMENSION_TEMPERATURE, STRIA_FIELD_U64,
     PARAMETER(heat.levels[0].limit_mc), 0, false, -100000, 200000},
    {STRIA_PROFILE_HEAT, "warm_rate", PERCENT(heat.levels[0].rate_per_mille), false, 1, 1000},
    {STRIA_PROFILE_HEAT, "hot", STRIA_DIMENSION_TEMPERATURE, STRIA_FIELD_U64,
     PARAMETER(heat.levels[1].limit_mc), 0, false, -100000, 200000},
    {STRIA_PROFILE_HEAT, "hot_rate", PERCENT(heat.levels[1].rate_per_mille), false, 1, 1000},
    {STRIA_PROFILE_HEAT, "hysteresis", STRIA_DIMENSION_KELVIN, STRIA_FIELD_U64, PARAMETER(heat.hysteresis_mk),
     0, false, 0, 100000},
    {STRIA_PROFILE_STALL_1, "interval", SIZE(stalls[0].interval_bytes_mean), true, 1, SIZE_MAX_BYTES},
    {STRIA_PROFILE_STALL_1, "length_min", TIME(stalls[0].length_ns_min), true, 0, TIME_MAX_NS},
    {STRIA_PROFILE_STALL_1, "length_max", TIME(stalls[0].length_ns_max), true, 0, TIME_MAX_NS},
    {STRIA_PROFILE_SECTIONS, NULL, STRIA_DIMENSION_TEXT, STRIA_FIELD_TEXT, 0, 0, false, 0, 0},
};

_Static_assert(sizeof(stria_profile_keys) / sizeof(stria_profile_keys[0]) <= STRIA_PROFILE_KEYS_MAX,
               "the reader's tables of lines hold every key");

const struct stria_profile_key *stria_profile_key_find(enum stria_profile_section section, const char *name,
                                                       const struct stria_unit **unit)
{
    if (section > STRIA_PROFILE_STALL_1)
        section = STRIA_PROFILE_STALL_1;
    for (const struct stria_profile_key *key = stria_profile_keys; key->stem; key++) {
        const size_t length = strlen(key->stem);
        if (key->section != section || strncmp(name, key->stem, length) != 0)
            continue;
        for (const struct stria_unit *u = stria_units; u->suffix; u++) {
            if (u->dimension != key->dimension)
                continue;
            const bool bare = u->suffix[0] == '\0' && name[length] == '\0';
            if (bare || (name[length] == '_' && u->suffix[0] && strcmp(name + length + 1, u->suffix) == 0)) {
                *unit = u;
                return key;
            }
        }
    }
    return NULL;
}

static const struct stria_unit *first_unit(enum stria_dimension dimension)
{
    const struct stria_unit *unit = stria_units;
    while (unit->dimension != dimension)
        unit++;
    return unit;
}

char *stria_profile_key_print(char *out, size_t size, const struct stria_profile_key *key)
{
    const char *suffix = first_unit(key->dimension)->suffix;
    snprintf(out, size, "%s%s%s", key->stem, suffix[0] ? "_" : "", suffix);
    return out;
}

void *stria_profile_key_field(struct stria_profile *profile, const struct stria_profile_key *key,
                              enum stria_profile_section section)
{
    size_t offset = key->offset;
    if (section > STRIA_PROFILE_STALL_1)
        offset += (section - STRIA_PROFILE_STALL_1) * sizeof(struct stria_model_stall);
    return (char *)profile + offset;
}
