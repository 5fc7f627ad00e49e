/* Recording and listing: what the public interface writes is on the array when it is opened again. */
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <string.h>

static const uint64_t four[] = {8 * MIB, 8 * MIB, 8 * MIB, 8 * MIB, 0};

static void expect_listed(struct rig *rig, const char *name, uint64_t bytes)
{
    struct stria_recording_info info;
    cr_assert(stria_array_find(rig->array, name, &info) == STRIA_OK, "%s is not listed", name);
    cr_expect(info.complete && info.length_bytes == bytes && info.bytes == bytes && info.dropped_bytes == 0);
}

static struct rig_findings findings;

static void expect_round_trip(struct rig *rig, uint64_t bytes)
{
    rig_record(rig, "first", bytes, 1);
    expect_listed(rig, "first", bytes);
    rig_close(rig);
    rig_open(rig, false);
    expect_listed(rig, "first", bytes);
    struct stria_verifier_counts counts = rig_verify(rig, NULL, &findings);
    cr_expect(counts.ok == (bytes + 64 * KIB - 1) / (64 * KIB) && counts.ok == counts.extents);
    cr_expect(counts.bytes == bytes && counts.gap_bytes == 0 && findings.count == 0);
    rig_expect_whole(rig, "first", bytes, 1);
    rig_free(rig);
}

Test(record, a_recording_is_listed_proven_and_read_when_the_array_is_opened_again)
{
    expect_round_trip(rig_make(STRIA_POLICY_ADAPTIVE, four), 5 * MIB + 12345);
}

Test(record, the_same_under_raid0)
{
    expect_round_trip(rig_make(STRIA_POLICY_RAID0, four), 5 * MIB + 12345);
}

Test(record, the_same_on_files)
{
    expect_round_trip(rig_make_files(STRIA_POLICY_ADAPTIVE, four), 5 * MIB + 12345);
    expect_round_trip(rig_make_files(STRIA_POLICY_RAID0, four), 20 * MIB);
}

Test(record, one_drive_alone_is_an_array_too)
{
    static const uint64_t one[] = {16 * MIB, 0};
    expect_round_trip(rig_make(STRIA_POLICY_ADAPTIVE, one), 3 * MIB + 1);
    expect_round_trip(rig_make(STRIA_POLICY_RAID0, one), 1);
}
