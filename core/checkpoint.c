#include "core/checkpoint.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/code.h"
#include "core/digest.h"

#include <string.h>

/* The checkpoint on media: the first bytes of its page, within one block of any drive; the rest is zero. */
enum {
    AT_MAGIC = 0,
    AT_STREAM = 8,
    AT_GENERATION = 12,
    AT_SERIAL = 16,
    AT_RECORDING = 24,
    AT_WATERMARK = 32,
    AT_WATERMARK_SEQUENCE = 40,
    AT_LENGTH = 48,
    AT_STORED = 56,
    AT_DROPPED = 64,
    AT_WALL = 72,
    AT_RESERVED = 80,
    AT_CHECK = 120,
    AT_END = 128
};
_Static_assert(AT_END <= STRIA_BLOCK_BYTES_MIN, "a checkpoint must not be torn between two blocks");

#define MAGIC UINT64_C(0x3150434149525453) /* "STRIACP1" */

/* No extent position reaches this high, so that no ledger entry shares the seed. */
#define PLACE_BASE (UINT64_C(1) << 63)

static uint64_t check_of(const uint8_t *page, const struct stria_ledger_binding *binding, uint32_t which)
{
    return stria_digest_seeded(stria_ledger_binding_seed(binding, PLACE_BASE + which), page, AT_CHECK);
}

uint32_t stria_checkpoint_page(uint64_t serial)
{
    return (uint32_t)(serial & 1);
}

void stria_checkpoint_encode(uint8_t out[STRIA_PAGE_BYTES], const struct stria_checkpoint *checkpoint,
                             const struct stria_ledger_binding *binding)
{
    STRIA_ASSERT(checkpoint->serial != 0 && checkpoint->recording != 0);
    STRIA_ASSERT(checkpoint->watermark_bytes <= checkpoint->length_bytes);
    memset(out, 0, STRIA_PAGE_BYTES);
    stria_store_u64(out + AT_MAGIC, MAGIC);
    stria_store_u16(out + AT_STREAM, checkpoint->stream);
    stria_store_u32(out + AT_GENERATION, binding->generation);
    stria_store_u64(out + AT_SERIAL, checkpoint->serial);
    stria_store_u64(out + AT_RECORDING, checkpoint->recording);
    stria_store_u64(out + AT_WATERMARK, checkpoint->watermark_bytes);
    stria_store_u64(out + AT_WATERMARK_SEQUENCE, checkpoint->watermark_sequence);
    stria_store_u64(out + AT_LENGTH, checkpoint->length_bytes);
    stria_store_u64(out + AT_STORED, checkpoint->stored_bytes);
    stria_store_u64(out + AT_DROPPED, checkpoint->dropped_bytes);
    stria_store_u64(out + AT_WALL, checkpoint->wall_ns);
    stria_store_u64(out + AT_CHECK, check_of(out, binding, stria_checkpoint_page(checkpoint->serial)));
}

enum stria_checkpoint_verdict stria_checkpoint_decode(const uint8_t in[STRIA_PAGE_BYTES],
                                                      struct stria_checkpoint *checkpoint,
                                                      const struct stria_ledger_binding *binding,
                                                      uint32_t page)
{
    if (stria_load_u64(in + AT_MAGIC) != MAGIC)
        return stria_all_zero(in, AT_END) ? STRIA_CHECKPOINT_EMPTY : STRIA_CHECKPOINT_DAMAGED;
    if (stria_load_u64(in + AT_CHECK) != check_of(in, binding, page) ||
        stria_load_u32(in + AT_GENERATION) != binding->generation)
        return STRIA_CHECKPOINT_DAMAGED;
    const struct stria_checkpoint found = {
        .serial = stria_load_u64(in + AT_SERIAL),
        .recording = stria_load_u64(in + AT_RECORDING),
        .stream = stria_load_u16(in + AT_STREAM),
        .watermark_bytes = stria_load_u64(in + AT_WATERMARK),
        .watermark_sequence = stria_load_u64(in + AT_WATERMARK_SEQUENCE),
        .length_bytes = stria_load_u64(in + AT_LENGTH),
        .stored_bytes = stria_load_u64(in + AT_STORED),
        .dropped_bytes = stria_load_u64(in + AT_DROPPED),
        .wall_ns = stria_load_u64(in + AT_WALL),
    };
    if (found.serial == 0 || found.recording == 0 || stria_checkpoint_page(found.serial) != page ||
        found.watermark_bytes > found.length_bytes)
        return STRIA_CHECKPOINT_DAMAGED;
    *checkpoint = found;
    return STRIA_CHECKPOINT_VALID;
}

int stria_checkpoint_choose(const uint8_t pages[STRIA_CHECKPOINT_BYTES], struct stria_checkpoint *checkpoint,
                            const struct stria_ledger_binding *binding)
{
    struct stria_checkpoint found[2];
    bool valid[2];
    for (uint32_t page = 0; page < 2; page++)
        valid[page] = stria_checkpoint_decode(pages + (size_t)page * STRIA_PAGE_BYTES, &found[page], binding,
                                              page) == STRIA_CHECKPOINT_VALID;
    if (!valid[0] && !valid[1])
        return STRIA_ERR_NOT_FOUND;
    const bool second = valid[1] && (!valid[0] || found[1].serial > found[0].serial);
    *checkpoint = found[second];
    return STRIA_OK;
}
