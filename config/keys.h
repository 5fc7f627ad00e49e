/* Every key of array.ini, as data: the reader, the manual and the tests go by this one table. */
#ifndef STRIA_CONFIG_KEYS_H
#define STRIA_CONFIG_KEYS_H

#include <stdbool.h>
#include <stddef.h>

enum stria_key_section { STRIA_KEY_ARRAY /* [array] */, STRIA_KEY_DRIVE /* [drive.NAME] */ };

struct stria_key {
    enum stria_key_section section;
    const char *name;
    const char *allowed; /* what it takes, to be read behind "it takes" */
    const char *initial; /* the value when it is not given, as if written; null: none */
    bool required;
    const char *meaning; /* for the manual, without a full stop */
    /* Stores the value; false when it is not allowed, *field then being untouched. */
    bool (*parse)(const char *value, void *field);
    size_t field; /* offset in struct stria_array_config or struct stria_drive_config */
};

/* Ends with a key without a name. */
extern const struct stria_key stria_keys[];

/* The key of this name in that section, or null. */
const struct stria_key *stria_key_find(enum stria_key_section section, const char *name);

/* True for what may name an array, a drive or a recording: 1 to 63 letters, digits, dots, dashes and
 * underscores, the first a letter, a digit or an underscore. Such a name is safe as a file name. */
bool stria_name_allowed(const char *name);
extern const char stria_name_allowed_text[];

#endif
