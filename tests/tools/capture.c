/* Every byte that was taken from the source is in the stream, or its absence is told: against a source and a
 * writer that do as each test says. */
#include "tools/capture.h"

#include "tools/signals.h"

#include <criterion/criterion.h>
#include <string.h>

#define CHUNK_BYTES 1000u
#define FOR_EVER    UINT64_MAX

/* The source: so many bytes, the last of them cut off by a signal or not. */
static struct {
    uint64_t bytes;
    bool signal_ends_it;
    uint64_t given;
} input;

/* The writer: so many buffers at first, one more after so many tries in vain; from some call on it refuses.
 */
static struct {
    unsigned buffers_free;
    unsigned vain_tries; /* who waits for ever needs none */
    unsigned calls_max;  /* to acquire and skip; each one after them is refused */
    int refusal;
    unsigned calls;
    uint64_t bytes, skipped_bytes; /* of the stream, the latter among the former */
    unsigned char last;            /* the first byte of the chunk that was stored last */
} output;

static char buffer[CHUNK_BYTES];
static bool stopped;
static struct stria_trouble trouble;

bool stria_signals_stop(void)
{
    return stopped;
}

void stria_source_start(struct stria_source *source)
{
    cr_assert_null(source);
}

bool stria_source_is_live(const struct stria_source *source)
{
    return source == NULL;
}

int64_t stria_source_fill(struct stria_source *source, void *into, size_t bytes, struct stria_trouble *why)
{
    (void)source;
    (void)why;
    const uint64_t left = input.bytes - input.given;
    const size_t got = left < bytes ? (size_t)left : bytes;
    memset(into, (int)(input.given / CHUNK_BYTES + 1), got);
    input.given += got;
    stopped |= got < bytes && input.signal_ends_it;
    return (int64_t)got;
}

static int refusal(void)
{
    return output.calls++ < output.calls_max ? STRIA_OK : output.refusal;
}

int stria_writer_acquire(struct stria_writer *writer, uint64_t wait_ns, void **out)
{
    (void)writer;
    const int code = refusal();
    if (code != STRIA_OK)
        return code;
    if (output.buffers_free == 0 && wait_ns != FOR_EVER && output.vain_tries > 0) {
        output.vain_tries--;
        return STRIA_ERR_TIMEOUT;
    }
    output.buffers_free -= output.buffers_free > 0;
    *out = buffer;
    return STRIA_OK;
}

int stria_writer_commit(struct stria_writer *writer, void *data, size_t length_bytes)
{
    (void)writer;
    output.bytes += length_bytes;
    output.last = *(unsigned char *)data;
    return STRIA_OK;
}

int stria_writer_skip(struct stria_writer *writer, uint64_t length_bytes, enum stria_gap_cause cause)
{
    (void)writer;
    cr_expect_eq(cause, STRIA_GAP_BUFFER);
    const int code = refusal();
    if (code != STRIA_OK)
        return code;
    output.bytes += length_bytes;
    output.skipped_bytes += length_bytes;
    return STRIA_OK;
}

static void set_up(void)
{
    output.buffers_free = 2;
    output.calls_max = UINT32_MAX;
}

TestSuite(capture, .init = set_up);

static enum stria_capture_end capture(enum stria_overrun overrun)
{
    const enum stria_capture_end end = stria_capture(NULL, NULL, CHUNK_BYTES, overrun, &trouble);
    if (end == STRIA_CAPTURE_COMPLETE)
        cr_expect_eq(output.bytes, input.given, "%llu bytes were read, the stream has %llu",
                     (unsigned long long)input.given, (unsigned long long)output.bytes);
    return end;
}

Test(capture, takes_all_of_a_source_that_fits)
{
    input.bytes = 2 * CHUNK_BYTES + 500;
    output.buffers_free = 9;
    cr_expect_eq(capture(STRIA_OVERRUN_DROP), STRIA_CAPTURE_COMPLETE);
    cr_expect_eq(output.skipped_bytes, 0);
}

Test(capture, lets_whole_chunks_pass_as_gaps)
{
    input.bytes = 5 * CHUNK_BYTES;
    output.vain_tries = 2;
    cr_expect_eq(capture(STRIA_OVERRUN_DROP), STRIA_CAPTURE_COMPLETE);
    cr_expect_eq(output.skipped_bytes, 2 * CHUNK_BYTES);
    cr_expect_eq(output.last, 5);
}

Test(capture, stores_a_tail_that_found_no_buffer_when_a_signal_ends_the_source)
{
    input.bytes = 2 * CHUNK_BYTES + 500;
    input.signal_ends_it = true;
    output.vain_tries = 1000;
    cr_expect_eq(capture(STRIA_OVERRUN_DROP), STRIA_CAPTURE_COMPLETE);
    cr_expect_eq(output.bytes, 2 * CHUNK_BYTES + 500);
    cr_expect_eq(output.last, 3, "the tail is not what was read");
}

/* Two chunks are stored, a third finds no buffer and passes; then the writer refuses. */
static enum stria_capture_end refused_with_bytes_in_hand(uint64_t bytes_in_hand, int refusal_code)
{
    input.bytes = 2 * CHUNK_BYTES + bytes_in_hand;
    output.vain_tries = 1;
    output.calls_max = 3;
    output.refusal = refusal_code;
    const enum stria_capture_end end = capture(STRIA_OVERRUN_DROP);
    cr_expect_eq(output.calls, 4);
    cr_expect_eq(input.given, input.bytes);
    cr_expect_eq(output.bytes, 2 * CHUNK_BYTES);
    return end;
}

Test(capture, is_not_complete_when_the_array_fills_while_the_last_chunk_passes)
{
    cr_expect_eq(refused_with_bytes_in_hand(CHUNK_BYTES, STRIA_ERR_ARRAY_FULL), STRIA_CAPTURE_ARRAY_FULL);
}

Test(capture, is_not_complete_when_the_array_has_no_room_for_the_tail)
{
    input.signal_ends_it = true;
    cr_expect_eq(refused_with_bytes_in_hand(500, STRIA_ERR_ARRAY_FULL), STRIA_CAPTURE_ARRAY_FULL);
}

Test(capture, tells_that_no_drive_was_left_for_the_tail)
{
    cr_expect_eq(refused_with_bytes_in_hand(500, STRIA_ERR_GONE), STRIA_CAPTURE_NO_DRIVE);
}

Test(capture, is_never_complete_without_what_was_read)
{
    cr_expect_eq(refused_with_bytes_in_hand(500, STRIA_ERR_CLOSED), STRIA_CAPTURE_FAILED);
    cr_expect(strstr(trouble.sentence, "cannot go on recording"), "%s", trouble.sentence);
}

Test(capture, is_complete_when_the_source_ends_where_the_array_does)
{
    input.bytes = 2 * CHUNK_BYTES;
    output.calls_max = 2;
    output.refusal = STRIA_ERR_ARRAY_FULL;
    cr_expect_eq(capture(STRIA_OVERRUN_BLOCK), STRIA_CAPTURE_COMPLETE);
}
