/* Every key of a drive profile, as data: the reader, the writer, the manual's test and the sentences go by
 * this one table. A key in a file is a stem and a unit: rate_gb_per_s is the stem "rate" in GB/s. */
#ifndef STRIA_CONFIG_PROFILE_KEYS_H
#define STRIA_CONFIG_PROFILE_KEYS_H

#include "config/profile.h"

#include <stdbool.h>
#include <stddef.h>

enum stria_dimension {
    STRIA_DIMENSION_TEXT,        /* no unit */
    STRIA_DIMENSION_NUMBER,      /* no unit */
    STRIA_DIMENSION_SIZE,        /* stored in bytes */
    STRIA_DIMENSION_RATE,        /* bytes per second */
    STRIA_DIMENSION_TIME,        /* nanoseconds */
    STRIA_DIMENSION_PERCENT,     /* thousandths */
    STRIA_DIMENSION_TEMPERATURE, /* thousandths of °C, signed */
    STRIA_DIMENSION_KELVIN,      /* thousandths of a kelvin */
    STRIA_DIMENSION_RESISTANCE,  /* thousandths of a kelvin per watt */
    STRIA_DIMENSION_POWER        /* milliwatts */
};

struct stria_unit {
    enum stria_dimension dimension;
    const char *suffix; /* behind the stem and an underscore; empty: nothing behind the stem */
    double scale;       /* how many stored units one of it is */
};

/* Ends with a null suffix. The first of a dimension is the one that sentences and the writer use. */
extern const struct stria_unit stria_units[];

enum stria_profile_section {
    STRIA_PROFILE_DRIVE,
    STRIA_PROFILE_LINK,
    STRIA_PROFILE_WRITE,
    STRIA_PROFILE_WRITE_TABLE,
    STRIA_PROFILE_WRITE_CACHE,
    STRIA_PROFILE_WRITE_WORN,
    STRIA_PROFILE_WRITE_ZONES,
    STRIA_PROFILE_READ,
    STRIA_PROFILE_READ_ZONES,
    STRIA_PROFILE_RECOVERY,
    STRIA_PROFILE_MIXED,
    STRIA_PROFILE_HEAT,
    STRIA_PROFILE_STALL_1, /* the four stalls in a row, their keys are those of the first */
    STRIA_PROFILE_STALL_4 = STRIA_PROFILE_STALL_1 + STRIA_MODEL_STALLS_MAX - 1,
    STRIA_PROFILE_SECTIONS
};

/* The names between the brackets. */
extern const char *const stria_profile_sections[STRIA_PROFILE_SECTIONS];

/* What a key's value is stored into. */
enum stria_profile_field {
    STRIA_FIELD_TEXT,   /* char[STRIA_NAME_BYTES] */
    STRIA_FIELD_DOUBLE, /* double */
    STRIA_FIELD_U64,    /* uint64_t, or int64_t for a temperature */
    STRIA_FIELD_UNTIL,  /* a list into until_bytes of struct stria_rate_step[] */
    STRIA_FIELD_RATE    /* a list into bytes_per_s of the same */
};

struct stria_profile_key {
    enum stria_profile_section section;
    const char *stem;
    enum stria_dimension dimension;
    enum stria_profile_field field;
    size_t offset;  /* in struct stria_profile; of the first stall for the stalls */
    unsigned items; /* of a list, at most; zero for a single value */
    bool required;  /* when its section is there */
    double least;   /* in stored units */
    double most;    /* in stored units */
};

#define STRIA_PROFILE_KEYS_MAX 64u

/* Ends with a null stem. */
extern const struct stria_profile_key stria_profile_keys[];

/* The key that name stands for in a section, and its unit, or null. */
const struct stria_profile_key *stria_profile_key_find(enum stria_profile_section section, const char *name,
                                                       const struct stria_unit **unit);

/* Writes stem and first unit of a key, as in a file: "rate_gb_per_s". Returns out. */
char *stria_profile_key_print(char *out, size_t size, const struct stria_profile_key *key);

/* Where the value of a key lies in a profile; section tells the four stalls apart. */
void *stria_profile_key_field(struct stria_profile *profile, const struct stria_profile_key *key,
                              enum stria_profile_section section);

#endif
