/* A solid-state drive as seen from outside: when does a request end? Pure and deterministic: every call
 * carries the time, the same parameters, seed and calls give the same answers, in real time and in virtual.
 *
 * What is modelled: the write law of the flash (core/write_law.h), worn and fresh; rates by place; a cap by
 * the link; stalls; the cost of a command; latency under load, which is queueing (Q requests of b bytes at
 * rate v take Q·b / v); reads and writes that slow each other down; rest and trim; heat (core/heat.h).
 *
 * What always holds:
 * - In each direction, the bytes completed within any window of w seconds are at most link · w and one
 *   request more; the same with the rate of the law in force instead of the link's, stalls aside.
 * - Requests of one direction complete in the order in which they were submitted.
 * - Bytes written are conserved: the fill map grows by what was written to places without data.
 * - Time does not go back: a now_ns before the newest one seen is taken as that one. */
#ifndef STRIA_CORE_MODEL_H
#define STRIA_CORE_MODEL_H

#include "core/fill.h"
#include "core/heat.h"
#include "core/random.h"
#include "core/write_law.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_MODEL_ZONES_MAX  32u
#define STRIA_MODEL_STALLS_MAX 4u

/* A cap on a rate by place on the drive; until_bytes is an offset, ascending. The last zone's cap holds to
 * the end of the drive and beyond; without zones there is none. */
struct stria_model_zones {
    unsigned count;
    struct stria_rate_step zones[STRIA_MODEL_ZONES_MAX];
};

/* Garbage collection and the like: now and then writes stand still. The bytes written between two stalls are
 * drawn evenly from half to one and a half times the mean, the length evenly between its bounds. */
struct stria_model_stall {
    uint64_t interval_bytes_mean; /* at least 1 */
    uint64_t length_ns_min;
    uint64_t length_ns_max; /* at least length_ns_min */
};

/* Rates are in bytes per second. Those of the write law and its zones are means over the stalls: between
 * stalls the drive is faster by the share of time that stalls take, so that a measured rate can be put in as
 * it is. */
struct stria_model_parameters {
    uint64_t capacity_bytes;   /* 1 to 2^60 */
    uint64_t link_bytes_per_s; /* cap on everything, in each direction; 1 to STRIA_WRITE_RATE_MAX */

    struct stria_write_law law;
    struct stria_write_law worn; /* takes over from law … */
    uint64_t worn_after_bytes; /* … when this much was written since the drive last was empty; zero: never */
    struct stria_model_zones write_zones;
    uint64_t write_latency_ns; /* from the end of a write's transfer to its completion */

    uint64_t read_bytes_per_s;
    struct stria_model_zones read_zones;
    uint64_t read_latency_ns;

    uint64_t command_ns; /* least time that the drive is taken by one request: the inverse of its IOPS */
    uint64_t flush_ns;   /* what a flush takes when all writes before it have ended */
    uint64_t trim_ns;    /* what a trim takes */

    uint64_t idle_ns;            /* τ: rest that begins after this long without a request */
    uint64_t refill_bytes_per_s; /* how fast rest brings the fast region back; zero: it does not */

    /* How much longer a request takes while the other direction is busy, in thousandths: zero for a drive
     * that reads and writes independently, 1000 for one that shares its time among both. */
    uint64_t interference_per_mille;

    unsigned stall_count;
    struct stria_model_stall stalls[STRIA_MODEL_STALLS_MAX];

    struct stria_heat_parameters heat;
};

/* Everything about one drive that changes: plain 64-bit values, so that it can be stored and taken up
 * again. Times are on the drive's own clock, which stands still while the drive is stored. */
struct stria_model_state {
    uint64_t capacity_bytes; /* of the drive that this is the state of */
    uint64_t clock_ns;       /* newest time seen */
    uint64_t write_end_ns;   /* when the last write ends its transfer */
    uint64_t read_end_ns;
    uint64_t rested_ns;                               /* up to here, rest has been credited */
    uint64_t heat_elapsed_ns;                         /* time not yet in the temperature … */
    uint64_t heat_busy_ns;                            /* … and how much of it was work */
    uint64_t worn_bytes;                              /* written since the drive last was empty */
    uint64_t written_bytes;                           /* ever */
    uint64_t read_bytes;                              /* ever */
    uint64_t stall_count;                             /* ever */
    uint64_t stall_ns;                                /* ever */
    uint64_t throttled_ns;                            /* spent at less than full speed for heat, ever */
    uint64_t stall_due_bytes[STRIA_MODEL_STALLS_MAX]; /* to be written until the next stall */
    struct stria_random random;
    struct stria_heat heat;
    struct stria_write_law_state law;
    struct stria_fill fill;
};

struct stria_model {
    struct stria_model_parameters parameters;
    struct stria_model_state state;
    uint64_t skew_ns; /* the drive's own clock minus the caller's, modulo 2^64 */
};

enum stria_model_op { STRIA_MODEL_READ, STRIA_MODEL_WRITE, STRIA_MODEL_FLUSH };

/* What can be wrong with parameters; index says which step, zone or stall. */
enum stria_model_rule {
    STRIA_MODEL_RULE_CAPACITY,       /* capacity_bytes out of range */
    STRIA_MODEL_RULE_LINK,           /* link_bytes_per_s out of range */
    STRIA_MODEL_RULE_LAW_EMPTY,      /* a table without steps */
    STRIA_MODEL_RULE_LAW_ORDER,      /* steps not ascending */
    STRIA_MODEL_RULE_LAW_RATE,       /* a table's rate is zero */
    STRIA_MODEL_RULE_LAW_ABOVE_LINK, /* a table's rate, stalls made up for, is above the link's */
    STRIA_MODEL_RULE_SLC_RATE,       /* zero, or above the link as above */
    STRIA_MODEL_RULE_DIRECT_RATE,    /* above the link */
    STRIA_MODEL_RULE_FOLD_RATE,      /* zero, or above the link */
    STRIA_MODEL_RULE_GO_RATE,        /* zero, or above the link */
    STRIA_MODEL_RULE_GO_BYTES,       /* go without stop */
    STRIA_MODEL_RULE_CELLS,          /* bits_per_cell or a share out of range */
    STRIA_MODEL_RULE_CACHE_SIZE,     /* a static cache above the capacity */
    STRIA_MODEL_RULE_WRITE_ZONE,     /* zones not ascending, or a rate zero or above the link */
    STRIA_MODEL_RULE_READ_ZONE,      /* the same */
    STRIA_MODEL_RULE_READ_RATE,      /* zero, or above the link */
    STRIA_MODEL_RULE_REFILL,         /* refill_bytes_per_s above the link */
    STRIA_MODEL_RULE_INTERFERENCE,   /* above 1000 */
    STRIA_MODEL_RULE_STALL,          /* an interval of zero, or lengths out of order or too long */
    STRIA_MODEL_RULE_HEAT,           /* powers, limits or rates in the wrong order, or out of range */
    STRIA_MODEL_RULE_TIME            /* a time of more than STRIA_MODEL_TIME_NS_MAX */
};

#define STRIA_MODEL_TIME_NS_MAX 86400000000000u /* one day: bound of every time in the parameters */

struct stria_model_fault {
    enum stria_model_rule rule;
    unsigned index;
    bool worn; /* for the rules of a law: in the worn one */
};

/* Every rule that the parameters break, at most max of them written to faults; returns how many there are.
 * Zero: stria_model_init may be called. */
unsigned stria_model_check(const struct stria_model_parameters *parameters, struct stria_model_fault *faults,
                           unsigned max);

/* The rate between stalls of a drive that writes at this mean; zero if its stalls leave no time to. */
uint64_t stria_model_gross_bytes_per_s(const struct stria_model_parameters *parameters, uint64_t bytes_per_s);

/* A drive that is empty, cool and rested. The parameters are copied and must pass stria_model_check. */
void stria_model_init(struct stria_model *model, const struct stria_model_parameters *parameters,
                      uint64_t seed);

/* A request arrives now; returns when it completes, at or after now. A read or write has bytes > 0; a flush
 * has neither offset nor bytes and completes when every write before it has. Places beyond the capacity
 * behave as the last places of a drive that is full there. */
uint64_t stria_model_submit(struct stria_model *model, uint64_t now_ns, enum stria_model_op op,
                            uint64_t offset, uint64_t bytes);

/* A trim arrives now; returns when it completes. The space is given back at once. */
uint64_t stria_model_trim(struct stria_model *model, uint64_t now_ns, uint64_t offset, uint64_t bytes);

/* Lets time pass without a request. Called by all of the above; call it before a query below, and at the
 * end of a run. Calling it more often changes nothing beyond rounding. */
void stria_model_advance(struct stria_model *model, uint64_t now_ns);

/* The drive rests for ns more than the caller's clock shows: its requests end, then it stands idle. All rests
 * together may have 2^62 ns, 146 years; there is no more behind them. */
void stria_model_rest(struct stria_model *model, uint64_t ns);

/* As of the last advance: temperature in thousandths of °C; share of full speed that heat leaves, in
 * thousandths; bytes that hold data; the mean rate that the next byte written at offset gets. */
int64_t stria_model_temperature_mc(const struct stria_model *model);
uint64_t stria_model_heat_rate_per_mille(const struct stria_model *model);
uint64_t stria_model_used_bytes(const struct stria_model *model);
uint64_t stria_model_write_bytes_per_s(const struct stria_model *model, uint64_t offset);

/* When the last request submitted ends its transfer: at or before now_ns if the drive is idle. */
uint64_t stria_model_busy_until_ns(const struct stria_model *model);

/* The state to store, after an advance; and a model that goes on from one. A state is refused, with the
 * model untouched, if it is that of another capacity or contradicts itself (a damaged file). */
void stria_model_save(const struct stria_model *model, struct stria_model_state *state);
bool stria_model_load(struct stria_model *model, const struct stria_model_state *state, uint64_t now_ns);

#endif
