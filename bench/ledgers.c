/* Makes an array whose ledgers are full and describe 2 TB, on sparse files: a recording that was cut off, so
 * that whoever opens the array has to look at every entry. For timing "stria ls".
 *
 * Overwrites every PATH. */
#include "core/ledger.h"
#include "core/superblock.h"
#include "engine/array.h"
#include "engine/create.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define TOTAL_BYTES   UINT64_C(2010000000000)
#define CHUNK_BYTES   (1u << 20)
#define COMMIT_NS     1000000u
#define BEGUN_MICROS  300000u
#define SUPER_OFFSET  65536
#define BATCH_ENTRIES 65536u

static _Noreturn void die(const char *sentence)
{
    fprintf(stderr, "stria_bench_ledgers: %s\n", sentence);
    exit(3);
}

static void configure(struct stria_array_config *config, int count, char **paths)
{
    snprintf(config->file, sizeof(config->file), "bench");
    snprintf(config->name, sizeof(config->name), "bench");
    config->policy = STRIA_POLICY_ADAPTIVE;
    config->chunk_bytes = CHUNK_BYTES;
    config->buffer_bytes = 64 * CHUNK_BYTES;
    config->depth = 8;
    config->commit_interval_ns = COMMIT_NS;
    config->write_deadline_ns = UINT64_C(60000000000);
    config->read_deadline_ns = UINT64_C(60000000000);
    for (int index = 0; index < count; index++) {
        struct stria_drive_config *drive = &config->drives[config->drive_count++];
        snprintf(drive->name, sizeof(drive->name), "d%d", index);
        snprintf(drive->path, sizeof(drive->path), "%s", paths[index]);
        int fd = open(drive->path, O_RDWR | O_CREAT | O_TRUNC, 0666);
        if (fd < 0 || ftruncate(fd, (off_t)(TOTAL_BYTES / (unsigned)count)) != 0)
            die("a file cannot be made");
        close(fd);
    }
}

/* In a process of its own, which ends without a word to the array. */
static void record_and_vanish(const struct stria_array_config *config)
{
    struct stria_trouble trouble;
    struct stria_array *array;
    struct stria_writer *writer;
    if (stria_array_create(config, NULL, NULL, &trouble) != STRIA_OK ||
        stria_array_open_config(config, true, &array, &trouble) != STRIA_OK ||
        stria_writer_begin(array, &(struct stria_writer_options){.name = "cut-off"}, &writer, &trouble) !=
            STRIA_OK)
        die(trouble.sentence);
    for (unsigned chunk = 0; chunk < config->drive_count; chunk++) {
        void *buffer;
        if (stria_writer_acquire(writer, UINT64_MAX, &buffer) != STRIA_OK)
            die("no buffer");
        stria_writer_commit(writer, buffer, CHUNK_BYTES);
    }
    usleep(BEGUN_MICROS);
    _exit(0);
}

static void fill_ledger(const char *path, uint32_t drive_count)
{
    static uint8_t page[STRIA_PAGE_BYTES], batch[BATCH_ENTRIES * STRIA_LEDGER_ENTRY_BYTES];
    struct stria_superblock super;
    struct stria_superblock_unknown unknown;
    int fd = open(path, O_RDWR);
    if (fd < 0 || pread(fd, page, sizeof(page), SUPER_OFFSET) != sizeof(page) ||
        stria_superblock_decode(page, &super, &unknown) != STRIA_SUPERBLOCK_VALID)
        die("a superblock cannot be read");
    const struct stria_ledger_binding binding = stria_superblock_binding(&super);
    for (uint64_t first = 0; first < super.geometry.extent_count; first += BATCH_ENTRIES) {
        uint64_t left = super.geometry.extent_count - first;
        size_t count = left < BATCH_ENTRIES ? (size_t)left : BATCH_ENTRIES;
        for (size_t i = 0; i < count; i++) {
            uint64_t sequence = (first + i) * drive_count + super.drive_index;
            const struct stria_ledger_entry entry = {.recording = 1,
                                                     .sequence = sequence,
                                                     .stream_offset = sequence * CHUNK_BYTES,
                                                     .captured_ns = sequence,
                                                     .length_bytes = CHUNK_BYTES,
                                                     .gap_drive = STRIA_GAP_DRIVE_NONE};
            stria_ledger_encode(batch + i * STRIA_LEDGER_ENTRY_BYTES, &entry, &binding, first + i);
        }
        const ssize_t bytes = (ssize_t)(count * STRIA_LEDGER_ENTRY_BYTES);
        if (pwrite(fd, batch, (size_t)bytes,
                   (off_t)stria_geometry_ledger_entry_offset(&super.geometry, first)) != bytes)
            die("a ledger cannot be written");
    }
    close(fd);
}

int main(int argc, char **argv)
{
    struct stria_array_config *config = calloc(1, sizeof(*config));
    if (argc < 2 || argc > (int)STRIA_DRIVES_MAX)
        die("usage: stria_bench_ledgers PATH...");
    configure(config, argc - 1, argv + 1);
    pid_t child = fork();
    if (child == 0)
        record_and_vanish(config);
    int status;
    if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
        die("no recording could be made");
    for (uint32_t index = 0; index < config->drive_count; index++)
        fill_ledger(config->drives[index].path, config->drive_count);
    free(config);
    return 0;
}
