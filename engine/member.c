#include "engine/member.h"

#include "engine/stack.h"
#include "support/pages.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        return stria_trouble_set(trouble, STRIA_ERR_DAMAGED,
                                 "%s was a drive of a Stria array, but both copies of its superblock are "
                                 "damaged: restore it from a copy, "
                                 "or read the rest of the array without it (where it was made longer since, "
                                 "its second copy lies before its old end: give it its old length back)",
                                 path);
    case STRIA_SUPERBLOCK_NOT_OURS:
    case STRIA_SUPERBLOCK_VALID:
        break;
    }
    return stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                             "%s carries no Stria array: check the path, or make an array with 'stria init'",
                             path);
}

/* Both copies as read, and what is in them. */
struct copies {
    uint8_t *pages; /* two */
    uint64_t offsets[2];
    struct stria_superblock supers[2];
    struct stria_superblock_unknown unknown[2];
    enum stria_superblock_verdict verdicts[2];
    bool readable[2];
};

/* False when the drive does not answer: it is not to be asked again then. */
static bool read_copies(struct stria_drive *drive, uint64_t deadline_ns, struct copies *copies)
{
    for (unsigned copy = 0; copy < 2; copy++) {
        uint8_t *page = copies->pages + copy * STRIA_PAGE_BYTES;
        int code = stria_drive_run_within(drive, STRIA_IO_READ, copies->offsets[copy], STRIA_PAGE_BYTES, page,
                                          deadline_ns);
        if (code == STRIA_ERR_TIMEOUT)
            return false;
        copies->readable[copy] = code == STRIA_OK;
        copies->verdicts[copy] = copies->readable[copy] ? stria_superblock_decode(page, &copies->supers[copy],
                                                                                  &copies->unknown[copy])
                                                        : STRIA_SUPERBLOCK_NOT_OURS;
        if (copy == 0)
            copies->offsets[1] = stria_superblock_second_offset(
                copies->verdicts[0] == STRIA_SUPERBLOCK_VALID ? &copies->supers[0] : NULL,
                drive->traits.drive_bytes, copies->offsets[1]);
    }
    return true;
}

static const char *lost_copy(const struct copies *copies, unsigned copy)
{
    if (!copies->readable[copy])
        return "not readable";
    if (copies->verdicts[copy] != STRIA_SUPERBLOCK_VALID)
        return "damaged";
    return memcmp(copies->pages, copies->pages + STRIA_PAGE_BYTES, STRIA_PAGE_BYTES) != 0 ? "out of date"
                                                                                          : NULL;
}

static int choose_copy(const struct stria_drive *drive, const struct copies *copies, unsigned *chosen,
                       struct stria_trouble *trouble)
{
    const char *path = drive->traits.path;
    const unsigned worse = copies->verdicts[1] > copies->verdicts[0];
    bool valid[2];
    for (unsigned copy = 0; copy < 2; copy++)
        valid[copy] = copies->verdicts[copy] == STRIA_SUPERBLOCK_VALID;
    if (!copies->readable[0] && !copies->readable[1])
        return stria_trouble_set(trouble, STRIA_ERR_IO, "%s: neither copy of the superblock can be read",
                                 path);
    int best =
        stria_superblock_choose(valid[0] ? &copies->supers[0] : NULL, valid[1] ? &copies->supers[1] : NULL);
    if (best < 0 || copies->verdicts[worse] == STRIA_SUPERBLOCK_NEWER)
        return complain(path, copies->verdicts[worse], &copies->unknown[worse], trouble);
    *chosen = (unsigned)best;
    if (copies->supers[best].geometry.drive_bytes > drive->traits.drive_bytes)
        return stria_trouble_set(trouble, STRIA_ERR_DAMAGED,
                                 "%s is %" PRIu64 " bytes long, but was %" PRIu64
                                 " when the array was made: it is truncated, put back the whole of it",
                                 path, drive->traits.drive_bytes, copies->supers[best].geometry.drive_bytes);
    return STRIA_OK;
}

int stria_member_identify(struct stria_drive *drive, uint64_t deadline_ns, struct stria_superblock *super,
                          bool *read_only, struct stria_member_copies *told, struct stria_trouble *trouble)
{
    struct copies copies = {0};
    unsigned chosen = 0;
    const char *path = drive->traits.path;
    if (stria_geometry_super_offsets(drive->traits.drive_bytes, copies.offsets) != STRIA_OK)
        return stria_trouble_set(trouble, STRIA_ERR_FORMAT,
                                 "%s is too small to carry a Stria array: check the path", path);
    copies.pages = aligned_alloc(STRIA_PAGE_BYTES, (size_t)2 * STRIA_PAGE_BYTES);
    if (!copies.pages)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "out of memory while opening %s", path);
    int code =
        read_copies(drive, deadline_ns, &copies)
            ? choose_copy(drive, &copies, &chosen, trouble)
            : stria_trouble_set(trouble, STRIA_ERR_TIMEOUT,
                                "%s does not answer: look at it with 'stria doctor', or leave it out", path);
    if (code == STRIA_OK) {
        *super = copies.supers[chosen];
        *read_only = copies.unknown[chosen].ro_compat != 0;
        *told = (struct stria_member_copies){.lost = lost_copy(&copies, !chosen),
                                             .lost_offset = copies.offsets[!chosen],
                                             .good_offset = copies.offsets[chosen]};
    }
    free(copies.pages);
    return code;
}

/* A limit of this process says nothing of the drive. */
static bool past_own_limit(const struct stria_member *member)
{
    const uint64_t writable = member->drive->traits.writable_bytes;
    return writable > 0 && member->copies.lost_offset + STRIA_PAGE_BYTES > writable;
}

static bool mend_copy(struct stria_member *member)
{
    uint8_t *page = aligned_alloc(STRIA_PAGE_BYTES, STRIA_PAGE_BYTES);
    const bool mended = page &&
                        stria_drive_run(member->drive, STRIA_IO_READ, member->copies.good_offset,
                                        STRIA_PAGE_BYTES, page) == STRIA_OK &&
                        stria_drive_run(member->drive, STRIA_IO_WRITE, member->copies.lost_offset,
                                        STRIA_PAGE_BYTES, page) == STRIA_OK &&
                        stria_drive_run(member->drive, STRIA_IO_FLUSH, 0, 0, NULL) == STRIA_OK;
    free(page);
    return mended;
}

void stria_member_mend(struct stria_member *member, bool writable)
{
    const struct stria_member_copies *copies = &member->copies;
    const size_t used = strlen(member->complaint);
    if (!member->drive || !copies->lost)
        return;
    const bool limited = writable && past_own_limit(member);
    const bool mended = writable && !limited && mend_copy(member);
    snprintf(member->complaint + used, sizeof(member->complaint) - used,
             "%s%s: the copy of its superblock at offset %" PRIu64 " %s %s: the other one is used, and %s",
             used > 0 ? "; " : "", member->drive->traits.path, copies->lost_offset, mended ? "was" : "is",
             copies->lost,
             mended     ? "the lost one was written anew"
             : limited  ? "the lost one lies past what this process may write"
             : writable ? "writing the lost one anew failed: replace the drive"
                        : "the lost one is written anew when the array is next opened for writing");
    if (mended)
        member->copies.lost = NULL;
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
    uint8_t *next = stria_pages_map(member->images_bytes);
    if (!next)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY,
                                 "%s: no memory for its ledger of %" PRIu64 " MiB",
                                 member->drive->traits.path, geometry->ledger_bytes >> 20);
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
    if (!member->abandoned)
        stria_pages_unmap(member->images, member->images_bytes);
    member->drive = NULL;
    member->images = member->checkpoints = member->ledger = member->staging = member->extent_state = NULL;
    member->halves[0] = member->halves[1] = NULL;
}
