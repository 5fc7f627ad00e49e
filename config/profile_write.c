#include "config/profile.h"
#include "config/profile_keys.h"
#include "support/plain_number.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define VALUE_BYTES 40u
#define LIST_MAX    STRIA_WRITE_STEPS_MAX

_Static_assert(LIST_MAX >= STRIA_MODEL_ZONES_MAX, "every list fits");

/* The shortest text of a stored value in this unit, if it reads back as exactly that value. */
static bool print_in(char out[VALUE_BYTES], double stored, const struct stria_unit *unit)
{
    for (int digits = 0; digits <= 6; digits++) {
        double read = 0;
        stria_plain_number_print(out, VALUE_BYTES, digits, stored / unit->scale);
        if (stria_plain_number_parse(out, &read) && round(read * unit->scale) == stored)
            return true;
    }
    return false;
}

/* Numbers of more than this many figures are no longer read at a glance: a smaller unit is better. */
static bool is_readable(const char *text)
{
    return strlen(text) <= 9;
}

static const struct stria_unit *choose_unit(const double *stored, unsigned count,
                                            enum stria_dimension dimension)
{
    const struct stria_unit *exact = NULL;
    for (const struct stria_unit *unit = stria_units; unit->suffix; unit++) {
        if (unit->dimension != dimension)
            continue;
        bool fits = true, readable = true;
        for (unsigned i = 0; i < count; i++) {
            char text[VALUE_BYTES];
            fits = fits && print_in(text, stored[i], unit);
            readable = readable && is_readable(text) && (stored[i] == 0 || strcmp(text, "0") != 0);
        }
        if (fits && readable)
            return unit;
        if (fits && unit->scale <= 1)
            exact = unit;
    }
    return exact ? exact : stria_units;
}

static void write_numbers(FILE *out, const struct stria_profile_key *key, const double *stored,
                          unsigned count)
{
    const struct stria_unit *unit = choose_unit(stored, count, key->dimension);
    fprintf(out, "%s%s%s =", key->stem, unit->suffix[0] ? "_" : "", unit->suffix);
    for (unsigned i = 0; i < count; i++) {
        char text[VALUE_BYTES];
        print_in(text, stored[i], unit);
        fprintf(out, " %s", text);
    }
    fputc('\n', out);
}

static unsigned list_count(const struct stria_model_parameters *p, enum stria_profile_section section)
{
    switch (section) {
    case STRIA_PROFILE_WRITE_TABLE:
        return p->law.step_count;
    case STRIA_PROFILE_WRITE_WORN:
        return p->worn.step_count;
    case STRIA_PROFILE_WRITE_ZONES:
        return p->write_zones.count;
    default:
        return p->read_zones.count;
    }
}

static void write_key(FILE *out, struct stria_profile *profile, const struct stria_profile_key *key,
                      enum stria_profile_section section)
{
    void *field = stria_profile_key_field(profile, key, section);
    double stored[LIST_MAX] = {0};
    unsigned count = 1;
    if (key->field == STRIA_FIELD_TEXT) {
        fprintf(out, "%s = %s\n", key->stem, (const char *)field);
        return;
    }
    if (key->field == STRIA_FIELD_DOUBLE) {
        memcpy(stored, field, sizeof(stored[0]));
    } else if (key->items) {
        const struct stria_rate_step *steps = field;
        count = list_count(&profile->parameters, section);
        for (unsigned i = 0; i < count; i++)
            stored[i] =
                (double)(key->field == STRIA_FIELD_UNTIL ? steps[i].until_bytes : steps[i].bytes_per_s);
    } else if (key->dimension == STRIA_DIMENSION_TEMPERATURE) {
        stored[0] = (double)*(int64_t *)field;
    } else {
        stored[0] = (double)*(uint64_t *)field;
    }
    const struct stria_heat_parameters *heat = &profile->parameters.heat;
    const bool used = stored[0] != 0 ||
                      (field == &heat->levels[0].limit_mc && heat->levels[0].rate_per_mille) ||
                      (field == &heat->levels[1].limit_mc && heat->levels[1].rate_per_mille);
    if (key->required || used)
        write_numbers(out, key, stored, count);
}

static bool has_section(const struct stria_model_parameters *p, enum stria_profile_section section)
{
    switch (section) {
    case STRIA_PROFILE_DRIVE:
    case STRIA_PROFILE_LINK:
    case STRIA_PROFILE_READ:
        return true;
    case STRIA_PROFILE_WRITE:
        return p->write_latency_ns || p->command_ns || p->flush_ns || p->trim_ns;
    case STRIA_PROFILE_WRITE_TABLE:
        return p->law.kind == STRIA_WRITE_LAW_TABLE;
    case STRIA_PROFILE_WRITE_CACHE:
        return p->law.kind == STRIA_WRITE_LAW_CACHE;
    case STRIA_PROFILE_WRITE_WORN:
        return p->worn_after_bytes > 0;
    case STRIA_PROFILE_WRITE_ZONES:
        return p->write_zones.count > 0;
    case STRIA_PROFILE_READ_ZONES:
        return p->read_zones.count > 0;
    case STRIA_PROFILE_RECOVERY:
        return p->refill_bytes_per_s > 0;
    case STRIA_PROFILE_MIXED:
        return p->interference_per_mille > 0;
    case STRIA_PROFILE_HEAT:
        return p->heat.time_constant_ns > 0;
    default:
        return section - STRIA_PROFILE_STALL_1 < p->stall_count;
    }
}

static void write_note(FILE *out, const char *note)
{
    while (note && *note) {
        const size_t length = strcspn(note, "\n");
        fprintf(out, "; %.*s\n", (int)length, note);
        note += length + (note[length] == '\n');
    }
}

void stria_profile_write(const struct stria_profile *profile, const char *note, FILE *out)
{
    struct stria_profile copy = *profile;
    write_note(out, note);
    for (unsigned section = 0; section < STRIA_PROFILE_SECTIONS; section++) {
        if (!has_section(&copy.parameters, section))
            continue;
        fprintf(out, "\n[%s]\n", stria_profile_sections[section]);
        const unsigned keys_of = section > STRIA_PROFILE_STALL_1 ? STRIA_PROFILE_STALL_1 : section;
        for (const struct stria_profile_key *key = stria_profile_keys; key->stem; key++)
            if (key->section == keys_of)
                write_key(out, &copy, key, section);
    }
}
