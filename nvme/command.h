/* Commands and completions as they lie in the queues, and the commands that the driver issues, built whole.
 * Section and figure numbers are not given: each name is the specification's. */
#ifndef STRIA_NVME_COMMAND_H
#define STRIA_NVME_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

/* A submission queue entry. */
struct stria_nvme_command {
    uint8_t opcode;
    uint8_t flags; /* neither fused nor SGL: zero */
    uint16_t id;
    uint32_t namespace_id;
    uint32_t dword2, dword3;
    uint64_t metadata;
    uint64_t prp1, prp2;
    uint32_t dword10, dword11, dword12, dword13, dword14, dword15;
};
_Static_assert(sizeof(struct stria_nvme_command) == 64, "a submission queue entry has 64 bytes");

/* A completion queue entry. */
struct stria_nvme_completion {
    uint32_t result;        /* dword 0, by command */
    uint32_t dword1;        /* reserved */
    uint32_t sq;            /* SQHD in bits 0 to 15, SQID above */
    uint32_t id_and_status; /* command id in bits 0 to 15, the phase in bit 16, the status above */
};
_Static_assert(sizeof(struct stria_nvme_completion) == 16, "a completion queue entry has 16 bytes");

#define STRIA_NVME_PHASE (1u << 16)

/* Status as the driver keeps it: bits 17 to 31 of id_and_status, shifted down. */
#define STRIA_NVME_STATUS_CODE(status) ((status)&0xff)
#define STRIA_NVME_STATUS_TYPE(status) ((status) >> 8 & 7)
#define STRIA_NVME_STATUS_DNR          (1u << 14) /* do not retry */

#define STRIA_NVME_TYPE_PATH 3u /* the way to the drive, not the drive */

/* Status type and code together. */
enum stria_nvme_status {
    STRIA_NVME_SUCCESS = 0x000,
    STRIA_NVME_INVALID_OPCODE = 0x001,
    STRIA_NVME_INVALID_FIELD = 0x002,
    STRIA_NVME_ID_CONFLICT = 0x003,
    STRIA_NVME_TRANSFER_ERROR = 0x004,
    STRIA_NVME_ABORTED_POWER_LOSS = 0x005,
    STRIA_NVME_INTERNAL_ERROR = 0x006,
    STRIA_NVME_ABORT_REQUESTED = 0x007,
    STRIA_NVME_SQ_DELETED = 0x008,
    STRIA_NVME_INVALID_NAMESPACE = 0x00b,
    STRIA_NVME_SANITIZE_IN_PROGRESS = 0x01d,
    STRIA_NVME_NAMESPACE_WRITE_PROTECTED = 0x020,
    STRIA_NVME_COMMAND_INTERRUPTED = 0x021,
    STRIA_NVME_TRANSIENT_TRANSPORT = 0x022,
    STRIA_NVME_LBA_OUT_OF_RANGE = 0x080,
    STRIA_NVME_CAPACITY_EXCEEDED = 0x081,
    STRIA_NVME_NAMESPACE_NOT_READY = 0x082,
    STRIA_NVME_WRITE_FAULT = 0x280,
    STRIA_NVME_UNRECOVERED_READ = 0x281
};

/* Admin commands. A page is one memory page of the driver's, by bus address. */
enum stria_nvme_identify {
    STRIA_NVME_IDENTIFY_NAMESPACE,
    STRIA_NVME_IDENTIFY_CONTROLLER,
    STRIA_NVME_IDENTIFY_LIST
};
struct stria_nvme_command stria_nvme_identify(enum stria_nvme_identify what, uint32_t namespace_id,
                                              uint64_t page);

/* Asks for one I/O queue pair. */
struct stria_nvme_command stria_nvme_set_queue_count(void);

/* Polled: the completion queue raises no interrupt. entries is the true number, not zero-based. */
struct stria_nvme_command stria_nvme_create_cq(uint16_t queue, uint32_t entries, uint64_t page);
struct stria_nvme_command stria_nvme_create_sq(uint16_t queue, uint32_t entries, uint64_t page);
struct stria_nvme_command stria_nvme_delete_cq(uint16_t queue);
struct stria_nvme_command stria_nvme_delete_sq(uint16_t queue);
struct stria_nvme_command stria_nvme_abort(uint16_t queue, uint16_t id);
struct stria_nvme_command stria_nvme_smart_log(uint64_t page);

/* NVM commands. block_count is the true number: 1 to 65536, for deallocate up to 2^32 − 1. The PRP fields of
 * read and write are the caller's to fill in. */
struct stria_nvme_command stria_nvme_read(uint32_t namespace_id, uint64_t block, uint32_t block_count);
struct stria_nvme_command stria_nvme_write(uint32_t namespace_id, uint64_t block, uint32_t block_count,
                                           bool force_unit_access);
struct stria_nvme_command stria_nvme_flush(uint32_t namespace_id);

/* range lies at bus address page and says what is deallocated. */
struct stria_nvme_range {
    uint32_t attributes; /* zero: no hints */
    uint32_t block_count;
    uint64_t block;
};
_Static_assert(sizeof(struct stria_nvme_range) == 16, "a range of Dataset Management has 16 bytes");
struct stria_nvme_command stria_nvme_deallocate(uint32_t namespace_id, uint64_t page);

/* STRIA_OK or the negative code that a status comes to. *again: worth the same command once more. */
int stria_nvme_status_code(uint32_t status, bool *again);

#endif
