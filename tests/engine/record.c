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

Test(record, a_recording_is_listed_when_the_array_is_opened_again)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, four);
    rig_record(rig, "first", 5 * MIB + 12345, 1);
    expect_listed(rig, "first", 5 * MIB + 12345);
    rig_close(rig);
    rig_open(rig, false);
    expect_listed(rig, "first", 5 * MIB + 12345);
    rig_free(rig);
}
