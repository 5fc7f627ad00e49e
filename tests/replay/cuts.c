/* replay_cuts POLICY [--cuts N] [--seed S]: records on real files, with every write and flush
 * taped, then makes of the files what a power cut at some instant would leave: what a flush made durable, and
 * of the rest each write whole, torn or not at all. The array must open and hold what its recorder had said
 * it holds. Every third cut the array is then written to again. STRIA_TEST_LONG makes it many cuts. After a
 * failure the files stay where they are. */
#include "engine/reader.h"
#include "engine/verify.h"
#include "tests/replay/record.h"
#include "tests/replay/tape.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVE_BYTES  ((uint64_t)3 << 20)
#define CUTS         60u
#define CUTS_LONG    5000u
#define RECORD_AFTER 3u

/* What the recorder had said before the cut. */
struct told {
    bool made, begun[REPLAY_RECORDINGS], ended[REPLAY_RECORDINGS], removed[REPLAY_RECORDINGS];
    bool removing; /* may have been removed, or not */
    uint64_t durable_bytes[REPLAY_RECORDINGS];
};

static struct stria_array_config config;
static char folder[4000];
static uint8_t *images[REPLAY_DRIVES];

static struct told told_before(uint64_t events)
{
    struct told told = {0};
    uint32_t now = 0;
    for (uint64_t i = 0; i < events; i++) {
        const struct tape_event *event = tape_event(i);
        if (event->kind != TAPE_MARK)
            continue;
        if (event->mark == MARK_BEGUN)
            now = (uint32_t)event->value;
        told.made |= event->mark == MARK_MADE;
        told.begun[now] |= event->mark == MARK_BEGUN;
        told.ended[now] |= event->mark == MARK_ENDED;
        if (event->mark == MARK_DURABLE)
            told.durable_bytes[now] = event->value;
        if (event->mark == MARK_REMOVED)
            told.removed[event->value] = true;
    }
    told.removing = told.ended[1] && !told.removed[0];
    return told;
}

static void put_file(uint32_t drive)
{
    const char *path = config.drives[drive].path;
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
    replay_must(fd >= 0, "%s: %s", path, strerror(errno));
    for (uint64_t at = 0; at < DRIVE_BYTES;) {
        const ssize_t wrote = pwrite(fd, images[drive] + at, DRIVE_BYTES - at, (off_t)at);
        replay_must(wrote > 0, "%s: %s", path, strerror(errno));
        at += (uint64_t)wrote;
    }
    close(fd);
}

static struct tape_left cut(uint64_t events, struct stria_random *random)
{
    struct tape_left left = {0};
    for (uint32_t drive = 0; drive < REPLAY_DRIVES; drive++) {
        memset(images[drive], 0, DRIVE_BYTES);
        tape_cut(images[drive], drive, events, random, &left);
        put_file(drive);
    }
    return left;
}

/* Every byte that reads as good is true; how many do, from the start without a break. */
static uint64_t read_recording(struct stria_array *array, uint32_t recording)
{
    static uint8_t truth[STRIA_CHUNK_BYTES_MIN];
    struct stria_reader *reader;
    struct stria_trouble trouble = {0};
    const char *name = replay_names[recording];
    replay_must(stria_reader_open(array, name, &reader, &trouble) == STRIA_OK, "%s", trouble.sentence);
    uint64_t offset = 0, good = 0;
    for (;;) {
        const void *data;
        enum stria_read_verdict verdict;
        const int64_t bytes = stria_reader_view(reader, offset, &data, &verdict);
        replay_must(bytes >= 0, "%s cannot be read at %" PRIu64, name, offset);
        if (bytes == 0)
            break;
        if (verdict == STRIA_READ_OK) {
            replay_fill(truth, recording, offset, (uint64_t)bytes);
            replay_must(memcmp(data, truth, (size_t)bytes) == 0,
                        "%s at %" PRIu64 " is said to be good and is not", name, offset);
            good += good == offset ? (uint64_t)bytes : 0;
        }
        offset += (uint64_t)bytes;
    }
    stria_reader_close(reader);
    return good;
}

static void check_recording(struct stria_array *array, uint32_t recording, const struct told *told)
{
    struct stria_recording_info info;
    const char *name = replay_names[recording];
    const bool listed = stria_array_find(array, name, &info) == STRIA_OK;
    if (told->removed[recording] || !told->begun[recording]) {
        replay_must(!listed || !told->removed[recording], "%s is there again after it was removed", name);
        if (listed)
            read_recording(array, recording);
        return;
    }
    if (recording == 0 && told->removing && !listed)
        return;
    replay_must(listed, "%s is not there any more", name);
    replay_must(!told->ended[recording] || info.complete, "%s has lost its end", name);
    replay_must(info.length_bytes <= replay_bytes[recording], "%s is longer than what was recorded", name);
    replay_must(info.dropped_bytes == 0, "%s has gaps", name);
    const uint64_t good = read_recording(array, recording);
    replay_must(good >= told->durable_bytes[recording],
                "%s: %" PRIu64 " bytes were said to be durable, %" PRIu64 " are good", name,
                told->durable_bytes[recording], good);
    if (told->ended[recording])
        replay_must(good == replay_bytes[recording], "%s ended, and %" PRIu64 " bytes are good", name, good);
}

static struct stria_array *open_array(bool writable)
{
    struct stria_array *array = NULL;
    struct stria_array_info info;
    struct stria_trouble trouble = {0};
    int code = stria_array_open_config(&config, writable, &array, &trouble);
    replay_must(code == STRIA_OK, "the array does not open: %s", trouble.sentence);
    stria_array_describe(array, &info);
    replay_must(info.drives_missing == 0, "a drive is not taken: %s", info.complaint);
    return array;
}

/* What is listed is whole: nothing is listed before it is durable. */
static void check_verify(struct stria_array *array)
{
    struct stria_verify_result result;
    struct stria_trouble trouble = {0};
    const struct stria_verify_options options = {0};
    replay_must(stria_array_verify(array, &options, &result, &trouble) == STRIA_OK, "%s", trouble.sentence);
    replay_must(!result.damaged, "verify finds damage");
    stria_verify_result_free(&result);
}

static void check_all(struct stria_array *array, const struct told *told)
{
    for (uint32_t recording = 0; recording < REPLAY_RECORDINGS; recording++)
        check_recording(array, recording, told);
    check_verify(array);
}

static void record_again(struct told *told)
{
    const uint32_t last = REPLAY_RECORDINGS - 1;
    struct stria_array *array = open_array(true);
    replay_record(array, last);
    stria_array_close(array);
    told->begun[last] = told->ended[last] = true;
    told->durable_bytes[last] = replay_bytes[last];
    array = open_array(false);
    check_all(array, told);
    stria_array_close(array);
}

/* A cut at any event after the array was made. */
static uint64_t draw_instant(struct stria_random *random)
{
    for (;;) {
        const uint64_t events = stria_random_below(random, tape_length()) + 1;
        if (told_before(events).made)
            return events;
    }
}

static void run_cuts(uint64_t cuts, uint64_t seed)
{
    struct tape_left sum = {0};
    uint64_t again = 0, durable = 0;
    const uint64_t length = tape_length();
    for (uint64_t number = 0; number < cuts; number++) {
        struct stria_random random;
        stria_random_seed(&random, seed + number);
        const uint64_t events = draw_instant(&random);
        fprintf(stderr, "cut %" PRIu64 ": after %" PRIu64 " of %" PRIu64 " events\n", number, events, length);
        struct told told = told_before(events);
        const struct tape_left left = cut(events, &random);
        struct stria_array *array = open_array(false);
        check_all(array, &told);
        stria_array_close(array);
        if (number % RECORD_AFTER == 0) {
            record_again(&told);
            again++;
        }
        sum.durable += left.durable, sum.kept += left.kept, sum.torn += left.torn,
            sum.dropped += left.dropped;
        for (uint32_t i = 0; i < REPLAY_RECORDINGS; i++)
            durable += told.durable_bytes[i];
    }
    printf("%" PRIu64 " cuts, %" PRIu64 " of them recorded on after; writes: %" PRIu64 " durable, %" PRIu64
           " kept, %" PRIu64 " torn, %" PRIu64 " dropped; %" PRIu64 " bytes below watermarks compared\n",
           cuts, again, sum.durable, sum.kept, sum.torn, sum.dropped, durable);
    replay_must(sum.kept && sum.torn && sum.dropped && durable, "the cuts never hit what they are for");
}

static void remove_files(void)
{
    for (uint32_t drive = 0; drive < REPLAY_DRIVES; drive++)
        unlink(config.drives[drive].path);
    rmdir(folder);
}

int main(int argc, char **argv)
{
    uint64_t cuts = getenv("STRIA_TEST_LONG") ? CUTS_LONG : CUTS, seed = 1;
    replay_must(argc > 1 && argc % 2 == 0, "usage: %s adaptive|raid0 [--cuts N] [--seed S]", argv[0]);
    for (int i = 2; i + 1 < argc; i += 2) {
        uint64_t *value = strcmp(argv[i], "--cuts") == 0 ? &cuts : &seed;
        *value = strtoull(argv[i + 1], NULL, 10);
    }
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof(folder), "%s/stria-replay-XXXXXX", parent && *parent ? parent : "/var/tmp");
    replay_must(mkdtemp(folder), "%s: %s", folder, strerror(errno));
    replay_configure(&config, folder,
                     strcmp(argv[1], "raid0") == 0 ? STRIA_POLICY_RAID0 : STRIA_POLICY_ADAPTIVE, DRIVE_BYTES);
    for (uint32_t drive = 0; drive < REPLAY_DRIVES; drive++) {
        images[drive] = calloc(1, DRIVE_BYTES);
        replay_must(images[drive], "out of memory");
        put_file(drive);
    }
    replay_live(&config);
    run_cuts(cuts, seed);
    tape_erase();
    for (uint32_t drive = 0; drive < REPLAY_DRIVES; drive++)
        free(images[drive]);
    remove_files();
    return 0;
}
