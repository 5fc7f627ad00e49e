#include "core/ledger.h"

#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

/* Packed and checked by an independent program, from docs/format.md. */
static const uint8_t golden[64] = {
    0x53, 0x4c, 0x45, 0x31, 0x02, 0x00, 0x04, 0x01, 0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x55, 0x44, 0x33, 0x22, 0x11, 0x00, 0x00, 0x00, 0x00, 0x00, 0x50, 0x45, 0x34, 0x23, 0x12, 0x01,
    0x00, 0xff, 0x0f, 0x00, 0x09, 0x00, 0x00, 0x00, 0x14, 0x1a, 0x99, 0xbe, 0x1c, 0x00, 0x00, 0x00,
    0x10, 0x32, 0x54, 0x76, 0x98, 0xba, 0xdc, 0xfe, 0xd5, 0xb1, 0xcf, 0x53, 0x03, 0x71, 0x8d, 0x95,
};

static const struct stria_ledger_binding binding = {
    .array_uuid = {0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a, 0x1b, 0x1c, 0x1d, 0x1e,
                   0x1f},
    .drive_index = 3,
    .generation = 9,
};

static const struct stria_ledger_entry golden_entry = {
    .stream = 2,
    .gap_cause = STRIA_GAP_FULL,
    .gap_drive = 1,
    .recording = 7,
    .sequence = 0x1122334455,
    .stream_offset = UINT64_C(0x1122334455) << 20,
    .length_bytes = 0xfff00,
    .captured_ns = 123456789012,
    .digest = 0xfedcba9876543210,
};

#define GOLDEN_POSITION 1000

static void assert_same(const struct stria_ledger_entry *a, const struct stria_ledger_entry *b)
{
    cr_assert_eq(a->stream, b->stream);
    cr_assert_eq(a->gap_cause, b->gap_cause);
    cr_assert_eq(a->gap_drive, b->gap_drive);
    cr_assert_eq(a->recording, b->recording);
    cr_assert_eq(a->sequence, b->sequence);
    cr_assert_eq(a->stream_offset, b->stream_offset);
    cr_assert_eq(a->length_bytes, b->length_bytes);
    cr_assert_eq(a->captured_ns, b->captured_ns);
    cr_assert_eq(a->digest, b->digest);
}

static struct stria_ledger_entry random_entry(struct stria_random *random)
{
    return (struct stria_ledger_entry){
        .stream = (uint16_t)stria_random_next(random),
        .gap_cause = (uint8_t)stria_random_next(random),
        .gap_drive = (uint8_t)stria_random_next(random),
        .recording = stria_random_next(random) | 1,
        .sequence = stria_random_next(random),
        .stream_offset = stria_random_next(random),
        .length_bytes = (uint32_t)stria_random_next(random) | 1,
        .captured_ns = stria_random_next(random),
        .digest = stria_random_next(random),
    };
}

Test(ledger, the_bytes_on_media_are_these)
{
    uint8_t bytes[STRIA_LEDGER_ENTRY_BYTES];
    stria_ledger_encode(bytes, &golden_entry, &binding, GOLDEN_POSITION);
    cr_assert_arr_eq(bytes, golden, sizeof(golden));
    struct stria_ledger_entry entry;
    cr_assert_eq(stria_ledger_decode(golden, &entry, &binding, GOLDEN_POSITION), STRIA_LEDGER_VALID);
    assert_same(&entry, &golden_entry);
}

Test(ledger, any_entry_survives_the_round_trip)
{
    struct stria_random random = random_of(21);
    for (int round = 0; round < 20000; round++) {
        const struct stria_ledger_entry entry = random_entry(&random);
        const uint64_t position = stria_random_next(&random);
        uint8_t bytes[STRIA_LEDGER_ENTRY_BYTES];
        struct stria_ledger_entry back;
        stria_ledger_encode(bytes, &entry, &binding, position);
        cr_assert_eq(stria_ledger_decode(bytes, &back, &binding, position), STRIA_LEDGER_VALID);
        assert_same(&entry, &back);
    }
}

Test(ledger, zeros_are_empty_and_nothing_else_is)
{
    uint8_t bytes[STRIA_LEDGER_ENTRY_BYTES] = {0};
    struct stria_ledger_entry entry;
    cr_assert_eq(stria_ledger_decode(bytes, &entry, &binding, 5), STRIA_LEDGER_EMPTY);
    for (unsigned bit = 0; bit < sizeof(bytes) * 8; bit++) {
        bytes[bit / 8] = (uint8_t)(1u << bit % 8);
        cr_assert_eq(stria_ledger_decode(bytes, &entry, &binding, 5), STRIA_LEDGER_DAMAGED);
        bytes[bit / 8] = 0;
    }
}

Test(ledger, no_flipped_bit_goes_unnoticed)
{
    uint8_t bytes[STRIA_LEDGER_ENTRY_BYTES];
    struct stria_ledger_entry entry = {.recording = 42};
    for (unsigned bit = 0; bit < sizeof(bytes) * 8; bit++) {
        memcpy(bytes, golden, sizeof(bytes));
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_eq(stria_ledger_decode(bytes, &entry, &binding, GOLDEN_POSITION), STRIA_LEDGER_DAMAGED);
    }
    cr_assert_eq(entry.recording, 42, "what does not validate leaves the entry alone");
}

Test(ledger, no_changed_byte_goes_unnoticed)
{
    uint8_t bytes[STRIA_LEDGER_ENTRY_BYTES];
    struct stria_ledger_entry entry;
    for (unsigned at = 0; at < sizeof(bytes); at++) {
        for (unsigned change = 1; change < 256; change++) {
            memcpy(bytes, golden, sizeof(bytes));
            bytes[at] ^= (uint8_t)change;
            cr_assert_eq(stria_ledger_decode(bytes, &entry, &binding, GOLDEN_POSITION), STRIA_LEDGER_DAMAGED);
        }
    }
}

Test(ledger, an_entry_torn_at_any_byte_does_not_validate)
{
    struct stria_random random = random_of(22);
    for (int round = 0; round < 500; round++) {
        const struct stria_ledger_entry older = random_entry(&random), newer = random_entry(&random);
        uint8_t before[STRIA_LEDGER_ENTRY_BYTES], after[STRIA_LEDGER_ENTRY_BYTES];
        stria_ledger_encode(before, &older, &binding, 17);
        stria_ledger_encode(after, &newer, &binding, 17);
        /* The first four bytes, the magic, are the same in both. */
        for (unsigned written = 5; written < sizeof(after); written++) {
            uint8_t torn[STRIA_LEDGER_ENTRY_BYTES];
            struct stria_ledger_entry entry;
            memcpy(torn, after, sizeof(torn));
            memcpy(torn + written, before + written, sizeof(torn) - written);
            if (memcmp(torn, after, sizeof(torn)) != 0 && memcmp(torn, before, sizeof(torn)) != 0)
                cr_assert_eq(stria_ledger_decode(torn, &entry, &binding, 17), STRIA_LEDGER_DAMAGED);
        }
    }
}

Test(ledger, moved_to_another_position_it_does_not_validate)
{
    struct stria_ledger_entry entry;
    for (uint64_t position = 0; position < 20000; position++) {
        const enum stria_ledger_verdict verdict = stria_ledger_decode(golden, &entry, &binding, position);
        cr_assert_eq(verdict, position == GOLDEN_POSITION ? STRIA_LEDGER_VALID : STRIA_LEDGER_DAMAGED);
    }
    cr_assert_eq(stria_ledger_decode(golden, &entry, &binding, GOLDEN_POSITION + (UINT64_C(1) << 32)),
                 STRIA_LEDGER_DAMAGED);
}

Test(ledger, moved_to_another_drive_it_does_not_validate)
{
    struct stria_ledger_entry entry;
    for (uint32_t drive = 0; drive < 2 * STRIA_DRIVES_MAX; drive++) {
        struct stria_ledger_binding other = binding;
        other.drive_index = drive;
        const enum stria_ledger_verdict verdict =
            stria_ledger_decode(golden, &entry, &other, GOLDEN_POSITION);
        cr_assert_eq(verdict, drive == binding.drive_index ? STRIA_LEDGER_VALID : STRIA_LEDGER_DAMAGED);
    }
}

Test(ledger, under_another_array_it_does_not_validate)
{
    struct stria_ledger_entry entry;
    for (unsigned bit = 0; bit < STRIA_UUID_BYTES * 8; bit++) {
        struct stria_ledger_binding other = binding;
        other.array_uuid[bit / 8] ^= (uint8_t)(1u << bit % 8);
        cr_assert_eq(stria_ledger_decode(golden, &entry, &other, GOLDEN_POSITION), STRIA_LEDGER_DAMAGED);
    }
}

Test(ledger, of_another_generation_it_is_foreign)
{
    struct stria_ledger_entry entry = {.recording = 42};
    for (uint32_t generation = 0; generation < 20; generation++) {
        struct stria_ledger_binding other = binding;
        other.generation = generation;
        const enum stria_ledger_verdict verdict =
            stria_ledger_decode(golden, &entry, &other, GOLDEN_POSITION);
        cr_assert_eq(verdict, generation == binding.generation ? STRIA_LEDGER_VALID : STRIA_LEDGER_FOREIGN);
    }
}

Test(ledger, random_bytes_never_validate)
{
    struct stria_random random = random_of(23);
    for (int round = 0; round < 200000; round++) {
        uint8_t bytes[STRIA_LEDGER_ENTRY_BYTES];
        struct stria_ledger_entry entry;
        random_fill(&random, bytes, sizeof(bytes));
        if (round % 2)
            memcpy(bytes, golden, 4);
        cr_assert_eq(stria_ledger_decode(bytes, &entry, &binding, GOLDEN_POSITION), STRIA_LEDGER_DAMAGED);
    }
}
