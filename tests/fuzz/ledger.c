/* A page of the ledger and a pair of checkpoint pages, whatever their bytes, with right checks or wrong ones:
 * what is taken for valid is what an encoder would write, and keeps what the readers of it rely on.
 *
 * The input is which checks to set right (8 bytes, one bit an entry, the uppermost two for the checkpoints),
 * then the bytes of a ledger page, then those that count of the checkpoints. */
#include "core/ledger.h"

#include "core/bits.h"
#include "core/checkpoint.h"
#include "core/code.h"
#include "core/digest.h"
#include "tests/fuzz/fuzz.h"

#include <string.h>

#define CHECKPOINT_BYTES 128u
#define PLACE_CHECKPOINT (UINT64_C(1) << 63)

static const struct stria_ledger_binding binding = {
    .array_uuid = {1, 2, 3}, .drive_index = 1, .generation = 7};

size_t fuzz_sound_input(uint8_t *out, struct stria_random *random)
{
    memset(out, 0, 8 + STRIA_PAGE_BYTES + 2 * CHECKPOINT_BYTES);
    stria_store_u64(out, stria_random_next(random));
    for (uint64_t position = 0; position < STRIA_LEDGER_PAGE_ENTRIES; position++) {
        const struct stria_ledger_entry entry = {.recording = 1 + stria_random_below(random, 3),
                                                 .sequence = position,
                                                 .stream_offset = position * STRIA_CHUNK_BYTES_MIN,
                                                 .length_bytes = STRIA_CHUNK_BYTES_MIN,
                                                 .digest = stria_random_next(random)};
        if (stria_random_below(random, 8) > 0)
            stria_ledger_encode(out + 8 + position * STRIA_LEDGER_ENTRY_BYTES, &entry, &binding, position);
    }
    for (uint32_t page = 0; page < 2; page++) {
        uint8_t whole[STRIA_PAGE_BYTES];
        const struct stria_checkpoint checkpoint = {.serial = 2 + page + 2 * stria_random_below(random, 2),
                                                    .recording = 1,
                                                    .watermark_bytes = 5,
                                                    .length_bytes = 9};
        stria_checkpoint_encode(whole, &checkpoint, &binding);
        memcpy(out + 8 + STRIA_PAGE_BYTES + (size_t)page * CHECKPOINT_BYTES, whole, CHECKPOINT_BYTES);
    }
    return 8 + STRIA_PAGE_BYTES + 2 * CHECKPOINT_BYTES;
}

static void check_entry(const uint8_t *in, uint64_t position)
{
    struct stria_ledger_entry entry, again;
    const enum stria_ledger_verdict verdict = stria_ledger_decode(in, &entry, &binding, position);
    if (verdict != STRIA_LEDGER_VALID) {
        FUZZ_CHECK((verdict == STRIA_LEDGER_EMPTY) == stria_all_zero(in, STRIA_LEDGER_ENTRY_BYTES));
        return;
    }
    if (entry.recording == 0 || entry.length_bytes == 0)
        return; /* taken as read, and left out by whoever scans */
    uint8_t out[STRIA_LEDGER_ENTRY_BYTES];
    stria_ledger_encode(out, &entry, &binding, position);
    FUZZ_CHECK(memcmp(in, out, sizeof(out)) == 0);
    FUZZ_CHECK(stria_ledger_may_be_of(in, entry.recording));
    FUZZ_CHECK(stria_ledger_decode(in, &again, &binding, position + 1) != STRIA_LEDGER_VALID);
    struct stria_ledger_binding other = binding;
    other.drive_index++;
    FUZZ_CHECK(stria_ledger_decode(in, &again, &other, position) != STRIA_LEDGER_VALID);
    other = binding;
    other.generation++;
    FUZZ_CHECK(stria_ledger_decode(in, &again, &other, position) == STRIA_LEDGER_FOREIGN);
}

static void check_checkpoints(const uint8_t pages[STRIA_CHECKPOINT_BYTES])
{
    struct stria_checkpoint chosen, found;
    const int code = stria_checkpoint_choose(pages, &chosen, &binding);
    bool any = false;
    for (uint32_t page = 0; page < 2; page++) {
        const uint8_t *in = pages + (size_t)page * STRIA_PAGE_BYTES;
        if (stria_checkpoint_decode(in, &found, &binding, page) != STRIA_CHECKPOINT_VALID)
            continue;
        any = true;
        FUZZ_CHECK(found.serial > 0 && found.recording > 0 && found.watermark_bytes <= found.length_bytes);
        FUZZ_CHECK(stria_checkpoint_page(found.serial) == page);
        FUZZ_CHECK(code == STRIA_OK && chosen.serial >= found.serial);
        FUZZ_CHECK(stria_checkpoint_decode(in, &found, &binding, 1 - page) != STRIA_CHECKPOINT_VALID);
    }
    FUZZ_CHECK(any == (code == STRIA_OK));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    uint8_t ledger[STRIA_PAGE_BYTES] = {0}, small[2 * CHECKPOINT_BYTES] = {0};
    static uint8_t pages[STRIA_CHECKPOINT_BYTES];
    if (bytes < 8)
        return 0;
    const uint64_t right = stria_load_u64(data);
    data += 8;
    bytes -= 8;
    memcpy(ledger, data, bytes < sizeof(ledger) ? bytes : sizeof(ledger));
    if (bytes > sizeof(ledger))
        memcpy(small, data + sizeof(ledger),
               bytes - sizeof(ledger) < sizeof(small) ? bytes - sizeof(ledger) : sizeof(small));
    for (uint64_t position = 0; position < STRIA_LEDGER_PAGE_ENTRIES; position++) {
        uint8_t *entry = ledger + position * STRIA_LEDGER_ENTRY_BYTES;
        if (right >> (position % 62) & 1)
            stria_store_u64(entry + 56,
                            stria_digest_seeded(stria_ledger_binding_seed(&binding, position), entry, 56));
        check_entry(entry, position);
    }
    for (uint32_t page = 0; page < 2; page++) {
        uint8_t *in = small + (size_t)page * CHECKPOINT_BYTES;
        if (right >> (62 + page) & 1)
            stria_store_u64(
                in + 120,
                stria_digest_seeded(stria_ledger_binding_seed(&binding, PLACE_CHECKPOINT + page), in, 120));
        memcpy(pages + (size_t)page * STRIA_PAGE_BYTES, in, CHECKPOINT_BYTES);
    }
    check_checkpoints(pages);
    return 0;
}
