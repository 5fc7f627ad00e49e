/* "passthrough:PATH": NVMe commands straight to the controller, through the kernel's driver but past its
 * block layer, by io_uring on the namespace's character device. PATH is the block device, which is held while
 * the drive is open, so that nobody mounts or writes it by the other way. */
#include "backends/uring_cmd.h"

#include "backends/sysfs.h"
#include "backends/uring.h"
#include "nvme/command.h"
#include "nvme/identity.h"
#include "support/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <libnvme.h>
#include <linux/fs.h>
#include <linux/nvme_ioctl.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define PIECES_MAX        8u /* commands for one request, for which there is room beside each other */
#define RANGES_MAX        4u
#define RANGE_BLOCKS_MAX  UINT32_MAX
#define MDTS_PAGE_BYTES   4096u
#define COMMAND_BLOCK_MAX 65536u
#define IDLE_NS           50000u /* between two looks at a wake, where nothing is in flight */

/* Where the driver has queues for it, completions are polled for. But a command without data in a polled ring
 * can bring the kernel down (Linux 6.1: its end is taken for a bio), so these go through a ring of their own.
 */
struct cmd_drive {
    struct uring_drive uring;
    struct cmd_drive *dataless; /* null where the ring is not polled */
    _Atomic bool woken;         /* what ends a wait of a polled drive */
    uint32_t namespace_id;
    struct stria_nvme_range ranges[STRIA_DEPTH_MAX][RANGES_MAX]; /* of a trim, by slot */
};

static bool cmd_claims(const char *path)
{
    return strncmp(path, STRIA_PASSTHROUGH_PREFIX, sizeof(STRIA_PASSTHROUGH_PREFIX) - 1) == 0;
}

bool stria_passthrough_character_path(const char *block_name, char *out, size_t size)
{
    unsigned controller, space;
    int end = 0;
    if (sscanf(block_name, "nvme%un%u%n", &controller, &space, &end) != 2 || block_name[end])
        return false;
    return (size_t)snprintf(out, size, "/dev/ng%un%u", controller, space) < size;
}

uint32_t stria_passthrough_format(uint8_t flbas, uint8_t nlbaf)
{
    return stria_nvme_format_in_use(flbas, nlbaf);
}

static uint64_t range_blocks(const struct uring_drive *uring)
{
    return (uint64_t)RANGE_BLOCKS_MAX * uring->drive.traits.block_bytes;
}

/* The ranges of a trim: how many, and *blocks of them in all. */
static uint32_t fill_ranges(struct cmd_drive *cmd, uint32_t slot, const struct stria_io *io)
{
    const uint32_t block_bytes = cmd->uring.drive.traits.block_bytes;
    uint32_t count = 0;
    for (uint64_t at = 0; at < io->length && count < RANGES_MAX; count++) {
        const uint64_t left = io->length - at;
        const uint64_t bytes = left < range_blocks(&cmd->uring) ? left : range_blocks(&cmd->uring);
        cmd->ranges[slot][count] = (struct stria_nvme_range){.block_count = (uint32_t)(bytes / block_bytes),
                                                             .block = (io->offset + at) / block_bytes};
        at += bytes;
    }
    return count;
}

/* The command, and what it carries. */
static struct stria_nvme_command command_of(struct cmd_drive *cmd, uint32_t slot, const struct stria_io *io,
                                            void **data, uint32_t *bytes)
{
    const uint32_t block_bytes = cmd->uring.drive.traits.block_bytes;
    const uint64_t block = io->offset / block_bytes;
    const uint32_t block_count = (uint32_t)(io->length / block_bytes);
    *data = io->data;
    *bytes = (uint32_t)io->length;
    switch (io->op) {
    case STRIA_IO_READ:
        return stria_nvme_read(cmd->namespace_id, block, block_count);
    case STRIA_IO_WRITE:
        return stria_nvme_write(cmd->namespace_id, block, block_count, false);
    case STRIA_IO_TRIM: {
        struct stria_nvme_command command = stria_nvme_deallocate(cmd->namespace_id, 0);
        const uint32_t ranges = fill_ranges(cmd, slot, io);
        command.dword10 = ranges - 1;
        *data = cmd->ranges[slot];
        *bytes = ranges * sizeof(struct stria_nvme_range);
        return command;
    }
    case STRIA_IO_FLUSH:
        break;
    }
    return stria_nvme_flush(cmd->namespace_id);
}

static void cmd_prepare(struct uring_drive *uring, struct io_uring_sqe *sqe, uint32_t slot,
                        const struct stria_io *io)
{
    void *data;
    uint32_t bytes;
    const struct stria_nvme_command command = command_of((struct cmd_drive *)uring, slot, io, &data, &bytes);
    const struct nvme_uring_cmd asked = {
        .opcode = command.opcode,
        .nsid = command.namespace_id,
        .addr = (uintptr_t)data,
        .data_len = bytes,
        .cdw10 = command.dword10,
        .cdw11 = command.dword11,
        .cdw12 = command.dword12,
        .cdw13 = command.dword13,
        .cdw14 = command.dword14,
        .cdw15 = command.dword15,
    };
    const int buffer = data ? uring_buffer_of(uring, data, bytes) : -1;
    memset(sqe, 0, 2 * sizeof(*sqe));
    sqe->opcode = IORING_OP_URING_CMD;
    sqe->fd = uring->fixed_file ? 0 : uring->fd;
    sqe->flags = uring->fixed_file ? IOSQE_FIXED_FILE : 0;
    sqe->cmd_op = NVME_URING_CMD_IO;
    if (buffer >= 0) {
        sqe->uring_cmd_flags = IORING_URING_CMD_FIXED;
        sqe->buf_index = (uint16_t)buffer;
        uring->slots[slot].fixed = true;
    }
    memcpy(sqe->cmd, &asked, sizeof(asked));
}

/* A negative result is the kernel's, an errno: the command was not, or cannot have been, carried out. A
 * positive one is the drive's, a status. A reset under way ends commands with EINTR: they are good to be
 * issued again. So are those that a kernel will not take from a fixed buffer: how it counts a buffer's pages
 * has changed. */
static void cmd_result(struct uring_drive *uring, const struct uring_slot *slot, int result,
                       struct stria_done *done)
{
    bool again = false;
    if (result == -EINVAL && slot->fixed) {
        uring->drive.traits.registered = false;
        uring->unregistered = true;
        stria_traits_note(&uring->drive.traits, "no fixed buffers: this kernel takes none for passthrough");
        again = true;
    } else if (result < 0) {
        done->code = stria_code_of_errno(-result);
    } else {
        done->code = stria_nvme_status_code((uint32_t)result, &again);
    }
    if (again)
        done->code = STRIA_ERR_AGAIN;
    if (done->code == STRIA_OK && (slot->op == STRIA_IO_READ || slot->op == STRIA_IO_WRITE))
        done->bytes = slot->length;
}

/* Commands and answers of a passthrough ring are twice as long. */
static const struct uring_dialect cmd_dialect = {
    .ring_flags = IORING_SETUP_SQE128 | IORING_SETUP_CQE32,
    .whole_buffers = true,
    .prepare = cmd_prepare,
    .result = cmd_result,
};

static uint64_t queue_number(dev_t device, const char *attribute)
{
    char text[32];
    return stria_sysfs_read(device, attribute, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* The largest command: what the controller takes (zero: any), what the kernel passes on to it, and as many
 * scattered pages as it describes, since nobody cuts a passthrough command. A power of two, so that a chunk
 * is whole commands, each in a fixed buffer of its own: a command uses all of one, or the kernel refuses. */
static uint64_t transfer_bytes_max(dev_t device, const struct nvme_id_ctrl *controller, uint32_t block_bytes)
{
    uint64_t most = (uint64_t)COMMAND_BLOCK_MAX * block_bytes;
    const uint64_t limits[] = {
        controller->mdts > 0 && controller->mdts < 32 ? (uint64_t)MDTS_PAGE_BYTES << controller->mdts : 0,
        queue_number(device, "queue/max_hw_sectors_kb") << 10,
        queue_number(device, "queue/max_segments") * MDTS_PAGE_BYTES,
        STRIA_TRANSFER_BYTES_MAX,
    };
    for (size_t i = 0; i < sizeof(limits) / sizeof(limits[0]); i++)
        if (limits[i] > 0 && limits[i] < most)
            most = limits[i];
    uint64_t bytes = block_bytes;
    while (bytes * 2 <= most)
        bytes *= 2;
    return bytes;
}

static int unsupported(const char *path, const char *why, struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED, "%s %s", path, why);
}

/* The namespace as the block layer has it. */
struct block_view {
    dev_t device;
    int block_bytes;
    uint64_t drive_bytes;
};

static bool is_as_seen(const struct stria_traits *traits, const struct block_view *block)
{
    return block->block_bytes > 0 && traits->block_bytes == (uint32_t)block->block_bytes &&
           traits->drive_bytes == block->drive_bytes;
}

static int describe(struct cmd_drive *cmd, const struct block_view *block, uint32_t depth,
                    struct stria_trouble *trouble)
{
    const dev_t device = block->device;
    struct stria_traits *traits = &cmd->uring.drive.traits;
    struct nvme_id_ctrl controller;
    struct nvme_id_ns space;
    if (nvme_get_nsid(cmd->uring.fd, &cmd->namespace_id) != 0 ||
        nvme_identify_ctrl(cmd->uring.fd, &controller) != 0 ||
        nvme_identify_ns(cmd->uring.fd, cmd->namespace_id, &space) != 0)
        return unsupported(traits->path, "does not tell what it is: leave out backend = passthrough",
                           trouble);
    const struct nvme_lbaf *format = &space.lbaf[stria_passthrough_format(space.flbas, space.nlbaf)];
    if (format->ms != 0 || format->ds < 9 || format->ds > 12)
        return unsupported(traits->path,
                           "has blocks with metadata, or not of 512 to 4096 bytes: format it with another "
                           "LBA format (nvme format)",
                           trouble);
    traits->block_bytes = 1u << format->ds;
    traits->memory_align_bytes = traits->block_bytes;
    traits->drive_bytes = space.nsze << format->ds;
    if (!is_as_seen(traits, block))
        return unsupported(
            traits->path,
            "says other things of its size and blocks than the kernel does: leave out backend = "
            "passthrough",
            trouble);
    traits->block_device = true;
    traits->volatile_cache = controller.vwc & 1;
    traits->trims = controller.oncs & 4;
    traits->atomic_write_bytes = (uint32_t)(controller.awupf + 1) << format->ds;
    traits->transfer_bytes_max = transfer_bytes_max(device, &controller, traits->block_bytes);
    cmd->uring.buffer_bytes = traits->transfer_bytes_max;
    traits->depth_max = depth * PIECES_MAX < STRIA_DEPTH_MAX ? depth * PIECES_MAX : STRIA_DEPTH_MAX;
    if (!stria_sysfs_serial(device, traits->serial, sizeof(traits->serial)))
        traits->serial[0] = 0;
    cmd->uring.polled = queue_number(device, "queue/io_poll") == 1;
    return STRIA_OK;
}

/* Opens the character device of the namespace whose block device is held. */
static int open_character(struct cmd_drive *cmd, const char *block_path, dev_t device,
                          struct stria_trouble *trouble)
{
    char name[STRIA_SYSFS_NAME_BYTES], path[64];
    if (!stria_sysfs_name(device, name) || !stria_passthrough_character_path(name, path, sizeof(path)))
        return unsupported(block_path,
                           "is no NVMe namespace, which passthrough needs: name a whole NVMe drive, or leave "
                           "out backend = passthrough",
                           trouble);
    cmd->uring.fd = open(path, O_RDWR | O_CLOEXEC);
    if (cmd->uring.fd >= 0)
        return STRIA_OK;
    if (errno == EACCES || errno == EPERM)
        return stria_trouble_set(trouble, STRIA_ERR_PERMISSION, "you may not use %s: run as root", path);
    return stria_trouble_set(
        trouble, stria_code_of_errno(errno),
        "cannot open %s, by which %s would be reached: %s; leave out backend = passthrough", path, block_path,
        stria_errno_text(errno));
}

static void cmd_free(struct cmd_drive *cmd)
{
    if (cmd->dataless)
        uring_free(&cmd->dataless->uring);
    uring_free(&cmd->uring);
}

/* The second ring of a polled drive: the same namespace, but waited for. */
static int add_dataless(struct cmd_drive *cmd, const struct stria_drive_options *options,
                        struct stria_trouble *trouble)
{
    struct cmd_drive *dataless =
        uring_new(sizeof(*dataless), options, &stria_backend_uring_cmd, &cmd_dialect);
    if (!dataless)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    cmd->dataless = dataless;
    dataless->namespace_id = cmd->namespace_id;
    dataless->uring.drive.traits = cmd->uring.drive.traits;
    dataless->uring.fd = fcntl(cmd->uring.fd, F_DUPFD_CLOEXEC, 0);
    if (dataless->uring.fd < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno),
                                 "%s: no file descriptor is left: raise the limit (ulimit -n, LimitNOFILE=)",
                                 cmd->uring.drive.traits.path);
    return uring_start(&dataless->uring, trouble);
}

static int set_up(struct cmd_drive *cmd, const struct stria_drive_options *options,
                  struct stria_trouble *trouble)
{
    struct uring_drive *uring = &cmd->uring;
    struct stria_drive_options block = *options;
    struct stat status;
    block.path = stria_path_plain(options->path);
    int code = uring_path_open(&block, &uring->fd, &uring->hold_fd, &status, trouble);
    if (code != STRIA_OK)
        return code;
    snprintf(uring->drive.traits.path, sizeof(uring->drive.traits.path), "%s", block.path);
    struct block_view seen = {.device = status.st_rdev};
    if (ioctl(uring->fd, BLKSSZGET, &seen.block_bytes) != 0 ||
        ioctl(uring->fd, BLKGETSIZE64, &seen.drive_bytes) != 0)
        seen.block_bytes = 0;
    close(uring->fd);
    uring->fd = -1;
    if (!S_ISBLK(status.st_mode))
        return unsupported(block.path, "is a file: passthrough needs an NVMe drive", trouble);
    code = open_character(cmd, block.path, status.st_rdev, trouble);
    if (code == STRIA_OK)
        code = describe(cmd, &seen, options->depth, trouble);
    if (code == STRIA_OK && uring->polled)
        code = add_dataless(cmd, options, trouble);
    return code == STRIA_OK ? uring_start(uring, trouble) : code;
}

static int cmd_open(const struct stria_drive_options *options, struct stria_drive **drive,
                    struct stria_trouble *trouble)
{
    struct cmd_drive *cmd = uring_new(sizeof(*cmd), options, &stria_backend_uring_cmd, &cmd_dialect);
    if (!cmd)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    int code = set_up(cmd, options, trouble);
    if (code < 0) {
        cmd_free(cmd);
        return code;
    }
    *drive = &cmd->uring.drive;
    return STRIA_OK;
}

static int cmd_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct cmd_drive *cmd = (struct cmd_drive *)drive;
    const bool dataless = io->op == STRIA_IO_FLUSH || io->op == STRIA_IO_TRIM;
    return uring_submit(dataless && cmd->dataless ? &cmd->dataless->uring.drive : drive, io);
}

/* What has ended in either ring; waits for nothing. */
static int poll_both(struct cmd_drive *cmd, struct stria_done *done, unsigned max)
{
    const int count = uring_poll(&cmd->uring.drive, done, max, 0);
    if (count < 0)
        return count;
    const int more = uring_poll(&cmd->dataless->uring.drive, done + count, max - (unsigned)count, 0);
    return more < 0 && count == 0 ? more : count + (more > 0 ? more : 0);
}

static int cmd_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct cmd_drive *cmd = (struct cmd_drive *)drive;
    if (!cmd->dataless)
        return uring_poll(drive, done, max, wait_ns);
    const uint64_t deadline_ns = stria_clock_ns() + wait_ns;
    int count = poll_both(cmd, done, max);
    while (count == 0 && max > 0 && !atomic_exchange(&cmd->woken, false)) {
        const uint64_t now_ns = stria_clock_ns();
        if (now_ns >= deadline_ns)
            break;
        if (cmd->uring.busy_count > 0)
            sched_yield();
        else
            stria_clock_sleep_until(deadline_ns - now_ns < IDLE_NS ? deadline_ns : now_ns + IDLE_NS);
        count = poll_both(cmd, done, max);
    }
    return count;
}

static void cmd_wake(struct stria_drive *drive)
{
    struct cmd_drive *cmd = (struct cmd_drive *)drive;
    atomic_store(&cmd->woken, true);
    uring_wake(drive);
}

static void cmd_close(struct stria_drive *drive)
{
    struct cmd_drive *dataless = ((struct cmd_drive *)drive)->dataless;
    uring_close(drive);
    if (dataless)
        uring_close(&dataless->uring.drive);
}

const struct stria_backend stria_backend_uring_cmd = {
    .name = "uring_cmd",
    .claims = cmd_claims,
    .open = cmd_open,
    .attach = uring_attach,
    .submit = cmd_submit,
    .poll = cmd_poll,
    .wake = cmd_wake,
    .lock = uring_lock,
    .close = cmd_close,
};
