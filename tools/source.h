/* Where a recording's bytes come from: standard input, a file, a FIFO, or a synthetic sensor; paced if
 * wanted, ended by its own end, a size, a duration or a signal. */
#ifndef STRIA_TOOLS_SOURCE_H
#define STRIA_TOOLS_SOURCE_H

#include "support/trouble.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

struct stria_source_options {
    const char *input; /* "-", "synthetic" or a path; null: standard input if that is a pipe or a file */
    uint64_t rate_bytes_per_s; /* pace, held by absolute deadlines; zero: as fast as it comes */
    uint64_t bytes_max;   /* the stream ends here at the latest; zero: no limit, so end it by other means */
    uint64_t duration_ns; /* the stream ends so long after stria_source_start(), or, with a pace and no pipe,
                             after what a sensor sends in that time; zero: no limit */
    uint64_t seed;        /* of the synthetic stream */
};

struct stria_source;

/* Opens it; waits for nobody: a FIFO without a writer opens too. The sentence names the input. */
int stria_source_open(const struct stria_source_options *options, struct stria_source **source,
                      struct stria_trouble *trouble);

/* For people: "standard input", the path, "a synthetic sensor". */
const char *stria_source_name(const struct stria_source *source);

/* What it is read from; false for a synthetic one. */
bool stria_source_status(const struct stria_source *source, struct stat *status);

/* True if it goes on while we do not take it: a pace is set, or it is a pipe that somebody fills. One that
 * waits can lose nothing. */
bool stria_source_is_live(const struct stria_source *source);

/* Begins the clock of pace and duration. */
void stria_source_start(struct stria_source *source);

/* Fills buffer with the next bytes of the stream, waiting for all of them. Returns how many; fewer, down to
 * zero, when the stream ends here; negative when it cannot be read, with a sentence. What came before
 * it could not is handed out first, so fewer may mean that too: the next call tells. */
int64_t stria_source_fill(struct stria_source *source, void *buffer, size_t bytes,
                          struct stria_trouble *trouble);

void stria_source_close(struct stria_source *source);

#endif
