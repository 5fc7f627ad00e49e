/* One NVMe controller with one I/O queue pair: started, used by polling, recovered and stopped.
 *
 * Nothing here waits. Whatever takes time is a state that stria_nvme_controller_poll() steps, so that one
 * loop can serve several controllers of which one is ill. Commands are as large as one command may be;
 * nvme/drive.h takes requests of any length. */
#ifndef STRIA_NVME_CONTROLLER_H
#define STRIA_NVME_CONTROLLER_H

#include "core/code.h"
#include "nvme/identity.h"
#include "nvme/platform.h"
#include "nvme/queue.h"

#include <stdbool.h>
#include <stdint.h>

#define STRIA_NVME_DEPTH_MAX      255u /* commands in flight */
#define STRIA_NVME_PAGE_BYTES_MAX (64u << 10)
#define STRIA_NVME_COMMAND_NS     8000000000ull
#define STRIA_NVME_STOP_NS        5000000000ull
#define STRIA_NVME_TRIES_MAX      3u /* of one command */
#define STRIA_NVME_RESETS_MAX     2u /* in a row, without a command that succeeded in between */
#define STRIA_NVME_CHECK_NS       10000000ull

/* Memory shared with the controller, for one controller whose pages are 4 KiB (CAP.MPSMIN of zero, as with
 * all common ones): for static buffers. stria_nvme_dma_bytes() has it for any. */
#define STRIA_NVME_DMA_BYTES(depth)                                                                          \
    ((3u + ((depth) + 64u) / 64u + ((depth) + 256u) / 256u + (depth)) * (uint64_t)4096u)

struct stria_nvme_config {
    uint32_t namespace_id; /* zero: the first active one */
    uint32_t depth;        /* commands in flight, 1 to STRIA_NVME_DEPTH_MAX; fewer where the controller's
                              queues are smaller */
    uint64_t command_ns;   /* how long a command may take before it is aborted, and then again before the
                              controller is reset; zero: STRIA_NVME_COMMAND_NS */
    uint64_t stop_ns;      /* how long stopping may take, shutdown and all; zero: STRIA_NVME_STOP_NS */
    /* Memory that CPU and controller share for as long as the controller is used; zeroed or not, but aligned
     * to its pages, and every page contiguous on the bus, as each queue must be. At least
     * stria_nvme_dma_bytes() of it. */
    void *dma;
    uint64_t dma_bytes;
};

enum stria_nvme_state {
    STRIA_NVME_DISABLING,  /* waits for CSTS.RDY to fall: at the start, and to recover */
    STRIA_NVME_ENABLING,   /* waits for it to rise */
    STRIA_NVME_SETTING_UP, /* identifies, makes the queues */
    STRIA_NVME_READY,
    STRIA_NVME_DELETING, /* takes the queues away, to stop */
    STRIA_NVME_SHUTTING_DOWN,
    STRIA_NVME_STOPPED,
    STRIA_NVME_FAILED /* for good; why is in trouble and code */
};

/* Why a controller failed. */
enum stria_nvme_trouble {
    STRIA_NVME_WELL,
    STRIA_NVME_GONE,          /* its registers read as all ones */
    STRIA_NVME_NEVER_READY,   /* CSTS.RDY did not follow CC.EN within CAP.TO */
    STRIA_NVME_SILENT,        /* commands stay unanswered, resets notwithstanding */
    STRIA_NVME_FATAL,         /* CSTS.CFS comes again after every reset */
    STRIA_NVME_ADMIN_REFUSED, /* a command of the set-up failed; status says how */
    STRIA_NVME_PAGES,         /* its smallest memory page is too large, or it has no NVM command set */
    STRIA_NVME_NO_NAMESPACE,  /* no such namespace, or none at all */
    STRIA_NVME_BLOCKS,        /* blocks of a size that is not 512 to 4096, or with metadata */
    STRIA_NVME_OTHER_DRIVE,   /* after a reset, another drive answers in its place */
    STRIA_NVME_MEMORY         /* config.dma is too small, misaligned or cannot be reached */
};

/* One command in flight: one of these, and one page for its PRP list, for each entry of the queue. */
struct stria_nvme_slot {
    struct stria_nvme_command command; /* kept, to be issued again */
    uint64_t *list;                    /* its page in memory shared with the controller */
    void *data;                        /* null if it carries none */
    uint64_t bytes;
    uint64_t tag;
    uint64_t order;     /* of submission */
    uint64_t issued_ns; /* when it was last handed to the controller */
    int code;           /* its outcome, when finished */
    uint8_t turn;       /* part of the command id: tells a late completion from the one expected */
    uint8_t tries;
    bool reads;       /* the controller writes to data */
    bool abort_asked; /* since it was issued */
    enum stria_nvme_slot_state {
        STRIA_NVME_SLOT_FREE,
        STRIA_NVME_SLOT_WAITING, /* to be issued as soon as there is a queue */
        STRIA_NVME_SLOT_ISSUED,
        STRIA_NVME_SLOT_FINISHED /* to be reported */
    } state;
};

/* All of it is the driver's; readable are config, state, trouble, code, status, identity, page_bytes,
 * transfer_bytes_max, depth and the counts. */
struct stria_nvme_controller {
    const struct stria_nvme_platform *platform;
    struct stria_nvme_config config;
    enum stria_nvme_state state;
    enum stria_nvme_trouble trouble;
    int code;        /* what trouble comes to; STRIA_OK while all is well */
    uint32_t status; /* of the admin command that was refused */

    uint64_t cap;
    struct stria_nvme_identity identity; /* valid since it was ready once */
    bool identified;
    uint32_t page_bytes;
    uint64_t transfer_bytes_max; /* of one command: by MDTS, one list page and 65536 blocks */
    uint32_t depth;              /* commands in flight at most */

    uint64_t resets;  /* of a controller that did not go on by itself */
    uint64_t aborts;  /* asked for */
    uint64_t retries; /* commands issued again */
    uint64_t strays;  /* completions that nothing waited for: late, twice, or with a wrong id */

    struct stria_nvme_queue admin, io;
    uint8_t *page; /* one page for data of admin commands, at page_address on the bus */
    uint64_t page_address;
    struct {
        bool busy;
        uint16_t id;
        uint64_t issued_ns;
    } asked;             /* the one admin command in flight */
    uint32_t step;       /* of setting up and of deleting */
    uint32_t abort_slot; /* what the abort in flight is for; STRIA_NVME_DEPTH_MAX: none is */
    uint16_t abort_id;
    struct stria_nvme_health *health; /* where the SMART log in flight goes; null: none is */
    int health_code;
    uint64_t deadline_ns;                    /* of disabling and enabling */
    uint64_t stop_by_ns;                     /* end of stopping, whatever happens; zero while nobody stops */
    uint64_t check_ns;                       /* when to look at CSTS and at the age of commands again */
    uint32_t resets_in_a_row;                /* without a command that succeeded in between */
    uint64_t order;                          /* of the newest command */
    uint32_t waiting_count;                  /* slots to be issued */
    uint32_t free_count;                     /* the first so many of free */
    uint32_t finished_first, finished_count; /* in finished, which is a ring */
    uint8_t free[STRIA_NVME_DEPTH_MAX];
    uint8_t finished[STRIA_NVME_DEPTH_MAX];
    struct stria_nvme_slot slots[STRIA_NVME_DEPTH_MAX];
};

enum stria_nvme_op { STRIA_NVME_READ, STRIA_NVME_WRITE, STRIA_NVME_FLUSH, STRIA_NVME_TRIM };

/* One command's worth. */
struct stria_nvme_io {
    enum stria_nvme_op op;
    bool durable; /* a write on the medium before it completes (FUA) */
    uint64_t block;
    uint64_t block_count; /* at most transfer_bytes_max; for a trim at most 2^32 − 1; zero for a flush */
    void *data;           /* aligned to 4, in place until completed; null for flush and trim */
    uint64_t tag;
};

struct stria_nvme_answer {
    uint64_t tag;
    int code;
};

/* The memory that config.dma must have for this controller, which is asked for its page size, and its
 * alignment. STRIA_ERR_GONE or STRIA_ERR_UNSUPPORTED when it has no use for any. */
int stria_nvme_dma_bytes(const struct stria_nvme_platform *platform, uint32_t depth, uint64_t *bytes,
                         uint32_t *align_bytes);

/* Begins to start a controller, in whatever state it is: first of all it is disabled. The struct need not be
 * initialised. Poll until it is ready, or see stria_nvme_controller_settle(). */
void stria_nvme_controller_start(struct stria_nvme_controller *controller,
                                 const struct stria_nvme_platform *platform,
                                 const struct stria_nvme_config *config);

/* Accepts a command; it is issued with the next ring. Also while the controller recovers: then later.
 * STRIA_ERR_FULL when depth are in flight; STRIA_ERR_INVALID for memory that the controller cannot reach;
 * the controller's code when it failed or stops. */
int stria_nvme_controller_submit(struct stria_nvme_controller *controller, const struct stria_nvme_io *io);

/* Has the controller fetch what was submitted. */
void stria_nvme_controller_ring(struct stria_nvme_controller *controller);

/* Steps the controller and moves up to max answers out. Returns how many, or the controller's code when it
 * failed: what is in flight is lost then. max may be zero: only step. */
int stria_nvme_controller_poll(struct stria_nvme_controller *controller, struct stria_nvme_answer *answers,
                               uint32_t max);

/* Begins to stop in order: the queues are deleted and the controller is told to shut down. Commands in flight
 * are given up. When it has stopped, it touches memory no more. */
void stria_nvme_controller_stop(struct stria_nvme_controller *controller);

/* Polls, with the platform's pauses, until the controller is ready, stopped or failed. Returns its code. */
int stria_nvme_controller_settle(struct stria_nvme_controller *controller);

/* Reads the SMART log, waiting for it; answers of commands in flight are kept. Requires a ready controller.
 */
int stria_nvme_controller_health(struct stria_nvme_controller *controller, struct stria_nvme_health *health);

/* A phrase for a trouble, to stand behind the drive's name: "does not answer: its registers read as all
 * ones". */
const char *stria_nvme_trouble_text(enum stria_nvme_trouble trouble);

#endif
