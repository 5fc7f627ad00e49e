#include "backends/guard.h"

#include "backends/content.h"
#include "backends/fabrics.h"
#include "backends/list.h"
#include "backends/remote.h"
#include "backends/sysfs.h"
#include "backends/usage.h"
#include "support/lock.h"
#include "support/path.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

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

static int check_content(const struct subject *subject, struct stria_trouble *trouble)
{
    int fd = open(subject->path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno), "cannot open %s: %s", subject->path,
                                 stria_errno_text(errno));
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
    close(fd);
    if (found)
        return refuse_content(subject, content, trouble);
    return code == STRIA_OK ? STRIA_OK
                            : stria_trouble_set(trouble, code, "%s %s", subject->path, reason.sentence);
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

static int check_subject(struct subject *subject, const struct stria_guard *guard, bool *erase,
                         struct stria_trouble *trouble)
{
    if (subject->device &&
        !stria_sysfs_serial(subject->status.st_rdev, subject->serial, sizeof(subject->serial)))
        subject->serial[0] = '\0';
    if (subject->device && !stria_sysfs_wwid(subject->status.st_rdev, subject->wwid, sizeof(subject->wwid)))
        subject->wwid[0] = '\0';
    const bool allowed = may_be_erased(subject, guard);
    int code = check_use(subject, trouble);
    if (code != STRIA_OK)
        return code;
    code = subject->device ? check_partitions(subject, trouble) : STRIA_OK;
    if (code == STRIA_OK)
        code = check_content(subject, trouble);
    if (code != STRIA_ERR_REFUSED || !allowed)
        return code;
    *erase = true;
    return STRIA_OK;
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

int stria_guard_check(const char *path, const struct stria_guard *guard, bool *erase,
                      struct stria_trouble *trouble)
{
    path = stria_path_plain(path);
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
        code = stria_guard_check(elsewhere.reach.device, guard, erase, &elsewhere.reason);
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
    return check_subject(&subject, guard, erase, trouble);
}

int stria_guard_hold(const char *path, int *fd, struct stria_trouble *trouble)
{
    struct stat status;
    struct elsewhere elsewhere;
    *fd = -1;
    path = stria_path_plain(path);
    if (is_memory(path))
        return STRIA_OK;
    if (stria_remote_is(path))
        return STRIA_OK; /* opening it takes it from everybody else */
    if (stria_fabrics_url_is(path)) {
        int code = reach(path, &elsewhere, trouble);
        if (code != STRIA_OK)
            return code;
        code = stria_guard_hold(elsewhere.reach.device, fd, &elsewhere.reason);
        return leave(path, &elsewhere, code, trouble);
    }
    if (stat(path, &status) != 0 && errno == ENOENT)
        return STRIA_OK;
    const bool device = S_ISBLK(status.st_mode);
    *fd = open(path, O_RDWR | O_CLOEXEC | O_NOCTTY | (device ? O_EXCL : 0));
    int code = STRIA_ERR_SYSTEM; /* not opened, of a cause that errno tells */
    if (*fd >= 0 && (device || flock(*fd, LOCK_EX | LOCK_NB) == 0))
        code = stria_lock_try(*fd, F_WRLCK, 0, STRIA_GUARD_LOCK_BYTES);
    if (code == STRIA_OK || code == STRIA_ERR_UNSUPPORTED)
        return STRIA_OK;
    const int error = errno;
    const bool opened = *fd >= 0;
    if (opened)
        close(*fd);
    *fd = -1;
    if (code == STRIA_ERR_BUSY || error == EBUSY || error == EWOULDBLOCK)
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "%s is in use by another process: end that use first", path);
    return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot %s %s: %s",
                             opened ? "keep others off" : "open for writing", path, stria_errno_text(error));
}

int stria_guard_erase(const char *path, struct stria_trouble *trouble)
{
    path = stria_path_plain(path);
    struct subject subject = {.path = path};
    struct elsewhere elsewhere;
    if (stria_remote_is(path))
        return stria_remote_erase(path, trouble);
    if (stria_fabrics_url_is(path)) {
        int code = reach(path, &elsewhere, trouble);
        if (code != STRIA_OK)
            return code;
        code = stria_guard_erase(elsewhere.reach.device, &elsewhere.reason);
        return leave(path, &elsewhere, code, trouble);
    }
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &subject.status) != 0) {
        const int error = errno;
        if (fd >= 0)
            close(fd);
        return stria_trouble_set(trouble, stria_code_of_errno(error), "cannot open %s to erase it: %s", path,
                                 stria_errno_text(error));
    }
    uint64_t bytes;
    subject.device = S_ISBLK(subject.status.st_mode);
    int code = stria_code_of_errno(-drive_bytes_of(fd, &subject, &bytes));
    if (code == STRIA_OK)
        code = stria_content_wipe(fd, bytes, 0, path, trouble);
    else
        stria_trouble_set(trouble, code, "%s does not tell its size", path);
    /* Fails on devices that cannot have partitions, which is as good. */
    if (code == STRIA_OK && subject.device)
        (void)ioctl(fd, BLKRRPART);
    close(fd);
    return code;
}
