#include "backends/uring.h"
#include "support/path.h"

#include <errno.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

static bool file_claims(const char *path)
{
    return !stria_path_is_prefixed(path);
}

static void file_prepare(struct uring_drive *uring, struct io_uring_sqe *sqe, uint32_t slot,
                         const struct stria_io *io)
{
    (void)slot;
    const int fd = uring->fixed_file ? 0 : uring->fd;
    const unsigned length = (unsigned)io->length;
    const int buffer = uring_buffer_of(uring, io->data, io->length);
    if (io->op == STRIA_IO_FLUSH)
        io_uring_prep_fsync(sqe, fd, IORING_FSYNC_DATASYNC);
    else if (io->op == STRIA_IO_READ && buffer >= 0)
        io_uring_prep_read_fixed(sqe, fd, io->data, length, io->offset, buffer);
    else if (io->op == STRIA_IO_READ)
        io_uring_prep_read(sqe, fd, io->data, length, io->offset);
    else if (buffer >= 0)
        io_uring_prep_write_fixed(sqe, fd, io->data, length, io->offset, buffer);
    else
        io_uring_prep_write(sqe, fd, io->data, length, io->offset);
    if (uring->fixed_file)
        sqe->flags |= IOSQE_FIXED_FILE;
}

/* The kernel is not trusted to have moved more than it was asked to. */
static void file_result(struct uring_drive *uring, const struct uring_slot *slot, int result,
                        struct stria_done *done)
{
    (void)uring;
    if (result < 0)
        done->code = stria_code_of_errno(-result);
    else if (slot->op == STRIA_IO_FLUSH)
        done->code = result == 0 ? STRIA_OK : STRIA_ERR_IO;
    else if ((uint64_t)result > slot->length)
        done->code = STRIA_ERR_IO;
    else
        done->bytes = (uint64_t)result;
}

/* There is no asynchronous discard in the kernels we support. */
static void file_trim(struct uring_drive *uring, const struct stria_io *io, struct stria_done *done)
{
    uint64_t range[2] = {io->offset, io->length};
    if (uring->drive.traits.trims && ioctl(uring->fd, BLKDISCARD, range) < 0)
        done->code = stria_code_of_errno(errno);
}

static const struct uring_dialect file_dialect = {
    .prepare = file_prepare,
    .result = file_result,
    .trim = file_trim,
};

static int file_set_up(struct uring_drive *uring, const struct stria_drive_options *options,
                       struct stria_trouble *trouble)
{
    struct stat status;
    int code = uring_path_open(options, &uring->fd, &uring->hold_fd, &status, trouble);
    if (code == STRIA_OK)
        code = uring_media_describe(uring->fd, &status, options->direct, &uring->drive.traits, trouble);
    if (code == STRIA_OK)
        code = uring_size_limit(options, &status, &uring->drive.traits, trouble);
    return code == STRIA_OK ? uring_start(uring, trouble) : code;
}

static int file_open(const struct stria_drive_options *options, struct stria_drive **drive,
                     struct stria_trouble *trouble)
{
    struct uring_drive *uring = uring_new(sizeof(*uring), options, &stria_backend_uring, &file_dialect);
    if (!uring)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    int code = file_set_up(uring, options, trouble);
    if (code < 0) {
        uring_free(uring);
        return code;
    }
    *drive = &uring->drive;
    return STRIA_OK;
}

const struct stria_backend stria_backend_uring = {
    .name = "uring",
    .claims = file_claims,
    .open = file_open,
    .attach = uring_attach,
    .submit = uring_submit,
    .poll = uring_poll,
    .wake = uring_wake,
    .lock = uring_lock,
    .close = uring_close,
};
