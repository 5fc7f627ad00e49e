/* What `stria fake` does, one function each; each returns an exit status. */
#ifndef STRIA_TOOLS_FAKE_H
#define STRIA_TOOLS_FAKE_H

#include <stdbool.h>
#include <stdint.h>

struct fake_options {
    bool json;
    const char *output;      /* null: standard output */
    const char *model;       /* null: the measurement's name */
    const char *drive;       /* null: the only one */
    uint64_t capacity_bytes; /* zero: as much as was written */
};

/* Lists the profiles that are part of the program. */
int fake_list(const struct fake_options *options);

/* Draws one profile's rates. */
int fake_show(const char *name, const struct fake_options *options);

/* Trims, or lets rest for so long, the fake drives of an array: those named, or all. */
int fake_trim(const char *ini_path, char **names, int name_count);
int fake_rest(uint64_t rest_ns, const char *ini_path, char **names, int name_count);

/* Makes a profile from a measurement. */
int fake_fit(const char *path, const struct fake_options *options);

#endif
