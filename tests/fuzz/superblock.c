/* A page is a superblock with sound figures or is refused, whatever its bytes, with a right check or a wrong
 * one. */
#include "core/superblock.h"

#include "core/bits.h"
#include "core/digest.h"
#include "core/name.h"
#include "core/policy.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    struct stria_superblock super = {.version = 1, .ledger_generation = 1, .generation = 1};
    super.drive_count = 1 + (uint32_t)stria_random_below(random, STRIA_DRIVES_MAX);
    super.drive_index = (uint32_t)stria_random_below(random, super.drive_count);
    super.policy = STRIA_POLICY_RAID0;
    stria_name_set(super.array_name, "rig");
    stria_name_set(super.drive_name, "left");
    const uint32_t chunk_bytes = STRIA_CHUNK_BYTES_MIN << stria_random_below(random, 9);
    const uint64_t drive_bytes = stria_geometry_drive_bytes_min(chunk_bytes) +
                                 stria_random_below(random, UINT64_C(1) << stria_random_below(random, 50));
    FUZZ_CHECK(stria_geometry_plan(&super.geometry, drive_bytes, chunk_bytes, 512) == 0);
    out[0] = (uint8_t)stria_random_next(random);
    stria_superblock_encode(out + 1, &super);
    return 1 + STRIA_PAGE_BYTES;
}

static void check_superblock(const uint8_t page[STRIA_PAGE_BYTES])
{
    struct stria_superblock super;
    struct stria_superblock_unknown unknown;
    if (stria_superblock_decode(page, &super, &unknown) != STRIA_SUPERBLOCK_VALID)
        return;
    FUZZ_CHECK(stria_geometry_check(&super.geometry) == 0);
    FUZZ_CHECK(super.drive_index < super.drive_count && super.drive_count <= STRIA_DRIVES_MAX);
    const struct stria_geometry *geometry = &super.geometry;
    const uint64_t last = stria_geometry_extent_offset(geometry, geometry->extent_count - 1);
    FUZZ_CHECK(last + geometry->chunk_bytes <= geometry->super_offset[1]);
    FUZZ_CHECK(stria_geometry_ledger_entry_offset(geometry, geometry->extent_count - 1) +
                   STRIA_LEDGER_ENTRY_BYTES <=
               geometry->data_offset);
    uint8_t again[STRIA_PAGE_BYTES];
    struct stria_superblock second;
    stria_superblock_encode(again, &super);
    FUZZ_CHECK(stria_superblock_decode(again, &second, &unknown) == STRIA_SUPERBLOCK_VALID);
    FUZZ_CHECK(stria_superblock_choose(&super, &second) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t page[STRIA_PAGE_BYTES] = {0};
    if (bytes == 0)
        return 0;
    memcpy(page, data + 1, bytes - 1 < sizeof(page) ? bytes - 1 : sizeof(page));
    if (data[0] & 1)
        stria_store_u64(page + 4088, stria_digest_seeded(0, page, 4088));
    check_superblock(page);
    return 0;
}
