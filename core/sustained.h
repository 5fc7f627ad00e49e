/* Sustained rate: sustained(w) is the lowest mean rate over any window of w seconds, in bytes per second. */
#ifndef STRIA_CORE_SUSTAINED_H
#define STRIA_CORE_SUSTAINED_H

#include "core/curve.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_SUSTAINED_WINDOWS 5u                  /* windows that are always measured */
#define STRIA_SUSTAINED_BIN_NS  UINT64_C(100000000) /* the online tracker slides its windows by this */
#define STRIA_SUSTAINED_BINS    600u                /* bins in the longest window */

/* The windows, in seconds, rising: 1, 5, 10, 30, 60. */
extern const uint32_t stria_sustained_windows_s[STRIA_SUSTAINED_WINDOWS];

/* One sustained rate and where its window lies. */
struct stria_sustained_figure {
    uint64_t bytes_per_s; /* mean over the worst window, rounded down */
    uint64_t window_ns;   /* width of the window */
    uint64_t from_ns;     /* where the worst window begins, after the start; the earliest of equals */
};

/* Follows all windows while bytes come in, exact on 100 ms bins for any duration. Its bins hold what those of
 * struct stria_series hold. To be read through the functions below only. */
struct stria_sustained {
    uint64_t start_ns;
    uint64_t open_bytes;                 /* in the bin that is being filled */
    uint64_t closed;                     /* bins closed since the start */
    uint64_t ring[STRIA_SUSTAINED_BINS]; /* the last closed bins, bin k at k modulo its length */
    struct {
        uint64_t sum;        /* over the window's last closed bins */
        uint64_t sum_min;    /* lowest such sum; means nothing before the window has filled once */
        uint64_t closed_min; /* value of `closed` when it was seen */
    } windows[STRIA_SUSTAINED_WINDOWS];
};

/* Starts at start_ns with nothing seen. */
void stria_sustained_init(struct stria_sustained *sustained, uint64_t start_ns);

/* Counts bytes completed at now_ns. Time must not run backwards: an earlier now_ns counts as the latest one
 * seen. */
void stria_sustained_add(struct stria_sustained *sustained, uint64_t now_ns, uint64_t bytes);

/* Lets time pass without bytes: every bin that can get no more bytes at or after now_ns is closed. */
void stria_sustained_advance(struct stria_sustained *sustained, uint64_t now_ns);

/* Ends the run at now_ns: also closes the bin that ends exactly then. A bin cut short is left out. */
void stria_sustained_finish(struct stria_sustained *sustained, uint64_t now_ns);

/* sustained(w) so far, w = stria_sustained_windows_s[window]. False, with *figure untouched, while the run is
 * shorter than the window: such a figure does not exist. */
bool stria_sustained_worst(const struct stria_sustained *sustained, uint32_t window,
                           struct stria_sustained_figure *figure);

/* The mean rate over the last stria_sustained_windows_s[window] seconds of closed bins, over fewer at the
 * beginning, 0 before the first closed bin. */
uint64_t stria_sustained_recent_bytes_per_s(const struct stria_sustained *sustained, uint32_t window);

/* sustained(window_ns) of a finished curve, window_ns > 0. Bytes are taken as spread evenly within each bin,
 * so any window works at any interval; where the interval divides the window, the result is that of the
 * tracker with such bins. False, with *figure untouched, when the curve is shorter than the window. */
bool stria_sustained_of_curve(const struct stria_curve *curve, uint64_t window_ns,
                              struct stria_sustained_figure *figure);

#endif
