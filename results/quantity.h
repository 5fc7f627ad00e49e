/* What is measured, as data: every quantity that a result may tell of, with its key, its unit and which way
 * is better. Tables, comparisons and exports all go through this list. */
#ifndef STRIA_RESULTS_QUANTITY_H
#define STRIA_RESULTS_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

/* In the order in which people are shown them: what counts for capture first, the average last. */
enum stria_quantity {
    STRIA_QUANTITY_MINIMUM, /* the lowest rate that was seen, over all repeats: the rating */
    STRIA_QUANTITY_SUSTAINED_1S,
    STRIA_QUANTITY_SUSTAINED_5S,
    STRIA_QUANTITY_SUSTAINED_10S,
    STRIA_QUANTITY_SUSTAINED_30S,
    STRIA_QUANTITY_SUSTAINED_60S,
    STRIA_QUANTITY_LOSSLESS, /* for the result's own buffer */
    STRIA_QUANTITY_LATENCY_P50,
    STRIA_QUANTITY_LATENCY_P90,
    STRIA_QUANTITY_LATENCY_P99,
    STRIA_QUANTITY_LATENCY_P999,
    STRIA_QUANTITY_LATENCY_MAX,
    STRIA_QUANTITY_DROPPED,
    STRIA_QUANTITY_ERRORS,
    STRIA_QUANTITY_RETRIES,
    STRIA_QUANTITY_STALLS,
    STRIA_QUANTITY_STALLED,
    STRIA_QUANTITY_TEMPERATURE_MAX,
    STRIA_QUANTITY_BUFFER_HIGH_WATER,
    STRIA_QUANTITY_BYTES,
    STRIA_QUANTITY_DURATION,
    STRIA_QUANTITY_MEAN,
    STRIA_QUANTITIES
};

enum stria_unit {
    STRIA_UNIT_BYTES,
    STRIA_UNIT_BYTES_PER_S,
    STRIA_UNIT_NS,
    STRIA_UNIT_MILLI_C, /* thousandths of a degree Celsius */
    STRIA_UNIT_COUNT
};

enum stria_better {
    STRIA_BETTER_HIGHER,
    STRIA_BETTER_LOWER,
    STRIA_BETTER_NEITHER /* tells about the run, not about how good it was */
};

struct stria_quantity_info {
    const char *key;   /* lower case, ends in its unit; the same in every export */
    const char *label; /* for people */
    enum stria_unit unit;
    enum stria_better better;
};

/* By enum stria_quantity. */
extern const struct stria_quantity_info stria_quantity_infos[STRIA_QUANTITIES];

/* A value that may not exist. */
struct stria_reading {
    bool known;
    uint64_t value; /* in the unit of its quantity; zero where it is not known */
};

#endif
