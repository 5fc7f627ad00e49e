/* Drive profiles: what is published or measured about one model of SSD, as an INI file with units in its
 * keys (man 5 stria-profile), read into the parameters of the drive model. */
#ifndef STRIA_CONFIG_PROFILE_H
#define STRIA_CONFIG_PROFILE_H

#include "core/code.h"
#include "core/limits.h"
#include "core/model.h"
#include "support/problems.h"
#include "support/trouble.h"

#include <stddef.h>
#include <stdio.h>

struct stria_profile {
    char name[STRIA_NAME_BYTES];              /* as it is found: the file's name without folder and ".ini" */
    char model[STRIA_NAME_BYTES];             /* as people call the drive: "Samsung 980 500 GB" */
    double price;                             /* in the currency of whoever compares; zero: not given */
    struct stria_model_parameters parameters; /* pass stria_model_check */
};

/* A text longer than this is no profile. */
#define STRIA_PROFILE_FILE_BYTES_MAX (64u << 10)

/* Scales lie in this range. */
#define STRIA_PROFILE_SCALE_MIN 1e-9
#define STRIA_PROFILE_SCALE_MAX 1000.0

/* A profile that is part of the program. */
struct stria_profile_text {
    const char *name;
    const char *text; /* the INI file */
};

/* All of them, by name; ends with a null name. */
extern const struct stria_profile_text stria_profile_texts[];

/* The profile of that name, or, if name has a slash in it or ends in ".ini", the one in that file. Every
 * problem is added as a sentence: file, line, what is wrong and what is allowed; for an unknown name the
 * known ones. STRIA_ERR_NOT_FOUND, STRIA_ERR_INVALID, or the code of a file that cannot be read. *profile is
 * undefined after a failure. */
int stria_profile_find(const char *name, struct stria_profile *profile, struct stria_problems *problems);

/* The profile in a text; path gives it its name and is named in the sentences. */
int stria_profile_parse(const char *path, const char *text, size_t bytes, struct stria_profile *profile,
                        struct stria_problems *problems);

/* Makes the drive smaller and slower, or larger and faster: every size is multiplied by capacity_scale,
 * every rate by rate_scale, each at least 1 afterwards if it was not zero. Times stay as they are. A profile
 * scaled to nonsense (a scale out of range, a capacity above 2^60) is STRIA_ERR_INVALID, and untouched. */
int stria_profile_scale(struct stria_profile *profile, double capacity_scale, double rate_scale,
                        struct stria_trouble *trouble);

/* Writes the profile as an INI file that stria_profile_parse reads back, bytes and rates exact, with note as
 * a comment at its head (null: none; may have several lines). A failure shows in ferror(out). */
void stria_profile_write(const struct stria_profile *profile, const char *note, FILE *out);

#endif
