#include "nvme/queue.h"

#include "nvme/registers.h"

#include <criterion/criterion.h>
#include <string.h>

#define ENTRIES 4u

/* A platform that only counts, and a controller that is this test. */
static uint32_t doorbells[2], writes, barriers;
static struct stria_nvme_command commands[ENTRIES];
static struct stria_nvme_completion completions[ENTRIES];

static void write32(void *context, uint32_t offset, uint32_t value)
{
    (void)context;
    doorbells[(offset - STRIA_NVME_DOORBELLS) / 4] = value;
    writes++;
}

static void barrier(void *context)
{
    (void)context;
    barriers++;
}

static const struct stria_nvme_platform platform = {
    .write32 = write32, .write_barrier = barrier, .read_barrier = barrier};

static struct stria_nvme_queue open_queue(void)
{
    struct stria_nvme_queue queue = {
        .platform = &platform,
        .commands = commands,
        .completions = completions,
        .entries = ENTRIES,
        .sq_doorbell = STRIA_NVME_DOORBELLS,
        .cq_doorbell = STRIA_NVME_DOORBELLS + 4,
    };
    memset(completions, 0xff, sizeof(completions));
    stria_nvme_queue_reset(&queue);
    return queue;
}

static void put(struct stria_nvme_queue *queue, uint16_t id)
{
    const struct stria_nvme_command command = {.id = id};
    stria_nvme_queue_put(queue, &command);
}

static void complete(uint32_t entry, uint32_t id, uint32_t head, bool phase)
{
    completions[entry] =
        (struct stria_nvme_completion){.sq = head, .id_and_status = id | (phase ? STRIA_NVME_PHASE : 0)};
}

Test(nvme_queue, one_entry_is_left_free)
{
    struct stria_nvme_queue queue = open_queue();
    for (uint16_t id = 0; id < ENTRIES - 1; id++) {
        cr_expect(stria_nvme_queue_room(&queue) == ENTRIES - 1u - id);
        put(&queue, id);
    }
    cr_expect(stria_nvme_queue_room(&queue) == 0);
}

Test(nvme_queue, there_is_room_for_what_the_controller_says_it_has_fetched)
{
    struct stria_nvme_queue queue = open_queue();
    struct stria_nvme_completion completion;
    for (uint16_t id = 0; id < 3; id++)
        put(&queue, id);
    complete(0, 0, 2, true);
    cr_assert(stria_nvme_queue_take(&queue, &completion));
    cr_expect(stria_nvme_queue_room(&queue) == 2, "one completion, and two were fetched");
    complete(1, 1, 2, true);
    cr_assert(stria_nvme_queue_take(&queue, &completion));
    cr_expect(stria_nvme_queue_room(&queue) == 2, "two completions, and no more were fetched");
    complete(2, 2, 77, true);
    cr_assert(stria_nvme_queue_take(&queue, &completion));
    cr_expect(stria_nvme_queue_room(&queue) == 2, "a head that the queue does not have means nothing");
}

Test(nvme_queue, the_doorbell_rings_once_for_all_and_not_for_nothing)
{
    struct stria_nvme_queue queue = open_queue();
    writes = barriers = 0;
    stria_nvme_queue_ring(&queue);
    cr_expect(writes == 0);
    put(&queue, 1);
    put(&queue, 2);
    cr_expect(writes == 0);
    stria_nvme_queue_ring(&queue);
    cr_expect(writes == 1 && doorbells[0] == 2 && barriers == 1);
    stria_nvme_queue_ring(&queue);
    cr_expect(writes == 1);
}

Test(nvme_queue, the_phase_turns_with_every_round)
{
    struct stria_nvme_queue queue = open_queue();
    struct stria_nvme_completion completion;
    bool phase = true;
    for (uint32_t i = 0; i < 3 * ENTRIES; i++) {
        cr_expect(!stria_nvme_queue_take(&queue, &completion), "at %u", i);
        complete(i % ENTRIES, i, 0, phase);
        cr_assert(stria_nvme_queue_take(&queue, &completion), "at %u", i);
        cr_expect((completion.id_and_status & 0xffff) == i);
        stria_nvme_queue_return(&queue);
        cr_expect(doorbells[1] == (i + 1) % ENTRIES);
        if (i % ENTRIES == ENTRIES - 1)
            phase = !phase;
    }
}

Test(nvme_queue, what_lies_in_the_memory_before_is_no_completion)
{
    struct stria_nvme_queue queue = open_queue();
    struct stria_nvme_completion completion;
    cr_expect(!stria_nvme_queue_take(&queue, &completion));
}
