/* What can go wrong in the simulated world. */
#ifndef STRIA_TESTS_SIM_FAULT_H
#define STRIA_TESTS_SIM_FAULT_H

#include <stdbool.h>
#include <stdint.h>

enum sim_fault {
    SIM_FAULT_SUBMIT_FULL,   /* the queue takes no request just now */
    SIM_FAULT_WRITE_AGAIN,   /* payload: not carried out, try again */
    SIM_FAULT_WRITE_ERROR,   /* payload: fails once, perhaps with a part written */
    SIM_FAULT_WRITE_SHORT,   /* payload: a part is written, and said so */
    SIM_FAULT_WRITE_NOTHING, /* payload: success, and not one byte written, as of a full file system */
    SIM_FAULT_NO_SPACE,      /* payload: no room */
    SIM_FAULT_META_AGAIN,
    SIM_FAULT_META_ERROR,
    SIM_FAULT_META_SHORT,
    SIM_FAULT_FLUSH_AGAIN,
    SIM_FAULT_FLUSH_ERROR,   /* and what it should have made durable is partly gone */
    SIM_FAULT_STALL,         /* a request takes long, but less than the deadline */
    SIM_FAULT_HANG,          /* a drive answers nothing any more */
    SIM_FAULT_GONE_SUBMIT,   /* a drive disappears: told by submit … */
    SIM_FAULT_GONE_POLL,     /* … by poll … */
    SIM_FAULT_GONE_DONE,     /* … or by completions */
    SIM_FAULT_DEAD_REGION,   /* a range of extents fails for good */
    SIM_FAULT_SLOW_REGION,   /* a range of extents is slow */
    SIM_FAULT_ALWAYS_FAILS,  /* from some moment on every write fails */
    SIM_FAULT_ROT,           /* a bit of a stored extent changes */
    SIM_FAULT_ROT_ENTRY,     /* a bit of a ledger entry changes */
    SIM_FAULT_ROT_CATALOGUE, /* a bit of one drive's catalogue changes */
    SIM_FAULT_MISDIRECTED,   /* a payload write lands on another extent */
    SIM_FAULT_LOST_WRITE,    /* a payload write is said to be done and never lands */
    SIM_FAULT_LYING_FLUSH,   /* a flush is said to be done and makes nothing durable */
    SIM_FAULT_ABSENT,        /* a drive is not there when the array is opened */
    SIM_FAULT_POWER_CUT,
    SIM_FAULT_APART, /* parts of the array are used without each other, and meet again */
    SIM_FAULT_STOP,  /* the process does not run for a while */
    SIM_FAULTS
};

/* The faults of which each scenario picks some; those behind them have chances of their own. */
#define SIM_FAULTS_PICKED ((uint32_t)SIM_FAULT_APART)

/* What a kind of fault can strike. */
enum sim_scope {
    SIM_SCOPE_PAYLOAD, /* writes of payload */
    SIM_SCOPE_META,    /* writes of metadata */
    SIM_SCOPE_FLUSH,
    SIM_SCOPE_REQUEST, /* any request */
    SIM_SCOPE_WORLD    /* not a request */
};

struct sim_fault_kind {
    const char *name;
    enum sim_scope scope;
    bool damages; /* the drive has lied: what it holds may be wrong, which must be noticed, never passed on */
    uint32_t rate; /* how often it strikes when a scenario has it: parts of 65536 of the requests in scope */
};

extern const struct sim_fault_kind sim_faults[SIM_FAULTS];

/* The kind of that name, or SIM_FAULTS. */
enum sim_fault sim_fault_named(const char *name);

#endif
