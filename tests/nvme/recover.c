#include "tests/nvme/rig.h"

#include <criterion/criterion.h>
#include <string.h>

#define REQUESTS 64u
#define BYTES    32768u

static struct rig rig;

/* Writes REQUESTS pieces side by side; every one ends well, for all that goes wrong, and reads back. */
static void write_all(struct rig *at)
{
    struct stria_nvme_done done;
    uint32_t seen[REQUESTS] = {0};
    for (uint64_t tag = 0; tag < REQUESTS; tag++) {
        rig_fill(at->data + tag * BYTES, BYTES, 100 + tag);
        cr_assert(rig_submit(at, STRIA_NVME_WRITE, tag * BYTES, BYTES, tag * BYTES, tag) == STRIA_OK);
    }
    for (uint32_t i = 0; i < REQUESTS; i++) {
        int code = rig_wait(at, &done);
        cr_assert(code == STRIA_OK, "%s", stria_code_text(code));
        cr_assert(done.tag < REQUESTS && seen[done.tag]++ == 0);
    }
}

static void read_all(struct rig *at)
{
    memset(at->data, 0, REQUESTS * BYTES);
    cr_assert(rig_run(at, STRIA_NVME_READ, 0, REQUESTS * BYTES, 0) == STRIA_OK);
    for (uint64_t tag = 0; tag < REQUESTS; tag++)
        cr_assert(rig_is(at->data + tag * BYTES, BYTES, 100 + tag), "piece %llu", (unsigned long long)tag);
}

/* With faults only while it writes. */
static void survives(struct model_options options)
{
    const struct model_faults faults = options.faults;
    memset(&options.faults, 0, sizeof(options.faults));
    for (options.seed = 1; options.seed <= 5; options.seed++) {
        rig_open(&rig, &options, 8);
        rig.model.options.faults = faults;
        write_all(&rig);
        memset(&rig.model.options.faults, 0, sizeof(faults));
        read_all(&rig);
        rig_close(&rig);
    }
}

Test(nvme_recover, completions_out_of_order)
{
    struct model_options options = model_defaults();
    options.latency_ns = 20000000;
    survives(options);
}

Test(nvme_recover, a_completion_that_is_lost_is_asked_for_again)
{
    struct model_options options = model_defaults();
    options.faults.lost = 30;
    survives(options);
}

Test(nvme_recover, a_completion_that_comes_twice_counts_once)
{
    struct model_options options = model_defaults();
    options.faults.twice = 500;
    survives(options);
}

Test(nvme_recover, a_completion_that_belongs_to_nothing_is_ignored)
{
    struct model_options options = model_defaults();
    options.faults.stray = 500;
    options.faults.twice = 300;
    rig_open(&rig, &options, 8);
    write_all(&rig);
    cr_expect(rig.drive.controller.strays > 0);
    read_all(&rig);
    rig_close(&rig);
}

Test(nvme_recover, a_command_that_hangs_is_aborted_and_issued_again)
{
    struct model_options options = model_defaults();
    options.faults.hung = 30;
    rig_open(&rig, &options, 8);
    write_all(&rig);
    cr_expect(rig.model.aborts > 0 && rig.drive.controller.resets == 0 && rig.drive.controller.retries > 0);
    read_all(&rig);
    rig_close(&rig);
}

Test(nvme_recover, a_command_that_cannot_be_aborted_takes_a_reset)
{
    struct model_options options = model_defaults();
    options.faults.hung = 20;
    options.never_aborts = true;
    rig_open(&rig, &options, 8);
    write_all(&rig);
    cr_expect(rig.model.aborts > 0 && rig.drive.controller.resets > 0 &&
              rig.model.enables == 1 + rig.drive.controller.resets);
    read_all(&rig);
    rig_close(&rig);
}

Test(nvme_recover, commands_that_are_late)
{
    struct model_options options = model_defaults();
    options.faults.late = 50;
    survives(options);
    options.never_aborts = true;
    options.faults.late = 10;
    survives(options);
}

Test(nvme_recover, an_error_that_passes_is_tried_again)
{
    struct model_options options = model_defaults();
    options.faults.transient = 20;
    survives(options);
}

Test(nvme_recover, an_error_of_the_medium_is_reported)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    rig.model.options.faults.media = 1000;
    cr_expect(rig_run(&rig, STRIA_NVME_WRITE, 0, 1u << 20, 0) == STRIA_ERR_IO);
    cr_expect(rig_run(&rig, STRIA_NVME_READ, 0, 4096, 0) == STRIA_ERR_IO);
    rig.model.options.faults.media = 0;
    cr_expect(rig_run(&rig, STRIA_NVME_WRITE, 0, 1u << 20, 0) == STRIA_OK);
    rig_close(&rig);
}

Test(nvme_recover, a_fatal_controller_is_reset_and_goes_on)
{
    struct model_options options = model_defaults();
    options.patience_ns = 10000000000;
    rig_open(&rig, &options, 8);
    rig.model.options.faults.fatal = 20;
    const uint64_t begin_ns = rig.model.now_ns;
    write_all(&rig);
    cr_expect(rig.drive.controller.resets > 0);
    cr_expect(rig.model.now_ns - begin_ns < options.patience_ns, "only the clock has noticed it");
    rig.model.options.faults.fatal = 0;
    read_all(&rig);
    rig_close(&rig);
}

Test(nvme_recover, one_that_is_fatal_again_and_again_is_given_up)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    rig.model.options.faults.fatal = 1000;
    cr_expect(rig_run(&rig, STRIA_NVME_WRITE, 0, 4096, 0) == STRIA_ERR_IO);
    cr_expect(rig.drive.controller.trouble == STRIA_NVME_FATAL);
    cr_expect(rig_submit(&rig, STRIA_NVME_FLUSH, 0, 0, 0, 0) == STRIA_ERR_IO);
    rig_drop(&rig);
}

Test(nvme_recover, one_that_answers_nothing_is_given_up)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    const uint64_t begin_ns = rig.model.now_ns;
    rig.model.options.faults.hung = 1000;
    rig.model.options.never_aborts = true;
    cr_expect(rig_run(&rig, STRIA_NVME_WRITE, 0, 4096, 0) == STRIA_ERR_TIMEOUT);
    cr_expect(rig.model.now_ns - begin_ns >= STRIA_NVME_TRIES_MAX * options.patience_ns);
    cr_expect(rig.model.now_ns - begin_ns < 4 * STRIA_NVME_TRIES_MAX * options.patience_ns);
    rig_drop(&rig);
}

Test(nvme_recover, one_that_is_gone_is_noticed_soon)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    rig.model.gone = true;
    const uint64_t begin_ns = rig.model.now_ns;
    cr_expect(rig_run(&rig, STRIA_NVME_WRITE, 0, 4096, 0) == STRIA_ERR_GONE);
    cr_expect(rig.model.now_ns - begin_ns < 100000000);
    cr_expect(rig.drive.controller.trouble == STRIA_NVME_GONE);
    stria_nvme_drive_stop(&rig.drive);
    cr_expect(stria_nvme_drive_settle(&rig.drive) == STRIA_ERR_GONE);
    rig_drop(&rig);
}

Test(nvme_recover, one_that_was_gone_before_is_noticed_at_the_start)
{
    struct model_options options = model_defaults();
    uint64_t bytes;
    uint32_t align;
    rig_begin(&rig, &options, 8);
    rig.model.gone = true;
    cr_expect(stria_nvme_dma_bytes(&rig.model.platform, 8, &bytes, &align) == STRIA_ERR_GONE);
    cr_expect(stria_nvme_drive_settle(&rig.drive) == STRIA_ERR_GONE);
    rig_drop(&rig);
}

Test(nvme_recover, one_reset_by_somebody_else_is_started_again)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    model_power_cut(&rig.model);
    write_all(&rig);
    cr_expect(rig.drive.controller.resets == 1);
    read_all(&rig);
    rig_close(&rig);
}

Test(nvme_recover, a_slow_start_is_waited_for_as_long_as_cap_to_says)
{
    struct model_options options = model_defaults();
    options.ready_units = 60;
    options.ready_ns = 29900000000;
    rig_open(&rig, &options, 8);
    cr_expect(rig.model.now_ns >= 29900000000);
    cr_expect(rig_run(&rig, STRIA_NVME_WRITE, 0, 4096, 0) == STRIA_OK);
    rig_drop(&rig);
}

Test(nvme_recover, and_no_longer)
{
    struct model_options options = model_defaults();
    options.ready_units = 6;
    options.ready_ns = 60000000000;
    rig_begin(&rig, &options, 8);
    cr_expect(stria_nvme_drive_settle(&rig.drive) == STRIA_ERR_TIMEOUT);
    cr_expect(rig.drive.controller.trouble == STRIA_NVME_NEVER_READY);
    cr_expect(rig.model.now_ns < 10000000000);
    rig_drop(&rig);
}

Test(nvme_recover, stopping_ends_however_the_controller_hangs)
{
    struct model_options options = model_defaults();
    rig_open(&rig, &options, 8);
    rig.model.options.ready_ns = 3600000000000;
    rig_submit(&rig, STRIA_NVME_WRITE, 0, 4096, 0, 0);
    const uint64_t begin_ns = rig.model.now_ns;
    stria_nvme_drive_stop(&rig.drive);
    cr_expect(rig_submit(&rig, STRIA_NVME_WRITE, 0, 4096, 0, 0) == STRIA_ERR_CLOSED);
    cr_expect(stria_nvme_drive_settle(&rig.drive) == STRIA_ERR_TIMEOUT);
    cr_expect(rig.model.now_ns - begin_ns < 2 * STRIA_NVME_STOP_NS);
    rig_drop(&rig);
}

Test(nvme_recover, stopping_gives_up_what_is_in_flight)
{
    struct model_options options = model_defaults();
    options.faults.hung = 500;
    rig_open(&rig, &options, 8);
    for (uint64_t tag = 0; tag < 16; tag++)
        cr_assert(rig_submit(&rig, STRIA_NVME_READ, tag * BYTES, BYTES, tag * BYTES, tag) == STRIA_OK);
    rig_close(&rig);
}
