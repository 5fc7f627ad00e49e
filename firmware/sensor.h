/* A sensor made up: on an SoC this would be logic that fills the ring by itself. It makes the same stream as
 * 'stria record --input synthetic', at a set rate, and does not wait: what finds no slot is lost. Without a
 * rate it makes a chunk whenever there is a slot. */
#ifndef STRIA_FIRMWARE_SENSOR_H
#define STRIA_FIRMWARE_SENSOR_H

#include <stdbool.h>
#include <stdint.h>

struct stria_sensor {
    uint64_t rate_bytes_per_s; /* zero: waits for slots */
    uint64_t bytes;            /* of the stream */
    uint64_t seed;
    uint32_t chunk_bytes;
    bool still;        /* leaves the slots as they are: for benches of what comes behind it */
    uint64_t start_ns; /* set by stria_sensor_start() */
    uint64_t made_bytes;
};

void stria_sensor_start(struct stria_sensor *sensor, uint64_t now_ns);

/* Bytes of the chunk that is due now; zero when none is. */
uint32_t stria_sensor_due_bytes(const struct stria_sensor *sensor, uint64_t now_ns);

/* Makes the chunk that is due: into slot, of which block_bytes are filled up with zeroes where the chunk ends
 * within a block, or into nothing when slot is null. */
void stria_sensor_make(struct stria_sensor *sensor, void *slot, uint32_t block_bytes);

#endif
