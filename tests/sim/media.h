/* What one simulated drive holds: what is durable, and the completed writes that its volatile cache has not
 * made durable yet.
 *
 * Metadata are always real bytes. Payload is real bytes too when the medium is filled; else it is modelled:
 * an extent remembers which bytes of which chunk it holds, and a digest is a function of that. */
#ifndef STRIA_TESTS_SIM_MEDIA_H
#define STRIA_TESTS_SIM_MEDIA_H

#include "core/geometry.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The memory ring from which payload is written. In a modelled world only the first bytes of a slot are
 * touched: they hold the identity of the chunk that would fill it. */
struct sim_ring {
    uint8_t *base;
    size_t bytes;
    uint32_t chunk_bytes;
    bool filled;
};

/* Fills a slot with a chunk (its bytes, or its identity) and pads it with zeroes to padded_bytes. */
void sim_ring_fill(const struct sim_ring *ring, uint32_t slot, uint64_t id, uint32_t length_bytes,
                   uint32_t padded_bytes);

/* The digest of the first bytes of what lies in ring memory at data, which is the start of a slot. */
uint64_t sim_ring_digest(const struct sim_ring *ring, const void *data, uint64_t bytes, uint64_t digest_seed);

/* The digest that a chunk of this identity and length has. */
uint64_t sim_chunk_digest(bool filled, uint64_t id, uint64_t length_bytes, uint64_t digest_seed);

/* What a write carries: bytes, or a part of a chunk. */
struct sim_payload {
    uint8_t *bytes; /* owned; null for modelled payload */
    uint64_t id;
    uint64_t from; /* first byte of the chunk */
};

struct sim_media;

struct sim_media *sim_media_new(const struct stria_geometry *geometry, const struct sim_ring *ring);
void sim_media_free(struct sim_media *media);

/* Copies what is in memory now. */
struct sim_payload sim_media_capture(const struct sim_media *media, const void *data, uint64_t length);
void sim_payload_drop(struct sim_payload *payload);

/* Puts a write into the cache; the payload goes over to the medium. */
void sim_media_write(struct sim_media *media, uint64_t offset, uint64_t length, struct sim_payload *payload);

/* The same, of which only some blocks arrive, as draw says. */
void sim_media_write_torn(struct sim_media *media, uint64_t offset, uint64_t length,
                          struct sim_payload *payload, uint64_t draw);

/* The number of the next write: a flush makes all before the number at its submission durable. */
uint64_t sim_media_barrier(const struct sim_media *media);
void sim_media_flush(struct sim_media *media, uint64_t barrier);

enum sim_cut {
    SIM_CUT_MIXED, /* each write in the cache is kept, dropped or torn by itself */
    SIM_CUT_KEEP,
    SIM_CUT_DROP,
    SIM_CUT_TEAR
};

/* Empties the cache as a power cut does. */
void sim_media_cut(struct sim_media *media, enum sim_cut cut, uint64_t seed);

/* Writes in the cache. */
uint32_t sim_media_pending(const struct sim_media *media);

/* What is durable. Metadata: a view of the bytes at an offset outside the data area. */
uint8_t *sim_media_bytes(struct sim_media *media, uint64_t offset);

/* Whether an extent holds the first length bytes of a chunk. */
bool sim_media_holds(const struct sim_media *media, uint64_t position, uint64_t id, uint64_t length_bytes);

/* The digest of the first length bytes of an extent, whatever it holds. */
uint64_t sim_media_digest(const struct sim_media *media, uint64_t position, uint64_t length_bytes,
                          uint64_t digest_seed);

/* Changes one durable bit of an extent. */
void sim_media_rot(struct sim_media *media, uint64_t position, uint64_t draw);

#endif
