/* A recording in virtual time: the recorder and the pump of a real one, a sensor, and modelled drives in
 * place of real ones. No payload is held or moved; ledgers and catalogue are real and lie in memory. The same
 * configuration gives the same run. */
#ifndef STRIA_ENGINE_SIMULATE_H
#define STRIA_ENGINE_SIMULATE_H

#include "core/curve.h"
#include "core/meter.h"
#include "core/model.h"
#include "core/peaks.h"
#include "core/recorder.h"
#include "support/trouble.h"

#include <stdbool.h>
#include <stdint.h>

struct stria_simulate_config {
    uint32_t drive_count;                                          /* 1 to STRIA_DRIVES_MAX */
    const struct stria_model_parameters *drives[STRIA_DRIVES_MAX]; /* each passes stria_model_check */
    enum stria_policy policy;
    uint32_t chunk_bytes;
    uint32_t depth;            /* writes in flight on each drive */
    uint64_t buffer_bytes;     /* STRIA_SLOTS_MIN to STRIA_SLOTS_MAX chunks, rounded down to whole ones */
    uint64_t rate_bytes_per_s; /* of the sensor, which goes on whatever happens: what finds no room in the
                                  buffer is dropped. Zero: as fast as the array takes it, which loses nothing
                                  and shows what the drives can */
    uint64_t size_bytes;  /* of the stream, rounded up to whole chunks; zero: as much as the array holds */
    uint64_t duration_ns; /* the stream ends after so much time, if not before; zero: it does not */
    bool stop_at_loss;    /* whether it is lossless is all that is asked */
    uint64_t chunks_max;  /* that are gone through, stored and dropped together; zero: the default below */
    uint64_t seed;        /* of the drives' stalls */
};

/* How often an array makes durable what it has got, and how long it waits for a drive. As array.ini's. */
#define STRIA_SIMULATE_COMMIT_NS   200000000u
#define STRIA_SIMULATE_DEADLINE_NS 10000000000u

/* Minutes would become hours. */
#define STRIA_SIMULATE_CHUNKS_MAX ((uint64_t)1 << 26)

struct stria_simulated_drive {
    struct stria_drive_status status; /* at the end; state LOST: given up, as a real one would have been */
    uint64_t capacity_bytes;          /* of payload */
    uint64_t stalled_ns;              /* its own garbage collection and the like */
    uint64_t throttled_ns;            /* slower for heat */
    int64_t temperature_mc;           /* at the end, in thousandths of °C */
};

/* Times are from the start of the stream. */
struct stria_simulation {
    uint64_t stream_bytes; /* that the sensor made: the size asked for, or what came in the time */
    uint64_t stored_bytes; /* stored + dropped = stream, unless it was stopped at the first loss */
    uint64_t dropped_bytes;
    uint64_t capacity_bytes; /* of the array, under its policy */
    uint64_t duration_ns;    /* until all was durable */
    uint64_t source_ns;      /* until the stream ended */
    uint64_t payload_ns;     /* until the last chunk was written */
    bool lossless;
    struct stria_gap first_loss; /* when not lossless; its time from the start of the stream */
    bool full;                   /* the array was, before the stream ended … */
    uint64_t full_ns;            /* … at this time */
    uint32_t drive_count;
    struct stria_simulated_drive drives[STRIA_DRIVES_MAX];
    struct stria_meter *meter; /* finished; owned */
    struct stria_peaks buffer; /* bytes of the buffer in use; bins owned */
};

/* Runs it. STRIA_ERR_INVALID with a sentence for what cannot be simulated (a buffer or a drive that is too
 * small for the chunk; a sensor that makes more than STRIA_SIMULATE_CHUNKS_MAX chunks before the array is
 * full), STRIA_ERR_NO_MEMORY. */
int stria_simulate(const struct stria_simulate_config *config, struct stria_simulation *simulation,
                   struct stria_trouble *trouble);
void stria_simulation_clear(struct stria_simulation *simulation);

/* What the array holds under its policy; zero when a drive is too small for the chunk. */
uint64_t stria_simulate_capacity_bytes(const struct stria_simulate_config *config);

/* The array's service curve up to where so many bytes were stored, in whole bins, and in *duration_ns when
 * that was; for zero bytes, as long as the stream lasted. It holds for drives that never waited: let the
 * stream go on for a buffer more than the bytes that are asked about, so that the buffer empties behind them.
 */
struct stria_curve stria_simulation_curve(const struct stria_simulation *simulation, uint64_t bytes,
                                          uint64_t *duration_ns);

/* The highest rate of a sensor that loses nothing in a recording of so many bytes with so large a buffer,
 * from the same curve. The stream ends when it is all made, so that no drought matters any more once all but
 * a buffer of it is stored: core/curve.h holds up to there. For zero bytes: a sensor that goes on as long as
 * the stream lasted. False where no rate is too high, since the buffer takes all of it, and where there is no
 * curve. */
bool stria_simulation_lossless(const struct stria_simulation *simulation, uint64_t bytes,
                               uint64_t buffer_bytes, uint64_t *bytes_per_s);

#endif
