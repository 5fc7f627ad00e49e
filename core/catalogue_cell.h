/* One entry of the catalogue as it lies on media: the part of the catalogue that knows bytes. */
#ifndef STRIA_CORE_CATALOGUE_CELL_H
#define STRIA_CORE_CATALOGUE_CELL_H

#include "core/catalogue.h"

enum stria_catalogue_cell_verdict {
    STRIA_CATALOGUE_CELL_EMPTY,   /* all zero */
    STRIA_CATALOGUE_CELL_VALID,   /* ours, whole, in its cell, and of a kind that this version knows */
    STRIA_CATALOGUE_CELL_STRANGE, /* likewise, but of a kind that this version does not know */
    STRIA_CATALOGUE_CELL_DAMAGED
};

/* What the check of every entry of a log is seeded with: XXH3-64, unseeded, of array_uuid ‖ epoch (u64). */
uint64_t stria_catalogue_cell_seed(const uint8_t array_uuid[STRIA_UUID_BYTES], uint64_t epoch);

/* Writes all bytes of the cell, for its place entry->ordinal. */
void stria_catalogue_cell_encode(uint8_t out[STRIA_CATALOGUE_ENTRY_BYTES],
                                 const struct stria_catalogue_entry *entry, uint64_t seed);

/* Takes hostile bytes. entry is written for VALID; for STRANGE, its recording alone. */
enum stria_catalogue_cell_verdict stria_catalogue_cell_decode(const uint8_t in[STRIA_CATALOGUE_ENTRY_BYTES],
                                                              struct stria_catalogue_entry *entry,
                                                              uint64_t seed, uint64_t ordinal);

/* Reads the HEAD of a log whose epoch is not known yet. False when it is not a valid one. */
bool stria_catalogue_cell_decode_head(const uint8_t in[STRIA_CATALOGUE_ENTRY_BYTES],
                                      struct stria_catalogue_entry *entry,
                                      const uint8_t array_uuid[STRIA_UUID_BYTES]);

/* Moves a whole entry, of whatever kind, to another place in this or another log. */
void stria_catalogue_cell_move(uint8_t out[STRIA_CATALOGUE_ENTRY_BYTES],
                               const uint8_t in[STRIA_CATALOGUE_ENTRY_BYTES], uint64_t seed,
                               uint64_t ordinal);

/* True when two whole entries say the same, wherever they lie. */
bool stria_catalogue_cell_same(const uint8_t a[STRIA_CATALOGUE_ENTRY_BYTES],
                               const uint8_t b[STRIA_CATALOGUE_ENTRY_BYTES]);

/* Inside a log. */

/* The bytes of a cell below entries_max. */
static inline uint8_t *stria_catalogue_cell_at(const struct stria_catalogue *catalogue, uint32_t index)
{
    return catalogue->image + (size_t)index * STRIA_CATALOGUE_ENTRY_BYTES;
}

/* Decodes a cell of the image: true when it holds an entry, be it of a kind that this version does not know.
 */
bool stria_catalogue_cell_whole(const struct stria_catalogue *catalogue, uint32_t index,
                                struct stria_catalogue_entry *entry);

/* next_recording as HEAD has it. */
uint64_t stria_catalogue_head_next(const struct stria_catalogue *catalogue);

/* Makes catalogue, whose image and array_uuid are set, an empty log under head. */
void stria_catalogue_begin(struct stria_catalogue *catalogue, const struct stria_catalogue_head *head,
                           uint64_t wall_ns);

/* Appends a whole entry from another place: its index or STRIA_ERR_FULL. */
int stria_catalogue_append_cell(struct stria_catalogue *catalogue,
                                const uint8_t cell[STRIA_CATALOGUE_ENTRY_BYTES]);

/* Keeps next_recording above an id. */
void stria_catalogue_recording_seen(struct stria_catalogue *catalogue, uint64_t recording);

#endif
