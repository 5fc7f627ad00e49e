/* Whether the ring fills up: by what waits in it, beyond what the drives are writing anyway. */
#ifndef STRIA_ENGINE_FILLING_H
#define STRIA_ENGINE_FILLING_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at the start. */
struct stria_filling {
    uint64_t since_ns;       /* when the present second began */
    uint64_t least_bytes[2]; /* that waited in the second before, and in the present one so far */
};

/* The ring as it is now. */
struct stria_filling_state {
    uint64_t now_ns; /* not zero, and never less than before */
    uint64_t buffer_bytes, used_bytes;
    uint64_t writing_bytes;                   /* of the used ones: with a drive */
    uint64_t input_bytes_per_s, stored_per_s; /* over the last second */
};

/* True when more comes in than is stored and the ring is half full, or what waits in it has grown by a
 * sixteenth of it within two seconds and, going on like that, fills it in ten. *left_ns: the time until it is
 * full then. */
bool stria_filling_note(struct stria_filling *filling, const struct stria_filling_state *state,
                        uint64_t *left_ns);

#endif
