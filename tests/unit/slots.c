#include "core/slots.h"

#include "tests/unit/random.h"

#include <criterion/criterion.h>
#include <string.h>

#define COUNT 64

static struct stria_slot slots[COUNT];
static struct stria_slot_list list;

static void fresh(void)
{
    memset(slots, 0, sizeof(slots));
    for (uint32_t index = 0; index < COUNT; index++)
        slots[index].sequence = index;
    stria_slot_list_init(&list);
}

TestSuite(slots, .init = fresh);

static void assert_order(const uint32_t *wanted, uint32_t count)
{
    uint32_t at = 0, previous = STRIA_SLOT_NONE;
    for (uint32_t index = list.first; index != STRIA_SLOT_NONE; index = slots[index].next) {
        cr_assert(at < count && index == wanted[at++]);
        cr_assert_eq(slots[index].previous, previous);
        previous = index;
    }
    cr_assert_eq(at, count);
    cr_assert_eq(list.last, previous);
    cr_assert_eq(list.count, count);
}

Test(slots, a_new_list_is_empty)
{
    assert_order(NULL, 0);
}

Test(slots, appended_slots_stay_in_order)
{
    stria_slot_list_append(&list, slots, 5);
    stria_slot_list_append(&list, slots, 2);
    stria_slot_list_append(&list, slots, 9);
    assert_order((uint32_t[]){5, 2, 9}, 3);
}

Test(slots, a_slot_leaves_from_any_place)
{
    for (uint32_t index = 0; index < 5; index++)
        stria_slot_list_append(&list, slots, index);
    stria_slot_list_remove(&list, slots, 2);
    assert_order((uint32_t[]){0, 1, 3, 4}, 4);
    stria_slot_list_remove(&list, slots, 0);
    stria_slot_list_remove(&list, slots, 4);
    assert_order((uint32_t[]){1, 3}, 2);
    stria_slot_list_remove(&list, slots, 1);
    stria_slot_list_remove(&list, slots, 3);
    assert_order(NULL, 0);
}

Test(slots, a_chunk_that_comes_back_finds_its_place_by_sequence)
{
    stria_slot_list_insert(&list, slots, 7);
    stria_slot_list_insert(&list, slots, 3);
    stria_slot_list_insert(&list, slots, 9);
    stria_slot_list_insert(&list, slots, 5);
    assert_order((uint32_t[]){3, 5, 7, 9}, 4);
}

Test(slots, any_order_of_insertion_ends_in_the_order_of_sequences)
{
    struct stria_random random = random_of(3);
    for (int round = 0; round < 200; round++) {
        fresh();
        uint32_t wanted[COUNT], order[COUNT];
        for (uint32_t index = 0; index < COUNT; index++)
            wanted[index] = order[index] = index;
        for (uint32_t index = COUNT - 1; index > 0; index--) {
            uint32_t other = (uint32_t)stria_random_below(&random, index + 1);
            uint32_t kept = order[index];
            order[index] = order[other];
            order[other] = kept;
        }
        for (uint32_t index = 0; index < COUNT; index++)
            stria_slot_list_insert(&list, slots, order[index]);
        assert_order(wanted, COUNT);
    }
}
