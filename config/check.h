/* What an array.ini must satisfy as a whole, beyond what each of its lines must. */
#ifndef STRIA_CONFIG_CHECK_H
#define STRIA_CONFIG_CHECK_H

#include "config/array.h"

#define STRIA_KEYS_MAX 32u

/* Where things stand in the file; zero: nowhere. Keys are numbered as in stria_keys. */
struct stria_config_lines {
    unsigned array; /* the [array] section */
    unsigned of_array[STRIA_KEYS_MAX];
    unsigned of_drive[STRIA_DRIVES_MAX][STRIA_KEYS_MAX];
};

/* Adds a sentence for each problem, and puts relative paths behind the folder of the file. */
void stria_config_check(struct stria_array_config *config, const struct stria_config_lines *lines,
                        struct stria_problems *problems);

#endif
