/* The map of one recording: where each chunk of its stream is, and what is not stored and why. Its memory is
 * bounded by the extents found, whatever lengths and offsets damaged or hostile metadata claim. */
#ifndef STRIA_CORE_MAP_H
#define STRIA_CORE_MAP_H

#include "core/inventory.h"

#include <stddef.h>
#include <stdint.h>

/* One extent that holds a chunk. */
struct stria_map_extent {
    uint64_t sequence;
    uint64_t stream_offset;
    uint64_t captured_ns;
    uint64_t digest;
    uint32_t position; /* on its drive: see stria_geometry_extent_offset() */
    uint32_t length_bytes;
    uint16_t drive;
    uint8_t gap_cause; /* of the gap before it, as in the ledger */
    uint8_t gap_drive;
};

/* The memory a map is made in, given by the caller and kept for the map's life. */
struct stria_map_memory {
    struct stria_map_extent *extents; /* recording->extent_count of them */
    size_t extent_capacity;
    struct stria_catalogue_lost *lost; /* recording->lost_entry_count of them */
    size_t lost_capacity;
};

struct stria_map {
    uint64_t length_bytes; /* of the stream */
    uint32_t chunk_bytes;
    uint64_t chunk_count;    /* chunks of the stream, the last perhaps short: length_bytes rounded up */
    uint64_t sequence_count; /* chunks sealed */
    uint8_t gap_cause;       /* of a gap at the very end */
    uint8_t gap_drive;
    uint32_t raid0_drives; /* drives of the array when all that is found of the recording lies on the drives
                              that raid0 gives it; else 0 */
    struct stria_map_extent *extents; /* by rising sequence, and so by rising stream offset; extents of the
                                         same sequence are alternatives (the chunk was written again
                                         elsewhere), in order of drive and position */
    size_t extent_count;
    struct stria_catalogue_lost *lost; /* by rising base_sequence; several may have the same */
    size_t lost_count;
    uint64_t chunks_stored;    /* these four add up to chunk_count, exactly */
    uint64_t chunks_gap;       /* known not to be stored */
    uint64_t chunks_lost;      /* sealed; LOST says so */
    uint64_t chunks_missing;   /* sealed, but no valid entry is found, nor a LOST */
    uint64_t stored_bytes;     /* of payload in chunks_stored */
    uint64_t extents_rejected; /* valid entries that contradict the recording or their neighbours */
};

/* What is known about a chunk of the stream. */
enum stria_map_state {
    STRIA_MAP_STORED,  /* extents hold it: try them in turn until one has the right digest */
    STRIA_MAP_GAP,     /* never stored */
    STRIA_MAP_LOST,    /* sealed, but never stored for a reason that was written down */
    STRIA_MAP_MISSING, /* sealed, but its extent is not found: its drive is absent or its entry damaged */
    STRIA_MAP_BEYOND   /* past the end of the stream */
};

struct stria_map_place {
    enum stria_map_state state;
    uint64_t chunk_count; /* from this chunk on so many are in the same state for the same reason; 1 for
                             STORED; up to 2^64 − 1 for BEYOND */
    const struct stria_map_extent *extents; /* STORED: the alternatives; else null */
    size_t extent_count;
    uint32_t cause; /* GAP, LOST: enum stria_gap_cause; else 0 */
    uint32_t drive; /* GAP, LOST: the drive at fault; MISSING under raid0: the drive that should have it, told
                       of holes no longer than a row; else STRIA_GAP_DRIVE_NONE */
};

/* Makes the map of a recording out of the inventory it came from. STRIA_ERR_NO_MEMORY when memory is smaller
 * than the recording asks for. Takes any metadata. */
int stria_map_build(struct stria_map *map, const struct stria_inventory_input *input,
                    const struct stria_recording *recording, const struct stria_map_memory *memory);

/* Bytes of the stream in a run of chunks: all whole but for the stream's last. chunk + chunk_count is at most
 * map->chunk_count. */
uint64_t stria_map_bytes(const struct stria_map *map, uint64_t chunk, uint64_t chunk_count);

/* Where chunk number chunk (stream offset / chunk_bytes) is. One step when no chunk before it is absent or
 * doubled, a binary search else. Where sealed chunks are not found beside a gap, their order within the hole
 * is not known: all of the hole is then in the worst of the states, MISSING before LOST before GAP. */
struct stria_map_place stria_map_find(const struct stria_map *map, uint64_t chunk);

#endif
