#include "backends/uring.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define SYSFS_PATH_BYTES 160

void uring_note_add(struct stria_traits *traits, const char *format, ...)
{
    char phrase[sizeof(traits->note)];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(phrase, sizeof(phrase), format, arguments);
    va_end(arguments);
    if (strstr(traits->note, phrase))
        return;
    size_t used = strlen(traits->note);
    snprintf(traits->note + used, sizeof(traits->note) - used, "%s%s", used ? "; " : "", phrase);
}

/* The first line of a small file, without its end and surrounding blanks; false if there is none. */
static bool line_read(const char *path, char *out, size_t size)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    bool found = fgets(out, (int)size, file) != NULL;
    fclose(file);
    if (!found)
        return false;
    size_t blanks = strspn(out, " \t");
    memmove(out, out + blanks, strlen(out + blanks) + 1);
    for (size_t length = strlen(out); length && strchr(" \t\r\n", out[length - 1]);)
        out[--length] = 0;
    return out[0] != 0;
}

/* The sysfs folder of the whole drive behind a device number: a partition's is one up. */
static void sysfs_folder(dev_t device, char out[SYSFS_PATH_BYTES])
{
    char partition[SYSFS_PATH_BYTES];
    snprintf(partition, sizeof(partition), "/sys/dev/block/%u:%u/partition", major(device), minor(device));
    snprintf(out, SYSFS_PATH_BYTES, "/sys/dev/block/%u:%u%s", major(device), minor(device),
             access(partition, F_OK) == 0 ? "/.." : "");
}

static bool sysfs_read(dev_t device, const char *name, char *out, size_t size)
{
    char folder[SYSFS_PATH_BYTES], path[SYSFS_PATH_BYTES + 64];
    sysfs_folder(device, folder);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return line_read(path, out, size);
}

/* Zero where the system has no such number. */
static uint64_t sysfs_number(dev_t device, const char *name)
{
    char text[32];
    return sysfs_read(device, name, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* What udev knows of drives that have no serial file of their own (SATA, SAS). */
static bool udev_serial_read(dev_t device, char *out, size_t size)
{
    char folder[SYSFS_PATH_BYTES], number[32], path[64], line[512];
    sysfs_folder(device, folder);
    strncat(folder, "/dev", sizeof(folder) - strlen(folder) - 1);
    if (!line_read(folder, number, sizeof(number)))
        return false;
    snprintf(path, sizeof(path), "/run/udev/data/b%s", number);
    FILE *file = fopen(path, "re");
    if (!file)
        return false;
    static const char key[] = "E:ID_SERIAL_SHORT=";
    bool found = false;
    while (!found && fgets(line, sizeof(line), file))
        found = strncmp(line, key, sizeof(key) - 1) == 0;
    fclose(file);
    if (found)
        snprintf(out, size, "%.*s", (int)strcspn(line + sizeof(key) - 1, "\n"), line + sizeof(key) - 1);
    return found;
}

static void serial_describe(dev_t device, struct stria_traits *traits)
{
    char *out = traits->serial;
    if (!sysfs_read(device, "device/serial", out, sizeof(traits->serial)) &&
        !sysfs_read(device, "serial", out, sizeof(traits->serial)) &&
        !udev_serial_read(device, out, sizeof(traits->serial)))
        out[0] = 0;
}

static int device_describe(int fd, const struct stat *status, struct stria_traits *traits,
                           struct stria_trouble *trouble)
{
    int block_bytes = 0;
    if (ioctl(fd, BLKSSZGET, &block_bytes) < 0 || ioctl(fd, BLKGETSIZE64, &traits->drive_bytes) < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "%s does not tell its size: %s",
                                 traits->path, strerror(errno));
    char cache[32];
    traits->block_bytes = (uint32_t)block_bytes;
    traits->block_device = true;
    traits->trims = sysfs_number(status->st_rdev, "queue/discard_max_bytes") > 0;
    /* Whoever does not tell has one. */
    traits->volatile_cache = !sysfs_read(status->st_rdev, "queue/write_cache", cache, sizeof(cache)) ||
                             strcmp(cache, "write through") != 0;
    serial_describe(status->st_rdev, traits);
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
        traits->block_bytes = (uint32_t)sysfs_number(status->st_dev, "queue/logical_block_size");
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
        uring_note_add(traits, "the file is not fully allocated, so that a write can find the disk full");
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
    if (traits->drive_bytes < traits->block_bytes)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s has %llu bytes, less than one block of %u: give it a larger size",
                                 traits->path, (unsigned long long)traits->drive_bytes, traits->block_bytes);
    traits->drive_bytes -= traits->drive_bytes % traits->block_bytes;
    return STRIA_OK;
}
