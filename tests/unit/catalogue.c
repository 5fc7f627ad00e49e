#include "core/catalogue.h"

#include "core/bits.h"
#include "core/code.h"
#include "tests/unit/catalogue_help.h"
#include "tests/unit/random.h"

static struct help_region region;
static struct stria_catalogue catalogue;

static void format(void)
{
    help_format(&catalogue, &region);
}

TestSuite(catalogue, .init = format);

Test(catalogue, fresh_from_init_it_is_loaded_empty)
{
    struct stria_catalogue loaded;
    cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
    cr_assert_eq(loaded.epoch, 1);
    cr_assert_eq(loaded.count, 1);
    cr_assert_eq(loaded.entries_max, HALF_BYTES / 128);
    cr_assert_eq(loaded.next_recording, 1);
    cr_assert_eq(loaded.damaged_count, 0);
}

Test(catalogue, what_is_appended_is_loaded_in_order)
{
    for (uint64_t id = 1; id <= 100; id++) {
        char name[16] = "recording ";
        name[10] = (char)('0' + id % 10);
        cr_assert_eq(help_begun(&catalogue, id, name), (int)(2 * id - 1));
        cr_assert_eq(help_ended(&catalogue, id, id << 20, id << 20, id), (int)(2 * id));
    }
    struct stria_catalogue loaded;
    cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
    cr_assert_eq(loaded.count, 201);
    cr_assert_eq(loaded.next_recording, 101);
    struct stria_catalogue_entry entry;
    uint32_t index = 1;
    for (uint64_t id = 1; id <= 100; id++) {
        cr_assert(stria_catalogue_next(&loaded, &index, &entry));
        cr_assert_eq(entry.kind, STRIA_CATALOGUE_BEGUN);
        cr_assert_eq(entry.recording, id);
        cr_assert(stria_catalogue_next(&loaded, &index, &entry));
        cr_assert_eq(entry.kind, STRIA_CATALOGUE_ENDED);
        cr_assert_eq(entry.ended.length_bytes, id << 20);
        cr_assert_eq(entry.ordinal, 2 * id);
    }
    cr_assert_not(stria_catalogue_next(&loaded, &index, &entry));
}

Test(catalogue, appending_changes_only_zero_bytes)
{
    static uint8_t before[sizeof(region.half[1])];
    for (uint64_t id = 1; id < 200; id++) {
        memcpy(before, region.half[1], sizeof(before));
        cr_assert_gt(help_begun(&catalogue, id, "x"), 0);
        for (size_t i = 0; i < sizeof(before); i++)
            cr_assert(before[i] == region.half[1][i] || before[i] == 0);
    }
}

Test(catalogue, says_when_it_is_full)
{
    for (uint32_t cell = 1; cell < catalogue.entries_max; cell++)
        cr_assert_eq(help_removed(&catalogue, cell), (int)cell);
    cr_assert_eq(help_removed(&catalogue, 1), STRIA_ERR_FULL);
    struct stria_catalogue loaded;
    cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
    cr_assert_eq(loaded.count, loaded.entries_max);
}

Test(catalogue, ids_that_only_damaged_media_can_reach_are_refused)
{
    cr_assert_eq(help_removed(&catalogue, UINT64_MAX), STRIA_ERR_FULL);
    cr_assert_gt(help_removed(&catalogue, UINT64_MAX - 1), 0);
    cr_assert_eq(catalogue.next_recording, UINT64_MAX);
}

Test(catalogue, damage_to_one_entry_leaves_the_others)
{
    for (uint64_t id = 1; id <= 50; id++)
        help_begun(&catalogue, id, "x");
    for (uint32_t broken = 1; broken <= 50; broken++) {
        uint8_t *cell = region.half[1] + (size_t)broken * 128;
        uint8_t kept[128];
        memcpy(kept, cell, sizeof(kept));
        if (broken % 2)
            memset(cell, 0, 128);
        else
            cell[broken] ^= 0x10;
        struct stria_catalogue loaded;
        cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
        cr_assert_eq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, 0), 49);
        cr_assert_eq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, broken), 0);
        const bool missing_tail = broken == 50 && broken % 2;
        cr_assert_eq(loaded.count, missing_tail ? 50 : 51);
        cr_assert_eq(loaded.damaged_count, missing_tail ? 0 : 1);
        memcpy(cell, kept, sizeof(kept));
    }
}

Test(catalogue, a_torn_append_is_passed_over_by_the_next)
{
    for (uint64_t id = 1; id <= 128; id++) {
        const int index = help_begun(&catalogue, id, "torn");
        memset(region.half[1] + (size_t)index * 128 + id % 127 + 1, 0, 127 - id % 127);
        struct stria_catalogue loaded;
        cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
        cr_assert_eq(loaded.count, (uint32_t)index + 1);
        cr_assert_eq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, id), 0);
        catalogue = loaded;
    }
    cr_assert_eq(catalogue.damaged_count, 128);
}

Test(catalogue, without_a_valid_head_it_is_not_ours)
{
    struct stria_catalogue loaded;
    region.half[1][40] ^= 1;
    cr_assert_eq(help_load(&loaded, &region), STRIA_ERR_FORMAT);
    cr_assert_null(loaded.image);
}

Test(catalogue, of_two_logs_the_higher_epoch_counts)
{
    struct stria_catalogue target, loaded;
    help_begun(&catalogue, 1, "kept");
    cr_assert_eq(
        help_compact(&catalogue, &target, region.half[0], (struct stria_catalogue_compaction){.wall_ns = 2}),
        STRIA_OK);
    help_begun(&catalogue, 2, "only in the old log");
    cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
    cr_assert_eq(loaded.epoch, 2);
    cr_assert_eq(loaded.image, region.half[0]);
    cr_assert_eq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, 0), 1);
    memset(region.half[0], 0, 128);
    cr_assert_eq(help_load(&loaded, &region), STRIA_OK);
    cr_assert_eq(loaded.epoch, 1);
    cr_assert_eq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, 0), 2);
}

Test(catalogue, a_log_copied_to_the_other_half_does_not_count)
{
    struct stria_catalogue loaded;
    memcpy(region.half[0], region.half[1], sizeof(region.half[0]));
    memset(region.half[1], 0, sizeof(region.half[1]));
    cr_assert_eq(help_load(&loaded, &region), STRIA_ERR_FORMAT);
}

Test(catalogue, pages_cover_the_entries_and_land_in_the_half_of_the_epoch)
{
    struct stria_geometry geometry;
    cr_assert_eq(stria_geometry_plan(&geometry, 16 << 20, 1 << 16, 4096), STRIA_OK);
    cr_assert(stria_catalogue_fits(&catalogue, &geometry));
    for (uint32_t index = 0; index < catalogue.entries_max; index++) {
        const size_t first_byte = (size_t)index * 128;
        for (uint32_t count = 1; count <= 70 && index + count <= catalogue.entries_max; count++) {
            const struct stria_catalogue_pages pages =
                stria_catalogue_pages(&catalogue, &geometry, index, count);
            cr_assert_eq(pages.image_offset_bytes % 4096, 0);
            cr_assert_eq(pages.length_bytes % 4096, 0);
            const size_t end_byte = first_byte + (size_t)count * 128;
            cr_assert_leq(pages.image_offset_bytes, first_byte);
            cr_assert_gt(pages.image_offset_bytes + 4096, first_byte);
            cr_assert_geq(pages.image_offset_bytes + pages.length_bytes, end_byte);
            cr_assert_lt(pages.image_offset_bytes + pages.length_bytes, end_byte + 4096);
            cr_assert_eq(pages.drive_offset_bytes,
                         geometry.catalogue_offset + HALF_BYTES + pages.image_offset_bytes);
        }
    }
}

Test(catalogue, a_log_larger_than_a_drive_has_room_for_does_not_fit_it)
{
    struct stria_geometry geometry;
    cr_assert_eq(stria_geometry_plan(&geometry, 16 << 20, 1 << 16, 4096), STRIA_OK);
    catalogue.entries_max *= 2;
    cr_assert_not(stria_catalogue_fits(&catalogue, &geometry));
}

Test(catalogue, hostile_halves_load_or_do_not_but_never_reach_outside)
{
    struct stria_random random = random_of(71);
    for (uint64_t id = 1; id < 100; id++)
        help_begun(&catalogue, id, "x");
    static struct help_region hostile;
    for (int round = 0; round < 300; round++) {
        hostile = region;
        for (uint64_t changes = stria_random_below(&random, 2000); changes > 0; changes--)
            hostile
                .half[stria_random_below(&random, 2)][128 + stria_random_below(&random, HALF_BYTES - 128)] =
                (uint8_t)stria_random_next(&random);
        struct stria_catalogue loaded;
        cr_assert_eq(help_load(&loaded, &hostile), STRIA_OK);
        cr_assert_leq(loaded.count, loaded.entries_max);
        cr_assert_leq(help_count(&loaded, STRIA_CATALOGUE_BEGUN, 0), 99);
    }
}
