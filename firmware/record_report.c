#include "core/code.h"
#include "core/ratio.h"
#include "firmware/console.h"
#include "firmware/recording.h"

#define MIB_SHIFT 20u

static unsigned long mib_per_s(uint64_t bytes_per_s)
{
    return (unsigned long)(bytes_per_s >> MIB_SHIFT);
}

static const char *state_text(enum stria_drive_state state)
{
    switch (state) {
    case STRIA_DRIVE_LIVE:
        return "live";
    case STRIA_DRIVE_FULL:
        return "full";
    case STRIA_DRIVE_LOST:
        break;
    }
    return "lost";
}

/* The windows that the run was long enough for. */
static void say_sustained(const char *who, const struct stria_flow *flow)
{
    uint64_t mean;
    if (stria_flow_mean_bytes_per_s(flow, &mean))
        stria_console_say("%s: mean %lu MiB/s", who, mib_per_s(mean));
    for (uint32_t window = 0; window < STRIA_SUSTAINED_WINDOWS; window++) {
        struct stria_sustained_figure figure;
        if (stria_sustained_worst(&flow->sustained, window, &figure))
            stria_console_say("%s: sustained over %u s %lu MiB/s", who, stria_sustained_windows_s[window],
                              mib_per_s(figure.bytes_per_s));
    }
}

static bool say_drive(const struct stria_bare_recording *recording, uint32_t index)
{
    const struct stria_bare_drive *drive = recording->array->members[index].drive;
    const struct stria_meter_drive *measured = &recording->meter->drives[index];
    struct stria_drive_status status;
    stria_recorder_drive_status(recording->recorder, index, &status);
    stria_console_say("drive %u: %s, %lu bytes, %lu lost, %lu errors, %lu retries, %lu stalls", index,
                      state_text(status.state), (unsigned long)status.stored_bytes,
                      (unsigned long)status.lost_bytes, (unsigned long)status.errors,
                      (unsigned long)status.retries, (unsigned long)measured->stalls);
    if (drive)
        say_sustained("  drive", &measured->stored);
    return status.state != STRIA_DRIVE_LOST;
}

void stria_bare_recording_report(const struct stria_bare_recording *recording,
                                 struct stria_bare_outcome *outcome)
{
    struct stria_recorder_status status;
    stria_recorder_status(recording->recorder, &status);
    const uint64_t durable = recording->code == STRIA_OK ? status.length_bytes : recording->durable_bytes;
    *outcome = (struct stria_bare_outcome){
        .whole = recording->code == STRIA_OK && status.dropped_bytes == 0 &&
                 status.length_bytes == recording->options->bytes,
        .stored_bytes = status.stored_bytes,
        .duration_ns = recording->started ? recording->ended_ns - recording->begun_ns : 0,
    };
    for (uint32_t index = 0; index < recording->array->member_count; index++)
        outcome->whole &= say_drive(recording, index);
    say_sustained("all drives", &recording->meter->stored);
    stria_console_say("buffer: %lu of %lu KiB used at most",
                      (unsigned long)(recording->meter->buffer_high_water_bytes >> 10),
                      (unsigned long)recording->slot_count * (recording->array->chunk_bytes >> 10));
    stria_console_say("recording %s: %s, %s, %lu bytes, %lu stored, %lu dropped, %lu durable",
                      recording->name, stria_policy_text(recording->array->policy),
                      outcome->whole ? "whole" : "not whole", (unsigned long)status.length_bytes,
                      (unsigned long)status.stored_bytes, (unsigned long)status.dropped_bytes,
                      (unsigned long)durable);
    if (recording->code != STRIA_OK)
        stria_console_say("stria: the recording has no end on the drives: %s",
                          stria_code_text(recording->code));
}
