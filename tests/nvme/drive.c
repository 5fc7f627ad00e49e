#include "tests/nvme/rig.h"

#include <criterion/criterion.h>
#include <string.h>

static struct rig rig;

#define ELSEWHERE (8u << 20)

/* Writes, and reads back into other memory, for what was never moved would still lie in the first. */
static void round_trip(uint64_t offset, uint64_t bytes, uint64_t at)
{
    const uint64_t seed = offset + bytes;
    rig_fill(rig.data + at, bytes, seed);
    cr_assert(rig_run(&rig, STRIA_NVME_WRITE, offset, bytes, at) == STRIA_OK);
    memset(rig.data + ELSEWHERE + at, 0xee, bytes);
    cr_assert(rig_run(&rig, STRIA_NVME_READ, offset, bytes, ELSEWHERE + at) == STRIA_OK);
    cr_assert(rig_is(rig.data + ELSEWHERE + at, bytes, seed), "%llu bytes at %llu, in memory at %llu",
              (unsigned long long)bytes, (unsigned long long)offset, (unsigned long long)at);
}

static void round_trips(const struct model_options *options, uint32_t depth)
{
    const uint64_t block = options->block_bytes;
    rig_open(&rig, options, depth);
    round_trip(0, block, 0);
    round_trip(block, 8 * block, 4096);
    round_trip(64 * block, 4096 * 2, 0);
    round_trip(64 * block, 4096 * 3, 4096);
    round_trip(64 * block, 1u << 20, 65536);
    round_trip(3 * block, (4u << 20) - 8 * block, 65536);
    round_trip(options->block_count * block - block, block, 512);
    rig_close(&rig);
}

Test(nvme_drive, it_tells_who_it_is)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    const struct stria_nvme_identity *identity = &rig.drive.controller.identity;
    cr_expect_str_eq(identity->serial, "MODEL0001");
    cr_expect_str_eq(identity->model, "Stria software controller");
    cr_expect(rig.drive.block_bytes == 512 && rig.drive.drive_bytes == 16384 * 512);
    cr_expect(identity->volatile_cache && identity->deallocates && identity->atomic_blocks == 8);
    cr_expect(rig.drive.controller.depth == 8);
    rig_close(&rig);
}

Test(nvme_drive, what_was_written_is_read_back)
{
    struct model_options options = model_defaults();
    round_trips(&options, 8);
}

Test(nvme_drive, blocks_of_4096_bytes)
{
    struct model_options options = model_defaults();
    options.block_bytes = 4096;
    options.block_count = 4096;
    round_trips(&options, 8);
}

Test(nvme_drive, doorbells_far_apart)
{
    struct model_options options = model_defaults();
    options.stride = 3;
    round_trips(&options, 8);
}

Test(nvme_drive, pages_of_8_and_64_kilobytes)
{
    struct model_options options = model_defaults();
    options.page_min = 1;
    round_trips(&options, 8);
    options.page_min = 4;
    round_trips(&options, 8);
}

Test(nvme_drive, pages_scattered_over_the_bus)
{
    struct model_options options = model_defaults();
    options.scattered = true;
    round_trips(&options, 8);
}

Test(nvme_drive, every_kind_of_memory)
{
    struct model_options options = model_defaults();
    for (options.memory = MODEL_ORDERED; options.memory <= MODEL_CACHED; options.memory++)
        round_trips(&options, 8);
}

Test(nvme_drive, the_smallest_queues)
{
    struct model_options options = model_defaults();
    options.entries_max = 2;
    round_trips(&options, 8);
    rig_open(&rig, &options, 8);
    cr_expect(rig.drive.controller.depth == 1);
    rig_close(&rig);
}

Test(nvme_drive, the_deepest_queue)
{
    struct model_options options = model_defaults();
    options.entries_max = 65536;
    round_trips(&options, STRIA_NVME_DEPTH_MAX);
}

Test(nvme_drive, another_namespace_than_the_first)
{
    struct model_options options = model_defaults();
    options.namespace_id = 7;
    round_trips(&options, 4);
}

Test(nvme_drive, a_controller_without_a_list_of_namespaces)
{
    struct model_options options = model_defaults();
    options.no_list = true;
    round_trips(&options, 4);
}

Test(nvme_drive, a_list_page_that_is_full_to_the_last_entry)
{
    struct model_options options = model_defaults();
    options.mdts = 0;
    rig_open(&rig, &options, 4);
    cr_assert(rig.drive.controller.transfer_bytes_max == 2u << 20);
    round_trip(0, 2u << 20, 65536);
    /* Beginning within a page, the data touch one page more: 512 behind the first. */
    round_trip(0, 2u << 20, 65536 + 512);
    cr_expect(rig.model.transfer_bytes == 2u << 20, "it was not one command");
    rig_close(&rig);
}

Test(nvme_drive, mdts_counts_pages_of_the_controller)
{
    for (uint32_t page_min = 0; page_min <= 2; page_min++) {
        struct model_options options = model_defaults();
        options.page_min = page_min;
        options.mdts = 3;
        rig_open(&rig, &options, 4);
        cr_expect(rig.drive.controller.transfer_bytes_max == (4096u << page_min) * 8, "MPSMIN %u: %llu",
                  page_min, (unsigned long long)rig.drive.controller.transfer_bytes_max);
        round_trip(512, 1u << 20, 65536);
        cr_expect(rig.model.transfer_bytes == (4096u << page_min) * 8);
        rig_close(&rig);
    }
}

Test(nvme_drive, more_requests_than_the_queue_has_entries)
{
    struct model_options options = model_defaults();
    struct stria_nvme_done done;
    uint32_t seen[STRIA_NVME_REQUESTS_MAX] = {0};
    rig_open(&rig, &options, 4);
    for (uint64_t tag = 0; tag < STRIA_NVME_REQUESTS_MAX; tag++)
        cr_assert(rig_submit(&rig, tag % 2 ? STRIA_NVME_READ : STRIA_NVME_WRITE, tag * 16384, 16384,
                             tag * 16384, tag) == STRIA_OK);
    cr_expect(rig_submit(&rig, STRIA_NVME_FLUSH, 0, 0, 0, 0) == STRIA_ERR_FULL);
    for (uint64_t i = 0; i < STRIA_NVME_REQUESTS_MAX; i++) {
        cr_assert(rig_wait(&rig, &done) == STRIA_OK);
        cr_assert(done.tag < STRIA_NVME_REQUESTS_MAX && seen[done.tag]++ == 0 && done.bytes == 16384);
    }
    cr_expect(rig.drive.busy_count == 0);
    rig_close(&rig);
}

Test(nvme_drive, what_is_flushed_survives_a_power_cut)
{
    struct model_options options = model_defaults();
    for (options.seed = 1; options.seed <= 10; options.seed++) {
        rig_open(&rig, &options, 8);
        rig_fill(rig.data, 1u << 20, options.seed);
        cr_assert(rig_run(&rig, STRIA_NVME_WRITE, 0, 1u << 20, 0) == STRIA_OK);
        cr_assert(rig_run(&rig, STRIA_NVME_FLUSH, 0, 0, 0) == STRIA_OK);
        cr_expect(rig.model.flushes == 1);
        model_power_cut(&rig.model);
        rig_restart(&rig, 8);
        memset(rig.data, 0, 1u << 20);
        cr_assert(rig_run(&rig, STRIA_NVME_READ, 0, 1u << 20, 0) == STRIA_OK);
        cr_expect(rig_is(rig.data, 1u << 20, options.seed));
        rig_close(&rig);
    }
}

Test(nvme_drive, a_durable_write_needs_no_flush)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    rig_fill(rig.data, 65536, 5);
    const struct stria_nvme_request request = {
        .op = STRIA_NVME_WRITE, .durable = true, .bytes = 65536, .data = rig.data};
    cr_assert(stria_nvme_drive_run(&rig.drive, &request) == STRIA_OK);
    model_power_cut(&rig.model);
    rig_restart(&rig, 8);
    cr_assert(rig_run(&rig, STRIA_NVME_READ, 0, 65536, 65536) == STRIA_OK);
    cr_expect(rig_is(rig.data + 65536, 65536, 5) && rig.model.flushes == 0);
    rig_close(&rig);
}

Test(nvme_drive, a_trim_gives_up_its_range_and_no_more)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    rig_fill(rig.data, 65536, 6);
    cr_assert(rig_run(&rig, STRIA_NVME_WRITE, 0, 65536, 0) == STRIA_OK);
    cr_assert(rig_run(&rig, STRIA_NVME_TRIM, 16384, 16384, 0) == STRIA_OK && rig.model.trims == 1);
    cr_assert(rig_run(&rig, STRIA_NVME_READ, 0, 65536, 65536) == STRIA_OK);
    cr_expect(memcmp(rig.data, rig.data + 65536, 16384) == 0);
    cr_expect(memcmp(rig.data + 32768, rig.data + 65536 + 32768, 32768) == 0);
    cr_expect(rig.data[65536 + 16384] == 0 && rig.data[65536 + 32767] == 0);
    rig_close(&rig);
}

Test(nvme_drive, a_trim_on_a_drive_that_cannot_does_nothing)
{
    struct model_options options = model_defaults();
    options.keeps = true;
    rig_open(&rig, &options, 8);
    round_trip(0, 65536, 0);
    cr_expect(rig_run(&rig, STRIA_NVME_TRIM, 0, 65536, 0) == STRIA_OK && rig.model.trims == 0);
    rig_close(&rig);
}

Test(nvme_drive, it_tells_its_health)
{
    struct model_options options = model_defaults();
    struct stria_nvme_health health = {0};
    rig_open(&rig, &options, 8);
    cr_assert(stria_nvme_controller_health(&rig.drive.controller, &health) == STRIA_OK);
    cr_expect(health.critical_warning == 4 && health.temperature_kelvin == 313 &&
              health.spare_percent == 98 && health.used_percent == 7 && health.power_on_hours == 4711);
    round_trip(0, 65536, 0);
    rig_close(&rig);
}

Test(nvme_drive, what_is_no_request_for_it_is_refused)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    const uint64_t end = rig.drive.drive_bytes;
    cr_expect(rig_submit(&rig, STRIA_NVME_READ, end, 512, 0, 0) == STRIA_ERR_INVALID);
    cr_expect(rig_submit(&rig, STRIA_NVME_READ, end - 512, 1024, 0, 0) == STRIA_ERR_INVALID);
    cr_expect(rig_submit(&rig, STRIA_NVME_READ, UINT64_MAX - 511, 512, 0, 0) == STRIA_ERR_INVALID);
    cr_expect(rig_submit(&rig, STRIA_NVME_WRITE, 1, 512, 0, 0) == STRIA_ERR_INVALID);
    cr_expect(rig_submit(&rig, STRIA_NVME_WRITE, 0, 513, 0, 0) == STRIA_ERR_INVALID);
    cr_expect(rig_submit(&rig, STRIA_NVME_WRITE, 0, 0, 0, 0) == STRIA_ERR_INVALID);
    cr_expect(rig_submit(&rig, STRIA_NVME_WRITE, 0, 512, 1, 0) == STRIA_ERR_INVALID);
    uint8_t unmapped[1024];
    const struct stria_nvme_request request = {.op = STRIA_NVME_WRITE,
                                               .bytes = 512,
                                               .data =
                                                   (void *)(((uintptr_t)unmapped + 511) & ~(uintptr_t)511)};
    cr_expect(stria_nvme_drive_run(&rig.drive, &request) == STRIA_ERR_INVALID);
    round_trip(0, 512, 0);
    rig_close(&rig);
}

Test(nvme_drive, a_drive_left_running_by_a_crash_is_taken_over)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    for (uint64_t tag = 0; tag < 8; tag++)
        rig_submit(&rig, STRIA_NVME_WRITE, tag * 65536, 65536, 0, tag);
    rig_restart(&rig, 8);
    round_trip(0, 1u << 20, 0);
    rig_close(&rig);
}
