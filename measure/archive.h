/* A folder of results, one document each, named by date and test: the ledger of what was ever measured. */
#ifndef STRIA_MEASURE_ARCHIVE_H
#define STRIA_MEASURE_ARCHIVE_H

#include "support/trouble.h"

#include <json-c/json.h>
#include <stdbool.h>
#include <stdint.h>

#define STRIA_ARCHIVE_NAME_BYTES 256u

/* Makes the folder if it is not there, and says whether results can be put into it. */
int stria_archive_prepare(const char *folder, struct stria_trouble *trouble);

/* Adds a stria.bench/1 document under a new name, whole or not at all; name is what it is called there. */
int stria_archive_add(const char *folder, struct json_object *document, char name[STRIA_ARCHIVE_NAME_BYTES],
                      struct stria_trouble *trouble);

/* One result, as a list needs it. Texts are valid during the visit. */
struct stria_archive_entry {
    const char *name;                    /* of its file */
    const char *started, *test, *drives; /* drives: by serial number or path, with commas */
    bool partial, rated;
    uint64_t rating_bytes_per_s;
    const char *complaint; /* why it cannot be read; the rest is empty then. Null: all is well */
};

/* Calls visit for each document in the folder, the oldest first. */
int stria_archive_each(const char *folder, void (*visit)(const struct stria_archive_entry *entry, void *user),
                       void *user, struct stria_trouble *trouble);

#endif
