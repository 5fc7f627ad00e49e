#include "nvme/command.h"

#include "core/code.h"

enum admin_opcode {
    DELETE_SQ = 0x00,
    CREATE_SQ = 0x01,
    GET_LOG_PAGE = 0x02,
    DELETE_CQ = 0x04,
    CREATE_CQ = 0x05,
    IDENTIFY = 0x06,
    ABORT = 0x08,
    SET_FEATURES = 0x09
};

enum nvm_opcode { FLUSH = 0x00, WRITE = 0x01, READ = 0x02, DATASET_MANAGEMENT = 0x09 };

#define FEATURE_QUEUE_COUNT   0x07u
#define LOG_SMART             0x02u
#define LOG_SMART_BYTES       512u
#define ALL_NAMESPACES        0xffffffffu
#define PHYSICALLY_CONTIGUOUS 1u
#define FORCE_UNIT_ACCESS     (1u << 30)
#define ATTRIBUTE_DEALLOCATE  (1u << 2)

struct stria_nvme_command stria_nvme_identify(enum stria_nvme_identify what, uint32_t namespace_id,
                                              uint64_t page)
{
    return (struct stria_nvme_command){
        .opcode = IDENTIFY, .namespace_id = namespace_id, .prp1 = page, .dword10 = (uint32_t)what, /* CNS */
    };
}

/* Numbers in commands are zero-based: zero asks for one queue of either kind. */
struct stria_nvme_command stria_nvme_set_queue_count(void)
{
    return (struct stria_nvme_command){.opcode = SET_FEATURES, .dword10 = FEATURE_QUEUE_COUNT, .dword11 = 0};
}

struct stria_nvme_command stria_nvme_create_cq(uint16_t queue, uint32_t entries, uint64_t page)
{
    return (struct stria_nvme_command){
        .opcode = CREATE_CQ,
        .prp1 = page,
        .dword10 = (entries - 1) << 16 | queue,
        .dword11 = PHYSICALLY_CONTIGUOUS,
    };
}

struct stria_nvme_command stria_nvme_create_sq(uint16_t queue, uint32_t entries, uint64_t page)
{
    return (struct stria_nvme_command){
        .opcode = CREATE_SQ,
        .prp1 = page,
        .dword10 = (entries - 1) << 16 | queue,
        .dword11 = (uint32_t)queue << 16 | PHYSICALLY_CONTIGUOUS, /* answers in the CQ of the same number */
    };
}

struct stria_nvme_command stria_nvme_delete_cq(uint16_t queue)
{
    return (struct stria_nvme_command){.opcode = DELETE_CQ, .dword10 = queue};
}

struct stria_nvme_command stria_nvme_delete_sq(uint16_t queue)
{
    return (struct stria_nvme_command){.opcode = DELETE_SQ, .dword10 = queue};
}

struct stria_nvme_command stria_nvme_abort(uint16_t queue, uint16_t id)
{
    return (struct stria_nvme_command){.opcode = ABORT, .dword10 = (uint32_t)id << 16 | queue};
}

struct stria_nvme_command stria_nvme_smart_log(uint64_t page)
{
    return (struct stria_nvme_command){
        .opcode = GET_LOG_PAGE,
        .namespace_id = ALL_NAMESPACES,
        .prp1 = page,
        .dword10 = (LOG_SMART_BYTES / 4 - 1) << 16 | LOG_SMART,
    };
}

struct stria_nvme_command stria_nvme_read(uint32_t namespace_id, uint64_t block, uint32_t block_count)
{
    return (struct stria_nvme_command){
        .opcode = READ,
        .namespace_id = namespace_id,
        .dword10 = (uint32_t)block,
        .dword11 = (uint32_t)(block >> 32),
        .dword12 = block_count - 1,
    };
}

struct stria_nvme_command stria_nvme_write(uint32_t namespace_id, uint64_t block, uint32_t block_count,
                                           bool force_unit_access)
{
    struct stria_nvme_command command = stria_nvme_read(namespace_id, block, block_count);
    command.opcode = WRITE;
    if (force_unit_access)
        command.dword12 |= FORCE_UNIT_ACCESS;
    return command;
}

struct stria_nvme_command stria_nvme_flush(uint32_t namespace_id)
{
    return (struct stria_nvme_command){.opcode = FLUSH, .namespace_id = namespace_id};
}

struct stria_nvme_command stria_nvme_deallocate(uint32_t namespace_id, uint64_t page)
{
    return (struct stria_nvme_command){
        .opcode = DATASET_MANAGEMENT,
        .namespace_id = namespace_id,
        .prp1 = page,
        .dword10 = 0, /* one range */
        .dword11 = ATTRIBUTE_DEALLOCATE,
    };
}

/* The controller did not carry the command out, for a reason that passes. */
static bool passes(uint32_t type_and_code)
{
    switch (type_and_code) {
    case STRIA_NVME_ID_CONFLICT:
    case STRIA_NVME_TRANSFER_ERROR:
    case STRIA_NVME_INTERNAL_ERROR:
    case STRIA_NVME_ABORT_REQUESTED:
    case STRIA_NVME_SQ_DELETED:
    case STRIA_NVME_NAMESPACE_NOT_READY:
    case STRIA_NVME_COMMAND_INTERRUPTED:
    case STRIA_NVME_TRANSIENT_TRANSPORT:
        return true;
    default:
        return type_and_code >> 8 == STRIA_NVME_TYPE_PATH;
    }
}

int stria_nvme_status_code(uint32_t status, bool *again)
{
    const uint32_t type_and_code = STRIA_NVME_STATUS_TYPE(status) << 8 | STRIA_NVME_STATUS_CODE(status);
    *again = !(status & STRIA_NVME_STATUS_DNR) && passes(type_and_code);
    switch (type_and_code) {
    case STRIA_NVME_SUCCESS:
        return STRIA_OK;
    case STRIA_NVME_INVALID_OPCODE:
        return STRIA_ERR_UNSUPPORTED;
    case STRIA_NVME_INVALID_FIELD:
    case STRIA_NVME_INVALID_NAMESPACE:
    case STRIA_NVME_LBA_OUT_OF_RANGE:
        return STRIA_ERR_INVALID;
    case STRIA_NVME_CAPACITY_EXCEEDED:
        return STRIA_ERR_NO_SPACE;
    case STRIA_NVME_NAMESPACE_WRITE_PROTECTED:
        return STRIA_ERR_PERMISSION;
    case STRIA_NVME_ABORT_REQUESTED:
        return STRIA_ERR_TIMEOUT;
    default:
        return STRIA_ERR_IO;
    }
}
