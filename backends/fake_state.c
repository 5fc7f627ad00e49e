#include "backends/fake_state.h"

#include "backends/fake.h"
#include "core/digest.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC        0x454b464149525453u /* "STRIAFKE" in little-endian order */
#define VERSION      1u
#define SLOT_STRIDE  16384
#define SLOTS        2u
#define CHECK_OFFSET offsetof(struct fake_state_slot, check)

_Static_assert(sizeof(struct fake_state_slot) <= SLOT_STRIDE, "a slot fits its place");
_Static_assert(sizeof(struct fake_state_slot) == CHECK_OFFSET + 8, "no padding behind the check");
_Static_assert(sizeof(struct stria_model_state) % 8 == 0, "the state is whole words");

static uint64_t check_of(const struct fake_state_slot *slot)
{
    return stria_digest_seeded(0, slot, CHECK_OFFSET);
}

/* A slot that was never written. */
static bool is_blank(const struct fake_state_slot *slot, size_t bytes)
{
    const char *byte = (const char *)slot;
    for (size_t i = 0; i < bytes; i++)
        if (byte[i])
            return false;
    return true;
}

/* Reads both slots and keeps the newest valid one. False if a slot holds something that is not ours. */
static bool read_slots(struct fake_state *file)
{
    struct fake_state_slot *slot = malloc(sizeof(*slot));
    bool ours = slot != NULL;
    for (unsigned i = 0; i < SLOTS && ours; i++) {
        const ssize_t got = pread(file->fd, slot, sizeof(*slot), (off_t)i * SLOT_STRIDE);
        if (got >= (ssize_t)sizeof(slot->magic))
            ours = slot->magic == MAGIC || is_blank(slot, (size_t)got);
        else
            ours = got == 0;
        if (ours && got == (ssize_t)sizeof(*slot) && slot->magic == MAGIC && slot->version == VERSION &&
            slot->check == check_of(slot) && (!file->found || slot->generation > file->generation)) {
            file->newest = *slot;
            file->found = true;
            file->generation = slot->generation;
            file->identity = slot->identity;
        }
    }
    free(slot);
    return ours;
}

/* Takes the room for both slots now, so that no full disk can keep a state from being stored later. */
static int take_room(const struct fake_state *file, const char *path, struct stria_trouble *trouble)
{
    int error = EINTR;
    while (error == EINTR)
        error = posix_fallocate(file->fd, 0, SLOTS * SLOT_STRIDE);
    if (error == 0)
        return STRIA_OK;
    return stria_trouble_set(trouble, stria_code_of_errno(error),
                             "no room for %s, the state of a fake drive, which takes %u KiB: %s", path,
                             SLOTS * SLOT_STRIDE / 1024, stria_errno_text(error));
}

int fake_state_open(struct fake_state *file, const char *path, bool read_only, bool create,
                    struct stria_trouble *trouble)
{
    *file = (struct fake_state){.read_only = read_only};
    const int flags = (read_only ? O_RDONLY : O_RDWR | (create ? O_CREAT : 0)) | O_CLOEXEC;
    file->fd = open(path, flags, 0666);
    if (file->fd < 0)
        return stria_trouble_set(trouble, stria_code_of_errno(errno),
                                 "cannot open %s, the state of a fake drive: %s", path,
                                 stria_errno_text(errno));
    int code = STRIA_OK;
    if (!read_slots(file))
        code = stria_trouble_set(
            trouble, STRIA_ERR_FORMAT,
            "%s is to hold the state of a fake drive and holds something else: move it away", path);
    else if (!read_only)
        code = take_room(file, path, trouble);
    if (code == STRIA_OK)
        return STRIA_OK;
    close(file->fd);
    file->fd = -1;
    return code;
}

int fake_state_save(struct fake_state *file, const struct stria_model_state *state)
{
    struct fake_state_slot *slot = &file->newest;
    if (file->read_only)
        return STRIA_OK;
    *slot = (struct fake_state_slot){
        .magic = MAGIC, .version = VERSION, .generation = ++file->generation, .identity = file->identity};
    slot->state = *state;
    slot->check = check_of(slot);
    const off_t offset = (off_t)((file->generation - 1) % SLOTS) * SLOT_STRIDE;
    const ssize_t written = pwrite(file->fd, slot, sizeof(*slot), offset);
    if (written < 0)
        return stria_code_of_errno(errno);
    return written == (ssize_t)sizeof(*slot) ? STRIA_OK : STRIA_ERR_NO_SPACE;
}

void fake_state_close(struct fake_state *file)
{
    if (file->fd < 0)
        return;
    if (!file->read_only)
        fdatasync(file->fd);
    close(file->fd);
    file->fd = -1;
}

uint64_t fake_state_identity(const char *drive_path)
{
    struct statx status;
    if (statx(AT_FDCWD, drive_path, 0, STATX_TYPE | STATX_INO | STATX_BTIME, &status) < 0 ||
        !S_ISREG(status.stx_mode))
        return 0;
    const uint64_t words[] = {status.stx_ino, (uint64_t)status.stx_btime.tv_sec, status.stx_btime.tv_nsec};
    return stria_digest_seeded(0, words, sizeof(words)) | 1;
}

bool stria_fake_state_path(const char *drive_path, char *out, size_t size)
{
    struct stat status;
    out[0] = '\0';
    if (stat(drive_path, &status) < 0 || !S_ISREG(status.st_mode))
        return false;
    if ((size_t)snprintf(out, size, "%s.fake", drive_path) < size)
        return true;
    out[0] = '\0';
    return false;
}

int stria_fake_state_read(const char *state_path, const struct stria_model_parameters *parameters,
                          struct stria_model *model, struct stria_trouble *trouble)
{
    struct fake_state *file = malloc(sizeof(*file));
    if (!file)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", state_path);
    int code = fake_state_open(file, state_path, true, false, trouble);
    if (code == STRIA_OK) {
        stria_model_init(model, parameters, 0);
        if (!file->found || !stria_model_load(model, &file->newest.state, 0))
            code = stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                     "%s holds no state of a fake drive of %llu bytes: it belongs to another "
                                     "profile or scale, and the "
                                     "drive begins anew when it is next recorded on",
                                     state_path, (unsigned long long)parameters->capacity_bytes);
        fake_state_close(file);
    }
    free(file);
    return code;
}

int stria_fake_state_write(const char *state_path, const struct stria_model *model,
                           struct stria_trouble *trouble)
{
    struct fake_state *file = malloc(sizeof(*file));
    if (!file)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", state_path);
    int code = fake_state_open(file, state_path, false, false, trouble);
    if (code == STRIA_OK) {
        code = fake_state_save(file, &model->state);
        if (code != STRIA_OK)
            stria_trouble_set(trouble, code, "cannot store the state of a fake drive in %s: %s", state_path,
                              stria_code_text(code));
        fake_state_close(file);
    }
    free(file);
    return code;
}
