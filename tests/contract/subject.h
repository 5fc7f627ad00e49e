/* The drives that the contract is checked on: one of each backend and wrapper. */
#ifndef STRIA_TESTS_CONTRACT_SUBJECT_H
#define STRIA_TESTS_CONTRACT_SUBJECT_H

#include "backends/backend.h"

#include <stddef.h>

#define SUBJECT_BYTES (8ull << 20) /* size of every subject */

struct subject_options {
    bool read_only;
    uint32_t depth;
    bool unregistered;
};

struct subject {
    struct stria_drive *drive;
    bool forgets;   /* what is written is not read back */
    char path[128]; /* what was opened */
    char file[128]; /* the file behind it, removed by subject_close; empty without one */
    int loop;       /* keeps the loop device; −1 without one */
};

/* How to make a subject, by name. */
struct subject_kind {
    const char *name;
    bool (*open)(struct subject *subject, const struct subject_options *options);
    bool again; /* of parts that others of the list are made of too */
};

extern const struct subject_kind subject_kinds[];
extern const size_t subject_kind_count;

/* Whether STRIA_TEST_SUBJECTS in the environment, a part of the names of those wanted, says so or is not set;
 * with STRIA_TEST_FEWER set none is that is made of parts which others have too. */
bool subject_wanted(size_t kind);

/* Opens a subject of that kind. False if this machine cannot have it (not root, no direct I/O): skip. Any
 * other failure fails the test. */
bool subject_open(struct subject *subject, size_t kind, const struct subject_options *options);

void subject_close(struct subject *subject);

/* Makes a fully allocated file in folder and writes its path; fails the test if it cannot. */
void subject_file_make(const char *folder, uint64_t bytes, char path[128]);

/* Where files for tests go: TMPDIR or /tmp. */
const char *subject_folder(void);

/* Memory aligned to a page, filled with bytes made from seed; freed with free(). */
void *subject_memory(size_t bytes, uint64_t seed);

#endif
