/* Why drives, alone or as an array on this machine, will not be as fast or as safe as they could be. Each
 * check is one small function in one table; what it finds has its evidence and its remedy. */
#ifndef STRIA_SURVEY_DOCTOR_H
#define STRIA_SURVEY_DOCTOR_H

#include "survey/drive.h"
#include "survey/host.h"
#include "survey/writers.h"

#define STRIA_FINDINGS_MAX 256u

enum stria_severity {
    STRIA_SEVERITY_NOTE,    /* costs little, or only at times */
    STRIA_SEVERITY_WARNING, /* costs rate, or will soon */
    STRIA_SEVERITY_SERIOUS  /* costs much of the rate, or the recording itself */
};

/* The share of the rate of what it is about that a finding costs. */
enum stria_cost_basis {
    STRIA_COST_COMPUTED, /* from what was seen */
    STRIA_COST_RULE      /* a rule of thumb for findings of this kind: up to so much */
};

struct stria_finding {
    const char *check; /* the name of the check */
    enum stria_severity severity;
    unsigned cost_percent; /* 0 to 100; 0: no rate, but safety */
    enum stria_cost_basis basis;
    char subject[256]; /* the drives' paths, or "this machine" */
    char evidence[512];
    char remedy[512];
};

/* All zero is an empty list. */
struct stria_findings {
    uint32_t count;
    uint32_t more; /* those that found no room */
    struct stria_finding list[STRIA_FINDINGS_MAX];
};

/* What is examined. */
struct stria_patient {
    const char *root;
    const struct stria_survey_host *host;
    const struct stria_survey_drive *const *drives;
    uint32_t drive_count;
    const struct stria_trouble *troubles; /* of each drive, why it could not be surveyed; null: all could */
    const struct stria_writers *writers;  /* ended; null: nobody looked */
    /* Of array.ini, or what it is without one. */
    uint64_t buffer_bytes;
    uint32_t depth;
    const uint64_t *wanted_bytes; /* of each drive, the size of a file that init will make; 0: none */
};

struct stria_check {
    const char *name;  /* "link" */
    const char *about; /* what it looks at, for help and documentation */
    /* One of the two. False when what it looks at is unknown or not there, so that nothing can be said. */
    bool (*of_drive)(const struct stria_patient *patient, uint32_t drive, struct stria_findings *findings);
    bool (*of_all)(const struct stria_patient *patient, struct stria_findings *findings);
};

/* Ends with a check without a name. */
extern const struct stria_check stria_checks[];

/* Whether each check of the table could say something, by its index, at least of one drive. */
#define STRIA_CHECKS_MAX 64u

/* Runs all checks, and sorts what they found: the most expensive first, and of equal ones the most severe. */
void stria_doctor_examine(const struct stria_patient *patient, struct stria_findings *findings,
                          bool judged[STRIA_CHECKS_MAX]);

/* The most severe of all findings; a note if there is none. */
enum stria_severity stria_doctor_worst(const struct stria_findings *findings);

/* "note", "warning", "serious". */
const char *stria_severity_text(enum stria_severity severity);

#endif
