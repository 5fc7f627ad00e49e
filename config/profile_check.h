/* What a profile must satisfy as a whole, beyond what each of its lines must. */
#ifndef STRIA_CONFIG_PROFILE_CHECK_H
#define STRIA_CONFIG_PROFILE_CHECK_H

#include "config/profile_keys.h"

/* One profile being read. Lines are zero where nothing stands. */
struct stria_profile_reader {
    const char *path;
    unsigned line;                      /* of what was read last */
    bool placed;                        /* a section was seen */
    enum stria_profile_section section; /* that of the line; STRIA_PROFILE_SECTIONS: none, or to be ignored */
    unsigned section_lines[STRIA_PROFILE_SECTIONS];
    unsigned key_lines[STRIA_PROFILE_SECTIONS][STRIA_PROFILE_KEYS_MAX];
    bool bad[STRIA_PROFILE_SECTIONS][STRIA_PROFILE_KEYS_MAX]; /* given, and refused already */
    unsigned counts[STRIA_PROFILE_KEYS_MAX];                  /* numbers in each list */
    struct stria_profile *profile;
    struct stria_problems *problems;
};

#define STRIA_PROFILE_SAY(reader, at_line, format, ...)                                                      \
    stria_problems_add((reader)->problems, "%s:%u: " format, (reader)->path, (unsigned)(at_line),            \
                       ##__VA_ARGS__)

/* Completes the profile from what was read and adds a sentence for each problem. */
void stria_profile_check(struct stria_profile_reader *reader);

#endif
