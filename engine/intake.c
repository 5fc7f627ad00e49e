#include "engine/intake.h"

#include "core/assert.h"
#include "core/code.h"
#include "support/clock.h"

#include <stdlib.h>
#include <string.h>

/* A producer that waits is woken for a few slots at once, not for each: it waits because the drives have more
 * to do than they can. RING_NS bounds what it can miss by that. */
#define RING_SLOTS_MAX 8u
#define RING_NS        2000000u

static uint32_t power_of_two_from(uint32_t value)
{
    uint32_t power = 1;
    while (power < value)
        power *= 2;
    return power;
}

static int queue_create(struct stria_slot_queue *queue, uint32_t slot_count)
{
    queue->capacity = power_of_two_from(slot_count);
    queue->slots = calloc(queue->capacity, sizeof(*queue->slots));
    return queue->slots ? STRIA_OK : STRIA_ERR_NO_MEMORY;
}

static void queue_push(struct stria_slot_queue *queue, uint32_t slot)
{
    uint32_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    STRIA_ASSERT(tail - atomic_load_explicit(&queue->head, memory_order_acquire) < queue->capacity);
    queue->slots[tail & (queue->capacity - 1)] = slot;
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
}

static bool queue_pop(struct stria_slot_queue *queue, uint32_t *slot)
{
    uint32_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    if (head == atomic_load_explicit(&queue->tail, memory_order_acquire))
        return false;
    *slot = queue->slots[head & (queue->capacity - 1)];
    atomic_store_explicit(&queue->head, head + 1, memory_order_release);
    return true;
}

int stria_intake_create(struct stria_intake *intake, uint32_t slot_count, uint32_t chunk_bytes,
                        struct stria_bell *pump)
{
    memset(intake, 0, sizeof(*intake));
    intake->pump = pump;
    intake->chunk_bytes = chunk_bytes;
    intake->capacity = 2 * power_of_two_from(slot_count);
    intake->items = calloc(intake->capacity, sizeof(*intake->items));
    intake->item_of_slot = calloc(slot_count, sizeof(*intake->item_of_slot));
    intake->own_memory = calloc(slot_count, sizeof(*intake->own_memory));
    intake->at_hand = calloc(slot_count, sizeof(*intake->at_hand));
    intake->ring_at = slot_count / 16 < RING_SLOTS_MAX ? slot_count / 16 + 1 : RING_SLOTS_MAX;
    int code = queue_create(&intake->free, slot_count);
    if (code == STRIA_OK)
        code = queue_create(&intake->reclaim, slot_count);
    if (code != STRIA_OK || !intake->items || !intake->item_of_slot || !intake->own_memory ||
        !intake->at_hand) {
        stria_intake_destroy(intake);
        return STRIA_ERR_NO_MEMORY;
    }
    for (uint32_t slot = slot_count; slot > 0; slot--) {
        atomic_init(&intake->item_of_slot[slot - 1], STRIA_ITEM_NONE);
        queue_push(&intake->free, slot - 1);
    }
    return STRIA_OK;
}

void stria_intake_destroy(struct stria_intake *intake)
{
    free(intake->free.slots);
    free(intake->reclaim.slots);
    free(intake->items);
    free(intake->item_of_slot);
    free(intake->own_memory);
    free(intake->at_hand);
    memset(intake, 0, sizeof(*intake));
}

/* The next item of the stream; null while the pump is too far behind. */
static struct stria_intake_item *next_item(struct stria_intake *intake)
{
    uint32_t number = atomic_load_explicit(&intake->acquired, memory_order_relaxed);
    if (number - atomic_load_explicit(&intake->taken, memory_order_acquire) == intake->capacity)
        return NULL;
    struct stria_intake_item *item = &intake->items[number & (intake->capacity - 1)];
    item->skip = false;
    return item;
}

static void publish_item(struct stria_intake *intake)
{
    atomic_fetch_add_explicit(&intake->acquired, 1, memory_order_release);
}

static bool take_free(struct stria_intake *intake, uint32_t *slot)
{
    while (queue_pop(&intake->free, slot))
        intake->at_hand[intake->at_hand_count++] = *slot;
    if (intake->at_hand_count == 0)
        return false;
    *slot = intake->at_hand[--intake->at_hand_count];
    return true;
}

static bool reclaim_pending(struct stria_intake *intake)
{
    return atomic_load_explicit(&intake->reclaim.head, memory_order_relaxed) !=
           atomic_load_explicit(&intake->reclaim.tail, memory_order_acquire);
}

void *stria_intake_reclaim(struct stria_intake *intake)
{
    uint32_t slot;
    if (!queue_pop(&intake->reclaim, &slot))
        return NULL;
    void *memory = intake->own_memory[slot];
    intake->own_memory[slot] = NULL;
    intake->at_hand[intake->at_hand_count++] = slot;
    return memory;
}

/* STRIA_OK while the stream goes on, else why it does not. */
static int refusal_of(struct stria_intake *intake)
{
    int refusal = atomic_load(&intake->refusal);
    if (refusal != STRIA_OK)
        return refusal;
    bool ended = atomic_load(&intake->producer_done) || atomic_load(&intake->reach) & STRIA_INTAKE_REACHED;
    return ended ? STRIA_ERR_CLOSED : STRIA_OK;
}

static int try_acquire(struct stria_intake *intake, uint32_t *slot)
{
    int refusal = refusal_of(intake);
    if (refusal != STRIA_OK)
        return refusal;
    struct stria_intake_item *item = next_item(intake);
    if (!item || !take_free(intake, slot))
        return STRIA_ERR_TIMEOUT;
    item->slot = *slot;
    uint32_t number = atomic_load_explicit(&intake->acquired, memory_order_relaxed);
    atomic_store_explicit(&intake->item_of_slot[*slot], number, memory_order_relaxed);
    publish_item(intake);
    return STRIA_OK;
}

int stria_intake_acquire(struct stria_intake *intake, uint64_t wait_ns, uint32_t *slot)
{
    uint64_t start_ns = 0;
    for (;;) {
        uint32_t ticket = stria_bell_listen(&intake->freed);
        int code = try_acquire(intake, slot);
        if (code != STRIA_ERR_TIMEOUT || wait_ns == 0 || reclaim_pending(intake))
            return code;
        uint64_t now_ns = stria_clock_ns();
        if (start_ns == 0)
            start_ns = now_ns;
        if (now_ns - start_ns >= wait_ns)
            return code;
        uint64_t left_ns = wait_ns - (now_ns - start_ns);
        stria_bell_wait(&intake->freed, ticket, left_ns < RING_NS ? left_ns : RING_NS);
    }
}

/* Makes an item part of the stream. What lies behind a short chunk cannot be, and what has something behind
 * it cannot be short: whoever says so first is right, whichever thread that is. */
static int extend(struct stria_intake *intake, uint32_t number, bool is_short)
{
    uint64_t reach = atomic_load(&intake->reach);
    uint64_t extended;
    do {
        const bool behind = (int32_t)(number - (uint32_t)reach) >= 0;
        if (behind && reach & STRIA_INTAKE_REACHED)
            return STRIA_ERR_CLOSED;
        if (!behind && is_short)
            return STRIA_ERR_INVALID;
        extended = (behind ? number + 1 : reach) | (is_short ? STRIA_INTAKE_REACHED : 0);
    } while (!atomic_compare_exchange_weak(&intake->reach, &reach, extended));
    return STRIA_OK;
}

int stria_intake_commit(struct stria_intake *intake, uint32_t slot, uint64_t length_bytes,
                        uint64_t captured_ns)
{
    const uint64_t held = atomic_exchange(&intake->item_of_slot[slot], STRIA_ITEM_NONE);
    if (held == STRIA_ITEM_NONE)
        return STRIA_ERR_INVALID;
    const uint32_t number = (uint32_t)held;
    const bool is_short = length_bytes < intake->chunk_bytes;
    const int code = extend(intake, number, is_short);
    if (code != STRIA_OK) {
        atomic_store(&intake->item_of_slot[slot], held);
        return code;
    }
    struct stria_intake_item *item = &intake->items[number & (intake->capacity - 1)];
    uint32_t state = atomic_load(&item->state);
    if (state == STRIA_INTAKE_FILLING) {
        item->length_bytes = length_bytes;
        item->captured_ns = captured_ns;
        atomic_compare_exchange_strong(&item->state, &state, STRIA_INTAKE_READY);
    }
    if (state != STRIA_INTAKE_FILLING) {
        STRIA_ASSERT(state == STRIA_INTAKE_MISSING);
        atomic_store(&intake->item_of_slot[slot], held);
        return STRIA_ERR_CLOSED;
    }
    if (is_short)
        stria_bell_ring(&intake->freed);
    if (!atomic_load(&intake->pump_busy))
        stria_bell_ring(intake->pump);
    return STRIA_OK;
}

int stria_intake_skip(struct stria_intake *intake, uint64_t length_bytes, enum stria_gap_cause cause)
{
    struct stria_intake_item *item;
    for (;;) {
        uint32_t ticket = stria_bell_listen(&intake->freed);
        int refusal = refusal_of(intake);
        if (refusal != STRIA_OK)
            return refusal;
        item = next_item(intake);
        if (item)
            break;
        stria_bell_wait(&intake->freed, ticket, RING_NS);
    }
    int code = extend(intake, atomic_load_explicit(&intake->acquired, memory_order_relaxed), false);
    if (code != STRIA_OK)
        return code;
    item->skip = true;
    item->length_bytes = length_bytes;
    item->cause = cause;
    atomic_store_explicit(&item->state, STRIA_INTAKE_READY, memory_order_release);
    publish_item(intake);
    stria_bell_ring(intake->pump);
    return STRIA_OK;
}

void stria_intake_close(struct stria_intake *intake)
{
    atomic_store(&intake->producer_done, 1);
    stria_bell_ring(intake->pump);
}

/* What has not been committed by now never is: whoever still tries is refused, so that nothing is lost that
 * was accepted. */
static void settle(struct stria_intake *intake)
{
    const uint32_t acquired = atomic_load_explicit(&intake->acquired, memory_order_acquire);
    uint32_t number = atomic_load_explicit(&intake->taken, memory_order_relaxed);
    for (intake->end = number; number != acquired; number++) {
        uint32_t state = STRIA_INTAKE_FILLING;
        if (!atomic_compare_exchange_strong(&intake->items[number & (intake->capacity - 1)].state, &state,
                                            STRIA_INTAKE_MISSING))
            intake->end = number + 1;
    }
    intake->settled = true;
}

struct stria_intake_item *stria_intake_peek(struct stria_intake *intake)
{
    if (!intake->settled && atomic_load(&intake->producer_done))
        settle(intake);
    const uint32_t number = atomic_load_explicit(&intake->taken, memory_order_relaxed);
    if (number ==
        (intake->settled ? intake->end : atomic_load_explicit(&intake->acquired, memory_order_acquire)))
        return NULL;
    struct stria_intake_item *item = &intake->items[number & (intake->capacity - 1)];
    return atomic_load(&item->state) != STRIA_INTAKE_FILLING ? item : NULL;
}

void stria_intake_take(struct stria_intake *intake)
{
    uint32_t number = atomic_load_explicit(&intake->taken, memory_order_relaxed);
    if (!intake->settled) /* else it is not filled again, and a late commit has to see how it ended */
        atomic_store_explicit(&intake->items[number & (intake->capacity - 1)].state, STRIA_INTAKE_FILLING,
                              memory_order_relaxed);
    atomic_store_explicit(&intake->taken, number + 1, memory_order_release);
}

void stria_intake_release(struct stria_intake *intake, uint32_t slot)
{
    queue_push(intake->own_memory[slot] ? &intake->reclaim : &intake->free, slot);
    if (++intake->unrung < intake->ring_at)
        return;
    intake->unrung = 0;
    stria_bell_ring(&intake->freed);
}

void stria_intake_hurry(struct stria_intake *intake, bool hurry)
{
    if (atomic_load_explicit(&intake->pump_busy, memory_order_relaxed) == hurry)
        atomic_store(&intake->pump_busy, !hurry);
}

void stria_intake_refuse(struct stria_intake *intake, int code)
{
    int none = STRIA_OK;
    atomic_compare_exchange_strong(&intake->refusal, &none, code);
    stria_bell_ring(&intake->freed);
}

bool stria_intake_exhausted(struct stria_intake *intake)
{
    return !stria_intake_peek(intake) && intake->settled;
}
