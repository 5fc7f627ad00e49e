#include "core/fetch.h"

#include "core/assert.h"
#include "core/bits.h"
#include "core/code.h"

void stria_fetch_begin(struct stria_fetch *fetch, uint64_t offset, uint32_t length_bytes,
                       uint32_t block_bytes, uint64_t transfer_bytes_max)
{
    STRIA_ASSERT(length_bytes > 0 && stria_is_power_of_two(block_bytes) && transfer_bytes_max >= block_bytes);
    *fetch = (struct stria_fetch){
        .offset = offset,
        .bytes = (uint32_t)stria_align_up(length_bytes, block_bytes),
        .block_bytes = block_bytes,
    };
    uint64_t most = stria_align_down(transfer_bytes_max, block_bytes);
    fetch->transfer_bytes_max = most < fetch->bytes ? (uint32_t)most : fetch->bytes;
}

struct stria_fetch_piece stria_fetch_piece(const struct stria_fetch *fetch)
{
    uint32_t left = fetch->bytes - fetch->read_bytes;
    STRIA_ASSERT(left > 0);
    uint32_t bytes = left < fetch->transfer_bytes_max ? left : fetch->transfer_bytes_max;
    return (struct stria_fetch_piece){
        .offset = fetch->offset + fetch->read_bytes,
        .at = fetch->read_bytes,
        .bytes = bytes,
        .whole = bytes == fetch->bytes,
    };
}

static enum stria_fetch_verdict tried(struct stria_fetch *fetch, uint32_t *count, uint32_t most, int code,
                                      enum stria_fetch_verdict otherwise)
{
    fetch->code = code;
    return ++*count < most ? otherwise : STRIA_FETCH_FAILED;
}

enum stria_fetch_verdict stria_fetch_done(struct stria_fetch *fetch, int code, uint64_t bytes)
{
    struct stria_fetch_piece piece = stria_fetch_piece(fetch);
    if (code == STRIA_ERR_AGAIN)
        return tried(fetch, &fetch->agains, STRIA_FETCH_AGAINS_MAX, code, STRIA_FETCH_PAUSE);
    if (code != STRIA_OK || bytes > piece.bytes)
        return tried(fetch, &fetch->attempts, STRIA_FETCH_ATTEMPTS_MAX, code ? code : STRIA_ERR_IO,
                     STRIA_FETCH_SUBMIT);
    fetch->read_bytes += (uint32_t)stria_align_down(bytes, fetch->block_bytes);
    if (fetch->read_bytes == fetch->bytes)
        return STRIA_FETCH_WHOLE;
    if (bytes == piece.bytes)
        return STRIA_FETCH_SUBMIT;
    return tried(fetch, &fetch->shorts, STRIA_FETCH_SHORTS_MAX, STRIA_ERR_IO, STRIA_FETCH_SUBMIT);
}
