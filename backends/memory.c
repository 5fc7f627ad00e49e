#include "backends/done_queue.h"
#include "backends/list.h"
#include "support/units.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PREFIX "memory:"

/* The bytes of one drive. A named one stays in the list until the process ends. */
struct memory_store {
    struct memory_store *next;
    char *base;
    uint64_t bytes;
    unsigned opens;
    bool exclusive;
    char name[STRIA_NAME_BYTES]; /* empty: belongs to one drive and goes with it */
};

struct memory_drive {
    struct stria_drive drive;
    struct memory_store *store;
    struct stria_done_queue done;
};

static pthread_mutex_t stores_lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_store *stores;

static bool memory_claims(const char *path)
{
    return strncmp(path, PREFIX, sizeof(PREFIX) - 1) == 0;
}

static int memory_path_parse(const char *path, char name[STRIA_NAME_BYTES], uint64_t *bytes,
                             struct stria_trouble *trouble)
{
    const char *size = path + sizeof(PREFIX) - 1;
    const char *colon = strchr(size, ':');
    name[0] = 0;
    if (colon) {
        size_t length = (size_t)(colon - size);
        if (length == 0 || length >= STRIA_NAME_BYTES)
            return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                     "%s: the name in memory:NAME:SIZE has 1 to %u characters", path,
                                     STRIA_NAME_BYTES - 1);
        memcpy(name, size, length);
        name[length] = 0;
        size = colon + 1;
    }
    struct stria_trouble inner = {0};
    if (stria_size_parse(size, bytes, &inner) < 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID, "%s: %s", path, inner.sentence);
    *bytes -= *bytes % STRIA_BLOCK_BYTES_MIN;
    if (*bytes == 0)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s is smaller than one block of %u bytes: write a larger size", path,
                                 STRIA_BLOCK_BYTES_MIN);
    return STRIA_OK;
}

static struct memory_store *store_new(const char *name, uint64_t bytes)
{
    struct memory_store *store = calloc(1, sizeof(*store));
    if (!store)
        return NULL;
    store->base =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (store->base == MAP_FAILED) {
        free(store);
        return NULL;
    }
    store->bytes = bytes;
    snprintf(store->name, sizeof(store->name), "%s", name);
    return store;
}

static struct memory_store *store_find(const char *name)
{
    for (struct memory_store *store = stores; store; store = store->next)
        if (strcmp(store->name, name) == 0)
            return store;
    return NULL;
}

/* Finds or makes the store and counts its new user. The lock is held. */
static int store_acquire(const struct stria_drive_options *options, const char *name, uint64_t bytes,
                         struct memory_store **out, struct stria_trouble *trouble)
{
    struct memory_store *store = *name ? store_find(name) : NULL;
    if (store && store->bytes != bytes)
        return stria_trouble_set(trouble, STRIA_ERR_INVALID,
                                 "%s: memory of this name has %llu bytes: write that size, or another name",
                                 options->path, (unsigned long long)store->bytes);
    if (store && store->opens && (store->exclusive || options->exclusive))
        return stria_trouble_set(trouble, STRIA_ERR_BUSY,
                                 "%s is in use by this process: close it there, or choose another name",
                                 options->path);
    if (!store) {
        store = store_new(name, bytes);
        if (!store)
            return stria_trouble_set(
                trouble, STRIA_ERR_NO_MEMORY,
                "%s: the system gives no such amount of memory: %s; write a smaller size", options->path,
                stria_errno_text(errno));
        if (*name) {
            store->next = stores;
            stores = store;
        }
    }
    store->opens++;
    store->exclusive = options->exclusive;
    *out = store;
    return STRIA_OK;
}

static void store_release(struct memory_store *store)
{
    pthread_mutex_lock(&stores_lock);
    store->opens--;
    pthread_mutex_unlock(&stores_lock);
    if (store->name[0])
        return;
    munmap(store->base, store->bytes);
    free(store);
}

static int memory_open(const struct stria_drive_options *options, struct stria_drive **drive,
                       struct stria_trouble *trouble)
{
    char name[STRIA_NAME_BYTES];
    uint64_t bytes = 0;
    int code = memory_path_parse(options->path, name, &bytes, trouble);
    if (code < 0)
        return code;
    struct memory_drive *memory = calloc(1, sizeof(*memory));
    if (!memory)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "%s: out of memory", options->path);
    pthread_mutex_lock(&stores_lock);
    code = store_acquire(options, name, bytes, &memory->store, trouble);
    pthread_mutex_unlock(&stores_lock);
    if (code < 0) {
        free(memory);
        return code;
    }
    memory->drive.backend = &stria_backend_memory;
    memory->drive.traits = (struct stria_traits){
        .drive_bytes = bytes,
        .block_bytes = STRIA_BLOCK_BYTES_MIN,
        .memory_align_bytes = STRIA_BLOCK_BYTES_MIN,
        .transfer_bytes_max = STRIA_TRANSFER_BYTES_MAX,
        .depth_max = options->depth,
        .trims = true,
        .read_only = options->read_only,
        .registered = true,
    };
    snprintf(memory->drive.traits.path, sizeof(memory->drive.traits.path), "%s", options->path);
    *drive = &memory->drive;
    return STRIA_OK;
}

static int memory_attach(struct stria_drive *drive, const struct stria_region *regions, unsigned count)
{
    (void)drive, (void)regions, (void)count;
    return STRIA_OK;
}

/* Whole pages go back to the system, so that a trimmed drive costs no memory; the rest is zeroed. */
static void memory_trim(char *base, uint64_t bytes)
{
    const uint64_t head = (STRIA_PAGE_BYTES - (uintptr_t)base % STRIA_PAGE_BYTES) % STRIA_PAGE_BYTES;
    const uint64_t pages = bytes > head ? (bytes - head) / STRIA_PAGE_BYTES * STRIA_PAGE_BYTES : 0;
    if (!pages || madvise(base + head, pages, MADV_DONTNEED) < 0) {
        memset(base, 0, bytes);
        return;
    }
    memset(base, 0, head);
    memset(base + head + pages, 0, bytes - head - pages);
}

static int memory_submit(struct stria_drive *drive, const struct stria_io *io)
{
    struct memory_drive *memory = (struct memory_drive *)drive;
    int code = stria_io_check(drive, io);
    if (code < 0)
        return code;
    if (memory->done.count == drive->traits.depth_max)
        return STRIA_ERR_FULL;
    struct stria_done done = {.tag = io->tag, .bytes = io->length};
    switch (io->op) {
    case STRIA_IO_READ:
        memcpy(io->data, memory->store->base + io->offset, io->length);
        break;
    case STRIA_IO_WRITE:
        memcpy(memory->store->base + io->offset, io->data, io->length);
        break;
    case STRIA_IO_TRIM:
        memory_trim(memory->store->base + io->offset, io->length);
        done.bytes = 0;
        break;
    case STRIA_IO_FLUSH:
        done.bytes = 0;
        break;
    }
    stria_done_queue_put(&memory->done, &done);
    return STRIA_OK;
}

static int memory_poll(struct stria_drive *drive, struct stria_done *done, unsigned max, uint64_t wait_ns)
{
    struct memory_drive *memory = (struct memory_drive *)drive;
    (void)wait_ns;
    return (int)stria_done_queue_take(&memory->done, done, max);
}

static void memory_close(struct stria_drive *drive)
{
    struct memory_drive *memory = (struct memory_drive *)drive;
    store_release(memory->store);
    free(memory);
}

const struct stria_backend stria_backend_memory = {
    .name = "memory",
    .claims = memory_claims,
    .open = memory_open,
    .attach = memory_attach,
    .submit = memory_submit,
    .poll = memory_poll,
    .close = memory_close,
};
