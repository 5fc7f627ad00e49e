#include "backends/guard.h"

#include "backends/content.h"
#include "backends/fabrics.h"
#include "backends/list.h"
#include "backends/remote.h"
#include "backends/sysfs.h"
#include "backends/usage.h"
#include "support/clock.h"
#include "support/lock.h"
#include "support/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/blkpg.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FORGET_TRIES 20u
#define FORGET_NS    50000000ull

/* A drive that exists. */
struct subject {
    const char *path;
    struct stat status;
    bool device;
    char serial[64]; /* empty for files and for devices without one */
    char wwid[128];
};

static bool answers_to(const struct subject *subject, const char *name)
{
    struct stat status;
    if (subject->serial[0] || subject->wwid[0])
        return name[0] && (strcmp(name, subject->serial) == 0 || strcmp(name, subject->wwid) == 0);
    if (strcmp(name, subject->path) == 0)
        return true;
    if (stat(name, &status) != 0)
        return false;
    return subject->device
               ? S_ISBLK(status.st_mode) && status.st_rdev == subject->status.st_rdev
               : status.st_dev == subject->status.st_dev && status.st_ino == subject->status.st_ino;
}

static bool may_be_erased(const struct subject *subject, const struct stria_guard *guard)
{
    bool allowed = false;
    for (unsigned i = 0; i < guard->erase_count; i++) {
        if (!answers_to(subject, guard->erase[i]))
            continue;
        allowed = true;
        if (guard->erase_used)
            guard->erase_used[i] = true;
    }
    return allowed;
}

/* What --erase would have to say. */
static const char *erase_name(const struct subject *subject)
{
    return subject->serial[0] ? subject->serial : subject->wwid[0] ? subject->wwid : subject->path;
}

static int refuse_content(const struct subject *subject, const char *content, struct stria_trouble *trouble)
{
    return stria_trouble_set(
        trouble, STRIA_ERR_REFUSED,
        "%s carries %s: use another %s, or allow this one to be overwritten with --erase %s", subject->path,
        content, subject->device ? "drive" : "path", erase_name(subject));
}

static int drive_bytes_of(int fd, const struct subject *subject, uint64_t *bytes)
{
    *bytes = (uint64_t)subject->status.st_size;
    return !subject->device || ioctl(fd, BLKGETSIZE64, bytes) == 0 ? 0 : -errno;
}

struct partition_list {
    unsigned count;
    char names[160];
};

static bool list_partition(dev_t device, const char *name, void *user)
{
    struct partition_list *list = user;
    (void)device;
    const size_t used = strlen(list->names);
    snprintf(list->names + used, sizeof(list->names) - used, "%s%s", list->count++ ? ", " : "", name);
    return true;
}

static int check_partitions(const struct subject *subject, struct stria_trouble *trouble)
{
    struct partition_list list = {0};
    stria_sysfs_each(subject->status.st_rdev, STRIA_SYSFS_PARTITIONS, list_partition, &list);
    if (list.count == 0)
        return STRIA_OK;
    char content[sizeof(list.names) + 32];
    snprintf(content, sizeof(content), "%u partition%s (%s)", list.count, list.count == 1 ? "" : "s",
             list.names);
    return refuse_content(subject, content, trouble);
}

static int search_content(int fd, const struct subject *subject, struct stria_trouble *trouble)
{
    char content[512];
    uint64_t bytes;
    bool found = false;
    struct stria_trouble reason;
    int code = stria_code_of_errno(-drive_bytes_of(fd, subject, &bytes));
    if (code == STRIA_OK)
        code =
            stria_content_describe(fd, bytes, 0, !subject->device, &found, content, sizeof(content), &reason);
    else
        stria_trouble_set(&reason, code, "does not tell its size");
    if (found)
        return refuse_content(subject, content, trouble);
    return code == STRIA_OK ? STRIA_OK
                            : stria_trouble_set(trouble, code, "%s %s", subject->path, reason.sentence);
}

/* hold: −1 if the drive is only looked at. */
static int check_content(int hold, const struct subject *subject, struct stria_trouble *trouble)
{
    if (hold >= 0) {
        /* What was written past the block layer (passthrough) is not what the page cache remembers. Nobody
         * else has anything in it, so that nothing is lost where we may not empty it. */
        if (subject->device)
            (void)ioctl(hold, BLKFLSBUF, 0);
        return search_content(hold, subject, trouble);
    }
    int fd = open(subject->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "cannot open %s: %s", subject->path,
                                 stria_errno_text(errno));
    int code = search_content(fd, subject, trouble);
    close(fd);
    return code;
}

/* What --erase never allows. */
static int check_use(const struct subject *subject, struct stria_trouble *trouble)
{
    if (subject->device && stria_usage_is_root(subject->status.st_rdev))
        return stria_trouble_set(
            trouble, STRIA_ERR_REFUSED,
            "%s holds the running system's root file system and is never overwritten: use another "
            "drive",
            subject->path);
    int code = stria_usage_check(subject->path, &subject->status, trouble);
    if (code == STRIA_ERR_BUSY && trouble)
        trouble->code = STRIA_ERR_REFUSED;
    return code == STRIA_ERR_BUSY ? STRIA_ERR_REFUSED : code;
}

/* Keeps everybody else out of an open file or device. A failure of the locks themselves is none. */
static int lock_out(int fd, bool device)
{
    if (!device && flock(fd, LOCK_EX | LOCK_NB) != 0)
        return stria_code_of_errno(errno);
    const int code = stria_lock_try(fd, F_WRLCK, 0, STRIA_GUARD_LOCK_BYTES);
    return code == STRIA_ERR_UNSUPPORTED ? STRIA_OK : code;
}

static int cannot_hold(const char *path, bool opened, int error, struct stria_trouble *trouble)
{
    const int code = stria_code_of_errno(error);
    if (code == STRIA_ERR_BUSY || error == EAGAIN)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "%s is in use by another process: end that use first", path);
    return stria_trouble_set(trouble, code, "cannot %s %s: %s",
                             opened ? "keep others off" : "open for writing", path, stria_errno_text(error));
}

/* The subject is from then on what is held. */
static int take_hold(struct subject *subject, int *hold, struct stria_trouble *trouble)
{
    const struct stat looked_at = subject->status;
    int fd = open(subject->path, O_RDWR | O_CLOEXEC | O_NOCTTY | (subject->device ? O_EXCL : 0));
    if (fd < 0)
        return cannot_hold(subject->path, false, errno, trouble);
    int code = STRIA_OK;
    if (lock_out(fd, subject->device) != STRIA_OK || fstat(fd, &subject->status) != 0)
        code = cannot_hold(subject->path, true, errno, trouble);
    else if (subject->status.st_dev != looked_at.st_dev || subject->status.st_ino != looked_at.st_ino ||
             subject->status.st_rdev != looked_at.st_rdev)
        code =
            stria_trouble_set(trouble, STRIA_ERR_BUSY,
                              "%s has become something else meanwhile: end what changes it", subject->path);
    if (code != STRIA_OK) {
        close(fd);
        return code;
    }
    *hold = fd;
    return STRIA_OK;
}

static void learn_names(struct subject *subject)
{
    if (!stria_sysfs_serial(subject->status.st_rdev, subject->serial, sizeof(subject->serial)))
        subject->serial[0] = '\0';
    if (!stria_sysfs_wwid(subject->status.st_rdev, subject->wwid, sizeof(subject->wwid)))
        subject->wwid[0] = '\0';
}

/* hold: null if the drive is only looked at. */
static int check_subject(struct subject *subject, const struct stria_guard *guard, int *hold, bool *erase,
                         struct stria_trouble *trouble)
{
    if (subject->device)
        learn_names(subject);
    const bool allowed = may_be_erased(subject, guard);
    int code = check_use(subject, trouble);
    if (code == STRIA_OK && hold)
        code = take_hold(subject, hold, trouble);
    if (code != STRIA_OK)
        return code;
    code = subject->device ? check_partitions(subject, trouble) : STRIA_OK;
    if (code == STRIA_OK)
        code = check_content(hold ? *hold : -1, subject, trouble);
    *erase = code == STRIA_ERR_REFUSED && allowed;
    if (*erase || code == STRIA_OK)
        return STRIA_OK;
    if (hold) {
        close(*hold);
        *hold = -1;
    }
    return code;
}

/* Done with the device that the drive of another host is here. */
struct elsewhere {
    struct stria_fabrics_reach reach;
    struct stria_trouble reason;
};

static int reach(const char *path, struct elsewhere *elsewhere, struct stria_trouble *trouble)
{
    elsewhere->reason = (struct stria_trouble){0};
    return stria_fabrics_reach(path, &elsewhere->reach, trouble);
}

static int leave(const char *path, struct elsewhere *elsewhere, int code, struct stria_trouble *trouble)
{
    stria_fabrics_leave(&elsewhere->reach);
    return code == STRIA_OK ? STRIA_OK
                            : stria_trouble_set(trouble, code, "%s: %s", path, elsewhere->reason.sentence);
}

/* Memory, which holds nothing that is worth a guard. */
static bool is_memory(const char *path)
{
    const struct stria_backend *backend = stria_backend_find(path, NULL);
    return backend == &stria_backend_memory || backend == &stria_backend_null;
}

static int check(const char *path, const struct stria_guard *guard, int *hold, bool *erase,
                 struct stria_trouble *trouble)
{
    struct subject subject = {.path = path};
    struct elsewhere elsewhere;
    *erase = false;
    if (is_memory(path))
        return STRIA_OK;
    if (!stria_backend_find(path, trouble))
        return STRIA_ERR_UNSUPPORTED;
    if (stria_remote_is(path))
        return stria_remote_check(path, guard, erase, trouble);
    if (stria_fabrics_url_is(path)) {
        int code = reach(path, &elsewhere, trouble);
        if (code != STRIA_OK)
            return code;
        code = check(elsewhere.reach.device, guard, hold, erase, &elsewhere.reason);
        return leave(path, &elsewhere, code, trouble);
    }
    if (stat(path, &subject.status) != 0)
        return errno == ENOENT ? STRIA_OK
                               : stria_trouble_set(trouble, stria_code_of_errno(errno),
                                                   "cannot look at %s: %s", path, stria_errno_text(errno));
    subject.device = S_ISBLK(subject.status.st_mode);
    if (!subject.device && !S_ISREG(subject.status.st_mode))
        return stria_trouble_set(trouble, STRIA_ERR_REFUSED,
                                 "%s is neither a block device nor a file: a drive must be one of them",
                                 path);
    return check_subject(&subject, guard, hold, erase, trouble);
}

int stria_guard_check(const char *path, const struct stria_guard *guard, bool *erase,
                      struct stria_trouble *trouble)
{
    return check(stria_path_plain(path), guard, NULL, erase, trouble);
}

int stria_guard_take(const char *path, const struct stria_guard *guard, int *hold, bool *erase,
                     struct stria_trouble *trouble)
{
    *hold = -1;
    return check(stria_path_plain(path), guard, hold, erase, trouble);
}

int stria_guard_take_new(int fd, const char *path, struct stria_trouble *trouble)
{
    return lock_out(fd, false) == STRIA_OK ? STRIA_OK : cannot_hold(path, true, errno, trouble);
}

static bool forget_partition(dev_t partition, const char *name, void *user)
{
    char number[16];
    struct blkpg_partition which = {0};
    struct blkpg_ioctl_arg forget = {.op = BLKPG_DEL_PARTITION, .datalen = sizeof(which), .data = &which};
    (void)name;
    if (stria_sysfs_read(partition, "partition", number, sizeof(number))) {
        which.pno = (int)strtol(number, NULL, 10);
        (void)ioctl(*(const int *)user, BLKPG, &forget);
    }
    return true;
}

/* Before anything is wiped, so that a partition which somebody has come to use saves the disk. */
static int forget_partitions(int hold, const struct subject *subject, struct stria_trouble *trouble)
{
    for (unsigned i = 0; i < FORGET_TRIES; i++) {
        struct partition_list left = {0};
        stria_sysfs_each(subject->status.st_rdev, STRIA_SYSFS_PARTITIONS, forget_partition, &hold);
        stria_sysfs_each(subject->status.st_rdev, STRIA_SYSFS_PARTITIONS, list_partition, &left);
        if (left.count == 0)
            return STRIA_OK;
        /* Who only looks at one, as udev does, is soon gone. */
        stria_clock_sleep_until(stria_clock_ns() + FORGET_NS);
    }
    struct partition_list left = {0};
    stria_sysfs_each(subject->status.st_rdev, STRIA_SYSFS_PARTITIONS, list_partition, &left);
    return stria_trouble_set(
        trouble, STRIA_ERR_BUSY,
        "the kernel does not let go of the partitions of %s (%s): end what uses them, or "
        "run as root",
        subject->path, left.names);
}

int stria_guard_erase(const char *path, int hold, struct stria_trouble *trouble)
{
    struct subject subject = {.path = stria_path_plain(path)};
    if (stria_remote_is(subject.path))
        return stria_remote_erase(subject.path, trouble);
    if (fstat(hold, &subject.status) != 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "%s is not held, to be erased: %s",
                                 subject.path, stria_errno_text(errno));
    uint64_t bytes;
    subject.device = S_ISBLK(subject.status.st_mode);
    int code = stria_code_of_errno(-drive_bytes_of(hold, &subject, &bytes));
    if (code != STRIA_OK)
        return stria_trouble_set(trouble, code, "%s does not tell its size", subject.path);
    code = subject.device ? forget_partitions(hold, &subject, trouble) : STRIA_OK;
    if (code == STRIA_OK)
        code = stria_content_wipe(hold, bytes, 0, subject.path, trouble);
    /* Brings back what could not be wiped; where there is no table left, nothing. */
    if (subject.device)
        (void)ioctl(hold, BLKRRPART);
    return code;
}
