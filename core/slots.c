#include "core/slots.h"

#include "core/assert.h"

void stria_slot_list_init(struct stria_slot_list *list)
{
    *list = (struct stria_slot_list){.first = STRIA_SLOT_NONE, .last = STRIA_SLOT_NONE};
}

static void link_between(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index,
                         uint32_t previous, uint32_t next)
{
    slots[index].previous = previous;
    slots[index].next = next;
    if (previous == STRIA_SLOT_NONE)
        list->first = index;
    else
        slots[previous].next = index;
    if (next == STRIA_SLOT_NONE)
        list->last = index;
    else
        slots[next].previous = index;
    list->count++;
}

void stria_slot_list_append(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index)
{
    link_between(list, slots, index, list->last, STRIA_SLOT_NONE);
}

void stria_slot_list_insert(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index)
{
    uint32_t next = list->first;
    while (next != STRIA_SLOT_NONE && slots[next].sequence < slots[index].sequence)
        next = slots[next].next;
    link_between(list, slots, index, next == STRIA_SLOT_NONE ? list->last : slots[next].previous, next);
}

void stria_slot_list_remove(struct stria_slot_list *list, struct stria_slot *slots, uint32_t index)
{
    STRIA_ASSERT(list->count > 0);
    uint32_t previous = slots[index].previous;
    uint32_t next = slots[index].next;
    if (previous == STRIA_SLOT_NONE)
        list->first = next;
    else
        slots[previous].next = next;
    if (next == STRIA_SLOT_NONE)
        list->last = previous;
    else
        slots[next].previous = previous;
    list->count--;
}
