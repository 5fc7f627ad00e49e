#include "config/profile_check.h"

#include <stdio.h>
#include <string.h>

static const struct stria_profile_key *key_of(enum stria_profile_section section, const char *stem)
{
    if (section > STRIA_PROFILE_STALL_1)
        section = STRIA_PROFILE_STALL_1;
    const struct stria_profile_key *key = stria_profile_keys;
    while (key->section != section || strcmp(key->stem, stem) != 0)
        key++;
    return key;
}

static unsigned line_of(const struct stria_profile_reader *reader, enum stria_profile_section section,
                        const char *stem)
{
    return reader->key_lines[section][key_of(section, stem) - stria_profile_keys];
}

/* Given and well formed by itself: only then can it be wrong beside others. */
static bool is_good(const struct stria_profile_reader *reader, enum stria_profile_section section,
                    const char *stem)
{
    return line_of(reader, section, stem) &&
           !reader->bad[section][key_of(section, stem) - stria_profile_keys];
}

static void require_sections(struct stria_profile_reader *reader)
{
    static const enum stria_profile_section needed[] = {STRIA_PROFILE_DRIVE, STRIA_PROFILE_LINK,
                                                        STRIA_PROFILE_READ};
    for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        if (!reader->section_lines[needed[i]])
            stria_problems_add(reader->problems, "%s has no [%s] section: a profile needs one", reader->path,
                               stria_profile_sections[needed[i]]);
    const unsigned table = reader->section_lines[STRIA_PROFILE_WRITE_TABLE];
    const unsigned cache = reader->section_lines[STRIA_PROFILE_WRITE_CACHE];
    if (!table && !cache)
        stria_problems_add(
            reader->problems,
            "%s says nothing of how fast the drive writes: give it a [write.table] of measured "
            "rates or a [write.cache] of the cache's law",
            reader->path);
    if (table && cache)
        STRIA_PROFILE_SAY(reader, table > cache ? table : cache,
                          "[write.table] and [write.cache] are two laws for one drive: keep one");
}

static void require_keys(struct stria_profile_reader *reader)
{
    for (unsigned section = 0; section < STRIA_PROFILE_SECTIONS; section++) {
        if (!reader->section_lines[section])
            continue;
        const unsigned keys_of = section > STRIA_PROFILE_STALL_1 ? STRIA_PROFILE_STALL_1 : section;
        for (const struct stria_profile_key *key = stria_profile_keys; key->stem; key++) {
            char text[64];
            if (key->section == keys_of && key->required && !line_of(reader, section, key->stem))
                STRIA_PROFILE_SAY(reader, reader->section_lines[section], "[%s] has no %s, which it needs",
                                  stria_profile_sections[section],
                                  stria_profile_key_print(text, sizeof(text), key));
        }
    }
}

/* Keys that mean something only together. */
static void require_company(struct stria_profile_reader *reader)
{
    static const struct {
        enum stria_profile_section section;
        const char *stem;
        const char *needs;
    } company[] = {
        {STRIA_PROFILE_WRITE_CACHE, "go", "go_rate"}, {STRIA_PROFILE_WRITE_CACHE, "go", "stop"},
        {STRIA_PROFILE_WRITE_CACHE, "go_rate", "go"}, {STRIA_PROFILE_WRITE_CACHE, "stop", "go"},
        {STRIA_PROFILE_HEAT, "warm", "warm_rate"},    {STRIA_PROFILE_HEAT, "warm_rate", "warm"},
        {STRIA_PROFILE_HEAT, "hot", "hot_rate"},      {STRIA_PROFILE_HEAT, "hot_rate", "hot"},
        {STRIA_PROFILE_HEAT, "hot", "warm"},
    };
    for (unsigned i = 0; i < sizeof(company) / sizeof(company[0]); i++) {
        const unsigned line = line_of(reader, company[i].section, company[i].stem);
        char stem[64], needs[64];
        if (line && !line_of(reader, company[i].section, company[i].needs))
            STRIA_PROFILE_SAY(
                reader, line, "%s in [%s] needs %s beside it",
                stria_profile_key_print(stem, sizeof(stem), key_of(company[i].section, company[i].stem)),
                stria_profile_sections[company[i].section],
                stria_profile_key_print(needs, sizeof(needs), key_of(company[i].section, company[i].needs)));
    }
}

static unsigned pair_lists(struct stria_profile_reader *reader, enum stria_profile_section section)
{
    const unsigned untils = reader->counts[key_of(section, "until") - stria_profile_keys];
    const unsigned rates = reader->counts[key_of(section, "rate") - stria_profile_keys];
    if (!is_good(reader, section, "until") || !is_good(reader, section, "rate"))
        return 0;
    if (untils != rates) {
        STRIA_PROFILE_SAY(
            reader, line_of(reader, section, "rate"),
            "[%s] has %u limits and %u rates: each rate holds up to its own limit, the last one for "
            "ever, so give as many of both",
            stria_profile_sections[section], untils, rates);
        return 0;
    }
    return rates;
}

static void complete(struct stria_profile_reader *reader)
{
    struct stria_model_parameters *p = &reader->profile->parameters;
    p->law.kind =
        reader->section_lines[STRIA_PROFILE_WRITE_TABLE] ? STRIA_WRITE_LAW_TABLE : STRIA_WRITE_LAW_CACHE;
    p->law.step_count = pair_lists(reader, STRIA_PROFILE_WRITE_TABLE);
    p->worn.step_count = pair_lists(reader, STRIA_PROFILE_WRITE_WORN);
    p->write_zones.count = pair_lists(reader, STRIA_PROFILE_WRITE_ZONES);
    p->read_zones.count = pair_lists(reader, STRIA_PROFILE_READ_ZONES);
    for (unsigned i = 0; i < STRIA_MODEL_STALLS_MAX; i++) {
        const unsigned line = reader->section_lines[STRIA_PROFILE_STALL_1 + i];
        if (line && p->stall_count < i)
            STRIA_PROFILE_SAY(reader, line, "[stall.%u] without [stall.%u]: number the stalls from 1", i + 1,
                              p->stall_count + 1);
        p->stall_count = line ? i + 1 : p->stall_count;
    }
}

static void check_zone_limits(struct stria_profile_reader *reader, enum stria_profile_section section,
                              const struct stria_model_zones *zones)
{
    const uint64_t capacity_bytes = reader->profile->parameters.capacity_bytes;
    if (!is_good(reader, STRIA_PROFILE_DRIVE, "capacity"))
        return;
    for (unsigned i = 0; i < zones->count; i++)
        if (zones->zones[i].until_bytes > capacity_bytes)
            STRIA_PROFILE_SAY(reader, line_of(reader, section, "until"),
                              "zone %u in [%s] ends at %.10g GB, past the drive's capacity of %.10g GB",
                              i + 1, stria_profile_sections[section],
                              (double)zones->zones[i].until_bytes / 1e9, (double)capacity_bytes / 1e9);
}

struct place {
    enum stria_profile_section section;
    const char *stem;
};

/* The key that a rule of the model is about. */
static struct place place_of(const struct stria_model_fault *fault)
{
    const enum stria_profile_section law = fault->worn ? STRIA_PROFILE_WRITE_WORN : STRIA_PROFILE_WRITE_TABLE;
    switch (fault->rule) {
    case STRIA_MODEL_RULE_LAW_ORDER:
        return (struct place){law, "until"};
    case STRIA_MODEL_RULE_LAW_ABOVE_LINK:
        return (struct place){law, "rate"};
    case STRIA_MODEL_RULE_SLC_RATE:
        return (struct place){STRIA_PROFILE_WRITE_CACHE, "slc"};
    case STRIA_MODEL_RULE_DIRECT_RATE:
        return (struct place){STRIA_PROFILE_WRITE_CACHE, "direct"};
    case STRIA_MODEL_RULE_FOLD_RATE:
        return (struct place){STRIA_PROFILE_WRITE_CACHE, "fold"};
    case STRIA_MODEL_RULE_GO_RATE:
        return (struct place){STRIA_PROFILE_WRITE_CACHE, "go_rate"};
    case STRIA_MODEL_RULE_CACHE_SIZE:
        return (struct place){STRIA_PROFILE_WRITE_CACHE, "static"};
    case STRIA_MODEL_RULE_WRITE_ZONE:
        return (struct place){STRIA_PROFILE_WRITE_ZONES, "rate"};
    case STRIA_MODEL_RULE_READ_ZONE:
        return (struct place){STRIA_PROFILE_READ_ZONES, "rate"};
    case STRIA_MODEL_RULE_READ_RATE:
        return (struct place){STRIA_PROFILE_READ, "rate"};
    case STRIA_MODEL_RULE_REFILL:
        return (struct place){STRIA_PROFILE_RECOVERY, "refill"};
    case STRIA_MODEL_RULE_STALL:
        return (struct place){STRIA_PROFILE_STALL_1 + fault->index, "length_max"};
    case STRIA_MODEL_RULE_HEAT:
        return (struct place){STRIA_PROFILE_HEAT, fault->index == 0   ? "active"
                                                  : fault->index == 1 ? "warm"
                                                                      : "hot"};
    default:
        /* The other rules are bounds of single keys or keys that are required: refused before. */
        return (struct place){STRIA_PROFILE_SECTIONS, NULL};
    }
}

static uint64_t rate_at(const struct stria_profile_reader *reader, struct place place, unsigned index)
{
    const struct stria_profile_key *key = key_of(place.section, place.stem);
    const void *field = stria_profile_key_field(reader->profile, key, place.section);
    if (key->field != STRIA_FIELD_RATE)
        return *(const uint64_t *)field;
    return ((const struct stria_rate_step *)field)[index].bytes_per_s;
}

static void say_above_link(struct stria_profile_reader *reader, struct place place, unsigned line,
                           unsigned index)
{
    const struct stria_model_parameters *p = &reader->profile->parameters;
    const double rate = (double)rate_at(reader, place, index) / 1e9;
    const double link = (double)p->link_bytes_per_s / 1e9;
    char entry[32] = "";
    if (key_of(place.section, place.stem)->items)
        snprintf(entry, sizeof(entry), "number %u of ", index + 1);
    if (rate > link) {
        STRIA_PROFILE_SAY(reader, line, "%s%s in [%s] is %.6g GB/s, above the %.6g GB/s of the link", entry,
                          place.stem, stria_profile_sections[place.section], rate, link);
        return;
    }
    /* Only stalls that are sound themselves are held against a rate. */
    const double gross = (double)stria_model_gross_bytes_per_s(p, rate_at(reader, place, index)) / 1e9;
    if (gross == 0)
        STRIA_PROFILE_SAY(reader, line, "%s%s in [%s] is %.6g GB/s, which the stalls leave no time for",
                          entry, place.stem, stria_profile_sections[place.section], rate);
    else
        STRIA_PROFILE_SAY(
            reader, line,
            "%s%s in [%s] is %.6g GB/s as a mean, which takes %.6g GB/s between the stalls, above the "
            "%.6g GB/s of the link",
            entry, place.stem, stria_profile_sections[place.section], rate, gross, link);
}

static void say_fault(struct stria_profile_reader *reader, const struct stria_model_fault *fault)
{
    struct place place = place_of(fault);
    if (place.section == STRIA_PROFILE_SECTIONS || !is_good(reader, place.section, place.stem))
        return;
    const struct stria_model_zones *zones = fault->rule == STRIA_MODEL_RULE_READ_ZONE
                                                ? &reader->profile->parameters.read_zones
                                                : &reader->profile->parameters.write_zones;
    const bool zone = fault->rule == STRIA_MODEL_RULE_WRITE_ZONE || fault->rule == STRIA_MODEL_RULE_READ_ZONE;
    const bool zone_order =
        zone && fault->index > 0 &&
        zones->zones[fault->index].until_bytes <= zones->zones[fault->index - 1].until_bytes;
    const unsigned line = line_of(reader, place.section, place.stem);
    const char *section = stria_profile_sections[place.section];
    if (fault->rule == STRIA_MODEL_RULE_LAW_ORDER || zone_order)
        STRIA_PROFILE_SAY(reader, line_of(reader, place.section, "until"),
                          "number %u of until in [%s] is not above the one before it: let the limits ascend",
                          fault->index + 1, section);
    else if (fault->rule == STRIA_MODEL_RULE_CACHE_SIZE)
        STRIA_PROFILE_SAY(reader, line, "static in [%s] is larger than the drive", section);
    else if (fault->rule == STRIA_MODEL_RULE_STALL)
        STRIA_PROFILE_SAY(reader, line, "length_max in [%s] is less than length_min", section);
    else if (fault->rule == STRIA_MODEL_RULE_HEAT && fault->index == 0)
        STRIA_PROFILE_SAY(reader, line, "active in [%s] is less than idle: work takes more power than rest",
                          section);
    else if (fault->rule == STRIA_MODEL_RULE_HEAT)
        STRIA_PROFILE_SAY(
            reader, line,
            "%s in [%s] has to be the higher temperature and to leave the lower rate of warm and hot",
            place.stem, section);
    else
        say_above_link(reader, place, line, fault->index);
}

void stria_profile_check(struct stria_profile_reader *reader)
{
    struct stria_model_parameters *p = &reader->profile->parameters;
    require_sections(reader);
    require_keys(reader);
    require_company(reader);
    complete(reader);
    check_zone_limits(reader, STRIA_PROFILE_WRITE_ZONES, &p->write_zones);
    check_zone_limits(reader, STRIA_PROFILE_READ_ZONES, &p->read_zones);
    /* A bound that is not known hides nothing else. */
    if (!is_good(reader, STRIA_PROFILE_LINK, "rate"))
        p->link_bytes_per_s = STRIA_WRITE_RATE_MAX;
    if (!is_good(reader, STRIA_PROFILE_DRIVE, "capacity"))
        p->capacity_bytes = (uint64_t)1 << 60;
    struct stria_model_fault faults[128];
    const unsigned count = stria_model_check(p, faults, 128);
    for (unsigned i = 0; i < count && i < 128; i++)
        say_fault(reader, &faults[i]);
}
