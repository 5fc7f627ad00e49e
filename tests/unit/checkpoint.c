#include "core/checkpoint.h"

#include "core/code.h"
#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

/* Packed and checked by an independent program, from docs/format.md; zeros follow to the end of the page. */
static const uint8_t golden[128] = {
    0x53, 0x54, 0x52, 0x49, 0x41, 0x43, 0x50, 0x31, 0x02, 0x00, 0x00, 0x00, 0x09, 0x00, 0x00, 0x00,
    0x29, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x30, 0x00, 0x00, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x50, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x40, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x2a, 0x36, 0xfe, 0x9c, 0x97, 0x17,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x22, 0xea, 0x13, 0xbb, 0x0a, 0x16, 0x4d, 0xee,
};

static const struct stria_ledger_binding binding = {
    .array_uuid = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e,
                   0x1f},
    .drive_index = 3,
    .generation = 9,
};

static const struct stria_checkpoint golden_checkpoint = {
    .serial = 41,
    .recording = 7,
    .stream = 2,
    .watermark_bytes = 3 << 20,
    .watermark_sequence = 3,
    .length_bytes = 5 << 20,
    .stored_bytes = 4 << 20,
    .dropped_bytes = 1 << 20,
    .wall_ns = UINT64_C(1700000000000000000),
};

static void golden_page(uint8_t page[STRIA_PAGE_BYTES])
{
    memset(page, 0, STRIA_PAGE_BYTES);
    memcpy(page, golden, sizeof(golden));
}

static void assert_golden(const struct stria_checkpoint *found)
{
    cr_assert_eq(found->serial, golden_checkpoint.serial);
    cr_assert_eq(found->recording, golden_checkpoint.recording);
    cr_assert_eq(found->stream, golden_checkpoint.stream);
    cr_assert_eq(found->watermark_bytes, golden_checkpoint.watermark_bytes);
    cr_assert_eq(found->watermark_sequence, golden_checkpoint.watermark_sequence);
    cr_assert_eq(found->length_bytes, golden_checkpoint.length_bytes);
    cr_assert_eq(found->stored_bytes, golden_checkpoint.stored_bytes);
    cr_assert_eq(found->dropped_bytes, golden_checkpoint.dropped_bytes);
    cr_assert_eq(found->wall_ns, golden_checkpoint.wall_ns);
}

Test(checkpoint, the_bytes_on_media_are_these)
{
    uint8_t expected[STRIA_PAGE_BYTES], page[STRIA_PAGE_BYTES];
    golden_page(expected);
    memset(page, 0xff, sizeof(page));
    stria_checkpoint_encode(page, &golden_checkpoint, &binding);
    cr_assert_arr_eq(page, expected, sizeof(page));
    struct stria_checkpoint found;
    cr_assert_eq(stria_checkpoint_decode(expected, &found, &binding, 1), STRIA_CHECKPOINT_VALID);
    assert_golden(&found);
}

Test(checkpoint, no_flipped_bit_goes_unnoticed)
{
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_checkpoint found;
    for (unsigned bit = 0; bit < sizeof(golden) * 8; bit++) {
        golden_page(page);
        page[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_eq(stria_checkpoint_decode(page, &found, &binding, 1), STRIA_CHECKPOINT_DAMAGED);
    }
}

Test(checkpoint, on_another_page_drive_array_or_generation_it_does_not_validate)
{
    uint8_t page[STRIA_PAGE_BYTES];
    golden_page(page);
    struct stria_checkpoint found;
    cr_assert_eq(stria_checkpoint_decode(page, &found, &binding, 0), STRIA_CHECKPOINT_DAMAGED);
    for (unsigned other = 0; other < 3; other++) {
        struct stria_ledger_binding moved = binding;
        moved.drive_index += other == 0;
        moved.generation += other == 1;
        moved.array_uuid[15] ^= other == 2;
        cr_assert_eq(stria_checkpoint_decode(page, &found, &moved, 1), STRIA_CHECKPOINT_DAMAGED);
    }
}

Test(checkpoint, is_not_taken_for_a_ledger_entry_nor_the_reverse)
{
    uint8_t page[STRIA_PAGE_BYTES];
    golden_page(page);
    struct stria_ledger_entry entry;
    for (uint64_t position = 0; position < 64; position++)
        cr_assert_eq(stria_ledger_decode(page, &entry, &binding, position), STRIA_LEDGER_DAMAGED);
    const struct stria_ledger_entry stored = {.recording = 1, .length_bytes = 1};
    memset(page, 0, sizeof(page));
    stria_ledger_encode(page, &stored, &binding, 0);
    struct stria_checkpoint found;
    cr_assert_eq(stria_checkpoint_decode(page, &found, &binding, 0), STRIA_CHECKPOINT_DAMAGED);
}

Test(checkpoint, of_the_two_pages_the_higher_valid_serial_counts)
{
    uint8_t pages[STRIA_CHECKPOINT_BYTES] = {0};
    struct stria_checkpoint found;
    cr_assert_eq(stria_checkpoint_choose(pages, &found, &binding), STRIA_ERR_NOT_FOUND);
    for (uint64_t serial = 1; serial < 100; serial++) {
        struct stria_checkpoint next = golden_checkpoint;
        next.serial = serial;
        uint8_t *page = pages + (size_t)stria_checkpoint_page(serial) * STRIA_PAGE_BYTES;

        /* Torn at any place, it leaves the one before in force. */
        uint8_t before[STRIA_PAGE_BYTES], after[STRIA_PAGE_BYTES];
        memcpy(before, page, sizeof(before));
        stria_checkpoint_encode(after, &next, &binding);
        if (serial > 1) {
            memcpy(page, after, 64 + serial % 64);
            memcpy(page + 64 + serial % 64, before + 64 + serial % 64, 64);
            cr_assert_eq(stria_checkpoint_choose(pages, &found, &binding), STRIA_OK);
            cr_assert(found.serial == serial - 1 || memcmp(page, after, 128) == 0);
        }
        memcpy(page, after, sizeof(after));
        cr_assert_eq(stria_checkpoint_choose(pages, &found, &binding), STRIA_OK);
        cr_assert_eq(found.serial, serial);
    }
}

Test(checkpoint, zeros_are_empty_and_random_bytes_are_damaged)
{
    struct stria_random random = random_of(31);
    uint8_t page[STRIA_PAGE_BYTES] = {0};
    struct stria_checkpoint found;
    cr_assert_eq(stria_checkpoint_decode(page, &found, &binding, 0), STRIA_CHECKPOINT_EMPTY);
    for (int round = 0; round < 20000; round++) {
        random_fill(&random, page + (round % 2 ? 8 : 0), 120);
        if (round % 2)
            memcpy(page, golden, 8);
        cr_assert_eq(stria_checkpoint_decode(page, &found, &binding, round & 1), STRIA_CHECKPOINT_DAMAGED);
    }
}
