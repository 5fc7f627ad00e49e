#include "results/write.h"

#include "core/geometry.h"
#include "core/superblock.h"
#include "support/file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_superblock(int fd, uint64_t offset)
{
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_superblock super;
    struct stria_superblock_unknown unknown;
    return pread(fd, page, sizeof(page), (off_t)offset) == (ssize_t)sizeof(page) &&
           stria_superblock_decode(page, &super, &unknown) != STRIA_SUPERBLOCK_NOT_OURS;
}

/* By the magic of either superblock, whatever state it is in. */
static bool is_drive(const char *path, uint64_t bytes)
{
    uint64_t offsets[2];
    if (stria_geometry_super_offsets(bytes, offsets) != STRIA_OK)
        return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const bool found = is_superblock(fd, offsets[0]) || is_superblock(fd, offsets[1]);
    close(fd);
    return found;
}

int stria_results_write(const char *path, const struct stria_text *text, struct stria_trouble *trouble)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0) {
        if (S_ISBLK(status.st_mode))
            return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                     "%s is a device and is not overwritten: name a file", path);
        if (S_ISREG(status.st_mode) && is_drive(path, (uint64_t)status.st_size))
            return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                     "%s is a drive of an array and is not overwritten: name another file",
                                     path);
    }
    return stria_file_write_whole(path, text->bytes ? text->bytes : "", text->length, trouble);
}
