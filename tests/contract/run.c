/* Requests that are waited for, on a drive that answers late or never. */
#include "core/limits.h"
#include "engine/member.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK    4096u
#define LIMIT_NS 20000000u

/* Keeps what it was asked for until the test lets it go. */
struct sleeper {
    struct stria_drive drive;
    struct stria_io asked[4];
    unsigned count, polled;
    bool answers; /* at once */
    int fails;    /* what poll gives */
};

static int sleeper_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct sleeper *sleeper = (struct sleeper *)drive;
    cr_assert(stria_io_check(drive, io) == STRIA_OK && sleeper->count < 4);
    sleeper->asked[sleeper->count++] = *io;
    return STRIA_OK;
}

/* What a read that has been on its way for long brings. */
static void deliver(const struct stria_io *io)
{
    memset(io->data, 0xa5, io->length);
}

static int sleeper_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct sleeper *sleeper = (struct sleeper *)drive;
    (void)wait_ns;
    if (sleeper->fails)
        return sleeper->fails;
    if (!sleeper->answers || sleeper->polled == sleeper->count || max == 0)
        return 0;
    const struct stria_io *io = &sleeper->asked[sleeper->polled++];
    if (io->op == STRIA_IO_READ)
        deliver(io);
    *done = (struct stria_done){.tag = io->tag, .bytes = io->length};
    return 1;
}

static const struct stria_backend sleeper_backend = {
    .name = "sleeper", .submit = sleeper_submit, .poll = sleeper_poll};

static struct sleeper sleeper;

static struct stria_drive *fall_asleep(void)
{
    sleeper = (struct sleeper){.drive = {.backend = &sleeper_backend,
                                         .traits = {.drive_bytes = 64u << 20,
                                                    .block_bytes = BLOCK,
                                                    .memory_align_bytes = BLOCK,
                                                    .transfer_bytes_max = 1u << 20,
                                                    .depth_max = 4,
                                                    .path = "sleeper"}}};
    return &sleeper.drive;
}

static bool filled(const unsigned char *bytes, unsigned char with, size_t count)
{
    return bytes[0] == with && memcmp(bytes, bytes + 1, count - 1) == 0;
}

Test(run, what_was_read_is_handed_over_however_its_memory_is_aligned)
{
    struct stria_drive *drive = fall_asleep();
    unsigned char *bytes = calloc(1, 2 * BLOCK + 2);
    sleeper.answers = true;
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, BLOCK, 2 * BLOCK, bytes + 1) == STRIA_OK);
    cr_expect(bytes[0] == 0 && filled(bytes + 1, 0xa5, 2 * BLOCK) && bytes[2 * BLOCK + 1] == 0);
    free(bytes);
}

Test(run, a_read_that_comes_after_its_time_touches_nothing_of_the_callers)
{
    struct stria_drive *drive = fall_asleep();
    unsigned char *bytes = aligned_alloc(BLOCK, BLOCK);
    memset(bytes, 1, BLOCK);
    cr_assert(stria_drive_run_within(drive, STRIA_IO_READ, 0, BLOCK, bytes, LIMIT_NS) == STRIA_ERR_TIMEOUT);
    cr_assert(sleeper.count == 1);
    deliver(&sleeper.asked[0]);
    cr_expect(filled(bytes, 1, BLOCK));
    free(bytes);
    deliver(&sleeper.asked[0]);
}

Test(run, what_a_drive_that_fails_in_between_still_had_to_read_touches_nothing_either)
{
    struct stria_drive *drive = fall_asleep();
    unsigned char *bytes = aligned_alloc(BLOCK, BLOCK);
    sleeper.fails = STRIA_ERR_GONE;
    cr_assert(stria_drive_run_within(drive, STRIA_IO_READ, 0, BLOCK, bytes, LIMIT_NS) == STRIA_ERR_GONE);
    free(bytes);
    deliver(&sleeper.asked[0]);
}

Test(run, a_drive_that_does_not_answer_is_not_asked_for_the_other_copy_of_its_superblock)
{
    struct stria_drive *drive = fall_asleep();
    struct stria_superblock super;
    struct stria_member_copies copies;
    struct stria_trouble trouble;
    bool read_only;
    sleeper.fails = STRIA_ERR_TIMEOUT;
    cr_expect(stria_member_identify(drive, LIMIT_NS, &super, &read_only, &copies, &trouble) ==
              STRIA_ERR_TIMEOUT);
    cr_expect(sleeper.count == 1);
    cr_expect(strstr(trouble.sentence, "sleeper does not answer"), "%s", trouble.sentence);
}
