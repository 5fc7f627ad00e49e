#define _GNU_SOURCE
#include "engine/member.h"

#include "engine/stack.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* One copy into a page; false when it cannot be read at all. */
static bool read_copy(struct stria_drive *drive, uint64_t offset, void *page)
{
    return stria_drive_run(drive, STRIA_IO_READ, offset, STRIA_PAGE_BYTES, page) == STRIA_OK;
}

static int complain(const char *path, enum stria_superblock_verdict verdict,
                    const struct stria_superblock_unknown *unknown, struct stria_trouble *trouble)
{
    switch (verdict) {
    case STRIA_SUPERBLOCK_NEWER:
        if (unknown->version)
            return stria_trouble_set(
                trouble, STRIA_ERR_VERSION,
                "%s is in format version %u, this Stria reads up to version %u: use a newer Stria", path,
                unknown->version, STRIA_FORMAT_VERSION);
        return stria_trouble_set(trouble, STRIA_ERR_VERSION,
                                 "%s needs format features 0x%" PRIx64
                                 " that this Stria does not know: use a newer Stria",
                                 path, unknown->incompat);
    case STRIA_SUPERBLOCK_DAMAGED:
        return stria_trouble_set(
            trouble, STRIA_ERR_FORMAT,
            "%s was a drive of a Stria array, but both copies of its superblock are damaged", path);
    case STRIA_SUPERBLOCK_NOT_OURS:
    case STRIA_SUPERBLOCK_VALID:
        break;
    }
    return stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                             "%s carries no Stria array: check the path, or make an array with 'stria init'",
                             path);
}

int stria_member_identify(struct stria_drive *drive, struct stria_superblock *super, bool *read_only,
                          struct stria_trouble *trouble)
{
    uint64_t offsets[2];
    struct stria_superblock copies[2];
    struct stria_superblock_unknown unknown[2] = {{0}, {0}};
    bool valid[2] = {false, false};
    enum stria_superblock_verdict worst = STRIA_SUPERBLOCK_NOT_OURS;
    struct stria_superblock_unknown worst_unknown = {0};
    bool readable = false;
    const char *path = drive->traits.path;
    if (stria_geometry_super_offsets(drive->traits.drive_bytes, offsets) != STRIA_OK)
        return stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                 "%s is too small to carry a Stria array: check the path", path);
    uint8_t *page = aligned_alloc(STRIA_PAGE_BYTES, STRIA_PAGE_BYTES);
    if (!page)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while opening %s", path);
    for (unsigned copy = 0; copy < 2; copy++) {
        if (!read_copy(drive, offsets[copy], page))
            continue;
        readable = true;
        enum stria_superblock_verdict verdict = stria_superblock_decode(page, &copies[copy], &unknown[copy]);
        valid[copy] = verdict == STRIA_SUPERBLOCK_VALID;
        if (verdict > worst) {
            worst = verdict;
            worst_unknown = unknown[copy];
        }
    }
    free(page);
    if (!readable)
        return stria_trouble_set(trouble, STRIA_ERR_IO, "%s: neither copy of the superblock can be read",
                                 path);
    int chosen = stria_superblock_choose(valid[0] ? &copies[0] : NULL, valid[1] ? &copies[1] : NULL);
    if (chosen < 0 || worst == STRIA_SUPERBLOCK_NEWER)
        return complain(path, worst, &worst_unknown, trouble);
    *super = copies[chosen];
    *read_only = unknown[chosen].ro_compat != 0;
    if (super->geometry.drive_bytes > drive->traits.drive_bytes)
        return stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                 "%s is %" PRIu64 " bytes long, but was %" PRIu64
                                 " when the array was made: it is truncated",
                                 path, drive->traits.drive_bytes, super->geometry.drive_bytes);
    return STRIA_OK;
}

size_t stria_member_half_bytes(const struct stria_member *member)
{
    return (size_t)(member->super.geometry.catalogue_bytes / 2);
}

int stria_member_map(struct stria_member *member, struct stria_trouble *trouble)
{
    const struct stria_geometry *geometry = &member->super.geometry;
    size_t half_bytes = stria_member_half_bytes(member);
    size_t state_bytes = (geometry->extent_count + STRIA_PAGE_BYTES - 1) & ~(uint64_t)(STRIA_PAGE_BYTES - 1);
    member->images_bytes =
        STRIA_CHECKPOINT_BYTES + 2 * half_bytes + geometry->ledger_bytes + STRIA_STAGING_BYTES + state_bytes;
    uint8_t *next = mmap(NULL, member->images_bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (next == MAP_FAILED)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY,
                                 "%s: no memory for its ledger of %" PRIu64 " MiB",
                                 member->drive->traits.path, geometry->ledger_bytes >> 20);
    /* A large drive's ledger is read whole: with small pages their faults take as long as the reading. */
    madvise(next, member->images_bytes, MADV_HUGEPAGE);
    member->images = next;
    member->checkpoints = next;
    next += STRIA_CHECKPOINT_BYTES;
    member->halves[0] = next;
    member->halves[1] = next + half_bytes;
    next += 2 * half_bytes;
    member->ledger = next;
    next += geometry->ledger_bytes;
    member->staging = next;
    member->extent_state = next + STRIA_STAGING_BYTES;
    return STRIA_OK;
}

void stria_member_close(struct stria_member *member)
{
    stria_stack_close(member->drive);
    if (member->images && !member->abandoned)
        munmap(member->images, member->images_bytes);
    member->drive = NULL;
    member->images = NULL;
}
