/* Damage done behind the array's back: what verifying and reading back say of it, and where. */
#include "core/ledger.h"
#include "core/superblock.h"
#include "engine/reader.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK  (64 * KIB)
#define CHUNKS 50u
#define BYTES  (CHUNKS * CHUNK - 777)

static const uint64_t four[] = {8 * MIB, 8 * MIB, 8 * MIB, 8 * MIB, 0};
static struct rig_findings findings;

/* Where a chunk of the stream is, told by the ledgers as they are on the drives. */
struct place {
    uint32_t drive;
    uint64_t position, offset, ledger_offset;
};

static void superblock(struct rig *rig, uint32_t drive, struct stria_superblock *super)
{
    uint8_t page[STRIA_PAGE_BYTES];
    uint64_t offsets[2];
    struct stria_superblock_unknown unknown;
    cr_assert(stria_geometry_super_offsets(rig->config.drives[drive].size_bytes, offsets) == STRIA_OK);
    rig_peek(rig, drive, offsets[0], sizeof(page), page);
    cr_assert(stria_superblock_decode(page, super, &unknown) == STRIA_SUPERBLOCK_VALID);
}

static bool on_drive(struct rig *rig, uint32_t drive, uint64_t chunk, struct place *place)
{
    struct stria_superblock super;
    superblock(rig, drive, &super);
    struct stria_ledger_binding binding = stria_superblock_binding(&super);
    uint8_t *ledger = malloc(super.geometry.ledger_bytes);
    rig_peek(rig, drive, super.geometry.ledger_offset, super.geometry.ledger_bytes, ledger);
    bool found = false;
    for (uint64_t position = 0; position < super.geometry.extent_count && !found; position++) {
        struct stria_ledger_entry entry;
        found = stria_ledger_decode(ledger + position * STRIA_LEDGER_ENTRY_BYTES, &entry, &binding,
                                    position) == STRIA_LEDGER_VALID &&
                entry.stream_offset == chunk * CHUNK;
        *place = (struct place){drive, position, stria_geometry_extent_offset(&super.geometry, position),
                                stria_geometry_ledger_entry_offset(&super.geometry, position)};
    }
    free(ledger);
    return found;
}

static struct place place_of(struct rig *rig, uint64_t chunk)
{
    struct place place;
    for (uint32_t drive = 0; drive < rig->config.drive_count; drive++)
        if (on_drive(rig, drive, chunk, &place))
            return place;
    cr_assert_fail("chunk %llu is nowhere", (unsigned long long)chunk);
    return place;
}

static struct rig *recorded(enum stria_policy policy)
{
    struct rig *rig = rig_make(policy, four);
    rig_record(rig, "first", BYTES, 1);
    rig_close(rig);
    return rig;
}

/* A reader gives the same answer for the same byte as a verification. */
static void expect_fault(struct rig *rig, const struct stria_verify_finding *finding)
{
    struct stria_reader *reader;
    struct stria_read_fault fault;
    const void *data;
    enum stria_read_verdict verdict;
    cr_assert(stria_reader_open(rig_open(rig, false), "first", &reader, NULL) == STRIA_OK);
    for (unsigned within = 0; within < 2; within++) {
        cr_assert(stria_reader_view(reader, finding->stream_offset + within, &data, &verdict) > 0);
        stria_reader_fault(reader, finding->stream_offset + within, &fault);
        cr_expect(fault.verdict == finding->verdict, "%s", stria_verdict_text(fault.verdict));
        cr_expect(fault.drive == finding->drive);
        if (finding->verdict != STRIA_VERDICT_MISSING)
            cr_expect(fault.drive_offset == finding->drive_offset + within);
        if (finding->verdict == STRIA_VERDICT_MISPLACED)
            cr_expect(fault.other_offset == finding->other_offset + within);
    }
    stria_reader_close(reader);
}

/* place is null for a chunk that is missing: keeper is then the drive that should have it, or −1. */
static void expect_damage(struct rig *rig, uint64_t chunk, enum stria_verdict verdict,
                          const struct place *place, int keeper)
{
    struct stria_verifier_counts counts = rig_verify(rig, "first", &findings);
    cr_assert(findings.count == 1 && counts.ok == CHUNKS - 1 && counts.extents == CHUNKS);
    const struct stria_verify_finding *finding = &findings.list[0];
    cr_expect(finding->verdict == verdict, "%s", stria_verdict_text(finding->verdict));
    cr_expect(finding->stream_offset == chunk * CHUNK && finding->length_bytes == CHUNK);
    if (place)
        cr_expect(finding->drive == (int)place->drive && finding->drive_offset == place->offset);
    else
        cr_expect(finding->drive == keeper);
    expect_fault(rig, finding);
    enum stria_read_verdict expected =
        verdict == STRIA_VERDICT_MISSING ? STRIA_READ_MISSING : STRIA_READ_CORRUPT;
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_OK] == BYTES - CHUNK && read[expected] == CHUNK);
    rig_free(rig);
}

Test(verify, a_flipped_bit_is_corrupt_at_its_offset)
{
    struct rig *rig = recorded(STRIA_POLICY_ADAPTIVE);
    struct place place = place_of(rig, 17);
    rig_flip(rig, place.drive, place.offset + 12345);
    expect_damage(rig, 17, STRIA_VERDICT_CORRUPT, &place, -1);
}

Test(verify, a_zeroed_extent_is_stale)
{
    static const uint8_t zeroes[CHUNK];
    struct rig *rig = recorded(STRIA_POLICY_RAID0);
    struct place place = place_of(rig, 3);
    rig_poke(rig, place.drive, place.offset, CHUNK, zeroes);
    expect_damage(rig, 3, STRIA_VERDICT_STALE, &place, -1);
}

static void expect_missing(enum stria_policy policy, int keeper)
{
    struct rig *rig = recorded(policy);
    struct place place = place_of(rig, 20);
    rig_flip(rig, place.drive, place.ledger_offset + 30);
    expect_damage(rig, 20, STRIA_VERDICT_MISSING, NULL, keeper);
}

Test(verify, a_damaged_ledger_entry_is_a_missing_chunk)
{
    expect_missing(STRIA_POLICY_ADAPTIVE, -1);
}

Test(verify, under_raid0_a_missing_chunk_names_the_drive_that_should_have_it)
{
    expect_missing(STRIA_POLICY_RAID0, 20 % 4);
}

static void expect_swapped(struct rig *rig, uint64_t a, uint64_t b)
{
    static uint8_t first[CHUNK], second[CHUNK];
    struct place one = place_of(rig, a), two = place_of(rig, b);
    rig_peek(rig, one.drive, one.offset, CHUNK, first);
    rig_peek(rig, two.drive, two.offset, CHUNK, second);
    rig_poke(rig, one.drive, one.offset, CHUNK, second);
    rig_poke(rig, two.drive, two.offset, CHUNK, first);
    struct stria_verifier_counts counts = rig_verify(rig, NULL, &findings);
    cr_expect(counts.misplaced == 2 && findings.count == 2 && counts.ok == CHUNKS - 2);
    for (uint32_t index = 0; index < findings.count; index++) {
        const struct stria_verify_finding *finding = &findings.list[index];
        cr_expect(finding->verdict == STRIA_VERDICT_MISPLACED);
        cr_assert(finding->other && strcmp(finding->other, "first") == 0);
        cr_expect(finding->stream_offset + finding->other_offset == (a + b) * CHUNK);
    }
    rig_close(rig);
    rig_poke(rig, one.drive, one.offset, CHUNK, first);
    rig_poke(rig, two.drive, two.offset, CHUNK, second);
}

Test(verify, swapped_extents_are_misplaced_and_named)
{
    struct rig *rig = recorded(STRIA_POLICY_RAID0);
    expect_swapped(rig, 8, 12);
    expect_swapped(rig, 9, 10);
    expect_swapped(rig, 0, 7);
    rig_expect_whole(rig, "first", BYTES, 1);
    rig_free(rig);
}

Test(verify, damage_to_the_padding_of_the_last_block_harms_nobody)
{
    struct rig *rig = recorded(STRIA_POLICY_ADAPTIVE);
    struct place place = place_of(rig, CHUNKS - 1);
    rig_flip(rig, place.drive, place.offset + CHUNK - 700);
    cr_expect(rig_verify(rig, NULL, &findings).ok == CHUNKS);
    rig_expect_whole(rig, "first", BYTES, 1);
    rig_free(rig);
}

Test(verify, one_recording_can_be_verified_by_itself)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, four);
    rig_record(rig, "first", 10 * CHUNK, 1);
    rig_record(rig, "second", 20 * CHUNK, 2);
    cr_expect(rig_verify(rig, "second", &findings).ok == 20);
    cr_expect(rig_verify(rig, NULL, &findings).ok == 30);
    struct stria_verify_result result;
    struct stria_trouble trouble = {0};
    const char *name = "third";
    const struct stria_verify_options options = {.names = &name, .name_count = 1};
    cr_expect(stria_array_verify(rig->array, &options, &result, &trouble) == STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "third") && strstr(trouble.sentence, "rig"));
    rig_free(rig);
}

static bool stop(void *context, const struct stria_verify_progress *progress)
{
    (void)progress;
    ++*(unsigned *)context;
    return false;
}

Test(verify, an_array_without_recordings_is_well)
{
    unsigned calls = 0;
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, four);
    struct stria_verify_result result;
    const struct stria_verify_options options = {.context = &calls, .progress = stop};
    cr_assert(stria_array_verify(rig_open(rig, false), &options, &result, NULL) == STRIA_OK);
    cr_expect(!result.damaged && !result.stopped && result.recording_count == 0 && calls == 1);
    stria_verify_result_free(&result);
    rig_free(rig);
}

static void expect_rest(enum stria_policy policy)
{
    struct rig *rig = recorded(policy);
    uint64_t missing = 0;
    for (uint64_t chunk = 0; chunk < CHUNKS; chunk++)
        missing += place_of(rig, chunk).drive == 2;
    rig->config.drives[2] = rig->config.drives[3];
    rig->config.drive_count = 3;
    struct stria_array_info info;
    stria_array_describe(rig_open(rig, false), &info);
    cr_expect(info.drives_missing == 1 && info.drive_count == 4);
    struct stria_verifier_counts counts = rig_verify(rig, "first", &findings);
    cr_expect(counts.missing == missing && counts.ok == CHUNKS - missing && findings.count == missing);
    for (uint32_t index = 0; index < findings.count; index++) {
        cr_expect(findings.list[index].drive == 2, "the only one that is away should have it");
        expect_fault(rig, &findings.list[index]);
        cr_expect(policy != STRIA_POLICY_RAID0 || findings.list[index].stream_offset / CHUNK % 4 == 2);
    }
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_MISSING] == missing * CHUNK);
    cr_expect(read[STRIA_READ_OK] == BYTES - missing * CHUNK);
    rig_free(rig);
}

Test(verify, with_a_drive_missing_the_rest_is_read)
{
    expect_rest(STRIA_POLICY_RAID0);
    expect_rest(STRIA_POLICY_ADAPTIVE);
}

Test(verify, a_reader_keeps_recordings_and_removals_away)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, four);
    rig_record(rig, "first", 10 * CHUNK, 1);
    struct stria_reader *reader, *other;
    struct stria_writer *writer;
    struct stria_trouble trouble = {0};
    cr_assert(stria_reader_open(rig->array, "first", &reader, &trouble) == STRIA_OK);
    cr_expect(stria_writer_begin(rig->array, NULL, &writer, &trouble) == STRIA_ERR_BUSY);
    cr_expect(strstr(trouble.sentence, "being read"), "%s", trouble.sentence);
    cr_expect(stria_array_remove(rig->array, "first", &trouble) == STRIA_ERR_BUSY);
    stria_reader_close(reader);
    writer = rig_begin(rig, "second");
    cr_expect(stria_reader_open(rig->array, "first", &other, &trouble) == STRIA_ERR_BUSY);
    cr_expect(strstr(trouble.sentence, "is recording"), "%s", trouble.sentence);
    rig_end(writer);
    cr_expect(stria_array_remove(rig->array, "first", &trouble) == STRIA_OK);
    rig_free(rig);
}

static void read_piece(struct stria_reader *reader, uint64_t offset, uint64_t bytes, uint64_t stream)
{
    static uint8_t data[4 * CHUNK], expected[4 * CHUNK];
    enum stria_read_verdict verdict;
    cr_assert(stria_reader_read(reader, offset, data, bytes, &verdict) == (int64_t)bytes);
    rig_fill(expected, offset, bytes, stream);
    cr_assert(verdict == STRIA_READ_OK && memcmp(data, expected, bytes) == 0);
}

static void expect_random_reads(struct rig *rig)
{
    rig_record(rig, "first", BYTES, 1);
    rig_record(rig, "second", BYTES, 2);
    rig_close(rig);
    struct stria_reader *first, *second;
    cr_assert(stria_reader_open(rig_open(rig, false), "first", &first, NULL) == STRIA_OK);
    cr_assert(stria_reader_open(rig->array, "second", &second, NULL) == STRIA_OK);
    for (unsigned round = 0; round < 500; round++) {
        uint64_t bytes = 1 + rig_random(3 * CHUNK);
        read_piece(first, rig_random(BYTES - bytes), bytes, 1);
        read_piece(second, rig_random(BYTES - bytes), bytes, 2);
    }
    stria_reader_close(first);
    read_piece(second, 0, 1, 2);
    uint8_t byte;
    enum stria_read_verdict verdict;
    cr_expect(stria_reader_read(second, BYTES, &byte, 1, &verdict) == 0);
    cr_expect(stria_reader_read(second, UINT64_MAX, &byte, 1, &verdict) == 0);
    cr_expect(stria_reader_read(second, BYTES - 1, &byte, 100, &verdict) == 1);
    stria_reader_close(second);
    rig_free(rig);
}

Test(verify, two_readers_read_side_by_side_at_any_offset)
{
    expect_random_reads(rig_make(STRIA_POLICY_ADAPTIVE, four));
    expect_random_reads(rig_make_files(STRIA_POLICY_RAID0, four));
}

Test(verify, an_unknown_recording_gets_a_sentence)
{
    struct rig *rig = recorded(STRIA_POLICY_ADAPTIVE);
    struct stria_reader *reader;
    struct stria_trouble trouble = {0};
    cr_expect(stria_reader_open(rig_open(rig, false), "none", &reader, &trouble) == STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "none") && strstr(trouble.sentence, "stria ls"));
    rig_free(rig);
}
