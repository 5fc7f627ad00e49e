#include "firmware/sensor.h"

#include "core/bits.h"
#include "core/ratio.h"
#include "core/synthetic.h"

#include <string.h>

void stria_sensor_start(struct stria_sensor *sensor, uint64_t now_ns)
{
    sensor->start_ns = now_ns;
    sensor->made_bytes = 0;
}

static uint32_t next_bytes(const struct stria_sensor *sensor)
{
    const uint64_t left = sensor->bytes - sensor->made_bytes;
    return left < sensor->chunk_bytes ? (uint32_t)left : sensor->chunk_bytes;
}

uint32_t stria_sensor_due_bytes(const struct stria_sensor *sensor, uint64_t now_ns)
{
    const uint32_t bytes = next_bytes(sensor);
    const uint64_t captured =
        stria_ratio_scale(sensor->rate_bytes_per_s, now_ns - sensor->start_ns, STRIA_SECOND_NS);
    return sensor->rate_bytes_per_s == 0 || sensor->made_bytes + bytes <= captured ? bytes : 0;
}

void stria_sensor_make(struct stria_sensor *sensor, void *slot, uint32_t block_bytes)
{
    const uint32_t bytes = next_bytes(sensor);
    if (slot && !sensor->still)
        stria_synthetic_fill(slot, bytes, sensor->made_bytes, sensor->seed);
    if (slot)
        memset((uint8_t *)slot + bytes, 0, stria_align_up(bytes, block_bytes) - bytes);
    sensor->made_bytes += bytes;
}
