/* The machine beside its drives: kernel, processors, memory, limits. Read through root, as in
 * survey/drive.h. */
#ifndef STRIA_SURVEY_HOST_H
#define STRIA_SURVEY_HOST_H

#include "survey/cpus.h"
#include "survey/drive.h"

#define STRIA_SURVEY_NODES_MAX 64u

/* Of a process's capabilities, those that lift limits. */
#define STRIA_SURVEY_CAP_IPC_LOCK  14u
#define STRIA_SURVEY_CAP_SYS_ADMIN 21u

/* A large struct: allocate it. Texts are empty where unknown. */
struct stria_survey_host {
    char kernel[STRIA_SURVEY_TEXT_BYTES];         /* "6.1.0-28-amd64" */
    struct stria_survey_figure kernel_version;    /* major × 1000 + minor: 6001 */
    struct stria_survey_figure io_uring_disabled; /* 0: allowed, 1: to privileged processes, 2: not at all */
    struct stria_survey_figure capabilities;      /* effective ones, as bits */
    struct stria_survey_figure cpus;              /* that run */
    char allowed_cpus[STRIA_SURVEY_TEXT_BYTES];   /* on which this process may run, cut if longer */
    struct stria_cpus online, allowed;            /* allowed: of those online */
    struct stria_survey_figure nodes;             /* NUMA nodes with processors */
    bool node_known[STRIA_SURVEY_NODES_MAX];      /* the next two, by the node's number */
    struct stria_cpus node_cpus[STRIA_SURVEY_NODES_MAX];
    uint32_t distances[STRIA_SURVEY_NODES_MAX][STRIA_SURVEY_NODES_MAX]; /* 10: itself; 0: unknown */

    char governor[STRIA_SURVEY_NODE_BYTES];     /* of the first allowed processor without "performance" */
    char driver[STRIA_SURVEY_NODE_BYTES];       /* of frequencies, of the same */
    struct stria_survey_figure slow_cpus;       /* allowed ones whose governor is not "performance" */
    struct stria_survey_figure idle_latency_us; /* of the deepest idle state that is on */
    char idle_name[STRIA_SURVEY_NODE_BYTES];

    struct stria_survey_figure memory_bytes, memory_available_bytes;
    struct stria_survey_figure huge_page_bytes, huge_pages_free;
    char transparent_huge_pages[STRIA_SURVEY_NODE_BYTES]; /* "always", "madvise", "never" */
    struct stria_survey_figure memlock_bytes;             /* INT64_MAX: unlimited */
};

/* What cannot be found out is flagged as unknown. */
void stria_survey_read_host(const char *root, struct stria_survey_host *host);

/* True if the process has this capability; false also if that is unknown. */
bool stria_survey_capable(const struct stria_survey_host *host, unsigned capability);

/* Who serves the interrupts of an NVMe drive's queues. */
struct stria_survey_interrupts {
    unsigned queues;        /* for data; 0: unknown */
    struct stria_cpus cpus; /* that serve them */
};

void stria_survey_read_interrupts(const char *root, const struct stria_survey_drive *drive,
                                  struct stria_survey_interrupts *interrupts);

#endif
