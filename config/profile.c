#include "config/profile.h"

#include "config/ini.h"
#include "config/profile_check.h"
#include "config/profile_keys.h"
#include "support/nearest.h"
#include "support/plain_number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 32u

static void refuse_section(struct stria_profile_reader *reader, const char *name)
{
    struct stria_nearest nearest = stria_nearest_to(name);
    for (unsigned i = 0; i < STRIA_PROFILE_SECTIONS; i++)
        stria_nearest_offer(&nearest, stria_profile_sections[i]);
    if (nearest.best) {
        STRIA_PROFILE_SAY(reader, reader->line, "unknown section [%.64s]: did you mean [%s]?", name,
                          nearest.best);
        return;
    }
    char known[512] = "";
    for (unsigned i = 0; i < STRIA_PROFILE_SECTIONS; i++)
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s[%s]", i ? ", " : "",
                 stria_profile_sections[i]);
    STRIA_PROFILE_SAY(reader, reader->line, "unknown section [%.64s]: the sections are %s", name, known);
}

static void take_section(void *user, unsigned line, const char *name)
{
    struct stria_profile_reader *reader = user;
    reader->line = line;
    reader->placed = true;
    reader->section = STRIA_PROFILE_SECTIONS;
    for (unsigned i = 0; i < STRIA_PROFILE_SECTIONS; i++) {
        if (strcmp(name, stria_profile_sections[i]) != 0)
            continue;
        if (reader->section_lines[i]) {
            STRIA_PROFILE_SAY(reader, line, "[%s] stands here again, first in line %u: keep one", name,
                              reader->section_lines[i]);
            return;
        }
        reader->section = i;
        reader->section_lines[i] = line;
        return;
    }
    refuse_section(reader, name);
}

static void refuse_key(struct stria_profile_reader *reader, const char *name)
{
    const char *section = stria_profile_sections[reader->section];
    const enum stria_profile_section keys_of =
        reader->section > STRIA_PROFILE_STALL_1 ? STRIA_PROFILE_STALL_1 : reader->section;
    const struct stria_profile_key *without_unit = NULL;
    char known[512] = "";
    for (const struct stria_profile_key *key = stria_profile_keys; key->stem; key++) {
        if (key->section != keys_of)
            continue;
        const size_t length = strlen(key->stem);
        if (strncmp(name, key->stem, length) == 0 && (name[length] == '\0' || name[length] == '_'))
            without_unit = key;
        char text[64];
        snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", known[0] ? ", " : "",
                 stria_profile_key_print(text, sizeof(text), key));
    }
    if (without_unit) {
        char units[256] = "";
        for (const struct stria_unit *unit = stria_units; unit->suffix; unit++)
            if (unit->dimension == without_unit->dimension && unit->suffix[0])
                snprintf(units + strlen(units), sizeof(units) - strlen(units), "%s%s_%s",
                         units[0] ? ", " : "", without_unit->stem, unit->suffix);
        STRIA_PROFILE_SAY(reader, reader->line, "unknown key '%.64s' in [%s]: %s can be written %s", name,
                          section, without_unit->stem, units[0] ? units : without_unit->stem);
        return;
    }
    STRIA_PROFILE_SAY(reader, reader->line,
                      "unknown key '%.64s' in [%s]: the keys are %s (in other units too)", name, section,
                      known);
}

/* Digits, a point, a sign: what people write, without the hexadecimal, infinite and other numbers of C. */
static bool parse_number(const char *text, size_t length, double *number)
{
    char copy[NUMBER_BYTES];
    if (length == 0 || length >= sizeof(copy) || strspn(text, "0123456789.-") < length)
        return false;
    memcpy(copy, text, length);
    copy[length] = '\0';
    return stria_plain_number_parse(copy, number);
}

static void say_number(struct stria_profile_reader *reader, const struct stria_profile_key *key,
                       const struct stria_unit *unit, const char *name, const char *text, size_t length)
{
    STRIA_PROFILE_SAY(reader, reader->line, "%s cannot be '%.*s': it takes %s from %.10g to %.10g%s", name,
                      length > 40 ? 40 : (int)length, text, key->items ? "numbers" : "a number",
                      key->least / unit->scale, key->most / unit->scale,
                      key->items ? ", separated by blanks" : "");
}

/* In stored units, rounded to whole ones. */
static bool scaled(const struct stria_profile_key *key, const struct stria_unit *unit, double number,
                   double *stored)
{
    *stored = key->field == STRIA_FIELD_DOUBLE ? number : round(number * unit->scale);
    return *stored >= key->least && *stored <= key->most;
}

static bool take_list(struct stria_profile_reader *reader, const struct stria_profile_key *key,
                      const struct stria_unit *unit, const char *name, const char *value)
{
    struct stria_rate_step *steps = stria_profile_key_field(reader->profile, key, reader->section);
    unsigned count = 0;
    bool good = true;
    for (const char *at = value + strspn(value, " \t"); *at; at += strspn(at, " \t")) {
        const size_t length = strcspn(at, " \t");
        double number, stored = 0;
        if (!parse_number(at, length, &number) || !scaled(key, unit, number, &stored)) {
            say_number(reader, key, unit, name, at, length);
            good = false;
        } else if (count < key->items && key->field == STRIA_FIELD_UNTIL) {
            steps[count].until_bytes = (uint64_t)stored;
        } else if (count < key->items) {
            steps[count].bytes_per_s = (uint64_t)stored;
        }
        count++;
        at += length;
    }
    if (count == 0 || count > key->items) {
        STRIA_PROFILE_SAY(reader, reader->line, "%s has %u numbers: it takes 1 to %u", name, count,
                          key->items);
        good = false;
    }
    reader->counts[key - stria_profile_keys] = count;
    return good;
}

static bool take_text(struct stria_profile_reader *reader, const struct stria_profile_key *key,
                      const char *name, const char *value)
{
    const size_t length = strlen(value);
    for (const char *c = value; *c; c++) {
        if ((unsigned char)*c < 0x20 || *c == 0x7f) {
            STRIA_PROFILE_SAY(reader, reader->line, "%s has a control character in its value", name);
            return false;
        }
    }
    if (length == 0 || length >= STRIA_NAME_BYTES) {
        STRIA_PROFILE_SAY(reader, reader->line, "%s is %zu bytes long: it takes a text of 1 to %u bytes",
                          name, length, STRIA_NAME_BYTES - 1);
        return false;
    }
    memcpy(stria_profile_key_field(reader->profile, key, reader->section), value, length + 1);
    return true;
}

static bool take_scalar(struct stria_profile_reader *reader, const struct stria_profile_key *key,
                        const struct stria_unit *unit, const char *name, const char *value)
{
    void *field = stria_profile_key_field(reader->profile, key, reader->section);
    double number, stored = 0;
    if (!parse_number(value, strlen(value), &number) || !scaled(key, unit, number, &stored)) {
        say_number(reader, key, unit, name, value, strlen(value));
        return false;
    }
    if (key->field == STRIA_FIELD_DOUBLE)
        memcpy(field, &stored, sizeof(stored));
    else if (key->dimension == STRIA_DIMENSION_TEMPERATURE)
        *(int64_t *)field = (int64_t)stored;
    else
        *(uint64_t *)field = (uint64_t)stored;
    return true;
}

static void take_value(void *user, unsigned line, const char *name, const char *value)
{
    struct stria_profile_reader *reader = user;
    reader->line = line;
    if (!value) {
        STRIA_PROFILE_SAY(reader, line, "'%.64s' has no '=': write a key, '=' and a value", name);
        return;
    }
    if (!reader->placed)
        STRIA_PROFILE_SAY(reader, line, "'%.64s' stands before any section: put it under one", name);
    if (reader->section == STRIA_PROFILE_SECTIONS)
        return;
    const struct stria_unit *unit = NULL;
    const struct stria_profile_key *key = stria_profile_key_find(reader->section, name, &unit);
    if (!key) {
        refuse_key(reader, name);
        return;
    }
    const size_t number = (size_t)(key - stria_profile_keys);
    unsigned *first = &reader->key_lines[reader->section][number];
    if (*first) {
        STRIA_PROFILE_SAY(reader, line, "%s is given twice, first in line %u: keep one", name, *first);
        return;
    }
    *first = line;
    const bool good = key->items                       ? take_list(reader, key, unit, name, value)
                      : key->field == STRIA_FIELD_TEXT ? take_text(reader, key, name, value)
                                                       : take_scalar(reader, key, unit, name, value);
    reader->bad[reader->section][number] = !good;
}

static void name_after(const char *path, char name[STRIA_NAME_BYTES])
{
    const char *slash = strrchr(path, '/');
    const char *start = slash ? slash + 1 : path;
    size_t length = strlen(start);
    if (length > 4 && strcmp(start + length - 4, ".ini") == 0)
        length -= 4;
    snprintf(name, STRIA_NAME_BYTES, "%.*s", (int)length, start);
}

int stria_profile_parse(const char *path, const char *text, size_t bytes, struct stria_profile *profile,
                        struct stria_problems *problems)
{
    struct stria_profile_reader *reader = calloc(1, sizeof(*reader));
    if (!reader) {
        stria_problems_add(problems, "not enough memory to read %s", path);
        return STRIA_ERR_NO_MEMORY;
    }
    *reader = (struct stria_profile_reader){
        .path = path, .section = STRIA_PROFILE_SECTIONS, .profile = profile, .problems = problems};
    memset(profile, 0, sizeof(*profile));
    name_after(path, profile->name);
    const size_t before = problems->count + problems->more;
    const struct stria_ini_handler handler = {take_section, take_value, reader};
    int code = stria_ini_parse(path, text, bytes, &handler, problems);
    if (code != STRIA_ERR_NO_MEMORY) {
        stria_profile_check(reader);
        code = problems->count + problems->more > before ? STRIA_ERR_INVALID : STRIA_OK;
    }
    free(reader);
    return code;
}
