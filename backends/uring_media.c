#include "backends/sysfs.h"
#include "backends/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

/* An attribute of the whole drive behind a device: a partition has no queue of its own. */
static bool queue_read(dev_t device, const char *attribute, char *out, size_t size)
{
    dev_t whole = device;
    stria_sysfs_is_partition(device, &whole);
    return stria_sysfs_read(whole, attribute, out, size);
}

/* Zero where the system has no such number. */
static uint64_t queue_number(dev_t device, const char *attribute)
{
    char text[32];
    return queue_read(device, attribute, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

static int device_describe(int fd, const struct stat *status, struct stria_traits *traits,
                           struct stria_trouble *trouble)
{
    int block_bytes = 0;
    if (ioctl(fd, BLKSSZGET, &block_bytes) < 0 || ioctl(fd, BLKGETSIZE64, &traits->drive_bytes) < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "%s does not tell its size: %s",
                                 traits->path, stria_errno_text(errno));
    char cache[32];
    traits->block_bytes = (uint32_t)block_bytes;
    traits->block_device = true;
    traits->trims = queue_number(status->st_rdev, "queue/discard_max_bytes") > 0;
    /* Whoever does not tell has one. */
    traits->volatile_cache = !queue_read(status->st_rdev, "queue/write_cache", cache, sizeof(cache)) ||
                             strcmp(cache, "write through") != 0;
    if (!stria_sysfs_serial(status->st_rdev, traits->serial, sizeof(traits->serial)))
        traits->serial[0] = 0;
    return STRIA_OK;
}

/* The alignment that direct I/O on this file needs: the kernel tells since 6.1; before, and on file systems
 * that do not tell, the block size of the drive below, or else of the file system, is always right. */
static int file_block_bytes(int fd, const struct stat *status, bool direct, struct stria_traits *traits,
                            struct stria_trouble *trouble)
{
    struct statx extended = {0};
    if (statx(fd, "", AT_EMPTY_PATH, STATX_DIOALIGN, &extended) == 0 && extended.stx_mask & STATX_DIOALIGN) {
        if (!extended.stx_dio_offset_align && direct)
            return stria_trouble_set(
                trouble, STRIA_ERR_UNSUPPORTED,
                "%s cannot be written past the page cache: its file system has no direct "
                "I/O for it; use a file on ext4 or XFS, or a device",
                traits->path);
        traits->block_bytes = extended.stx_dio_offset_align;
        traits->memory_align_bytes = extended.stx_dio_mem_align;
    }
    if (!traits->block_bytes)
        traits->block_bytes = (uint32_t)queue_number(status->st_dev, "queue/logical_block_size");
    if (!traits->block_bytes)
        traits->block_bytes = status->st_blksize < (long)STRIA_BLOCK_BYTES_MAX ? (uint32_t)status->st_blksize
                                                                               : STRIA_BLOCK_BYTES_MAX;
    return STRIA_OK;
}

static int file_describe(int fd, const struct stat *status, bool direct, struct stria_traits *traits,
                         struct stria_trouble *trouble)
{
    int code = file_block_bytes(fd, status, direct, traits, trouble);
    if (code < 0)
        return code;
    traits->drive_bytes = (uint64_t)status->st_size;
    /* Even behind a drive without a cache, the file system keeps in memory which parts of a file were
     * written. */
    traits->volatile_cache = true;
    if ((uint64_t)status->st_blocks * 512 < traits->drive_bytes)
        stria_traits_note(traits, "the file is not fully allocated, so that a write can find the disk full");
    return STRIA_OK;
}

int uring_media_describe(int fd, const struct stat *status, bool direct, struct stria_traits *traits,
                         struct stria_trouble *trouble)
{
    int code = S_ISBLK(status->st_mode) ? device_describe(fd, status, traits, trouble)
                                        : file_describe(fd, status, direct, traits, trouble);
    if (code < 0)
        return code;
    if (traits->block_bytes < STRIA_BLOCK_BYTES_MIN)
        traits->block_bytes = STRIA_BLOCK_BYTES_MIN;
    if (traits->block_bytes > STRIA_BLOCK_BYTES_MAX || traits->block_bytes & (traits->block_bytes - 1))
        return stria_trouble_set(trouble, STRIA_ERR_UNSUPPORTED,
                                 "%s has blocks of %u bytes: only powers of two from %u to %u can be used",
                                 traits->path, traits->block_bytes, STRIA_BLOCK_BYTES_MIN,
                                 STRIA_BLOCK_BYTES_MAX);
    if (traits->memory_align_bytes < traits->block_bytes)
        traits->memory_align_bytes = traits->block_bytes;
    if (traits->drive_bytes == 0 && S_ISBLK(status->st_mode))
        return stria_trouble_set(
            trouble, STRIA_ERR_GONE,
            "%s has 0 bytes: there is nothing behind the device, such as a file attached to a "
            "loop device or a card in its reader; attach it, or name another drive",
            traits->path);
    if (traits->drive_bytes < traits->block_bytes)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s has %llu bytes, less than one block of %u: give it a larger size",
                                 traits->path, (unsigned long long)traits->drive_bytes, traits->block_bytes);
    traits->drive_bytes -= traits->drive_bytes % traits->block_bytes;
    return STRIA_OK;
}
