#include "tools/capture.h"

#include "tools/signals.h"

#include <stdlib.h>
#include <string.h>

/* How long a wait for a buffer lasts before a signal is looked for. */
#define ACQUIRE_WAIT_NS 50000000ull

struct capture {
    struct stria_source *source;
    struct stria_writer *writer;
    uint32_t chunk_bytes;
    enum stria_overrun overrun;
    struct stria_trouble *trouble;
    void *passing; /* one chunk that found no buffer; made when first needed */
    enum stria_capture_end end;
};

/* Each step tells whether to go on; if not, capture->end says why. */
static bool end_with(struct capture *capture, enum stria_capture_end end)
{
    capture->end = end;
    return false;
}

/* A source that ends just where the array does has lost nothing. */
static bool has_more(struct capture *capture)
{
    char next;
    return stria_source_fill(capture->source, &next, 1, NULL) != 0;
}

/* A stream that ends without bytes that were read is never complete. */
static bool end_with_code(struct capture *capture, int code, size_t bytes_in_hand)
{
    if (code == STRIA_ERR_GONE)
        return end_with(capture, STRIA_CAPTURE_NO_DRIVE);
    if (code == STRIA_ERR_ARRAY_FULL && (bytes_in_hand > 0 || has_more(capture)))
        return end_with(capture, STRIA_CAPTURE_ARRAY_FULL);
    if ((code == STRIA_ERR_ARRAY_FULL || code == STRIA_ERR_CLOSED) && bytes_in_hand == 0)
        return end_with(capture, STRIA_CAPTURE_COMPLETE);
    stria_trouble_set(capture->trouble, code, "cannot go on recording: %s", stria_code_text(code));
    return end_with(capture, STRIA_CAPTURE_FAILED);
}

/* Waits for a buffer as long as nobody asks to stop. */
static int acquire(struct capture *capture, void **buffer)
{
    int code;
    do
        code = stria_writer_acquire(capture->writer, ACQUIRE_WAIT_NS, buffer);
    while (code == STRIA_ERR_TIMEOUT && !stria_signals_stop());
    return code == STRIA_ERR_TIMEOUT ? STRIA_ERR_CLOSED : code;
}

/* After a chunk that was not filled: the stream's end, or of the source. */
static bool end_of_source(struct capture *capture)
{
    char next;
    return end_with(capture, stria_source_fill(capture->source, &next, 1, capture->trouble) < 0
                                 ? STRIA_CAPTURE_FAILED
                                 : STRIA_CAPTURE_COMPLETE);
}

static bool record_chunk(struct capture *capture, void *buffer)
{
    int64_t got = stria_source_fill(capture->source, buffer, capture->chunk_bytes, capture->trouble);
    if (got < 0)
        return end_with(capture, STRIA_CAPTURE_FAILED);
    if (got == 0)
        return end_with(capture, STRIA_CAPTURE_COMPLETE);
    int code = stria_writer_commit(capture->writer, buffer, (size_t)got);
    if (code != STRIA_OK)
        return end_with_code(capture, code, (size_t)got);
    return got == (int64_t)capture->chunk_bytes || end_of_source(capture);
}

/* The stream's tail is not worth a gap: the source has ended and can wait for a buffer, also when it was a
 * signal that ended it. What was read goes in, however long the drives take, as the recording's end waits. */
static bool record_tail(struct capture *capture, size_t bytes)
{
    void *buffer;
    if (bytes == 0)
        return end_of_source(capture);
    int code = stria_writer_acquire(capture->writer, UINT64_MAX, &buffer);
    if (code == STRIA_OK) {
        memcpy(buffer, capture->passing, bytes);
        code = stria_writer_commit(capture->writer, buffer, bytes);
    }
    return code == STRIA_OK ? end_of_source(capture) : end_with_code(capture, code, bytes);
}

static bool drop_chunk(struct capture *capture)
{
    if (!capture->passing && !(capture->passing = malloc(capture->chunk_bytes)))
        return end_with_code(capture, STRIA_ERR_NO_MEMORY, 0);
    int64_t got =
        stria_source_fill(capture->source, capture->passing, capture->chunk_bytes, capture->trouble);
    if (got < 0)
        return end_with(capture, STRIA_CAPTURE_FAILED);
    if (got < (int64_t)capture->chunk_bytes)
        return record_tail(capture, (size_t)got);
    int code = stria_writer_skip(capture->writer, capture->chunk_bytes, STRIA_GAP_BUFFER);
    return code == STRIA_OK || end_with_code(capture, code, capture->chunk_bytes);
}

static bool step(struct capture *capture)
{
    void *buffer;
    const bool waits = capture->overrun == STRIA_OVERRUN_BLOCK || !stria_source_is_live(capture->source);
    int code = waits ? acquire(capture, &buffer) : stria_writer_acquire(capture->writer, 0, &buffer);
    if (code == STRIA_OK)
        return record_chunk(capture, buffer);
    if (code != STRIA_ERR_TIMEOUT)
        return end_with_code(capture, code, 0);
    return capture->overrun == STRIA_OVERRUN_STOP ? end_with(capture, STRIA_CAPTURE_OVERRUN)
                                                  : drop_chunk(capture);
}

enum stria_capture_end stria_capture(struct stria_source *source, struct stria_writer *writer,
                                     uint32_t chunk_bytes, enum stria_overrun overrun,
                                     struct stria_trouble *trouble)
{
    struct capture capture = {.source = source,
                              .writer = writer,
                              .chunk_bytes = chunk_bytes,
                              .overrun = overrun,
                              .trouble = trouble};
    stria_source_start(source);
    while (step(&capture))
        continue;
    free(capture.passing);
    return capture.end;
}
