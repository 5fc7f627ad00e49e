/* The inside of a recording under way, shared by record.c and record_report.c. */
#ifndef STRIA_FIRMWARE_RECORDING_H
#define STRIA_FIRMWARE_RECORDING_H

#include "core/meter.h"
#include "engine/pump.h"
#include "firmware/record.h"
#include "firmware/sensor.h"

struct stria_bare_recording {
    struct stria_bare_array *array;
    const struct stria_firmware_options *options;
    char name[STRIA_NAME_BYTES];
    struct stria_recorder *recorder;
    struct stria_pump *pump;
    struct stria_meter *meter;
    struct stria_sensor sensor;
    uint32_t slot_count;
    void **slot_data;
    uint32_t *free_slots; /* a queue of slots that are the sensor's, first one first */
    uint32_t free_first, free_count;
    uint64_t missed_bytes; /* found no slot, not yet told to the recorder */
    uint64_t durable_bytes;
    uint64_t begun_ns, ended_ns;
    uint64_t gaps_left; /* to be said one by one; the rest is only counted */
    bool started, ending, finished;
    int code;
};

/* Says what came of it and fills the outcome. */
void stria_bare_recording_report(const struct stria_bare_recording *recording,
                                 struct stria_bare_outcome *outcome);

#endif
