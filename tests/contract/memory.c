#include "backends/backend.h"

#include <criterion/criterion.h>
#include <string.h>

static int try(const char *path, bool exclusive, struct stria_drive **drive, struct stria_trouble *trouble)
{
    struct stria_drive_options options = {.path = path, .depth = 4, .exclusive = exclusive};
    return stria_drive_open(&options, drive, trouble);
}

static void refused(const char *path, int code, const char *phrase)
{
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    cr_expect(try(path, false, &drive, &trouble) == code, "%s", path);
    cr_expect(trouble.code == code && strstr(trouble.sentence, phrase), "%s: %s", path, trouble.sentence);
    cr_expect(drive == NULL);
}

Test(memory, a_named_memory_keeps_its_bytes_when_it_is_closed)
{
    _Alignas(4096) static char written[4096] = "still here", read[4096];
    struct stria_drive *drive;
    cr_assert(try("memory:kept:1MiB", true, &drive, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, 4096, 4096, written) == STRIA_OK);
    drive->backend->close(drive);
    cr_assert(try("memory:kept:1MiB", true, &drive, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, 4096, 4096, read) == STRIA_OK);
    cr_expect(memcmp(written, read, sizeof(read)) == 0);
    drive->backend->close(drive);
    cr_assert(try("memory:1MiB", true, &drive, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, 4096, 4096, read) == STRIA_OK);
    cr_expect(read[0] == 0, "memory without a name begins empty");
    drive->backend->close(drive);
}

Test(memory, a_name_opened_exclusively_is_busy)
{
    struct stria_drive *first, *second;
    struct stria_trouble trouble = {0};
    cr_assert(try("memory:mine:1MiB", true, &first, NULL) == STRIA_OK);
    cr_expect(try("memory:mine:1MiB", false, &second, &trouble) == STRIA_ERR_BUSY);
    cr_expect(strstr(trouble.sentence, "memory:mine:1MiB is in use") != NULL);
    first->backend->close(first);
    cr_assert(try("memory:mine:1MiB", false, &first, NULL) == STRIA_OK);
    cr_expect(try("memory:mine:1MiB", true, &second, NULL) == STRIA_ERR_BUSY);
    cr_assert(try("memory:mine:1MiB", false, &second, NULL) == STRIA_OK);
    first->backend->close(first);
    second->backend->close(second);
}

Test(memory, a_trim_of_odd_blocks_zeroes_just_them)
{
    _Alignas(4096) static char data[32768];
    struct stria_drive *drive;
    memset(data, 7, sizeof(data));
    cr_assert(try("memory:1MiB", true, &drive, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, 0, sizeof(data), data) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_TRIM, 512, 39 * 512ull, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, 0, sizeof(data), data) == STRIA_OK);
    for (size_t i = 0; i < sizeof(data); i++)
        cr_assert(data[i] == (i >= 512 && i < 512 + 39 * 512ull ? 0 : 7), "byte %zu", i);
    drive->backend->close(drive);
}

Test(backend, a_run_longer_than_one_transfer_is_cut)
{
    const uint64_t bytes = STRIA_TRANSFER_BYTES_MAX + 4096u;
    char *data = aligned_alloc(4096, bytes);
    struct stria_drive *drive;
    memset(data, 3, bytes);
    cr_assert(try("memory:65MiB", true, &drive, NULL) == STRIA_OK);
    cr_assert(stria_drive_run(drive, STRIA_IO_WRITE, 0, bytes, data) == STRIA_OK);
    memset(data, 0, bytes);
    cr_assert(stria_drive_run(drive, STRIA_IO_READ, 0, bytes, data) == STRIA_OK);
    cr_expect(data[0] == 3 && data[bytes - 1] == 3);
    cr_expect(stria_drive_run(drive, STRIA_IO_READ, 64u << 20, 2u << 20, data) == STRIA_ERR_INVALID);
    drive->backend->close(drive);
    free(data);
}

Test(backend, a_path_that_cannot_be_gets_a_sentence)
{
    refused("", STRIA_ERR_INVALID, "no path");
    refused("null:", STRIA_ERR_INVALID, "null:");
    refused("null:much", STRIA_ERR_INVALID, "much");
    refused("null:511", STRIA_ERR_INVALID, "smaller than one block");
    refused("memory:0", STRIA_ERR_INVALID, "smaller than one block");
    refused("memory:1MiBB", STRIA_ERR_INVALID, "1MiBB");
    refused("memory::1MiB", STRIA_ERR_INVALID, "memory:NAME:SIZE");
    refused("memory:a:1MiB:2", STRIA_ERR_INVALID, "memory:a:1MiB:2");
    refused("memory:1000000TiB", STRIA_ERR_NO_MEMORY, "smaller size");
}

Test(backend, a_queue_depth_out_of_range_gets_a_sentence)
{
    for (uint32_t depth = 0; depth <= STRIA_DEPTH_MAX + 1; depth += STRIA_DEPTH_MAX + 1) {
        struct stria_drive_options options = {.path = "null:1MiB", .depth = depth};
        struct stria_drive *drive;
        struct stria_trouble trouble = {0};
        cr_expect(stria_drive_open(&options, &drive, &trouble) == STRIA_ERR_INVALID);
        cr_expect(strstr(trouble.sentence, "1 to 256") != NULL, "%s", trouble.sentence);
    }
}
