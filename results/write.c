#include "results/write.h"

#include "core/superblock.h"
#include "support/file.h"

#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* By its magic, whatever state its superblock is in. */
static bool is_drive(const char *path)
{
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_superblock super;
    struct stria_superblock_unknown unknown;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    const ssize_t got = pread(fd, page, sizeof(page), 0);
    close(fd);
    return got == (ssize_t)sizeof(page) &&
           stria_superblock_decode(page, &super, &unknown) != STRIA_SUPERBLOCK_NOT_OURS;
}

int stria_results_write(const char *path, const struct stria_text *text, struct stria_trouble *trouble)
{
    struct stat status;
    if (strcmp(path, "-") != 0 && stat(path, &status) == 0) {
        if (S_ISBLK(status.st_mode))
            return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                     "%s is a device and is not overwritten: name a file", path);
        if (S_ISREG(status.st_mode) && is_drive(path))
            return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                     "%s is a drive of an array and is not overwritten: name another file",
                                     path);
    }
    return stria_file_write_whole(path, text->bytes ? text->bytes : "", text->length, trouble);
}
