/* An NVMe controller in software, strict about what a driver may do: registers, queues, the memory that both
 * share, and a namespace behind a volatile write cache. What real and emulated controllers let pass is a
 * violation here, and it misbehaves on demand. Time is virtual; everything follows from the seed. */
#ifndef STRIA_TESTS_NVME_MODEL_H
#define STRIA_TESTS_NVME_MODEL_H

#include "nvme/command.h"
#include "nvme/platform.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_RANGES_MAX   96u
#define MODEL_COMMANDS_MAX 512u
#define MODEL_LINE_BYTES   64u
#define MODEL_NEVER        UINT64_MAX

/* What CPU and controller see of each other's stores. */
enum model_memory {
    MODEL_ORDERED, /* everything at once, as on x86 */
    MODEL_WEAK,    /* coherent, but in no order beyond the barriers */
    MODEL_CACHED   /* the controller does not see the cache: clean and invalidate, and barriers */
};

/* How often something goes wrong, of a thousand commands. */
struct model_faults {
    uint32_t lost;      /* carried out, and no completion */
    uint32_t hung;      /* never carried out */
    uint32_t late;      /* after up to three times the driver's patience */
    uint32_t twice;     /* two completions */
    uint32_t stray;     /* a completion that belongs to nothing, beside the right one */
    uint32_t transient; /* fails, and the next try will do */
    uint32_t media;     /* fails for good */
    uint32_t fatal;     /* the controller reports CSTS.CFS and stops */
};

struct model_options {
    uint32_t stride;      /* DSTRD */
    uint32_t page_min;    /* MPSMIN */
    uint32_t entries_max; /* MQES as a true number */
    uint32_t ready_units; /* CAP.TO */
    uint64_t ready_ns;    /* what it really takes, to start and to stop */
    uint8_t mdts;
    uint32_t block_bytes;
    uint64_t block_count;
    uint32_t namespace_id; /* of the only one */
    bool no_list;          /* does not know the list of active namespaces */
    bool write_through;    /* no volatile cache */
    bool keeps;            /* does not deallocate */
    bool never_aborts;
    bool scattered;       /* no two pages of mapped memory lie one behind the other on the bus */
    uint64_t latency_ns;  /* of a command, at most */
    uint64_t patience_ns; /* the driver's, for late commands */
    enum model_memory memory;
    struct model_faults faults;
    uint64_t seed;
};

/* A queue pair as the controller has it. */
struct model_queue {
    bool sq_there, cq_there;
    uint64_t sq_address, cq_address;
    uint32_t sq_entries, cq_entries;
    uint32_t sq_head, sq_tail, cq_head, cq_tail;
    uint32_t phase;
};

/* A piece of memory that the controller may use. */
struct model_range {
    uint8_t *cpu;  /* what the driver has: its cache */
    uint8_t *bus;  /* what the controller has: the memory */
    uint8_t *seen; /* cpu as it was when both agreed: what differs from it is dirty */
    uint64_t bytes, address;
    bool control; /* the driver's own: queues and lists */
};

/* A command that was fetched. */
struct model_command {
    struct stria_nvme_command entry;
    uint32_t queue;
    uint64_t due_ns; /* MODEL_NEVER: hung */
    bool done;       /* carried out, its completion waits for room */
    uint32_t status;
    uint32_t result;
    bool lost, twice, stray, media, transient;
};

/* A store of the controller that the CPU sees only after its next read barrier. */
struct model_late_store {
    struct model_range *range;
    uint64_t at, bytes;
};

struct model {
    struct model_options options;
    struct stria_nvme_platform platform;
    char violation[256]; /* the first thing that the driver must not do; empty while there is none */

    uint64_t now_ns;
    uint64_t random;
    uint32_t configuration, status, queue_sizes;
    uint64_t asq, acq;
    uint64_t change_ns;   /* when CSTS.RDY follows CC.EN */
    uint64_t shutdown_ns; /* when the shutdown completes; MODEL_NEVER: none under way */
    bool gone;            /* from now on all ones */
    bool orderly;         /* it was shut down, with its queues deleted before */

    struct model_queue queues[2];
    struct model_command commands[MODEL_COMMANDS_MAX];
    uint32_t command_count;

    struct model_range ranges[MODEL_RANGES_MAX];
    uint32_t range_count;
    uint64_t next_address;
    struct model_late_store late[MODEL_COMMANDS_MAX * 2];
    uint32_t late_count;
    struct {
        struct model_range *range;
        uint64_t at, bytes;
    } cleaned[1024]; /* waits for the write barrier */
    uint32_t cleaned_count;

    uint8_t *cache, *medium; /* what is read back, and what survives a power cut */
    uint64_t reads, writes, flushes, trims, aborts, enables;
    uint64_t transfer_bytes; /* of the largest read or write */
};

/* Sensible, well behaved: to change fields of. */
struct model_options model_defaults(void);

/* Fails the test where there is no memory. */
void model_open(struct model *model, const struct model_options *options);
void model_close(struct model *model);

/* Lets the controller use this memory, which begins on a page; control: for the driver's own. */
void model_map(struct model *model, void *memory, uint64_t bytes, bool control);
void model_unmap(struct model *model, void *memory);

/* Lets time pass. */
void model_advance(struct model *model, uint64_t ns);

/* Carries out what is due. */
void model_step(struct model *model);

/* The power fails and comes back: what was not flushed is lost, block by block at random. */
void model_power_cut(struct model *model);

/* Between 0 and below − 1. */
uint64_t model_draw(struct model *model, uint64_t below);
bool model_chance(struct model *model, uint32_t per_mille);

/* Notes the first violation. */
void model_violate(struct model *model, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* model_memory.c: the controller's view of memory. False, and a violation, where it must not go. */
bool model_fetch(struct model *model, uint64_t address, void *out, uint64_t bytes);
bool model_store(struct model *model, uint64_t address, const void *in, uint64_t bytes);
void model_store_completion(struct model *model, uint64_t address, const struct stria_nvme_completion *entry);
void model_memory_platform(struct model *model);
void model_evict(struct model *model);
void model_show_stores(struct model *model); /* all that the CPU has not seen yet */

/* model_commands.c: carries out one command: its status and result, and the data. */
void model_execute(struct model *model, struct model_command *command);

/* All of the data of a read or write by its PRP fields, to or from block memory. A status. */
uint32_t model_transfer(struct model *model, const struct stria_nvme_command *command, uint8_t *blocks,
                        uint64_t bytes, bool to_memory);

uint32_t model_page_bytes(const struct model *model);

#endif
