#include "core/ledger.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/digest.h"

#include <string.h>

/* The entry on media. */
enum {
    AT_MAGIC = 0,
    AT_STREAM = 4,
    AT_GAP_CAUSE = 6,
    AT_GAP_DRIVE = 7,
    AT_RECORDING = 8,
    AT_SEQUENCE = 16,
    AT_STREAM_OFFSET = 24,
    AT_LENGTH = 32,
    AT_GENERATION = 36,
    AT_CAPTURED = 40,
    AT_DIGEST = 48,
    AT_CHECK = 56,
    AT_END = 64
};
_Static_assert(AT_END == STRIA_LEDGER_ENTRY_BYTES, "the format fixes 64 bytes");
_Static_assert(STRIA_PAGE_BYTES % AT_END == 0, "no entry may cross a page");

#define MAGIC UINT32_C(0x31454c53) /* "SLE1" */

uint64_t stria_ledger_binding_seed(const struct stria_ledger_binding *binding, uint64_t place)
{
    uint8_t bytes[STRIA_UUID_BYTES + 4 + 8];
    memcpy(bytes, binding->array_uuid, STRIA_UUID_BYTES);
    stria_store_u32(bytes + STRIA_UUID_BYTES, binding->drive_index);
    stria_store_u64(bytes + STRIA_UUID_BYTES + 4, place);
    return stria_digest_seeded(0, bytes, sizeof(bytes));
}

static uint64_t check_of(const uint8_t *entry, const struct stria_ledger_binding *binding, uint64_t position)
{
    return stria_digest_seeded(stria_ledger_binding_seed(binding, position), entry, AT_CHECK);
}

void stria_ledger_encode(uint8_t out[STRIA_LEDGER_ENTRY_BYTES], const struct stria_ledger_entry *entry,
                         const struct stria_ledger_binding *binding, uint64_t position)
{
    STRIA_ASSERT(entry->recording != 0 && entry->length_bytes != 0);
    stria_store_u32(out + AT_MAGIC, MAGIC);
    stria_store_u16(out + AT_STREAM, entry->stream);
    out[AT_GAP_CAUSE] = entry->gap_cause;
    out[AT_GAP_DRIVE] = entry->gap_drive;
    stria_store_u64(out + AT_RECORDING, entry->recording);
    stria_store_u64(out + AT_SEQUENCE, entry->sequence);
    stria_store_u64(out + AT_STREAM_OFFSET, entry->stream_offset);
    stria_store_u32(out + AT_LENGTH, entry->length_bytes);
    stria_store_u32(out + AT_GENERATION, binding->generation);
    stria_store_u64(out + AT_CAPTURED, entry->captured_ns);
    stria_store_u64(out + AT_DIGEST, entry->digest);
    stria_store_u64(out + AT_CHECK, check_of(out, binding, position));
}

enum stria_ledger_verdict stria_ledger_decode(const uint8_t in[STRIA_LEDGER_ENTRY_BYTES],
                                              struct stria_ledger_entry *entry,
                                              const struct stria_ledger_binding *binding, uint64_t position)
{
    if (stria_load_u32(in + AT_MAGIC) != MAGIC)
        return stria_all_zero(in, AT_END) ? STRIA_LEDGER_EMPTY : STRIA_LEDGER_DAMAGED;
    if (stria_load_u64(in + AT_CHECK) != check_of(in, binding, position))
        return STRIA_LEDGER_DAMAGED;
    if (stria_load_u32(in + AT_GENERATION) != binding->generation)
        return STRIA_LEDGER_FOREIGN;
    *entry = (struct stria_ledger_entry){
        .stream = stria_load_u16(in + AT_STREAM),
        .gap_cause = in[AT_GAP_CAUSE],
        .gap_drive = in[AT_GAP_DRIVE],
        .recording = stria_load_u64(in + AT_RECORDING),
        .sequence = stria_load_u64(in + AT_SEQUENCE),
        .stream_offset = stria_load_u64(in + AT_STREAM_OFFSET),
        .length_bytes = stria_load_u32(in + AT_LENGTH),
        .captured_ns = stria_load_u64(in + AT_CAPTURED),
        .digest = stria_load_u64(in + AT_DIGEST),
    };
    return STRIA_LEDGER_VALID;
}

bool stria_ledger_may_be_of(const uint8_t in[STRIA_LEDGER_ENTRY_BYTES], uint64_t recording)
{
    return stria_load_u64(in + AT_RECORDING) == recording && stria_load_u32(in + AT_MAGIC) == MAGIC;
}
