#include "core/ratio.h"
#include "core/synthetic.h"
#include "engine/reader.h"
#include "measure/through_internal.h"
#include "support/clock.h"

#include <stdlib.h>

#define BINS_MAX    65536u
#define SECONDS_MAX 4096u
#define WATCH_NS    200000000ull

struct play {
    struct stria_through *through;
    const struct stria_round_plan *plan;
    struct stria_round *round;
    struct stria_reader *reader;
    struct stria_latency_track *track; /* with its bins */
    uint64_t start_ns, watched_ns;
    bool stopped;
};

static bool watch(struct play *play)
{
    const uint64_t now_ns = stria_clock_ns();
    struct stria_crew_moment moment = {.elapsed_ns = now_ns - play->start_ns, .bytes = play->round->bytes};
    if (now_ns - play->watched_ns < WATCH_NS)
        return !play->stopped;
    play->watched_ns = now_ns;
    moment.total_bytes_per_s = stria_ratio_bytes_per_s(moment.bytes, moment.elapsed_ns);
    struct stria_through *through = play->through;
    play->stopped = through->watch && !through->watch(through->context, &moment);
    return !play->stopped;
}

/* Blocks that the reader itself refuses are found, as well as those that it believes and that are wrong. */
static void judge(struct play *play, const void *data, uint64_t bytes, uint64_t offset,
                  enum stria_read_verdict verdict)
{
    struct stria_content_counts *counts = &play->round->counts;
    const uint64_t blocks = bytes / STRIA_SYNTHETIC_BLOCK_BYTES;
    if (!play->plan->compare)
        return;
    if (verdict == STRIA_READ_OK)
        stria_content_compare(data, bytes, offset, play->plan->seed, counts);
    else if (verdict == STRIA_READ_CORRUPT)
        counts->corrupt += blocks;
    else
        counts->missing += blocks;
}

/* One chunk's range, in as many pieces as the reader makes of it. */
static bool play_chunk(struct play *play, uint64_t offset, uint64_t bytes)
{
    struct stria_round *round = play->round;
    for (uint64_t at = 0; at < bytes;) {
        const void *data;
        enum stria_read_verdict verdict;
        const uint64_t since_ns = stria_clock_ns();
        int64_t got = stria_reader_view(play->reader, offset + at, &data, &verdict);
        if (got <= 0) {
            round->code = got < 0 ? (int)got : STRIA_ERR_IO;
            return false;
        }
        if ((uint64_t)got > bytes - at)
            got = (int64_t)(bytes - at);
        const uint64_t now_ns = stria_clock_ns();
        stria_histogram_add(&round->latencies[1], now_ns - since_ns);
        stria_latency_track_add(play->track, now_ns, now_ns - since_ns);
        stria_series_add(&round->drives[0], now_ns, (uint64_t)got);
        round->bytes += (uint64_t)got;
        round->errors += verdict == STRIA_READ_CORRUPT;
        judge(play, data, (uint64_t)got, offset + at, verdict);
        at += (uint64_t)got;
    }
    return true;
}

static void play_all(struct play *play, uint64_t length)
{
    const uint64_t chunk = play->through->info.chunk_bytes, runtime_ns = play->plan->runtime_ns;
    const uint64_t chunks = (length + chunk - 1) / chunk;
    for (uint64_t i = 0; i < chunks && watch(play); i++) {
        const uint64_t index = play->plan->reverse ? chunks - 1 - i : i, offset = index * chunk;
        if (runtime_ns && stria_clock_ns() - play->start_ns >= runtime_ns)
            return;
        if (!play_chunk(play, offset, length - offset < chunk ? length - offset : chunk))
            return;
    }
}

static int make_series(struct play *play, struct stria_trouble *trouble)
{
    const bool room = stria_round_init(play->round, play->plan, 1);
    uint64_t *bins = calloc(BINS_MAX, sizeof(*bins));
    play->track = malloc(sizeof(*play->track) + SECONDS_MAX * sizeof(struct stria_latency_bin));
    if (!room || !bins || !play->track) {
        free(bins);
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    }
    play->start_ns = play->round->begin_ns = stria_clock_ns();
    stria_series_init(&play->round->drives[0], bins, BINS_MAX, play->start_ns, STRIA_SERIES_INTERVAL_NS);
    stria_latency_track_init(play->track, (struct stria_latency_bin *)(play->track + 1), SECONDS_MAX,
                             play->start_ns);
    return STRIA_OK;
}

static int finish(struct play *play, uint64_t end_ns, struct stria_trouble *trouble)
{
    struct stria_round *round = play->round;
    stria_latency_track_finish(play->track, end_ns);
    stria_round_take_track(round, 0, play->track);
    stria_round_take_track(round, 1, play->track);
    round->drives[1] = round->drives[0];
    round->drives[1].bins = malloc((round->drives[0].count + 1) * sizeof(uint64_t));
    if (!round->drives[1].bins)
        return stria_trouble_set(trouble, STRIA_ERR_NO_MEMORY, "not enough memory to measure");
    for (uint32_t bin = 0; bin < round->drives[0].count; bin++)
        round->drives[1].bins[bin] = round->drives[0].bins[bin];
    round->drive_bytes[0] = round->bytes;
    round->latencies[0] = round->latencies[1];
    stria_round_conclude(round, 0);
    return STRIA_OK;
}

int stria_through_play(struct stria_through *through, const struct stria_round_plan *plan,
                       struct stria_round *round, struct stria_trouble *trouble)
{
    struct play play = {.through = through, .plan = plan, .round = round};
    struct stria_recording_info info;
    *round = (struct stria_round){.plan = *plan, .drive_count = 1};
    int code = stria_reader_open(through->array, through->recording, &play.reader, trouble);
    if (code != STRIA_OK)
        return code;
    stria_reader_describe(play.reader, &info);
    code = make_series(&play, trouble);
    if (code == STRIA_OK) {
        play_all(&play, info.length_bytes);
        const uint64_t end_ns = stria_clock_ns();
        stria_series_advance(&round->drives[0], end_ns);
        round->duration_ns = end_ns - play.start_ns;
        round->partial = play.stopped || round->code != STRIA_OK;
        code = finish(&play, end_ns, trouble);
    }
    free(play.track);
    stria_reader_close(play.reader);
    return code;
}
