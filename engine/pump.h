/* The pump: turns the recorder's actions into requests to drives, and completions into events. It has no
 * thread and no clock of its own and never waits, so that the product and the simulator run the same one. */
#ifndef STRIA_ENGINE_PUMP_H
#define STRIA_ENGINE_PUMP_H

#include "backends/backend.h"
#include "core/meter.h"
#include "core/recorder.h"

/* Who wants to know. Called from within stria_pump_feed and stria_pump_poll; any may be null. */
struct stria_pump_listener {
    void *context;
    void (*started)(void *context);
    void (*released)(void *context, uint32_t slot);
    /* Whether the slot's memory must be at rest when it is released, so that released is not called before
     * the last request of a drive given up that may still touch it has ended; null: it need not be. */
    bool (*needs_rest)(void *context, uint32_t slot);
    void (*watermark)(void *context, uint64_t offset_bytes);
    void (*gap)(void *context, const struct stria_gap *gap);
    void (*gave_up)(void *context, uint32_t drive, int code);
    void (*full)(void *context);
    void (*finished)(void *context, int code);
};

struct stria_pump_config {
    struct stria_recorder *recorder;
    uint32_t drive_count;
    struct stria_drive *const *drives; /* null where a drive is absent; stay the caller's */
    uint32_t slot_count;
    void *const *slot_data;    /* each slot's memory, looked up when a write is submitted */
    struct stria_meter *meter; /* may be null */
    struct stria_pump_listener listener;
};

struct stria_pump;

/* Memory for a pump, in bytes (alignment 16), and the pump made in it. */
size_t stria_pump_memory_bytes(const struct stria_pump_config *config);
struct stria_pump *stria_pump_init(void *memory, const struct stria_pump_config *config);

/* Steps the recorder with an event and carries out all that follows from it. */
void stria_pump_feed(struct stria_pump *pump, const struct stria_event *event);

/* Takes what the drives have finished, without waiting. Returns how many completions there were. */
uint32_t stria_pump_poll(struct stria_pump *pump, uint64_t now_ns);

/* When stria_pump_feed(TICK) is due at the latest. */
uint64_t stria_pump_due_ns(const struct stria_pump *pump);

/* Requests handed to a drive, be it given up, whose completions have not been seen: their memory is still in
 * use. */
uint32_t stria_pump_outstanding(const struct stria_pump *pump, uint32_t drive);

#endif
