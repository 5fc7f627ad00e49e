/* The superblock: what a drive is, to which array it belongs, and where everything lies on it. */
#ifndef STRIA_CORE_SUPERBLOCK_H
#define STRIA_CORE_SUPERBLOCK_H

#include "core/geometry.h"
#include "core/ledger.h"

#include <stdint.h>

#define STRIA_FORMAT_VERSION 1u

/* Feature bits that this version knows. A bit it does not know: in compat it is ignored; in ro_compat the
 * array may be read but not written; in incompat it must not be touched. */
#define STRIA_FEATURES_COMPAT    UINT64_C(0)
#define STRIA_FEATURES_RO_COMPAT UINT64_C(0)
#define STRIA_FEATURES_INCOMPAT  UINT64_C(0)

struct stria_superblock {
    uint32_t version;        /* STRIA_FORMAT_VERSION; 0 is not valid */
    uint64_t feature_compat; /* see above; all 0 in this version */
    uint64_t feature_ro_compat;
    uint64_t feature_incompat;
    uint8_t array_uuid[STRIA_UUID_BYTES]; /* drawn by init; the same on every drive of the array */
    uint8_t drive_uuid[STRIA_UUID_BYTES]; /* drawn by init for this drive alone */
    uint32_t drive_index;                 /* 0 to drive_count − 1: the drive's place in the stripe */
    uint32_t drive_count;                 /* 1 to STRIA_DRIVES_MAX */
    struct stria_geometry geometry;
    uint32_t ledger_generation; /* from 1; raised to declare every older ledger entry void */
    uint32_t policy;            /* enum stria_policy, for new recordings; each recording keeps its own */
    uint64_t generation;        /* of this copy, from 1; the higher of two copies is the newer */
    uint64_t created_unix_ns;   /* when init made the array; the same on every drive */
    char array_name[STRIA_NAME_BYTES]; /* zero-terminated, the rest zero; never empty */
    char drive_name[STRIA_NAME_BYTES]; /* NAME of [drive.NAME] in the array's INI file, likewise */
};

enum stria_superblock_verdict {
    STRIA_SUPERBLOCK_VALID,
    STRIA_SUPERBLOCK_NOT_OURS, /* no Stria magic: STRIA_ERR_FORMAT */
    STRIA_SUPERBLOCK_DAMAGED,  /* ours, but its check or its figures do not hold: STRIA_ERR_FORMAT */
    STRIA_SUPERBLOCK_NEWER     /* whole, but beyond this version: STRIA_ERR_VERSION */
};

/* What a superblock asks for that this version does not know. */
struct stria_superblock_unknown {
    uint32_t version;   /* the version found, when above STRIA_FORMAT_VERSION; else 0 */
    uint64_t incompat;  /* unknown bits: refuse, and say which */
    uint64_t ro_compat; /* unknown bits: read only; the verdict may still be VALID */
};

/* Writes a whole page. The superblock must hold what its fields say (asserted): a geometry that passes
 * stria_geometry_check(), names terminated, index below count. */
void stria_superblock_encode(uint8_t out[STRIA_PAGE_BYTES], const struct stria_superblock *super);

/* Takes hostile bytes. super is written for STRIA_SUPERBLOCK_VALID only; unknown always (all 0 when there
 * is nothing to tell). */
enum stria_superblock_verdict stria_superblock_decode(const uint8_t in[STRIA_PAGE_BYTES],
                                                      struct stria_superblock *super,
                                                      struct stria_superblock_unknown *unknown);

/* STRIA_OK, STRIA_ERR_FORMAT or STRIA_ERR_VERSION for a verdict. */
int stria_superblock_code(enum stria_superblock_verdict verdict);

/* Which of the two copies counts, null standing for one that is not valid: of the same array the one of the
 * higher generation, of two arrays that of the array created later (an init that was cut short); the first
 * when they are equal. 0 or 1, or STRIA_ERR_NOT_FOUND when both are null. */
int stria_superblock_choose(const struct stria_superblock *first, const struct stria_superblock *second);

/* Where the second copy is on a drive of drive_bytes whose first copy was read: offset is the one of
 * stria_geometry_super_offsets() for this size, and stands unless the drive has grown since the first copy
 * was written. Null: the first copy is not valid. */
uint64_t stria_superblock_second_offset(const struct stria_superblock *first, uint64_t drive_bytes,
                                        uint64_t offset);

/* The binding of the drive's ledger and checkpoint. */
struct stria_ledger_binding stria_superblock_binding(const struct stria_superblock *super);

#endif
