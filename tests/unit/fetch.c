#include "core/fetch.h"

#include "core/code.h"

#include <criterion/criterion.h>

#define MIB (1u << 20)

static struct stria_fetch begun(uint32_t length_bytes, uint64_t transfer_bytes_max)
{
    struct stria_fetch fetch;
    stria_fetch_begin(&fetch, 10 * MIB, length_bytes, 4096, transfer_bytes_max);
    return fetch;
}

static void expect_piece(const struct stria_fetch *fetch, uint32_t at, uint32_t bytes, bool whole)
{
    struct stria_fetch_piece piece = stria_fetch_piece(fetch);
    cr_expect(piece.offset == 10 * MIB + at && piece.at == at && piece.bytes == bytes && piece.whole == whole,
              "%u bytes at %u", piece.bytes, piece.at);
}

Test(fetch, an_extent_is_read_in_one_piece_of_whole_blocks)
{
    struct stria_fetch fetch = begun(MIB - 4097, 64 * MIB);
    expect_piece(&fetch, 0, MIB - 4096, true);
    cr_expect(stria_fetch_done(&fetch, STRIA_OK, MIB - 4096) == STRIA_FETCH_WHOLE);
}

Test(fetch, a_drive_that_takes_less_at_once_gets_several_pieces)
{
    struct stria_fetch fetch = begun(MIB, MIB / 2 + 100);
    expect_piece(&fetch, 0, MIB / 2, false);
    cr_expect(stria_fetch_done(&fetch, STRIA_OK, MIB / 2) == STRIA_FETCH_SUBMIT);
    expect_piece(&fetch, MIB / 2, MIB / 2, false);
    cr_expect(stria_fetch_done(&fetch, STRIA_OK, MIB / 2) == STRIA_FETCH_WHOLE);
    cr_expect(fetch.shorts == 0);
}

Test(fetch, a_short_read_is_continued_from_the_last_whole_block)
{
    struct stria_fetch fetch = begun(MIB, MIB);
    cr_expect(stria_fetch_done(&fetch, STRIA_OK, 3 * 4096 + 512) == STRIA_FETCH_SUBMIT);
    expect_piece(&fetch, 3 * 4096, MIB - 3 * 4096, false);
    cr_expect(stria_fetch_done(&fetch, STRIA_OK, MIB - 3 * 4096) == STRIA_FETCH_WHOLE);
}

Test(fetch, short_reads_are_bounded)
{
    struct stria_fetch fetch = begun(MIB, MIB);
    unsigned reads = 1;
    while (stria_fetch_done(&fetch, STRIA_OK, 0) == STRIA_FETCH_SUBMIT)
        reads++;
    cr_expect(reads == STRIA_FETCH_SHORTS_MAX && fetch.code == STRIA_ERR_IO);
}

Test(fetch, again_is_a_pause_and_no_error_but_not_for_ever)
{
    struct stria_fetch fetch = begun(MIB, MIB);
    unsigned reads = 1;
    while (stria_fetch_done(&fetch, STRIA_ERR_AGAIN, 0) == STRIA_FETCH_PAUSE)
        reads++;
    cr_expect(reads == STRIA_FETCH_AGAINS_MAX && fetch.attempts == 0 && fetch.code == STRIA_ERR_AGAIN);
}

Test(fetch, an_error_is_tried_again_and_told_when_it_stays)
{
    struct stria_fetch fetch = begun(MIB, MIB);
    for (unsigned attempt = 1; attempt < STRIA_FETCH_ATTEMPTS_MAX; attempt++)
        cr_expect(stria_fetch_done(&fetch, STRIA_ERR_IO, 0) == STRIA_FETCH_SUBMIT);
    struct stria_fetch recovered = fetch;
    cr_expect(stria_fetch_done(&fetch, STRIA_ERR_IO, 0) == STRIA_FETCH_FAILED && fetch.code == STRIA_ERR_IO);
    cr_expect(stria_fetch_done(&recovered, STRIA_OK, MIB) == STRIA_FETCH_WHOLE);
}

Test(fetch, more_bytes_than_asked_for_are_an_error)
{
    struct stria_fetch fetch = begun(MIB, MIB);
    cr_expect(stria_fetch_done(&fetch, STRIA_OK, 2 * MIB) == STRIA_FETCH_SUBMIT);
    cr_expect(fetch.read_bytes == 0 && fetch.attempts == 1 && fetch.code == STRIA_ERR_IO);
}
