/* Random partings and meetings of the drives of an array, as far as the catalogue is concerned: parts record,
 * remove and compact while others are away, drives join in any order, and the power is cut at any write. */
#include "core/catalogue.h"
#include "core/code.h"
#include "core/inventory.h"
#include "tests/unit/catalogue_help.h"
#include "tests/unit/random.h"

#define DRIVES_MAX     4u
#define EXTENTS        48u
#define RECORDINGS_MAX 400u
#define BLOCK          512u

struct life {
    struct stria_random random;
    uint32_t drive_count;
    struct help_region media[DRIVES_MAX];
    uint64_t extents[DRIVES_MAX][EXTENTS]; /* whose entry lies there; 0: nobody's */
    /* By recording, in the order in which they were made: a bit for each drive. */
    uint32_t recording_count;
    struct {
        uint64_t id;
        uint32_t known;      /* these hold it, complete, and have said so */
        uint32_t removed;    /* these know that it is removed */
        uint32_t may_remove; /* these may know, as a removal was begun */
    } recordings[RECORDINGS_MAX];
    uint32_t cut_after; /* writes until the power is cut; UINT32_MAX: not in this session */
    bool cut;
    uint32_t met_apart, compactions, cuts, full; /* what was seen */
};

static struct life life;

static bool chance(uint32_t one_in)
{
    return stria_random_below(&life.random, one_in) == 0;
}

/* Some bytes of a log to some drives, and a flush; of what a cut interrupts any blocks may arrive. */
static void write_part(const struct stria_catalogue *log, uint32_t drives, size_t begin, size_t end)
{
    if (life.cut)
        return;
    life.cut = life.cut_after-- == 0;
    for (uint32_t drive = 0; drive < life.drive_count; drive++)
        for (size_t at = begin; at < end && (drives >> drive & 1); at += BLOCK)
            if (!life.cut || chance(2))
                memcpy(life.media[drive].half[log->epoch & 1] + at, log->image + at, BLOCK);
}

static void write_whole(const struct stria_catalogue *log, uint32_t drives)
{
    uint8_t head[STRIA_CATALOGUE_ENTRY_BYTES];
    memcpy(head, log->image, sizeof(head));
    memset(log->image, 0, sizeof(head));
    write_part(log, drives, 0, HALF_BYTES);
    memcpy(log->image, head, sizeof(head));
    write_part(log, drives, 0, STRIA_PAGE_BYTES);
}

static void append(struct stria_catalogue *log, uint32_t drives, const struct stria_catalogue_entry *entry)
{
    const int index = stria_catalogue_append(log, entry);
    cr_assert_gt(index, 0);
    const size_t block = (size_t)index * STRIA_CATALOGUE_ENTRY_BYTES / BLOCK * BLOCK;
    write_part(log, drives, block, block + BLOCK);
}

static bool living(const struct stria_catalogue *log, uint64_t id)
{
    bool begun = false;
    struct stria_catalogue_entry entry;
    for (uint32_t index = 0; stria_catalogue_next(log, &index, &entry);) {
        if (entry.recording == id && entry.kind == STRIA_CATALOGUE_REMOVED)
            return false;
        begun |= entry.recording == id && entry.kind == STRIA_CATALOGUE_BEGUN;
    }
    return begun;
}

/* Nothing that is complete has vanished, nothing that is removed is back. */
static void judge(const struct stria_catalogue *log, uint32_t drives)
{
    for (uint32_t i = 0; i < life.recording_count; i++) {
        const uint64_t id = life.recordings[i].id;
        if (life.recordings[i].removed & drives)
            cr_assert_not(living(log, id), "recording %llu is back", (unsigned long long)id);
        else if ((life.recordings[i].known & drives) && !(life.recordings[i].may_remove & drives))
            cr_assert(living(log, id) && help_count(log, STRIA_CATALOGUE_ENDED, id) > 0,
                      "recording %llu has vanished", (unsigned long long)id);
    }
}

/* What one of them knows all know now, if nothing came in between. */
static void share(uint32_t drives)
{
    for (uint32_t i = 0; i < life.recording_count; i++) {
        life.recordings[i].may_remove |= life.recordings[i].may_remove & drives ? drives : 0;
        if (life.cut)
            continue;
        life.recordings[i].known |= life.recordings[i].known & drives ? drives : 0;
        life.recordings[i].removed |= life.recordings[i].removed & drives ? drives : 0;
    }
}

static void renew(const struct stria_catalogue *log, const struct stria_catalogue *replicas, uint32_t drives)
{
    static uint8_t image[STRIA_CATALOGUE_HALF_MIN];
    struct stria_catalogue copy;
    uint32_t by_other_half = 0, whole = 0, in_place = 0;
    for (uint32_t drive = 0; drive < life.drive_count; drive++) {
        if (!(drives >> drive & 1))
            continue;
        const enum stria_catalogue_renewal renewal = stria_catalogue_renewal(log, &replicas[drive]);
        by_other_half |= (uint32_t)(renewal == STRIA_RENEWAL_BY_OTHER_HALF) << drive;
        in_place |= (uint32_t)(renewal == STRIA_RENEWAL_IN_PLACE) << drive;
        whole |= (uint32_t)(renewal == STRIA_RENEWAL_WHOLE) << drive;
    }
    if (by_other_half) {
        stria_catalogue_copy(log, log->epoch - 1, 3, image, &copy);
        write_whole(&copy, by_other_half);
    }
    if (in_place)
        write_part(log, in_place, 0, HALF_BYTES);
    if (whole | by_other_half)
        write_whole(log, whole | by_other_half);
}

static uint64_t new_id(const struct stria_catalogue *log, uint32_t drives)
{
    uint64_t next = log->next_recording;
    for (uint32_t drive = 0; drive < life.drive_count; drive++)
        for (uint32_t i = 0; i < EXTENTS && (drives >> drive & 1); i++)
            if (life.extents[drive][i] >= next)
                next = life.extents[drive][i] + 1;
    const bool all = drives == (1u << life.drive_count) - 1;
    return all ? next : next + stria_random_below(&life.random, UINT32_MAX);
}

/* One extent on each drive; it must not be another's who may still want it. */
static bool take_extents(const struct stria_catalogue *log, uint32_t drives, uint64_t id)
{
    for (uint32_t drive = 0; drive < life.drive_count; drive++) {
        uint32_t at = 0;
        while (at < EXTENTS && life.extents[drive][at] != 0 && living(log, life.extents[drive][at]))
            at++;
        if (!(drives >> drive & 1))
            continue;
        if (at == EXTENTS)
            return false;
        for (uint32_t i = 0; i < life.recording_count; i++)
            cr_assert(life.recordings[i].id != life.extents[drive][at] ||
                          !(life.recordings[i].known >> drive & 1) || life.recordings[i].may_remove != 0,
                      "an extent is used twice");
        life.extents[drive][at] = id;
    }
    return true;
}

static void record(struct stria_catalogue *log, uint32_t drives)
{
    const uint64_t id = new_id(log, drives);
    struct stria_catalogue_entry entry = {
        .kind = STRIA_CATALOGUE_BEGUN,
        .recording = id,
        .wall_ns = id,
        .begun = {.policy = STRIA_POLICY_ADAPTIVE, .chunk_bytes = STRIA_CHUNK_BYTES_MIN}};
    cr_assert_eq(stria_name_set(entry.begun.name, "x"), 0);
    if (life.recording_count == RECORDINGS_MAX)
        return;
    for (uint32_t i = 0; i < life.recording_count; i++)
        cr_assert_neq(life.recordings[i].id, id, "an id is used twice");
    append(log, drives, &entry);
    if (life.cut || !take_extents(log, drives, id))
        return;
    entry = (struct stria_catalogue_entry){.kind = STRIA_CATALOGUE_ENDED, .recording = id, .wall_ns = id};
    append(log, drives, &entry);
    if (life.cut)
        return;
    life.recordings[life.recording_count].id = id;
    life.recordings[life.recording_count++].known = drives;
}

static void compact(struct stria_catalogue *log, uint32_t drives, uint64_t remove)
{
    static uint8_t images[2][STRIA_CATALOGUE_HALF_MIN];
    struct stria_catalogue target;
    uint8_t *image = log->image == images[0] ? images[1] : images[0];
    if (help_compact(
            log, &target, image,
            (struct stria_catalogue_compaction){
                .wall_ns = 4, .remove = remove, .drive_absent = drives != (1u << life.drive_count) - 1}) !=
        STRIA_OK)
        cr_assert_fail("a compaction without a wish for room does not fit");
    *log = target;
    write_whole(log, drives);
    life.compactions++;
}

static void remove_one(struct stria_catalogue *log, uint32_t drives)
{
    const uint32_t first =
        life.recording_count ? (uint32_t)stria_random_below(&life.random, life.recording_count) : 0;
    for (uint32_t i = first; i < life.recording_count; i++) {
        if (!living(log, life.recordings[i].id))
            continue;
        life.recordings[i].may_remove |= drives;
        const struct stria_catalogue_entry entry = {.kind = STRIA_CATALOGUE_REMOVED,
                                                    .recording = life.recordings[i].id};
        if (log->count == log->entries_max || chance(8))
            compact(log, drives, entry.recording);
        else
            append(log, drives, &entry);
        if (!life.cut)
            life.recordings[i].removed |= drives;
        return;
    }
}

/* Some drives together: opened for writing, used for a while, perhaps cut off. */
static void session(uint32_t drives)
{
    struct stria_catalogue replicas[DRIVES_MAX] = {0}, log;
    for (uint32_t drive = 0; drive < life.drive_count; drive++)
        if (drives >> drive & 1)
            cr_assert_eq(help_load(&replicas[drive], &life.media[drive]), STRIA_OK);
    life.cut = false;
    life.cut_after = chance(3) ? (uint32_t)stria_random_below(&life.random, 12) : UINT32_MAX;
    uint64_t newest = 0;
    for (uint32_t drive = 0; drive < life.drive_count; drive++)
        if (replicas[drive].image && replicas[drive].epoch > newest)
            newest = replicas[drive].epoch;
    const int code = help_merge(replicas, life.drive_count, drives != (1u << life.drive_count) - 1, &log);
    judge(&log, drives);
    if (code == STRIA_ERR_FULL) {
        life.full++;
        return;
    }
    cr_assert_eq(code, STRIA_OK);
    life.met_apart += log.epoch > newest;
    renew(&log, replicas, drives);
    share(drives);
    for (uint32_t turn = (uint32_t)stria_random_below(&life.random, 12); turn > 0 && !life.cut; turn--) {
        if (log.entries_max - log.count < 4 || chance(10))
            compact(&log, drives, 0);
        else if (chance(3) || log.entries_max - log.count < 4)
            remove_one(&log, drives);
        else
            record(&log, drives);
        if (log.entries_max - log.count < 4)
            break;
    }
    if (!life.cut)
        judge(&log, drives);
    life.cuts += life.cut;
}

static void live(uint64_t seed)
{
    memset(&life, 0, sizeof(life));
    life.random = random_of(seed);
    life.drive_count = (uint32_t)stria_random_between(&life.random, 2, DRIVES_MAX);
    for (uint32_t drive = 0; drive < life.drive_count; drive++) {
        struct stria_catalogue catalogue;
        help_format(&catalogue, &life.media[drive]);
    }
    for (unsigned turn = 0; turn < 40; turn++)
        session((uint32_t)stria_random_between(&life.random, 1, (1u << life.drive_count) - 1));
    session((1u << life.drive_count) - 1);
}

Test(catalogue_meetings, nothing_vanishes_comes_back_or_is_used_twice)
{
    uint32_t met_apart = 0, compactions = 0, cuts = 0;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        live(seed);
        met_apart += life.met_apart;
        compactions += life.compactions;
        cuts += life.cuts;
    }
    cr_assert(met_apart > 50 && compactions > 50 && cuts > 50, "%u meetings, %u compactions, %u cuts",
              met_apart, compactions, cuts);
}
