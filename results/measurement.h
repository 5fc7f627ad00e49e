/* A measurement: all that one result document tells, whichever command wrote it, in one plain struct.
 * Comparisons and reports know of measurements only. */
#ifndef STRIA_RESULTS_MEASUREMENT_H
#define STRIA_RESULTS_MEASUREMENT_H

#include "core/limits.h"
#include "results/arena.h"
#include "results/quantity.h"
#include "support/trouble.h"

/* A larger document is refused: it would be thousands of hours of series. */
#define STRIA_MEASUREMENT_BYTES_MAX (256u << 20)

/* A value of a track at a time at which nothing was measured. */
#define STRIA_TRACK_UNKNOWN UINT64_MAX

enum stria_measurement_kind {
    STRIA_MEASUREMENT_RECORD,   /* stria.record/1 */
    STRIA_MEASUREMENT_BENCH,    /* stria.bench/1 */
    STRIA_MEASUREMENT_SIMULATE, /* stria.simulate/1 */
    STRIA_MEASUREMENT_FIO       /* what fio --output-format=json prints */
};

enum stria_track_kind {
    STRIA_TRACK_INPUT,       /* bytes that came in, in each bin */
    STRIA_TRACK_STORED,      /* bytes stored or read, in each bin */
    STRIA_TRACK_BUFFER,      /* most bytes in the buffer, in each bin */
    STRIA_TRACK_LATENCY_P99, /* ns; of a drive, or of all together */
    STRIA_TRACK_LATENCY_MAX, /* the same */
    STRIA_TRACK_TEMPERATURE, /* thousandths of a degree Celsius */
    STRIA_TRACK_THROTTLES,   /* how often the drive had throttled, up to the bin's end */
    STRIA_TRACK_KINDS
};

#define STRIA_TRACK_ARRAY (-1) /* the drive of a track that belongs to all of them together */

/* Values of one kind over the time of a round. */
struct stria_track {
    enum stria_track_kind kind;
    int drive;            /* index of a drive of the measurement, or STRIA_TRACK_ARRAY */
    uint64_t interval_ns; /* width of a bin, > 0 */
    bool last_partial;    /* the last bin covers less time than the others */
    uint32_t count;       /* bins */
    uint64_t *values;     /* a bin each, STRIA_TRACK_UNKNOWN where there is none */
};

/* count samples of at least low_ns, and less than the next bucket's. */
struct stria_bucket {
    uint64_t low_ns, count;
};

/* A histogram of latencies; without a bucket where it is not told. */
struct stria_latencies {
    struct stria_bucket *buckets; /* rising */
    uint32_t count;
};

/* What was measured in one go: a recording, a simulation, one repeat at one point of a bench, a job of fio.
 */
struct stria_round {
    const char *label; /* of its point, such as "64GiB"; never null */
    uint32_t repeat;   /* from 0 */
    bool reads;
    bool counts; /* it is a repeat of its point; false for one that only prepares, or was cut short */
    struct stria_reading begin_ns; /* since the measurement was started */
    struct stria_reading readings[STRIA_QUANTITIES];
    struct stria_track *tracks; /* those of stored bytes all have the same bins */
    uint32_t track_count;
    struct stria_latencies latencies;
    struct stria_latencies *drive_latencies; /* of each drive of the measurement; null where not told */
};

/* The repeats of a bench at one point, summed up by the bench. */
struct stria_point {
    const char *label;
    uint32_t repeats;
    bool reads;
    struct stria_reading mean, deviation, interval_half; /* of the repeats' means */
    struct stria_reading rating;
    struct stria_reading latency_p99;
};

struct stria_gap_seen {
    uint64_t offset_bytes;
    struct stria_reading length_bytes, time_ns;
    const char *cause; /* never null */
    const char *drive; /* whose fault it was; null where it was none's */
};

struct stria_measured_drive {
    const char *label; /* short and, within the measurement, its own */
    const char *path, *model, *serial, *firmware, *link, *file_system; /* null where not told */
    struct stria_reading size_bytes;
    double price; /* 0: not told */
    bool lost, full;
    struct stria_reading readings[STRIA_QUANTITIES];
};

/* What has to be the same on both sides of a comparison, or is at least worth knowing. */
enum stria_condition {
    STRIA_CONDITION_TEST,
    STRIA_CONDITION_DRIVES, /* how many */
    STRIA_CONDITION_MODEL,  /* of all drives, in order; as the three below */
    STRIA_CONDITION_FIRMWARE,
    STRIA_CONDITION_LINK,
    STRIA_CONDITION_FILE_SYSTEM,
    STRIA_CONDITION_PRECONDITIONING,
    STRIA_CONDITION_POINTS,
    STRIA_CONDITION_BLOCK,
    STRIA_CONDITION_DEPTH,
    STRIA_CONDITION_ENGINE,
    STRIA_CONDITION_POLICY,
    STRIA_CONDITION_BUFFER,
    STRIA_CONDITION_RATE, /* of the input */
    STRIA_CONDITION_KERNEL,
    STRIA_CONDITION_CPU,
    STRIA_CONDITION_GOVERNOR,
    STRIA_CONDITION_VERSION, /* of what measured */
    STRIA_CONDITIONS
};

struct stria_measurement {
    struct stria_arena arena; /* owns all that is pointed to */
    enum stria_measurement_kind kind;
    const char *source;  /* the file it was read from */
    const char *label;   /* what to call it beside others: the file's name without folder and ending */
    const char *title;   /* what was measured, such as "recording flight, array rig" */
    const char *started; /* as the document has it; null where it does not tell */
    const char *verdict; /* "whole", "with gaps", "partial" …; null where there is none */
    bool partial;        /* was interrupted */
    bool saturated;      /* the drives always had something to do: rates are theirs, not those of the input */
    const char *conditions[STRIA_CONDITIONS]; /* null where not told */

    struct stria_reading readings[STRIA_QUANTITIES]; /* of all drives together, the worst of the rounds */
    struct stria_reading buffer_bytes, capacity_bytes;
    struct stria_reading length_bytes; /* of the stream, with what was dropped */

    struct stria_measured_drive *drives;
    uint32_t drive_count;
    struct stria_round *rounds;
    uint32_t round_count;
    struct stria_point *points;
    uint32_t point_count;
    struct stria_gap_seen *gaps;
    uint32_t gap_count;

    struct {
        bool known;
        uint64_t offset_bytes, before_bytes_per_s, after_bytes_per_s;
    } knee; /* where the rate fell for good */
    struct {
        bool known, attained;
        uint64_t rounds;
    } steady;
    struct stria_reading lossless_predicted; /* from a fill; the measured one is among the readings */
};

/* Reads a result document. STRIA_ERR_FORMAT for one that is damaged, of a schema or version that is not
 * known, or lacks what its schema promises; the sentence names the file, the place and what would be right.
 * *measurement is to be cleared after success, and holds nothing after a failure. */
int stria_measurement_read(const char *path, struct stria_measurement *measurement,
                           struct stria_trouble *trouble);

/* Gives measurements of the same label a number, so that each has its own. */
void stria_measurements_tell_apart(struct stria_measurement *measurements, uint32_t count);

/* "record", "bench", "simulate" or "fio". */
const char *stria_measurement_kind_name(enum stria_measurement_kind kind);

void stria_measurement_clear(struct stria_measurement *measurement);

/* Its name in exports, which ends in its unit: "stored_bytes". */
const char *stria_track_key(enum stria_track_kind kind);

/* A track, or null. */
const struct stria_track *stria_round_track(const struct stria_round *round, enum stria_track_kind kind,
                                            int drive);

/* Bytes stored or read by all drives in each bin, added up into bins[], as many as stria_round_bins() says.
 */
void stria_round_stored(const struct stria_round *round, uint64_t *bins);

/* Bins of its tracks of stored bytes, and their width; zero, with *interval_ns and *last_partial untouched,
 * when there are none. Either may be null. */
uint32_t stria_round_bins(const struct stria_round *round, uint64_t *interval_ns, bool *last_partial);

/* A condition's name for people and for --despite: "firmware". */
const char *stria_condition_name(enum stria_condition condition);

#endif
