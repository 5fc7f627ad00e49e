#include "core/geometry.h"

#include "core/bits.h"
#include "core/code.h"
#include "tests/unit/random.h"

#include <criterion/criterion.h>

static uint32_t random_chunk(struct stria_random *random)
{
    return STRIA_CHUNK_BYTES_MIN << stria_random_below(random, 9);
}

static uint32_t random_block(struct stria_random *random)
{
    return STRIA_BLOCK_BYTES_MIN << stria_random_below(random, 4);
}

static void assert_apart_and_inside(const struct stria_geometry *g)
{
    const uint64_t half = g->catalogue_bytes / 2;
    cr_assert_geq(g->super_offset[0], STRIA_RESERVED_BYTES);
    cr_assert_leq(g->super_offset[0] + STRIA_PAGE_BYTES, g->checkpoint_offset);
    cr_assert_leq(g->checkpoint_offset + STRIA_CHECKPOINT_BYTES, g->catalogue_offset);
    cr_assert(half >= STRIA_CATALOGUE_HALF_MIN && half <= STRIA_CATALOGUE_HALF_MAX);
    cr_assert_leq(g->catalogue_offset + g->catalogue_bytes, g->ledger_offset);
    cr_assert_leq(g->ledger_offset + g->ledger_bytes, g->data_offset);
    cr_assert_geq(g->ledger_bytes, g->extent_count * STRIA_LEDGER_ENTRY_BYTES);
    cr_assert_leq(g->data_offset + g->extent_count * g->chunk_bytes, g->super_offset[1]);
    cr_assert_leq(g->super_offset[1] + STRIA_PAGE_BYTES + STRIA_RESERVED_BYTES, g->drive_bytes);
    cr_assert_eq(g->data_offset % g->chunk_bytes, 0);
    const uint64_t offsets[] = {g->super_offset[0],  g->super_offset[1], g->checkpoint_offset,
                                g->catalogue_offset, g->ledger_offset,   g->data_offset};
    for (unsigned i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++)
        cr_assert_eq(offsets[i] % STRIA_PAGE_BYTES, 0);
}

Test(geometry, chunks_are_powers_of_two_from_64_kib_to_16_mib)
{
    for (uint32_t bits = 0; bits < 64; bits++) {
        const uint64_t bytes = UINT64_C(1) << bits;
        cr_expect(stria_chunk_bytes_valid(bytes) == (bits >= 16 && bits <= 24), "2^%u", bits);
        cr_expect(!stria_chunk_bytes_valid(bytes + bytes / 2 + 1));
    }
    cr_expect(!stria_chunk_bytes_valid(0));
}

Test(geometry, transfers_are_aligned_to_the_larger_block)
{
    cr_expect(stria_block_bytes_larger(512, 4096) == 4096 && stria_block_bytes_larger(4096, 512) == 4096);
    cr_expect(stria_block_bytes_larger(512, 512) == 512);
}

Test(geometry, any_size_gives_regions_apart_in_order_and_inside_the_drive)
{
    struct stria_random random = random_of(11);
    for (int round = 0; round < 20000; round++) {
        const uint32_t chunk = random_chunk(&random);
        const uint64_t bytes = stria_geometry_drive_bytes_min(chunk) +
                               stria_random_next(&random) % (UINT64_C(1) << (10 + round % 50));
        if (bytes > STRIA_DRIVE_BYTES_MAX)
            continue;
        struct stria_geometry geometry;
        cr_assert_eq(stria_geometry_plan(&geometry, bytes, chunk, random_block(&random)), STRIA_OK);
        assert_apart_and_inside(&geometry);
        cr_assert_eq(stria_geometry_check(&geometry), STRIA_OK);
    }
}

Test(geometry, no_room_for_another_extent_is_left_over)
{
    struct stria_random random = random_of(12);
    for (int round = 0; round < 5000; round++) {
        const uint32_t chunk = random_chunk(&random);
        struct stria_geometry g;
        const uint64_t bytes =
            stria_geometry_drive_bytes_min(chunk) + stria_random_below(&random, UINT64_C(1) << 40);
        cr_assert_eq(stria_geometry_plan(&g, bytes, chunk, 4096), STRIA_OK);
        if (g.extent_count == STRIA_EXTENTS_MAX)
            continue;
        const uint64_t ledger =
            stria_align_up((g.extent_count + 1) * STRIA_LEDGER_ENTRY_BYTES, STRIA_PAGE_BYTES);
        const uint64_t data = stria_align_up(g.ledger_offset + ledger, chunk);
        cr_assert_gt(data + (g.extent_count + 1) * chunk, g.super_offset[1]);
    }
}

Test(geometry, the_smallest_drive_takes_eight_extents_and_one_byte_less_takes_none)
{
    for (uint32_t chunk = STRIA_CHUNK_BYTES_MIN; chunk <= STRIA_CHUNK_BYTES_MAX; chunk *= 2) {
        const uint64_t least = stria_geometry_drive_bytes_min(chunk);
        struct stria_geometry geometry = {.drive_bytes = 77};
        cr_assert_eq(stria_geometry_plan(&geometry, least - 1, chunk, 512), STRIA_ERR_NO_SPACE);
        cr_assert_eq(geometry.drive_bytes, 77, "a failure leaves the geometry alone");
        cr_assert_eq(stria_geometry_plan(&geometry, least, chunk, 512), STRIA_OK);
        cr_assert_geq(geometry.extent_count, STRIA_EXTENTS_MIN);
    }
    cr_assert_eq(stria_geometry_drive_bytes_min(12345), 0);
}

Test(geometry, refuses_sizes_out_of_range)
{
    struct stria_geometry geometry;
    const uint64_t drive = UINT64_C(1) << 32;
    const uint32_t chunks[] = {
        0, 1, STRIA_CHUNK_BYTES_MIN / 2, STRIA_CHUNK_BYTES_MIN * 3, STRIA_CHUNK_BYTES_MAX * 2, UINT32_MAX};
    for (unsigned i = 0; i < sizeof(chunks) / sizeof(chunks[0]); i++)
        cr_assert_eq(stria_geometry_plan(&geometry, drive, chunks[i], 512), STRIA_ERR_INVALID);
    const uint32_t blocks[] = {0, 256, 520, 8192, UINT32_MAX};
    for (unsigned i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
        cr_assert_eq(stria_geometry_plan(&geometry, drive, 1 << 20, blocks[i]), STRIA_ERR_INVALID);
    cr_assert_eq(stria_geometry_plan(&geometry, UINT64_MAX, 1 << 20, 512), STRIA_ERR_INVALID);
    for (uint64_t bytes = 0; bytes < 300000; bytes += 997)
        cr_assert_eq(stria_geometry_plan(&geometry, bytes, 1 << 16, 512), STRIA_ERR_NO_SPACE);
}

Test(geometry, both_ends_of_the_drive_stay_free_for_whatever_scanners_look_for)
{
    for (uint64_t bytes = 1 << 20; bytes < (1 << 20) + 200000; bytes += 512) {
        uint64_t super[2];
        cr_assert_eq(stria_geometry_super_offsets(bytes, super), STRIA_OK);
        cr_assert_eq(super[0], 65536);
        cr_assert_eq(super[1] % 65536, 0);
        cr_assert_geq(bytes - (super[1] + STRIA_PAGE_BYTES), 65536);
        cr_assert_lt(bytes - (super[1] + STRIA_PAGE_BYTES), 131072);
    }
}

static uint64_t *field_of(struct stria_geometry *g, unsigned which)
{
    uint64_t *const fields[] = {&g->drive_bytes,       &g->super_offset[0],  &g->super_offset[1],
                                &g->checkpoint_offset, &g->catalogue_offset, &g->catalogue_bytes,
                                &g->ledger_offset,     &g->ledger_bytes,     &g->data_offset,
                                &g->extent_count};
    return fields[which % (sizeof(fields) / sizeof(fields[0]))];
}

Test(geometry, what_passes_the_check_is_sound_whatever_the_figures)
{
    struct stria_random random = random_of(13);
    struct stria_geometry planned;
    cr_assert_eq(stria_geometry_plan(&planned, UINT64_C(3) << 30, 1 << 20, 4096), STRIA_OK);
    int passed = 0;
    for (int round = 0; round < 200000; round++) {
        struct stria_geometry g = planned;
        for (uint64_t changes = 1 + stria_random_below(&random, 3); changes > 0; changes--) {
            uint64_t *field = field_of(&g, (unsigned)stria_random_below(&random, 10));
            switch (stria_random_below(&random, 3)) {
            case 0:
                *field = stria_random_next(&random) >> stria_random_below(&random, 64);
                break;
            case 1:
                *field ^= UINT64_C(1) << stria_random_below(&random, 64);
                break;
            default:
                *field += (stria_random_below(&random, 9) - 4) * STRIA_PAGE_BYTES;
            }
        }
        if (stria_geometry_check(&g) != STRIA_OK)
            continue;
        passed++;
        assert_apart_and_inside(&g);
    }
    cr_assert_gt(passed, 1000, "some variations are sound and must pass");
}

Test(geometry, extents_and_their_entries_follow_each_other)
{
    struct stria_geometry g;
    cr_assert_eq(stria_geometry_plan(&g, UINT64_C(1) << 30, 1 << 18, 512), STRIA_OK);
    for (uint64_t position = 0; position < g.extent_count; position++) {
        cr_assert_eq(stria_geometry_extent_offset(&g, position), g.data_offset + (position << 18));
        cr_assert_eq(stria_geometry_ledger_entry_offset(&g, position), g.ledger_offset + position * 64);
    }
    cr_assert_eq(stria_geometry_catalogue_half_offset(&g, 2), g.catalogue_offset);
    cr_assert_eq(stria_geometry_catalogue_half_offset(&g, 7), g.catalogue_offset + g.catalogue_bytes / 2);
}

/* md RAID0 over equal members fills row after row, one chunk of each drive in turn. */
Test(geometry, raid0_places_chunks_as_md_does)
{
    for (uint32_t drives = 1; drives <= STRIA_DRIVES_MAX; drives++) {
        uint64_t chunk = 0;
        for (uint64_t row = 0; row < 50; row++) {
            for (uint32_t drive = 0; drive < drives; drive++, chunk++) {
                const struct stria_raid0_place place = stria_raid0_place(chunk, drives);
                cr_assert_eq(place.drive, drive);
                cr_assert_eq(place.row, row);
            }
        }
    }
}

Test(geometry, raid0_chunk_undoes_raid0_place)
{
    struct stria_random random = random_of(14);
    for (int round = 0; round < 100000; round++) {
        const uint64_t chunk = stria_random_next(&random) >> stria_random_below(&random, 64);
        const uint32_t drives = 1 + (uint32_t)stria_random_below(&random, STRIA_DRIVES_MAX);
        cr_assert_eq(stria_raid0_chunk(stria_raid0_place(chunk, drives), drives), chunk);
    }
}
