#include "core/ratio.h"
#include "results/page_internal.h"

#include <string.h>

static bool same_text(const char *one, const char *other)
{
    return one && other ? strcmp(one, other) == 0 : one == other;
}

static bool goes_on(const struct stria_gap_stretch *stretch, const struct stria_gap_seen *gap)
{
    return stretch->timed && gap->time_ns.known && gap->length_bytes.known && stretch->length_bytes > 0 &&
           gap->time_ns.value >= stretch->until_ns &&
           gap->time_ns.value - stretch->until_ns <= STRIA_SECOND_NS &&
           same_text(stretch->cause, gap->cause) && same_text(stretch->drive, gap->drive);
}

uint32_t stria_gap_stretches(const struct stria_measurement *measurement, struct stria_gap_stretch *stretches)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < measurement->gap_count; i++) {
        const struct stria_gap_seen *gap = &measurement->gaps[i];
        if (count > 0 && goes_on(&stretches[count - 1], gap)) {
            stretches[count - 1].until_ns = gap->time_ns.value;
            stretches[count - 1].length_bytes += gap->length_bytes.value;
            stretches[count - 1].count++;
            continue;
        }
        stretches[count++] = (struct stria_gap_stretch){.offset_bytes = gap->offset_bytes,
                                                        .length_bytes = gap->length_bytes.value,
                                                        .count = 1,
                                                        .timed = gap->time_ns.known,
                                                        .from_ns = gap->time_ns.value,
                                                        .until_ns = gap->time_ns.value,
                                                        .cause = gap->cause,
                                                        .drive = gap->drive};
    }
    return count;
}
