/* Reads fault scripts; the language is told in fault.h. */
#ifndef STRIA_BACKENDS_FAULT_SCRIPT_H
#define STRIA_BACKENDS_FAULT_SCRIPT_H

#include "backends/fault.h"
#include "core/random.h"

enum fault_kind {
    FAULT_NONE,
    FAULT_FAIL, /* eio, again, nospace: ends with code */
    FAULT_GONE,
    FAULT_SHORT,
    FAULT_TORN,
    FAULT_IGNORED,
    FAULT_MISDIRECT,
    FAULT_STALL,
    FAULT_LOST
};

struct fault_rule {
    unsigned ops;   /* bit n: about enum stria_io_op n */
    uint64_t first; /* strikes the first to last of those it is about */
    uint64_t last;
    uint64_t begin; /* bytes of the drive */
    uint64_t end;
    uint64_t after_ns;
    uint64_t every;  /* 1: all */
    uint64_t chance; /* out of chance_of; both 1: always */
    uint64_t chance_of;
    uint64_t times;
    enum fault_kind kind;
    int code;        /* of FAULT_FAIL */
    uint64_t amount; /* bytes, or nanoseconds of FAULT_STALL */

    uint64_t seen; /* requests it was about, so far */
    uint64_t struck;
};

struct fault_script {
    unsigned rule_count;
    struct fault_rule rules[STRIA_FAULT_RULES_MAX];
};

/* STRIA_ERR_INVALID with a sentence that quotes the rule and tells what is allowed. */
int fault_script_parse(const char *text, struct fault_script *script, struct stria_trouble *trouble);

/* The rule that strikes this request, or null. Counts the request. age_ns: since the drive was opened. */
const struct fault_rule *fault_script_strike(struct fault_script *script, const struct stria_io *io,
                                             uint64_t age_ns, struct stria_random *random);

#endif
