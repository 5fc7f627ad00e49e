/* Two arrays, or drives, one of which is to be bought: what each carries, and what that costs. Unlike a
 * comparison it does not ask for equal conditions, but for equal amounts: rates are taken over as many bytes
 * as both have written. */
#ifndef STRIA_RESULTS_VERSUS_H
#define STRIA_RESULTS_VERSUS_H

#include "results/measurement.h"
#include "results/text.h"

#include <json-c/json.h>

struct stria_versus_options {
    struct stria_reading buffer_bytes; /* not known: the smaller of both measurements', or 512 MiB */
    struct stria_reading
        rate_bytes_per_s; /* for the capacity; not known: the higher of both lossless rates */
    double price[2];      /* zero: the sum of the prices in the document, if it has any */
};

enum stria_versus_figure {
    STRIA_VERSUS_SUSTAINED_1S,
    STRIA_VERSUS_SUSTAINED_60S,
    STRIA_VERSUS_LOSSLESS,
    STRIA_VERSUS_CAPACITY, /* bytes of a stream of the rate that are taken before any is lost */
    STRIA_VERSUS_MEAN,
    STRIA_VERSUS_PRICE,          /* in hundredths */
    STRIA_VERSUS_PRICE_PER_RATE, /* of a MB/s of the lossless rate, in hundredths of hundredths */
    STRIA_VERSUS_FIGURES
};

struct stria_versus {
    uint64_t buffer_bytes, rate_bytes_per_s; /* as chosen; a rate of zero: no capacity is known */
    uint64_t bytes;                          /* that the rates are taken over; zero: each over its own */
    struct stria_reading figures[2][STRIA_VERSUS_FIGURES];
    bool endless[2];   /* it had lost nothing when its measurement ended: its capacity is at least that */
    bool held_back[2]; /* its drives waited for their input: rates are at least so high */
    int winner[STRIA_VERSUS_FIGURES]; /* 0, 1, or -1 for neither */
};

void stria_versus(const struct stria_measurement *const sides[2], const struct stria_versus_options *options,
                  struct stria_versus *versus);

/* For people, and as stria.compare/1. */
void stria_versus_print(const struct stria_measurement *const sides[2], const struct stria_versus *versus,
                        struct stria_text *out);
struct json_object *stria_versus_document(const struct stria_measurement *const sides[2],
                                          const struct stria_versus *versus);

#endif
