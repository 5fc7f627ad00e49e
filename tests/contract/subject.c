#include "tests/contract/subject.h"

#include "backends/fake.h"
#include "backends/fault.h"
#include "backends/split.h"
#include "backends/threaded.h"
#include "tests/contract/loop.h"
#include "tests/nvme/host.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *subject_folder(void)
{
    const char *folder = getenv("TMPDIR");
    return folder && *folder ? folder : "/tmp";
}

void subject_file_make(const char *folder, uint64_t bytes, char path[128])
{
    snprintf(path, 128, "%s/stria-test-XXXXXX", folder);
    int fd = mkstemp(path);
    cr_assert(fd >= 0, "%s: %s", path, strerror(errno));
    cr_assert(bytes == 0 || posix_fallocate(fd, 0, (off_t)bytes) == 0, "%s has no room", folder);
    close(fd);
}

void *subject_memory(size_t bytes, uint64_t seed)
{
    uint64_t *words = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
    cr_assert(words);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (size_t i = 0; i < bytes / sizeof(*words); i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        words[i] = state;
    }
    return words;
}

/* Opens path; false where the system cannot, which is for the medium to say: no direct I/O. */
static bool path_open(struct subject *subject, const char *path, const struct subject_options *options)
{
    struct stria_drive_options drive = {
        .path = path,
        .direct = true,
        .exclusive = true,
        .read_only = options->read_only,
        .depth = options->depth,
        .unregistered = options->unregistered,
    };
    struct stria_trouble trouble = {0};
    int code = stria_drive_open(&drive, &subject->drive, &trouble);
    cr_assert(code == STRIA_OK || code == STRIA_ERR_UNSUPPORTED, "%s", trouble.sentence);
    return code == STRIA_OK;
}

static bool null_open(struct subject *subject, const struct subject_options *options)
{
    subject->forgets = true;
    snprintf(subject->path, sizeof(subject->path), "null:%llu", SUBJECT_BYTES);
    return path_open(subject, subject->path, options);
}

static bool memory_open(struct subject *subject, const struct subject_options *options)
{
    snprintf(subject->path, sizeof(subject->path), "memory:%llu", SUBJECT_BYTES);
    return path_open(subject, subject->path, options);
}

static bool file_open(struct subject *subject, const char *folder, const struct subject_options *options)
{
    if (access(folder, W_OK) != 0)
        return false;
    subject_file_make(folder, SUBJECT_BYTES, subject->file);
    snprintf(subject->path, sizeof(subject->path), "%s", subject->file);
    return path_open(subject, subject->path, options);
}

static bool disk_file_open(struct subject *subject, const struct subject_options *options)
{
    return file_open(subject, subject_folder(), options);
}

static bool tmpfs_file_open(struct subject *subject, const struct subject_options *options)
{
    return file_open(subject, "/dev/shm", options);
}

static bool loop_open(struct subject *subject, uint32_t block_bytes, const struct subject_options *options)
{
    subject_file_make(subject_folder(), SUBJECT_BYTES, subject->file);
    subject->loop = loop_attach(subject->file, block_bytes, subject->path);
    return subject->loop >= 0 && path_open(subject, subject->path, options);
}

static bool loop_512_open(struct subject *subject, const struct subject_options *options)
{
    return loop_open(subject, 512, options);
}

static bool loop_4096_open(struct subject *subject, const struct subject_options *options)
{
    return loop_open(subject, 4096, options);
}

/* Without a rule, and with one that never strikes. */
static bool faulty(struct subject *subject, bool opened, const char *script)
{
    struct stria_trouble trouble = {0};
    if (opened)
        cr_assert(stria_fault_wrap(subject->drive, script, 1, &subject->drive, &trouble) == STRIA_OK, "%s",
                  trouble.sentence);
    return opened;
}

static bool faulty_memory_open(struct subject *subject, const struct subject_options *options)
{
    return faulty(subject, memory_open(subject, options), "");
}

static bool faulty_file_open(struct subject *subject, const struct subject_options *options)
{
    return faulty(subject, disk_file_open(subject, options), "any,after=1h:eio");
}

/* A drive fast enough for the suite's patience, that still holds every request back. */
static bool fake(struct subject *subject, bool opened)
{
    const struct stria_model_parameters parameters = {
        .capacity_bytes = SUBJECT_BYTES,
        .link_bytes_per_s = 4000000000u,
        .law = {.kind = STRIA_WRITE_LAW_TABLE, .step_count = 1, .steps = {{SUBJECT_BYTES, 2000000000u}}},
        .read_bytes_per_s = 3000000000u,
        .write_latency_ns = 200000,
        .read_latency_ns = 100000,
    };
    struct stria_trouble trouble = {0};
    if (opened)
        cr_assert(stria_fake_wrap(subject->drive, &parameters, 1, NULL, &subject->drive, &trouble) ==
                      STRIA_OK,
                  "%s", trouble.sentence);
    return opened;
}

static bool fake_memory_open(struct subject *subject, const struct subject_options *options)
{
    return fake(subject, memory_open(subject, options));
}

static bool fake_file_open(struct subject *subject, const struct subject_options *options)
{
    return fake(subject, disk_file_open(subject, options));
}

/* Pieces of three blocks, of which fewer are in flight than the caller may ask for. */
static bool split(struct subject *subject, bool opened, const struct subject_options *options)
{
    struct stria_trouble trouble = {0};
    if (opened)
        cr_assert(stria_split_wrap(subject->drive, 3ull * subject->drive->traits.block_bytes, options->depth,
                                   &subject->drive, &trouble) == STRIA_OK,
                  "%s", trouble.sentence);
    return opened;
}

/* An NVMe namespace of SUBJECT_BYTES that may be overwritten; without one in the environment it is skipped.
 */
static bool passthrough_open(struct subject *subject, const struct subject_options *options)
{
    const char *device = getenv("STRIA_TEST_NVME");
    if (!device || !*device)
        return false;
    snprintf(subject->path, sizeof(subject->path), "passthrough:%s", device);
    const bool opened = path_open(subject, subject->path, options);
    snprintf(subject->path, sizeof(subject->path), "%s", device);
    return split(subject, opened, options);
}

static bool split_memory_open(struct subject *subject, const struct subject_options *options)
{
    return split(subject, memory_open(subject, options), options);
}

static bool split_file_open(struct subject *subject, const struct subject_options *options)
{
    return split(subject, disk_file_open(subject, options), options);
}

static bool threaded(struct subject *subject, bool opened)
{
    struct stria_trouble trouble = {0};
    if (opened)
        cr_assert(stria_threaded_wrap(subject->drive, NULL, NULL, &subject->drive, &trouble) == STRIA_OK,
                  "%s", trouble.sentence);
    return opened;
}

static bool nvme_on_model(struct subject *subject, const struct subject_options *options,
                          struct model_options model)
{
    struct stria_trouble trouble = {0};
    model.latency_ns = 5000;
    model.block_count = SUBJECT_BYTES / model.block_bytes;
    snprintf(subject->path, sizeof(subject->path), "vfio:0000:01:00.0");
    const struct stria_drive_options drive = {
        .path = subject->path,
        .read_only = options->read_only,
        .depth = options->depth,
        .unregistered = options->unregistered,
    };
    cr_assert(model_host_open(&model, &drive, &subject->drive, &trouble) == STRIA_OK, "%s", trouble.sentence);
    return true;
}

static bool nvme_cached_open(struct subject *subject, const struct subject_options *options)
{
    return nvme_on_model(subject, options, model_defaults());
}

static bool nvme_weak_open(struct subject *subject, const struct subject_options *options)
{
    struct model_options model = model_defaults();
    model.memory = MODEL_WEAK;
    model.block_bytes = 4096;
    model.mdts = 0;
    return nvme_on_model(subject, options, model);
}

static bool threaded_nvme_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, nvme_cached_open(subject, options));
}

static bool threaded_null_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, null_open(subject, options));
}

static bool threaded_memory_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, memory_open(subject, options));
}

static bool threaded_file_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, disk_file_open(subject, options));
}

static bool threaded_fake_file_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, fake_file_open(subject, options));
}

static bool threaded_split_file_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, split_file_open(subject, options));
}

static bool threaded_passthrough_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, passthrough_open(subject, options));
}

static bool threaded_loop_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, loop_512_open(subject, options));
}

static bool threaded_faulty_file_open(struct subject *subject, const struct subject_options *options)
{
    return threaded(subject, faulty_file_open(subject, options));
}

/* The drive that STRIA_TEST_VFIO names ("vfio:0000:01:00.0"), of SUBJECT_BYTES; it is overwritten. */
static bool vfio_open(struct subject *subject, const struct subject_options *options)
{
    const char *path = getenv("STRIA_TEST_VFIO");
    if (!path || !*path)
        return false;
    snprintf(subject->path, sizeof(subject->path), "%s", path);
    return path_open(subject, subject->path, options);
}

const struct subject_kind subject_kinds[] = {
    {"null", null_open, false},
    {"memory", memory_open, false},
    {"uring on a file on disk", disk_file_open, false},
    {"uring on a file on tmpfs", tmpfs_file_open, true},
    {"uring on a loop device of 512-byte blocks", loop_512_open, true},
    {"uring on a loop device of 4096-byte blocks", loop_4096_open, false},
    {"fault around memory", faulty_memory_open, false},
    {"fault around uring on a file", faulty_file_open, true},
    {"fake around memory", fake_memory_open, false},
    {"fake around uring on a file", fake_file_open, true},
    {"split around uring_cmd on an NVMe namespace", passthrough_open, false},
    {"threaded around split around uring_cmd on an NVMe namespace", threaded_passthrough_open, false},
    {"split around memory", split_memory_open, false},
    {"split around uring on a file", split_file_open, true},
    {"nvme on a controller that does not see the caches", nvme_cached_open, false},
    {"nvme on a controller of 4096-byte blocks", nvme_weak_open, false},
    {"threaded around nvme", threaded_nvme_open, false},
    {"threaded around null", threaded_null_open, true},
    {"threaded around memory", threaded_memory_open, true},
    {"threaded around uring on a file", threaded_file_open, false},
    {"threaded around fake around uring on a file", threaded_fake_file_open, true},
    {"threaded around split around uring on a file", threaded_split_file_open, true},
    {"threaded around uring on a loop device", threaded_loop_open, true},
    {"threaded around fault around uring on a file", threaded_faulty_file_open, true},
    {"nvme through VFIO", vfio_open, false},
};
const size_t subject_kind_count = sizeof(subject_kinds) / sizeof(subject_kinds[0]);

bool subject_wanted(size_t kind)
{
    const char *only = getenv("STRIA_TEST_SUBJECTS");
    return (!only || strstr(subject_kinds[kind].name, only)) &&
           !(subject_kinds[kind].again && getenv("STRIA_TEST_FEWER"));
}

bool subject_open(struct subject *subject, size_t kind, const struct subject_options *options)
{
    *subject = (struct subject){.loop = -1};
    if (subject_kinds[kind].open(subject, options))
        return true;
    subject_close(subject);
    return false;
}

void subject_close(struct subject *subject)
{
    if (subject->drive)
        subject->drive->backend->close(subject->drive);
    if (subject->loop >= 0)
        close(subject->loop);
    if (subject->file[0])
        unlink(subject->file);
    *subject = (struct subject){.loop = -1};
}
