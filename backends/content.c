#include "backends/content.h"

#include "core/geometry.h"

#include <blkid/blkid.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A device has a handful of signatures at most; a probe that finds ever more is not believed. */
#define SIGNATURES_MAX 32u

#define SCAN_BYTES (1u << 20)

static void append(char *text, size_t size, const char *separator, const char *more)
{
    const size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? separator : "", more);
}

static const char *value_of(blkid_probe probe, const char *name)
{
    const char *value;
    return blkid_probe_lookup_value(probe, name, &value, NULL) == 0 && value[0] ? value : NULL;
}

static const char *usage_in_words(const char *usage)
{
    static const char *const words[][2] = {
        {"filesystem", "file system"}, {"raid", "RAID or LVM member"}, {"crypto", "encrypted volume"}};
    for (size_t i = 0; usage && i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(usage, words[i][0]) == 0)
            return words[i][1];
    return "signature";
}

static void describe_signature(blkid_probe probe, char *text, size_t size)
{
    char one[256];
    const char *type = value_of(probe, "TYPE"), *table = value_of(probe, "PTTYPE");
    const char *label = value_of(probe, "LABEL"), *uuid = value_of(probe, "UUID");
    if (type) {
        const char *article = strchr("aeiou", type[0]) ? "an" : "a",
                   *what = usage_in_words(value_of(probe, "USAGE"));
        int used = snprintf(one, sizeof(one), "%s %.60s %s", article, type, what);
        if (label)
            snprintf(one + used, sizeof(one) - (size_t)used, " labelled '%.80s'", label);
        else if (uuid)
            snprintf(one + used, sizeof(one) - (size_t)used, " with UUID %.80s", uuid);
    } else {
        snprintf(one, sizeof(one), "a partition table (%.60s)", table ? table : "of an unknown kind");
    }
    append(text, size, " and ", one);
}

/* libblkid on this file; null when memory runs out or the file cannot be read. */
static blkid_probe make_probe(int fd, uint32_t block_bytes)
{
    blkid_probe probe = blkid_new_probe();
    if (!probe)
        return NULL;
    if (blkid_probe_set_device(probe, fd, 0, 0) != 0 ||
        (block_bytes && blkid_probe_set_sectorsize(probe, block_bytes) != 0) ||
        blkid_probe_enable_superblocks(probe, 1) != 0 ||
        blkid_probe_set_superblocks_flags(probe, BLKID_SUBLKS_DEFAULT | BLKID_SUBLKS_USAGE |
                                                     BLKID_SUBLKS_MAGIC | BLKID_SUBLKS_BADCSUM) != 0 ||
        blkid_probe_enable_partitions(probe, 1) != 0 ||
        blkid_probe_set_partitions_flags(probe, BLKID_PARTS_MAGIC | BLKID_PARTS_FORCE_GPT) != 0) {
        blkid_free_probe(probe);
        return NULL;
    }
    return probe;
}

static int cannot_probe(struct stria_trouble *trouble)
{
    return stria_trouble_set(trouble, STRIA_ERR_IO,
                             "cannot be searched for file systems and partition tables");
}

static int describe_signatures(int fd, uint32_t block_bytes, char *text, size_t size,
                               struct stria_trouble *trouble)
{
    blkid_probe probe = make_probe(fd, block_bytes);
    if (!probe)
        return cannot_probe(trouble);
    int found = 0;
    for (unsigned i = 0; i < SIGNATURES_MAX && (found = blkid_do_probe(probe)) == 0; i++)
        describe_signature(probe, text, size);
    blkid_free_probe(probe);
    return found < 0 ? cannot_probe(trouble) : STRIA_OK;
}

/* Reads all of it or nothing; what lies beyond the end reads as nothing. */
static bool read_page(int fd, uint64_t offset, uint8_t page[STRIA_PAGE_BYTES])
{
    return pread(fd, page, STRIA_PAGE_BYTES, (off_t)offset) == (ssize_t)STRIA_PAGE_BYTES;
}

static void print_uuid(char out[37], const uint8_t uuid[STRIA_UUID_BYTES])
{
    char *end = out;
    for (unsigned i = 0; i < STRIA_UUID_BYTES; i++)
        end += sprintf(end, i == 4 || i == 6 || i == 8 || i == 10 ? "-%02x" : "%02x", uuid[i]);
}

struct own_copies {
    struct stria_superblock newest; /* meaningful if valid */
    bool valid, damaged, newer;
};

/* Reads one copy; true if it is valid. */
static bool read_copy(int fd, uint64_t offset, struct stria_superblock *super, struct own_copies *own)
{
    uint8_t page[STRIA_PAGE_BYTES];
    struct stria_superblock_unknown unknown;
    if (!read_page(fd, offset, page))
        return false;
    const enum stria_superblock_verdict verdict = stria_superblock_decode(page, super, &unknown);
    own->damaged |= verdict == STRIA_SUPERBLOCK_DAMAGED;
    own->newer |= verdict == STRIA_SUPERBLOCK_NEWER;
    return verdict == STRIA_SUPERBLOCK_VALID;
}

unsigned stria_content_copies(int fd, uint64_t drive_bytes, uint64_t offsets[3])
{
    struct stria_superblock first;
    struct own_copies own = {0};
    if (stria_geometry_super_offsets(drive_bytes, offsets) != STRIA_OK)
        return 0;
    const bool valid = read_copy(fd, offsets[0], &first, &own);
    offsets[2] = stria_superblock_second_offset(valid ? &first : NULL, drive_bytes, offsets[1]);
    return offsets[2] == offsets[1] ? 2 : 3;
}

static void read_own(int fd, uint64_t drive_bytes, struct own_copies *own)
{
    uint64_t offsets[3];
    struct stria_superblock first, second;
    *own = (struct own_copies){0};
    const unsigned count = stria_content_copies(fd, drive_bytes, offsets);
    if (count == 0)
        return;
    const bool first_valid = read_copy(fd, offsets[0], &first, own);
    const bool second_valid = read_copy(fd, offsets[count - 1], &second, own);
    const int chosen = stria_superblock_choose(first_valid ? &first : NULL, second_valid ? &second : NULL);
    own->valid = chosen >= 0;
    if (own->valid)
        own->newest = chosen == 0 ? first : second;
}

bool stria_content_superblock(int fd, uint64_t drive_bytes, struct stria_superblock *super)
{
    struct own_copies own;
    read_own(fd, drive_bytes, &own);
    if (own.valid)
        *super = own.newest;
    return own.valid;
}

/* One copy of the superblock suffices to make it one of ours, and a damaged one may still be repaired. */
static void describe_own(int fd, uint64_t drive_bytes, char *text, size_t size)
{
    struct own_copies own;
    read_own(fd, drive_bytes, &own);
    if (own.valid) {
        char uuid[37], one[320];
        print_uuid(uuid, own.newest.array_uuid);
        snprintf(one, sizeof(one),
                 "the recordings of drive '%s' (%u of %u) of Stria's array '%s' with UUID %s",
                 own.newest.drive_name, own.newest.drive_index + 1, own.newest.drive_count,
                 own.newest.array_name, uuid);
        append(text, size, " and ", one);
    } else if (own.newer) {
        append(text, size, " and ", "the recordings of an array made by a newer Stria");
    } else if (own.damaged) {
        append(text, size, " and ",
               "a damaged superblock of Stria's, whose recordings may still be readable");
    }
}

static bool is_zero(const unsigned char *data, size_t bytes)
{
    return bytes == 0 || (data[0] == 0 && memcmp(data, data + 1, bytes - 1) == 0);
}

/* Holes and unwritten allocations are skipped. STRIA_OK, with *found. */
static int find_any_byte(int fd, bool *found, struct stria_trouble *trouble)
{
    unsigned char *buffer = malloc(SCAN_BYTES);
    if (!buffer)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory");
    off_t offset = 0;
    ssize_t got = 1;
    *found = false;
    while (!*found && got > 0) {
        off_t data = lseek(fd, offset, SEEK_DATA);
        if (data < 0 && errno == ENXIO)
            break;
        offset = data < 0 ? offset : data;
        got = pread(fd, buffer, SCAN_BYTES, offset);
        *found = got > 0 && !is_zero(buffer, (size_t)got);
        offset += got;
    }
    const int error = errno;
    free(buffer);
    return got < 0 ? stria_trouble_set(trouble, stria_code_of_errno(error), "cannot be read: %s",
                                       stria_errno_text(error))
                   : STRIA_OK;
}

int stria_content_describe(int fd, uint64_t drive_bytes, uint32_t block_bytes, bool whole_file, bool *found,
                           char *text, size_t size, struct stria_trouble *trouble)
{
    text[0] = '\0';
    *found = false;
    if (drive_bytes == 0)
        return STRIA_OK;
    describe_own(fd, drive_bytes, text, size);
    int code = describe_signatures(fd, block_bytes, text, size, trouble);
    *found = text[0] != '\0';
    if (code != STRIA_OK || *found || !whole_file)
        return code;
    code = find_any_byte(fd, found, trouble);
    if (*found)
        snprintf(text, size, "data of an unknown kind");
    return code;
}

static int wipe_signatures(int fd, uint32_t block_bytes)
{
    blkid_probe probe = make_probe(fd, block_bytes);
    if (!probe)
        return STRIA_ERR_IO;
    int found = 0, wiped = 0;
    for (unsigned i = 0; i < SIGNATURES_MAX && wiped == 0 && (found = blkid_do_probe(probe)) == 0; i++)
        wiped = blkid_do_wipe(probe, 0);
    blkid_free_probe(probe);
    return wiped == 0 && found == 1 ? STRIA_OK : STRIA_ERR_IO;
}

static int wipe_own(int fd, uint64_t drive_bytes)
{
    static const uint8_t zeros[STRIA_PAGE_BYTES];
    uint64_t offsets[3];
    const unsigned count = stria_content_copies(fd, drive_bytes, offsets);
    for (unsigned copy = 0; copy < count; copy++)
        if (pwrite(fd, zeros, sizeof(zeros), (off_t)offsets[copy]) != (ssize_t)sizeof(zeros))
            return STRIA_ERR_IO;
    return STRIA_OK;
}

int stria_content_wipe(int fd, uint64_t drive_bytes, uint32_t block_bytes, const char *name,
                       struct stria_trouble *trouble)
{
    if (drive_bytes == 0)
        return STRIA_OK;
    int code = wipe_signatures(fd, block_bytes);
    if (code == STRIA_OK)
        code = wipe_own(fd, drive_bytes);
    if (code == STRIA_OK && fsync(fd) != 0)
        code = stria_code_of_errno(errno);
    if (code != STRIA_OK)
        return stria_trouble_set(trouble, code, "cannot wipe the signatures from %s: %s", name,
                                 stria_code_text(code));
    return STRIA_OK;
}
