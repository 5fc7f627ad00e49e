#include "tests/fuzz/image_damage.h"

#include "core/bits.h"
#include "core/catalogue_cell.h"
#include "core/digest.h"
#include "tests/fuzz/fuzz.h"

#include <stdlib.h>
#include <string.h>

enum {
    DAMAGE_FLIP,
    DAMAGE_BLANK,
    DAMAGE_NOISE,
    DAMAGE_COPY,
    DAMAGE_STALE,
    DAMAGE_ABSENT,
    DAMAGE_FORGED_LEDGER,
    DAMAGE_FORGED_CATALOGUE,
    DAMAGE_FORGED_CHECKPOINT,
    DAMAGE_FORGED_SUPERBLOCK,
    DAMAGE_KINDS
};

static struct image_damaged damaged;

struct region {
    uint64_t offset, bytes;
};

/* The parts of a drive; the last is all of it. */
static struct region region_of(uint32_t drive, uint8_t which)
{
    const struct stria_geometry *geometry = &image_made()->supers[drive].geometry;
    switch (which % 8) {
    case 0:
        return (struct region){geometry->super_offset[0], STRIA_PAGE_BYTES};
    case 1:
        return (struct region){geometry->super_offset[1], STRIA_PAGE_BYTES};
    case 2:
        return (struct region){geometry->checkpoint_offset, STRIA_CHECKPOINT_BYTES};
    case 3:
        return (struct region){stria_geometry_catalogue_half_offset(geometry, image_made()->epoch), 4096};
    case 4:
        return (struct region){geometry->catalogue_offset, geometry->catalogue_bytes};
    case 5:
        return (struct region){geometry->ledger_offset, 16 * STRIA_LEDGER_ENTRY_BYTES};
    case 6:
        return (struct region){geometry->data_offset, geometry->extent_count * geometry->chunk_bytes};
    default:
        return (struct region){0, IMAGE_DRIVE_BYTES};
    }
}

/* Where a damage lies, in the units of what it hits: 16 bits reach every place of a large region in steps. */
static uint64_t place_in(struct region region, uint16_t at)
{
    return region.bytes <= UINT16_MAX + 1u ? at % region.bytes : (uint64_t)at * region.bytes >> 16;
}

static uint64_t length_of(struct region region, uint64_t at, uint8_t code)
{
    static const uint32_t lengths[] = {1, 8, 64, 128, 512, 4096, 32768, 65536};
    const uint64_t wanted = (uint64_t)lengths[code & 7] * (1u + (code >> 3) % 4);
    return wanted < region.bytes - at ? wanted : region.bytes - at;
}

static void note(uint32_t drive, uint64_t at, uint64_t bytes)
{
    const struct stria_geometry *geometry = &image_made()->supers[drive].geometry;
    damaged.touched[drive] = true;
    for (unsigned copy = 0; copy < 2; copy++)
        damaged.identity |=
            at < geometry->super_offset[copy] + STRIA_PAGE_BYTES && at + bytes > geometry->super_offset[copy];
}

/* kind, drive and its parts, region, place (2), length, then two bytes that mean what the kind wants. */
static void damage_range(const uint8_t *in)
{
    const uint32_t drive = in[1] & 1;
    const struct region region = region_of(drive, in[2]);
    const uint64_t at = place_in(region, stria_load_u16(in + 3));
    const uint64_t bytes = length_of(region, at, in[5]);
    uint8_t *to = damaged.drives[drive] + region.offset + at;
    note(drive, region.offset + at, bytes);
    struct stria_random random;
    switch (in[0] % DAMAGE_KINDS) {
    case DAMAGE_FLIP:
        *to ^= (uint8_t)(1u << (in[6] & 7));
        break;
    case DAMAGE_BLANK:
        memset(to, in[6] & 1 ? 0xff : 0, bytes);
        break;
    case DAMAGE_NOISE:
        stria_random_seed(&random, stria_load_u16(in + 6));
        for (uint64_t i = 0; i < bytes; i++)
            to[i] = (uint8_t)stria_random_next(&random);
        break;
    case DAMAGE_STALE:
        memcpy(to, image_made()->stale[drive] + region.offset + at, bytes);
        break;
    default: {
        const uint32_t other = in[1] >> 1 & 1;
        const struct region source = region_of(other, in[1] & 4 ? in[2] : in[1] >> 4);
        const uint64_t from = place_in(source, stria_load_u16(in + 6));
        const uint64_t most = source.bytes - from < bytes ? source.bytes - from : bytes;
        memcpy(to, image_made()->drives[other] + source.offset + from, most);
        break;
    }
    }
}

/* Writes a value of 1, 4 or 8 bytes into a field. */
static void forge(uint8_t *structure, size_t at, const uint8_t *in)
{
    static const uint64_t telling[] = {0, 1, 2, 3, INT64_MAX, UINT64_MAX, (uint64_t)1 << 32, 1 << 16};
    const uint64_t old = stria_load_u64(structure + at);
    uint64_t value = telling[in[0] & 7];
    if (in[0] & 8)
        value = old + (uint64_t)(int64_t)(int8_t)in[1] * (in[0] & 16 ? IMAGE_CHUNK : 1);
    else if (in[0] & 32)
        value = (uint64_t)in[1] << (in[0] & 7) * 8;
    if (in[0] & 64)
        structure[at] = (uint8_t)value;
    else if (in[0] & 128)
        stria_store_u32(structure + at, (uint32_t)value);
    else
        stria_store_u64(structure + at, value);
}

static void forge_ledger(uint32_t drive, const uint8_t *in)
{
    const struct stria_superblock *super = &image_made()->supers[drive];
    const struct stria_ledger_binding binding = stria_superblock_binding(super);
    const uint64_t position = in[2] % super->geometry.extent_count;
    uint8_t *entry = damaged.drives[drive] + stria_geometry_ledger_entry_offset(&super->geometry, position);
    if (in[5] & 64) /* begin with the entry of another extent, on either drive */
        memcpy(entry,
               image_made()->drives[in[5] >> 5 & 1] +
                   stria_geometry_ledger_entry_offset(&super->geometry,
                                                      (in[5] & 31) % super->geometry.extent_count),
               STRIA_LEDGER_ENTRY_BYTES);
    forge(entry, in[3] % 41u, in + 6); /* up to captured_ns: the digest stays a true one */
    stria_store_u64(entry + 56,
                    stria_digest_seeded(stria_ledger_binding_seed(&binding, position), entry, 56));
}

static void forge_catalogue(uint32_t drive, const uint8_t *in)
{
    const struct stria_superblock *super = &image_made()->supers[drive];
    const uint64_t half = in[4] & 7 ? image_made()->epoch : image_made()->epoch + 1;
    uint8_t *cells = damaged.drives[drive] + stria_geometry_catalogue_half_offset(&super->geometry, half);
    uint8_t *cell = cells + (size_t)(in[2] % 24) * STRIA_CATALOGUE_ENTRY_BYTES;
    if (in[5] & 128) /* begin with another cell */
        memcpy(cell, cells + (size_t)(in[5] % 24) * STRIA_CATALOGUE_ENTRY_BYTES, STRIA_CATALOGUE_ENTRY_BYTES);
    forge(cell, in[3] % 113u, in + 6);
    const uint64_t epoch = in[2] % 24 ? stria_load_u64(cells + 32) : stria_load_u64(cell + 32);
    stria_catalogue_cell_move(cell, cell, stria_catalogue_cell_seed(super->array_uuid, epoch), in[2] % 24);
}

static void forge_checkpoint(uint32_t drive, const uint8_t *in)
{
    const struct stria_superblock *super = &image_made()->supers[drive];
    const struct stria_ledger_binding binding = stria_superblock_binding(super);
    uint8_t *page =
        damaged.drives[drive] + super->geometry.checkpoint_offset + (size_t)(in[2] & 1) * STRIA_PAGE_BYTES;
    forge(page, in[3] % 113u, in + 6);
    const uint64_t place = (UINT64_C(1) << 63) + (in[2] & 1);
    stria_store_u64(page + 120, stria_digest_seeded(stria_ledger_binding_seed(&binding, place), page, 120));
}

static void forge_superblock(uint32_t drive, const uint8_t *in)
{
    const struct stria_geometry *geometry = &image_made()->supers[drive].geometry;
    for (unsigned copy = 0; copy < 2; copy++) {
        uint8_t *page = damaged.drives[drive] + geometry->super_offset[copy];
        if (in[2] >> copy & 1)
            continue;
        forge(page, in[3], in + 6);
        stria_store_u64(page + 4088, stria_digest_seeded(0, page, 4088));
    }
}

static void damage(const uint8_t in[IMAGE_DAMAGE_BYTES])
{
    const uint32_t drive = in[1] & 1;
    const unsigned kind = in[0] % DAMAGE_KINDS;
    damaged.forged |= kind >= DAMAGE_FORGED_LEDGER;
    switch (kind) {
    case DAMAGE_ABSENT:
        damaged.absent[drive] = true;
        damaged.touched[drive] = true;
        break;
    case DAMAGE_FORGED_LEDGER:
        forge_ledger(drive, in);
        break;
    case DAMAGE_FORGED_CATALOGUE:
        forge_catalogue(drive, in);
        break;
    case DAMAGE_FORGED_CHECKPOINT:
        forge_checkpoint(drive, in);
        break;
    case DAMAGE_FORGED_SUPERBLOCK:
        forge_superblock(drive, in);
        break;
    default:
        damage_range(in);
    }
}

const struct image_damaged *image_damage(const uint8_t *data, size_t bytes)
{
    const struct image *sound = image_made();
    for (uint32_t i = 0; i < IMAGE_DRIVES; i++) {
        uint8_t *drive = damaged.drives[i] ? damaged.drives[i] : malloc(IMAGE_DRIVE_BYTES);
        FUZZ_CHECK(drive != NULL);
        memcpy(drive, sound->drives[i], IMAGE_DRIVE_BYTES);
        damaged.drives[i] = drive;
        damaged.touched[i] = damaged.absent[i] = false;
    }
    damaged.identity = damaged.forged = false;
    for (; bytes >= IMAGE_DAMAGE_BYTES; bytes -= IMAGE_DAMAGE_BYTES, data += IMAGE_DAMAGE_BYTES)
        damage(data);
    return &damaged;
}

size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    const size_t count = stria_random_below(random, 12);
    const bool enemy = stria_random_below(random, 2);
    for (size_t i = 0; i < count * IMAGE_DAMAGE_BYTES; i++)
        out[i] = (uint8_t)stria_random_next(random);
    for (size_t i = 0; i < count; i++)
        out[i * IMAGE_DAMAGE_BYTES] =
            (uint8_t)stria_random_below(random, enemy ? DAMAGE_KINDS : DAMAGE_FORGED_LEDGER);
    return count * IMAGE_DAMAGE_BYTES;
}
