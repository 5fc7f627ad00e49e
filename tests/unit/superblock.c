#include "core/superblock.h"

#include "core/bits.h"
#include "core/code.h"
#include "core/digest.h"
#include "core/name.h"
#include "core/policy.h"
#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

/* Packed by an independent program, from docs/format.md; zeros follow up to the check. */
static const uint8_t golden_head[320] = {
    0x53, 0x54, 0x52, 0x49, 0x41, 0x53, 0x42, 0x31, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a,
    0x1b, 0x1c, 0x1d, 0x1e, 0x1f, 0x80, 0x81, 0x82, 0x83, 0x84, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8a, 0x8b,
    0x8c, 0x8d, 0x8e, 0x8f, 0x01, 0x00, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00,
    0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0xfe, 0x3f, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x01, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x20, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x22, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x30, 0x00, 0x00, 0x00, 0x00, 0x00, 0xfc, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x09, 0x00,
    0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2a,
    0x36, 0xfe, 0x9c, 0x97, 0x17, 0x72, 0x69, 0x67, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x6c, 0x65, 0x66, 0x74, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
};
static const uint8_t golden_check[8] = {0xfb, 0x8f, 0x85, 0xe5, 0x5b, 0x19, 0xc0, 0xfc};

static struct stria_superblock golden_super(void)
{
    struct stria_superblock super = {
        .version = 1,
        .feature_compat = 1 << 5,
        .drive_index = 1,
        .drive_count = 4,
        .ledger_generation = 9,
        .policy = STRIA_POLICY_ADAPTIVE,
        .generation = 6,
        .created_unix_ns = UINT64_C(1700000000000000000),
        .array_name = "rig",
        .drive_name = "left",
    };
    for (uint8_t i = 0; i < STRIA_UUID_BYTES; i++) {
        super.array_uuid[i] = (uint8_t)(0x10 + i);
        super.drive_uuid[i] = (uint8_t)(0x80 + i);
    }
    cr_assert_eq(stria_geometry_plan(&super.geometry, UINT64_C(1) << 30, 1 << 20, 4096), STRIA_OK);
    return super;
}

static void golden_page(uint8_t page[STRIA_PAGE_BYTES])
{
    memset(page, 0, STRIA_PAGE_BYTES);
    memcpy(page, golden_head, sizeof(golden_head));
    memcpy(page + STRIA_PAGE_BYTES - sizeof(golden_check), golden_check, sizeof(golden_check));
}

static void seal(uint8_t page[STRIA_PAGE_BYTES])
{
    stria_store_u64(page + 4088, stria_digest_seeded(0, page, 4088));
}

Test(superblock, the_bytes_on_media_are_these)
{
    uint8_t expected[STRIA_PAGE_BYTES], page[STRIA_PAGE_BYTES];
    golden_page(expected);
    memset(page, 0xff, sizeof(page));
    const struct stria_superblock super = golden_super();
    stria_superblock_encode(page, &super);
    cr_assert_arr_eq(page, expected, sizeof(page));
}

Test(superblock, comes_back_as_it_was)
{
    uint8_t page[STRIA_PAGE_BYTES], again[STRIA_PAGE_BYTES];
    golden_page(page);
    struct stria_superblock found;
    struct stria_superblock_unknown unknown;
    cr_assert_eq(stria_superblock_decode(page, &found, &unknown), STRIA_SUPERBLOCK_VALID);
    stria_superblock_encode(again, &found);
    cr_assert_arr_eq(again, page, sizeof(page));
    cr_assert_eq(found.drive_index, 1);
    cr_assert_eq(found.drive_count, 4);
    cr_assert_eq(found.geometry.extent_count, 1020);
    cr_assert_str_eq(found.array_name, "rig");
    cr_assert_str_eq(found.drive_name, "left");
    const struct stria_ledger_binding binding = stria_superblock_binding(&found);
    cr_assert_eq(binding.drive_index, 1);
    cr_assert_eq(binding.generation, 9);
    cr_assert_arr_eq(binding.array_uuid, found.array_uuid, STRIA_UUID_BYTES);
}

Test(superblock, no_flipped_bit_goes_unnoticed)
{
    uint8_t page[STRIA_PAGE_BYTES];
    golden_page(page);
    struct stria_superblock found = {.version = 77};
    struct stria_superblock_unknown unknown;
    for (unsigned bit = 0; bit < STRIA_PAGE_BYTES * 8; bit++) {
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
        const enum stria_superblock_verdict verdict = stria_superblock_decode(page, &found, &unknown);
        cr_assert_eq(verdict, bit < 64 ? STRIA_SUPERBLOCK_NOT_OURS : STRIA_SUPERBLOCK_DAMAGED);
        cr_assert_eq(stria_superblock_code(verdict), STRIA_ERR_FORMAT);
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    cr_assert_eq(found.version, 77, "what does not validate leaves the superblock alone");
}

Test(superblock, unknown_incompatible_features_are_refused_and_named)
{
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_superblock found;
    struct stria_superblock_unknown unknown;
    for (unsigned bit = 0; bit < 64; bit++) {
        golden_page(page);
        stria_store_u64(page + 32, UINT64_C(1) << bit);
        seal(page);
        const enum stria_superblock_verdict verdict = stria_superblock_decode(page, &found, &unknown);
        cr_assert_eq(verdict, STRIA_SUPERBLOCK_NEWER);
        cr_assert_eq(stria_superblock_code(verdict), STRIA_ERR_VERSION);
        cr_assert_eq(unknown.incompat, UINT64_C(1) << bit);
        cr_assert_eq(unknown.version, 0);
    }
}

Test(superblock, a_newer_version_is_told_even_if_its_fields_mean_something_else)
{
    uint8_t page[STRIA_PAGE_BYTES];
    golden_page(page);
    stria_store_u32(page + 8, 2);
    memset(page + 40, 0xff, 4000);
    seal(page);
    struct stria_superblock found;
    struct stria_superblock_unknown unknown;
    cr_assert_eq(stria_superblock_decode(page, &found, &unknown), STRIA_SUPERBLOCK_NEWER);
    cr_assert_eq(unknown.version, 2);
}

Test(superblock, unknown_read_only_features_are_named_but_open)
{
    uint8_t page[STRIA_PAGE_BYTES];
    golden_page(page);
    stria_store_u64(page + 24, 0x8000000000000001);
    seal(page);
    struct stria_superblock found;
    struct stria_superblock_unknown unknown;
    cr_assert_eq(stria_superblock_decode(page, &found, &unknown), STRIA_SUPERBLOCK_VALID);
    cr_assert_eq(unknown.ro_compat, 0x8000000000000001);
    cr_assert_eq(found.feature_ro_compat, 0x8000000000000001);
}

Test(superblock, a_whole_page_with_impossible_figures_is_damaged)
{
    static const struct {
        uint64_t value;
        unsigned at;
        unsigned bytes;
    } cases[] = {
        {0, 8, 4},        /* version */
        {4, 72, 4},       /* drive index = count */
        {0, 76, 4},       /* no drives */
        {33, 76, 4},      /* more than there can be */
        {3, 80, 4},       /* chunk size */
        {0, 84, 4},       /* block size */
        {1 << 20, 88, 8}, /* drive smaller than its regions */
        {0, 96, 8},       /* superblock at LBA 0 */
        {64, 144, 8},     /* ledger too short */
        {0, 152, 8},      /* data over everything */
        {UINT64_MAX, 160, 8},
        {0, 168, 4}, /* ledger generation */
        {0, 176, 8}, /* generation */
        {0, 192, 8}, /* no array name */
        {0, 256, 8}, /* no drive name */
        {1, 312, 8}, /* rubbish behind the drive's name */
    };
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        uint8_t page[STRIA_PAGE_BYTES];
        golden_page(page);
        if (cases[i].bytes == 4)
            stria_store_u32(page + cases[i].at, (uint32_t)cases[i].value);
        else
            stria_store_u64(page + cases[i].at, cases[i].value);
        seal(page);
        struct stria_superblock found;
        struct stria_superblock_unknown unknown;
        cr_assert_eq(stria_superblock_decode(page, &found, &unknown), STRIA_SUPERBLOCK_DAMAGED, "at %u",
                     cases[i].at);
    }
}

Test(superblock, hostile_pages_under_a_right_check_decode_to_sound_figures_or_not_at_all)
{
    struct stria_random random = random_of(41);
    int valid = 0;
    for (int round = 0; round < 30000; round++) {
        uint8_t page[STRIA_PAGE_BYTES];
        golden_page(page);
        for (uint64_t changes = 1 + stria_random_below(&random, 4); changes > 0; changes--)
            page[8 + stria_random_below(&random, 312)] = (uint8_t)stria_random_next(&random);
        seal(page);
        struct stria_superblock found;
        struct stria_superblock_unknown unknown;
        if (stria_superblock_decode(page, &found, &unknown) != STRIA_SUPERBLOCK_VALID)
            continue;
        valid++;
        cr_assert_eq(stria_geometry_check(&found.geometry), STRIA_OK);
        cr_assert_lt(found.drive_index, found.drive_count);
        cr_assert(stria_name_valid(found.array_name));
        cr_assert(stria_name_valid(found.drive_name));
    }
    cr_assert_gt(valid, 100);
}

Test(superblock, the_newer_of_two_copies_counts)
{
    struct stria_superblock a = golden_super(), b = golden_super();
    cr_assert_eq(stria_superblock_choose(NULL, NULL), STRIA_ERR_NOT_FOUND);
    cr_assert_eq(stria_superblock_choose(&a, NULL), 0);
    cr_assert_eq(stria_superblock_choose(NULL, &b), 1);
    cr_assert_eq(stria_superblock_choose(&a, &b), 0);
    b.generation++;
    cr_assert_eq(stria_superblock_choose(&a, &b), 1);
    a.generation += 2;
    cr_assert_eq(stria_superblock_choose(&a, &b), 0);
}

Test(superblock, the_second_copy_stays_where_it_was_when_a_drive_grows)
{
    const struct stria_superblock first = golden_super();
    const uint64_t bytes = first.geometry.drive_bytes, at_end = first.geometry.super_offset[1];
    uint64_t offsets[2];
    cr_assert_eq(stria_superblock_second_offset(&first, bytes, at_end), at_end);
    cr_assert_eq(stria_geometry_super_offsets(bytes + (1u << 20), offsets), STRIA_OK);
    cr_assert_gt(offsets[1], at_end);
    cr_assert_eq(stria_superblock_second_offset(&first, bytes + (1u << 20), offsets[1]), at_end);
    cr_assert_eq(stria_superblock_second_offset(NULL, bytes + (1u << 20), offsets[1]), offsets[1]);
}

Test(superblock, the_second_copy_is_not_looked_for_behind_the_end_of_a_drive_that_was_cut)
{
    const struct stria_superblock first = golden_super();
    cr_assert_eq(stria_superblock_second_offset(&first, first.geometry.drive_bytes - 1, 4711), 4711);
}

Test(superblock, a_copy_left_by_an_older_array_does_not_count_however_often_it_was_rewritten)
{
    struct stria_superblock fresh = golden_super(), old = golden_super();
    old.array_uuid[0] ^= 1;
    old.created_unix_ns--;
    old.generation = 1000;
    fresh.generation = 1;
    cr_assert_eq(stria_superblock_choose(&fresh, &old), 0);
    cr_assert_eq(stria_superblock_choose(&old, &fresh), 1);
}
