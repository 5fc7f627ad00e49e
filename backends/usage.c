#include "backends/usage.h"

#include "backends/sysfs.h"
#include "support/mounts.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* A limit on layers above or below each other, so that nothing can make us recurse without end. */
#define LAYERS_MAX 16u

#define SECTOR_BYTES 512u /* in which the kernel tells of partitions, whatever the drive's blocks are */

static dev_t block_device_at(const char *path)
{
    struct stat status;
    return path[0] == '/' && stat(path, &status) == 0 && S_ISBLK(status.st_mode) ? status.st_rdev : 0;
}

struct mount_search {
    dev_t device;
    bool found;
    char place[PATH_MAX];
};

/* Some file systems (btrfs) have an anonymous device, and tell their own by the source alone. */
static bool match_mount(const struct stria_mount *mount, void *user)
{
    struct mount_search *search = user;
    search->found = mount->device == search->device || block_device_at(mount->source) == search->device;
    if (search->found)
        snprintf(search->place, sizeof(search->place), "%s", mount->place);
    return !search->found;
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
    if (S_ISBLK(a->st_mode) || S_ISBLK(b->st_mode))
        return S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode) && a->st_rdev == b->st_rdev;
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

struct swap_search {
    const struct stat *status;
    bool found;
};

static bool match_swap(const char *path, void *user)
{
    struct swap_search *search = user;
    struct stat swap;
    search->found = stat(path, &swap) == 0 && is_same_file(&swap, search->status);
    return !search->found;
}

static bool is_swap(const struct stat *status)
{
    struct swap_search search = {.status = status};
    stria_swaps_each("", match_swap, &search);
    return search.found;
}

/* What a loop device is laid upon; false if it is none, or that is gone. */
static bool loop_backing(dev_t loop, struct stat *backing)
{
    char path[PATH_MAX];
    return stria_sysfs_read(loop, "loop/backing_file", path, sizeof(path)) && stat(path, backing) == 0;
}

/* The bytes that a file or device stands for, in the file or disk that it leads to through loop devices and
 * partitions. */
struct ground {
    bool file;
    dev_t device; /* of a file, the one that it lies on */
    ino_t inode;
    uint64_t begin_bytes, end_bytes;
};

static uint64_t number_of(dev_t device, const char *attribute)
{
    char text[32];
    return stria_sysfs_read(device, attribute, text, sizeof(text)) ? strtoull(text, NULL, 10) : 0;
}

/* What begins at an offset of what lies below, and has a size; zero: as much as there is. */
static void step_down(struct ground *ground, uint64_t offset_bytes, uint64_t size_bytes)
{
    const uint64_t end_bytes = size_bytes && size_bytes < ground->end_bytes ? size_bytes : ground->end_bytes;
    ground->begin_bytes += offset_bytes;
    ground->end_bytes = end_bytes > UINT64_MAX - offset_bytes ? UINT64_MAX : end_bytes + offset_bytes;
}

static struct ground ground_of(const struct stat *status)
{
    struct ground ground = {.file = !S_ISBLK(status->st_mode), .end_bytes = UINT64_MAX};
    ground.device = ground.file ? status->st_dev : status->st_rdev;
    ground.inode = ground.file ? status->st_ino : 0;
    for (unsigned layer = 0; !ground.file && layer < LAYERS_MAX; layer++) {
        struct stat backing;
        dev_t whole;
        const dev_t device = ground.device;
        if (stria_sysfs_is_partition(device, &whole)) {
            step_down(&ground, number_of(device, "start") * SECTOR_BYTES,
                      number_of(device, "size") * SECTOR_BYTES);
            ground.device = whole;
        } else if (loop_backing(device, &backing)) {
            step_down(&ground, number_of(device, "loop/offset"), number_of(device, "loop/sizelimit"));
            ground.file = !S_ISBLK(backing.st_mode);
            ground.device = ground.file ? backing.st_dev : backing.st_rdev;
            ground.inode = ground.file ? backing.st_ino : 0;
        } else {
            break;
        }
    }
    return ground;
}

/* One drive that two devices lead to. Some drives share a world-wide name by mistake, but then they have
 * serial numbers of their own. */
static bool is_same_drive(dev_t a, dev_t b)
{
    char names[2][128], serials[2][64] = {"", ""};
    if (a == b)
        return true;
    if (!stria_sysfs_wwid(a, names[0], sizeof(names[0])) ||
        !stria_sysfs_wwid(b, names[1], sizeof(names[1])) || strcmp(names[0], names[1]) != 0)
        return false;
    if (!stria_sysfs_serial(a, serials[0], sizeof(serials[0])))
        serials[0][0] = '\0';
    if (!stria_sysfs_serial(b, serials[1], sizeof(serials[1])))
        serials[1][0] = '\0';
    return strcmp(serials[0], serials[1]) == 0;
}

static bool grounds_meet(const struct ground *a, const struct ground *b)
{
    if (a->file != b->file || a->inode != b->inode ||
        !(a->file ? a->device == b->device : is_same_drive(a->device, b->device)))
        return false;
    return a->begin_bytes < b->end_bytes && b->begin_bytes < a->end_bytes;
}

struct loop_search {
    const struct stat *status;
    struct ground ground; /* of it */
    dev_t whole;          /* the disk whose partition it is; else zero */
    char name[STRIA_SYSFS_NAME_BYTES];
};

static bool match_loop(dev_t loop, const char *name, void *user)
{
    struct loop_search *search = user;
    struct stat backing;
    if (!loop_backing(loop, &backing))
        return true;
    const bool on_disk = search->whole && S_ISBLK(backing.st_mode) && backing.st_rdev == search->whole;
    const struct stat status = {.st_mode = S_IFBLK, .st_rdev = loop};
    const struct ground ground = ground_of(&status);
    if (!is_same_file(&backing, search->status) && !(on_disk && grounds_meet(&ground, &search->ground)))
        return true;
    snprintf(search->name, sizeof(search->name), "%s", name);
    return false;
}

static bool take_name(dev_t device, const char *name, void *user)
{
    (void)device;
    snprintf(user, STRIA_SYSFS_NAME_BYTES, "%s", name);
    return false;
}

/* A device by itself, without its partitions. subject begins the sentence. */
static int check_one(const char *subject, const struct stat *status, struct stria_trouble *trouble)
{
    const bool device = S_ISBLK(status->st_mode);
    struct mount_search mounts = {.device = device ? status->st_rdev : 0};
    struct loop_search loops = {.status = status, .ground = ground_of(status)};
    char holder[STRIA_SYSFS_NAME_BYTES];
    if (device)
        stria_mounts_each("", match_mount, &mounts);
    if (mounts.found)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "%s is mounted on %s: unmount it, or use another drive", subject,
                                 mounts.place);
    if (is_swap(status))
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "%s is in use as swap: swapoff it, or use another drive", subject);
    if (device && stria_sysfs_each(status->st_rdev, STRIA_SYSFS_HOLDERS, take_name, holder))
        return stria_trouble_set(
            trouble, STRIA_ERR_BUSY,
            "%s is part of /dev/%s (RAID, LVM, encryption or the like): take it out of there, or "
            "use another drive",
            subject, holder);
    if (!device || !stria_sysfs_is_partition(status->st_rdev, &loops.whole))
        loops.whole = 0;
    stria_sysfs_each_disk(match_loop, &loops);
    if (loops.name[0])
        return stria_trouble_set(
            trouble, STRIA_ERR_BUSY,
            "%s is what /dev/%s is laid upon: detach that with losetup -d, or use another drive", subject,
            loops.name);
    return STRIA_OK;
}

struct partition_search {
    const char *disk;
    struct stria_trouble *trouble;
    int code;
};

static bool check_partition(dev_t device, const char *name, void *user)
{
    struct partition_search *search = user;
    char subject[PATH_MAX + STRIA_SYSFS_NAME_BYTES + 32];
    const struct stat status = {.st_mode = S_IFBLK, .st_rdev = device};
    snprintf(subject, sizeof(subject), "%s cannot be used because its partition %s", search->disk, name);
    search->code = check_one(subject, &status, search->trouble);
    return search->code == STRIA_OK;
}

/* The kernel's own word: whoever holds a device exclusively keeps us out of it. */
static int check_exclusive(const char *path, struct stria_trouble *trouble)
{
    int fd = open(path, O_RDONLY | O_EXCL | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        close(fd);
        return STRIA_OK;
    }
    if (errno == EBUSY)
        return stria_trouble_set(
            trouble, STRIA_ERR_BUSY,
            "%s is held exclusively by another program or by the kernel: end that first, or use "
            "another drive",
            path);
    return stria_trouble_set(trouble, stria_code_of_errno(errno), "cannot open %s: %s", path,
                             stria_errno_text(errno));
}

int stria_usage_check(const char *path, const struct stat *status, struct stria_trouble *trouble)
{
    int code = check_one(path, status, trouble);
    if (code != STRIA_OK || !S_ISBLK(status->st_mode))
        return code;
    struct partition_search partitions = {.disk = path, .trouble = trouble, .code = STRIA_OK};
    stria_sysfs_each(status->st_rdev, STRIA_SYSFS_PARTITIONS, check_partition, &partitions);
    return partitions.code == STRIA_OK ? check_exclusive(path, trouble) : partitions.code;
}

static bool match_root(const struct stria_mount *mount, void *user)
{
    /* The last mount on "/" is the one seen. */
    if (strcmp(mount->place, "/") == 0)
        *(dev_t *)user = major(mount->device) ? mount->device : block_device_at(mount->source);
    return true;
}

struct below_search {
    dev_t wanted;
    unsigned layer;
    bool found;
};

static bool search_below(dev_t device, const char *name, void *user);

/* True if wanted is device or anything that device is laid upon. */
static bool is_below(dev_t wanted, dev_t device, unsigned layer)
{
    dev_t whole;
    struct stat backing;
    if (device == 0 || layer > LAYERS_MAX)
        return false;
    if (device == wanted)
        return true;
    if (stria_sysfs_is_partition(device, &whole) && is_below(wanted, whole, layer + 1))
        return true;
    if (loop_backing(device, &backing) &&
        is_below(wanted, S_ISBLK(backing.st_mode) ? backing.st_rdev : backing.st_dev, layer + 1))
        return true;
    struct below_search search = {.wanted = wanted, .layer = layer + 1};
    stria_sysfs_each(device, STRIA_SYSFS_SLAVES, search_below, &search);
    return search.found;
}

static bool search_below(dev_t device, const char *name, void *user)
{
    struct below_search *search = user;
    (void)name;
    search->found = is_below(search->wanted, device, search->layer);
    return !search->found;
}

bool stria_usage_is_root(dev_t device)
{
    dev_t root = 0;
    struct stat status;
    stria_mounts_each("", match_root, &root);
    if (is_below(device, root, 0))
        return true;
    /* In a changed root directory, "/" need not be a mount of its own. */
    return stat("/", &status) == 0 && is_below(device, status.st_dev, 0);
}

struct file_search {
    const struct stat *file;
    unsigned layer;
    bool found;
};

static bool search_file(dev_t device, const char *name, void *user);

/* True if a device is laid upon a file, through any number of layers. */
static bool lies_on_file(dev_t device, const struct stat *file, unsigned layer)
{
    dev_t whole;
    struct stat backing;
    if (device == 0 || layer > LAYERS_MAX)
        return false;
    if (stria_sysfs_is_partition(device, &whole))
        return lies_on_file(whole, file, layer + 1);
    if (loop_backing(device, &backing))
        return is_same_file(&backing, file) ||
               (S_ISBLK(backing.st_mode) && lies_on_file(backing.st_rdev, file, layer + 1));
    struct file_search search = {.file = file, .layer = layer + 1};
    stria_sysfs_each(device, STRIA_SYSFS_SLAVES, search_file, &search);
    return search.found;
}

static bool search_file(dev_t device, const char *name, void *user)
{
    struct file_search *search = user;
    (void)name;
    search->found = lies_on_file(device, search->file, search->layer);
    return !search->found;
}

bool stria_usage_overlaps(const struct stat *a, const struct stat *b)
{
    const struct ground of_a = ground_of(a), of_b = ground_of(b);
    if (is_same_file(a, b) || grounds_meet(&of_a, &of_b))
        return true;
    if (S_ISBLK(a->st_mode) && S_ISBLK(b->st_mode))
        return is_below(a->st_rdev, b->st_rdev, 0) || is_below(b->st_rdev, a->st_rdev, 0);
    return (S_ISBLK(a->st_mode) && lies_on_file(a->st_rdev, b, 0)) ||
           (S_ISBLK(b->st_mode) && lies_on_file(b->st_rdev, a, 0));
}
