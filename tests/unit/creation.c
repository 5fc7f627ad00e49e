#include "core/creation.h"

#include "core/code.h"
#include "core/policy.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((uint64_t)1 << 20)

static const struct stria_creation_config config = {.drive_count = 3,
                                                    .chunk_bytes = 1 << 20,
                                                    .block_bytes = 4096,
                                                    .policy = STRIA_POLICY_RAID0,
                                                    .wall_ns = 77,
                                                    .name = "made",
                                                    .array_uuid = {1, 2, 3}};
static const uint64_t drive_bytes[] = {64 * MIB, 300 * MIB + 512, 65536 * MIB};
static const char names[][STRIA_NAME_BYTES] = {"a", "b", "c"};

static struct stria_superblock supers[3];
static struct stria_creation_request requests[STRIA_DRIVES_MAX];

static void plan(void)
{
    for (uint32_t index = 0; index < 3; index++) {
        const uint8_t uuid[STRIA_UUID_BYTES] = {(uint8_t)(9 + index)};
        cr_assert_eq(
            stria_creation_plan(&supers[index], &config, index, drive_bytes[index], names[index], uuid),
            STRIA_OK);
    }
}

/* Runs to the end; flushes seen so far are passed to see, with every request. */
static unsigned run(void (*see)(uint32_t drive, const struct stria_creation_request *request,
                                unsigned flushes))
{
    struct stria_creation creation = {0};
    unsigned flushes = 0, steps = 0;
    plan();
    while (stria_creation_next(&creation, supers, 3, requests)) {
        for (uint32_t index = 0; index < 3; index++)
            see(index, &requests[index], flushes);
        flushes += requests[0].op == STRIA_CREATION_FLUSH;
        cr_assert_lt(++steps, 10000u, "it ends");
    }
    cr_assert(!stria_creation_next(&creation, supers, 3, requests), "and stays at its end");
    return flushes;
}

Test(creation, superblocks_say_what_was_asked_for)
{
    plan();
    for (uint32_t index = 0; index < 3; index++) {
        uint8_t page[STRIA_PAGE_BYTES];
        struct stria_superblock read;
        struct stria_superblock_unknown unknown;
        stria_superblock_encode(page, &supers[index]);
        cr_assert_eq(stria_superblock_decode(page, &read, &unknown), STRIA_SUPERBLOCK_VALID);
        cr_assert_eq(read.drive_index, index);
        cr_assert_eq(read.drive_count, 3);
        cr_assert_eq(read.policy, STRIA_POLICY_RAID0);
        cr_assert_eq(read.created_unix_ns, 77);
        cr_assert_str_eq(read.array_name, "made");
        cr_assert_str_eq(read.drive_name, names[index]);
        cr_assert_eq(read.drive_uuid[0], 9 + index);
        cr_assert_eq(read.geometry.drive_bytes, drive_bytes[index]);
    }
}

Test(creation, a_drive_that_is_too_small_is_refused)
{
    const uint8_t uuid[STRIA_UUID_BYTES] = {0};
    cr_assert_eq(stria_creation_plan(&supers[0], &config, 0, 4 * MIB, names[0], uuid), STRIA_ERR_NO_SPACE);
}

Test(creation, the_log_is_as_large_as_the_smallest_half)
{
    plan();
    cr_assert_eq(stria_creation_log_bytes(supers, 3), supers[0].geometry.catalogue_bytes / 2);
    cr_assert_eq(stria_creation_log_bytes(supers + 2, 1), STRIA_CATALOGUE_HALF_MAX);
}

static uint64_t zeroed_head[3], zeroed_tail[3];

static void see_blanks(uint32_t drive, const struct stria_creation_request *request, unsigned flushes)
{
    if (request->op != STRIA_CREATION_BLANK)
        return;
    const struct stria_geometry *geometry = &supers[drive].geometry;
    cr_assert_eq(flushes, 0);
    cr_assert_leq(request->length_bytes, STRIA_CREATION_BLANK_BYTES);
    cr_assert_eq(request->length_bytes % geometry->block_bytes, 0);
    if (request->offset == geometry->super_offset[1]) {
        zeroed_tail[drive] = request->offset + request->length_bytes;
        return;
    }
    cr_assert_eq(request->offset, zeroed_head[drive], "no hole");
    zeroed_head[drive] += request->length_bytes;
}

Test(creation, everything_but_the_data_is_blanked_and_no_more)
{
    run(see_blanks);
    for (uint32_t index = 0; index < 3; index++) {
        cr_assert_eq(zeroed_head[index], supers[index].geometry.data_offset);
        cr_assert_eq(zeroed_tail[index], drive_bytes[index] / 4096 * 4096);
    }
}

static unsigned logs, copies;

static void see_order(uint32_t drive, const struct stria_creation_request *request, unsigned flushes)
{
    const struct stria_geometry *geometry = &supers[drive].geometry;
    if (request->op == STRIA_CREATION_LOG) {
        cr_assert_eq(flushes, 0);
        cr_assert_eq(zeroed_head[0], supers[0].geometry.data_offset, "the log would be blanked again");
        cr_assert_eq(request->offset, geometry->catalogue_offset + geometry->catalogue_bytes / 2);
        cr_assert_eq(request->length_bytes, supers[0].geometry.catalogue_bytes / 2);
        logs++;
    }
    if (request->op == STRIA_CREATION_SUPERBLOCK) {
        cr_assert_eq(flushes, 1, "nothing may count before what it rests on is durable");
        cr_assert_eq(request->offset, geometry->super_offset[copies / 3]);
        cr_assert_eq(request->length_bytes, STRIA_PAGE_BYTES);
        copies++;
    }
    see_blanks(drive, request, flushes);
}

Test(creation, superblocks_come_last_between_two_flushes)
{
    cr_assert_eq(run(see_order), 2);
    cr_assert_eq(logs, 3);
    cr_assert_eq(copies, 6);
}
