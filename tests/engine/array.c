/* Arrays over their life: several recordings, removals, drives that are absent, swapped, foreign or damaged,
 * processes that end in the middle. */
#include "core/geometry.h"
#include "core/superblock.h"
#include "engine/array_internal.h"
#include "support/clock.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHUNK       (64 * KIB)
#define DRIVES(...) ((const struct stria_drive_config *const[]){__VA_ARGS__, NULL})

static const uint64_t three[] = {6 * MIB, 6 * MIB, 6 * MIB, 0};
static const uint64_t unequal[] = {3 * MIB, 12 * MIB, 5 * MIB, 0};
static const enum stria_policy policies[] = {STRIA_POLICY_ADAPTIVE, STRIA_POLICY_RAID0};
static struct rig_findings findings;

static uint64_t free_extents(struct rig *rig)
{
    struct stria_array_info info;
    stria_array_describe(rig_open(rig, true), &info);
    return info.extents_free;
}

static void remove_recording(struct rig *rig, const char *name)
{
    struct stria_trouble trouble = {0};
    cr_assert(stria_array_remove(rig_open(rig, true), name, &trouble) == STRIA_OK, "%s", trouble.sentence);
}

/* Keeps an array nearly full with recordings of random lengths, removing one at random each time. */
static void expect_reuse(struct rig *rig)
{
    enum { KEPT = 4 };
    uint64_t bytes[KEPT] = {0}, streams[KEPT] = {0}, next = 1;
    char names[KEPT][16] = {{0}};
    const uint64_t room = free_extents(rig);
    for (unsigned round = 0; round < 24; round++) {
        unsigned slot = round < KEPT ? round : (unsigned)rig_random(KEPT);
        if (names[slot][0])
            remove_recording(rig, names[slot]);
        snprintf(names[slot], sizeof(names[slot]), "r%llu", (unsigned long long)next);
        streams[slot] = next++;
        bytes[slot] = 1 + rig_random(room / (KEPT + 2) * CHUNK);
        rig_record(rig, names[slot], bytes[slot], streams[slot]);
        if (round % 2)
            rig_close(rig);
        for (unsigned other = 0; other < KEPT && names[other][0]; other++)
            rig_expect_whole(rig, names[other], bytes[other], streams[other]);
        rig_close(rig);
    }
    rig_close(rig);
    cr_expect(rig_verify(rig, NULL, &findings).corrupt == 0 && findings.count == 0);
    rig_close(rig);
    for (unsigned slot = 0; slot < KEPT; slot++)
        remove_recording(rig, names[slot]);
    cr_expect(free_extents(rig) == room, "removing all frees all");
    rig_close(rig);
    cr_expect(free_extents(rig) == room, "for good");
    rig_free(rig);
}

Test(array, room_is_used_again_and_no_other_recording_is_touched)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        expect_reuse(rig_make(policies[turn], three));
        expect_reuse(rig_make(policies[turn], unequal));
    }
}

static void expect_plain_raid0(struct rig *rig, const char *name, uint64_t base_row, bool plain)
{
    struct stria_recording_info info;
    cr_assert(stria_array_find(rig_open(rig, true), name, &info) == STRIA_OK);
    cr_expect(info.complete && info.base_row == base_row && info.plain_raid0 == plain,
              "%s: base row %llu, plain: %d", name, (unsigned long long)info.base_row, info.plain_raid0);
}

Test(array, raid0_whose_rows_go_on_before_its_first_is_not_called_plain)
{
    struct rig *rig = rig_make(STRIA_POLICY_RAID0, three);
    const uint64_t rows = free_extents(rig) / 3, row_bytes = 3 * CHUNK;
    rig_record(rig, "a", 20 * row_bytes, 1);
    rig_record(rig, "b", 10 * row_bytes, 2);
    remove_recording(rig, "a");
    cr_assert(rows > 50 && rows < 100);
    struct stria_writer *writer = rig_begin(rig, "c");
    for (uint64_t chunk = 0; chunk < 3 * (rows - 20); chunk++)
        rig_put(writer, chunk * CHUNK, CHUNK, 3);
    const struct stria_result result = rig_end(writer);
    cr_expect(!result.info.plain_raid0 && !result.degraded && result.info.bytes == (rows - 20) * row_bytes);
    for (unsigned opened = 0; opened < 2; opened++) {
        expect_plain_raid0(rig, "b", 20, true);
        expect_plain_raid0(rig, "c", 30, false);
        rig_close(rig);
    }
    rig_expect_whole(rig, "b", 10 * row_bytes, 2);
    rig_expect_whole(rig, "c", (rows - 20) * row_bytes, 3);
    rig_free(rig);
}

static void expect_full(struct rig *rig)
{
    struct stria_array_info info;
    struct stria_writer *writer;
    struct stria_trouble trouble = {0};
    rig_open(rig, true);
    stria_array_describe(rig->array, &info);
    cr_expect(info.extents_free == 0 && info.recording_count == 1);
    cr_expect(stria_writer_begin(rig->array, NULL, &writer, &trouble) == STRIA_ERR_ARRAY_FULL);
    cr_expect(strstr(trouble.sentence, "array rig is full: remove recordings"), "%s", trouble.sentence);
    stria_array_describe(rig->array, &info);
    cr_expect(info.recording_count == 1, "nothing was begun");
    for (uint32_t index = 0; index < rig->config.drive_count; index++) {
        struct stria_drive_info drive;
        cr_assert(stria_array_drive(rig->array, index, &drive) == STRIA_OK);
        cr_expect(drive.free_bytes == 0, "%llu bytes", (unsigned long long)drive.free_bytes);
    }
}

Test(array, what_no_recording_can_use_is_not_free)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rig *rig = rig_make(policies[turn], unequal);
        const uint64_t room = free_extents(rig);
        struct stria_drive_info drive;
        for (uint32_t index = 0; index < 3 && policies[turn] == STRIA_POLICY_RAID0; index++) {
            cr_assert(stria_array_drive(rig->array, index, &drive) == STRIA_OK);
            cr_expect(drive.free_bytes == room / 3 * CHUNK, "as on the smallest");
        }
        rig_record(rig, "all", room * CHUNK, 1);
        expect_full(rig);
        rig_close(rig);
        expect_full(rig);
        rig_close(rig);
        rig_expect_whole(rig, "all", room * CHUNK, 1);
        rig_free(rig);
    }
}

Test(array, the_same_on_files)
{
    expect_reuse(rig_make_files(STRIA_POLICY_ADAPTIVE, unequal));
    expect_reuse(rig_make_files(STRIA_POLICY_RAID0, three));
}

Test(array, what_lies_past_a_limit_of_the_process_is_no_room)
{
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, unequal);
    struct stria_writer *writer = NULL;
    struct stria_trouble trouble = {0};
    struct rlimit limit;
    const uint64_t without = free_extents(rig);
    rig_close(rig);
    cr_assert(getrlimit(RLIMIT_FSIZE, &limit) == 0);
    limit.rlim_cur = 8 * MIB;
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    const uint64_t room = free_extents(rig);
    cr_expect(room < without && without - room <= 4 * MIB / CHUNK, "%llu extents of %llu are free",
              (unsigned long long)room, (unsigned long long)without);
    rig_record(rig, "all", room * CHUNK, 1);
    cr_expect(free_extents(rig) == 0);
    const struct stria_writer_options options = {.name = "more"};
    cr_expect(stria_writer_begin(rig->array, &options, &writer, &trouble) == STRIA_ERR_ARRAY_FULL);
    cr_expect(strstr(trouble.sentence, "stria rm"));
    rig_expect_whole(rig, "all", room * CHUNK, 1);
    rig_free(rig);
}

Test(array, a_removed_recording_is_gone_and_its_name_is_free)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    struct stria_recording_info info;
    struct stria_trouble trouble = {0};
    rig_record(rig, "first", 10 * CHUNK, 1);
    rig_record(rig, "second", 10 * CHUNK, 2);
    remove_recording(rig, "first");
    cr_expect(stria_array_remove(rig->array, "first", &trouble) == STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "first") && strstr(trouble.sentence, "stria ls"));
    rig_record(rig, "first", 5 * CHUNK, 3);
    rig_close(rig);
    cr_expect(stria_array_find(rig_open(rig, false), "first", &info) == STRIA_OK);
    cr_expect(info.bytes == 5 * CHUNK);
    cr_expect(stria_array_remove(rig->array, "first", &trouble) == STRIA_ERR_PERMISSION);
    rig_expect_whole(rig, "first", 5 * CHUNK, 3);
    rig_expect_whole(rig, "second", 10 * CHUNK, 2);
    rig_free(rig);
}

/* How many of a stream's first chunks lie on the drives, byte for byte. */
static unsigned chunks_on_drives(struct rig *rig, uint64_t stream, unsigned chunks)
{
    uint8_t *stored = malloc(CHUNK), *wanted = malloc(chunks * CHUNK);
    unsigned found = 0;
    rig_fill(wanted, 0, chunks * CHUNK, stream);
    rig_close(rig);
    for (uint32_t drive = 0; drive < rig->config.drive_count; drive++)
        for (uint64_t at = 0; at < rig->config.drives[drive].size_bytes; at += CHUNK) {
            rig_peek(rig, drive, at, CHUNK, stored);
            for (unsigned chunk = 0; chunk < chunks; chunk++)
                found += memcmp(stored, wanted + chunk * CHUNK, CHUNK) == 0;
        }
    free(stored);
    free(wanted);
    return found;
}

/* Drives in memory read as zero where they were trimmed. */
Test(array, a_removed_recording_is_trimmed_and_nothing_else)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rig *rig = rig_make(policies[turn], three);
        rig_record(rig, "kept", 5 * CHUNK, 1);
        rig_record(rig, "gone", 7 * CHUNK, 2);
        cr_assert(chunks_on_drives(rig, 1, 5) == 5 && chunks_on_drives(rig, 2, 7) == 7);
        remove_recording(rig, "gone");
        cr_expect(chunks_on_drives(rig, 2, 7) == 0, "a drive was not told what is free");
        cr_expect(chunks_on_drives(rig, 1, 5) == 5);
        rig_expect_whole(rig, "kept", 5 * CHUNK, 1);
        rig_free(rig);
    }
}

static void swap_drives(struct rig *rig, uint32_t a, uint32_t b)
{
    struct stria_drive_config kept = rig->config.drives[a];
    rig->config.drives[a] = rig->config.drives[b];
    rig->config.drives[b] = kept;
}

Test(array, drives_are_known_whatever_their_order)
{
    struct rig *rig = rig_make(STRIA_POLICY_RAID0, three);
    rig_record(rig, "first", 40 * CHUNK + 9, 1);
    rig_close(rig);
    swap_drives(rig, 0, 2);
    rig_expect_whole(rig, "first", 40 * CHUNK + 9, 1);
    rig_close(rig);
    rig_record(rig, "second", 20 * CHUNK, 2);
    rig_close(rig);
    swap_drives(rig, 0, 1);
    rig_expect_whole(rig, "second", 20 * CHUNK, 2);
    struct stria_drive_info drive;
    cr_assert(stria_array_drive(rig->array, 0, &drive) == STRIA_OK);
    cr_expect_str_eq(drive.name, "d0");
    rig_free(rig);
}

static void expect_complaint(struct rig *rig, uint32_t missing, const char *phrase)
{
    struct stria_array_info info;
    stria_array_describe(rig_open(rig, false), &info);
    cr_expect(info.drives_missing == missing && strstr(info.complaint, phrase), "%s", info.complaint);
}

Test(array, a_chunk_that_was_changed_in_array_ini_is_told_and_changes_nothing)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    rig_record(rig, "first", 30 * CHUNK, 1);
    rig_close(rig);
    rig->config.chunk_bytes = 2 * CHUNK;
    expect_complaint(rig, 0,
                     "rig.ini: chunk = 128KiB, but array 'rig' was made with chunks of 64KiB and keeps");
    rig_expect_whole(rig, "first", 30 * CHUNK, 1);
    rig_close(rig);
    rig->config.chunk_initial = true;
    struct stria_array_info info;
    stria_array_describe(rig_open(rig, false), &info);
    cr_expect_str_empty(info.complaint);
    rig_free(rig);
}

Test(array, another_arrays_drive_in_its_place_is_left_alone)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    struct rig *other = rig_make(STRIA_POLICY_ADAPTIVE, three);
    rig_record(rig, "first", 30 * CHUNK, 1);
    rig_record(other, "first", 30 * CHUNK, 2);
    rig_close(rig);
    rig_close(other);
    struct stria_drive_config own = rig->config.drives[1];
    rig->config.drives[1] = other->config.drives[1];
    expect_complaint(rig, 1, "belongs to another array");
    uint64_t read[4];
    rig_read(rig, "first", 1, read);
    cr_expect(read[STRIA_READ_OK] + read[STRIA_READ_MISSING] == 30 * CHUNK && read[STRIA_READ_OK] > 0);
    rig_close(rig);
    rig_record(rig, "second", 10 * CHUNK, 3);
    rig_close(rig);
    rig_expect_whole(other, "first", 30 * CHUNK, 2);
    rig_close(other);
    rig->config.drives[1] = own;
    rig_expect_whole(rig, "first", 30 * CHUNK, 1);
    rig_expect_whole(rig, "second", 10 * CHUNK, 3);
    rig_free(rig);
    rig_free(other);
}

static struct rig *named(const char *name, const uint64_t *sizes)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, sizes);
    snprintf(rig->config.name, sizeof(rig->config.name), "%s", name);
    rig_create(rig);
    rig_record(rig, "run", 20 * CHUNK, (uint64_t)name[0]);
    rig_close(rig);
    return rig;
}

/* What an array.ini of that name, null: of none, over such drives opens for reading and for writing; null:
 * nothing. */
static void expect_opened(const char *name, const struct stria_drive_config *const drives[], const char *read,
                          const char *written)
{
    static const char initial[] = "array";
    struct rig rig = {0};
    struct stria_trouble trouble = {0};
    struct stria_array_info info;
    snprintf(rig.config.file, sizeof(rig.config.file), "mixed.ini");
    snprintf(rig.config.name, sizeof(rig.config.name), "%s", name ? name : initial);
    rig.config.name_initial = !name;
    rig.config.chunk_initial = true;
    rig.config.read_deadline_ns = 5 * STRIA_NS_PER_S;
    rig.config.depth = 4;
    while (drives[rig.config.drive_count]) {
        rig.config.drives[rig.config.drive_count] = *drives[rig.config.drive_count];
        rig.config.drive_count++;
    }
    stria_array_describe(rig_open(&rig, false), &info);
    cr_expect_str_eq(info.name, read);
    rig_close(&rig);
    const int code = stria_array_open_config(&rig.config, true, &rig.array, &trouble);
    cr_expect(code == (written ? STRIA_OK : STRIA_ERR_REFUSED), "%s", trouble.sentence);
    for (uint32_t index = 0; code != STRIA_OK && index < rig.config.drive_count; index++)
        cr_expect(strstr(trouble.sentence, rig.config.drives[index].path), "%s", trouble.sentence);
    if (code == STRIA_OK)
        stria_array_describe(rig.array, &info);
    if (code == STRIA_OK && written)
        cr_expect_str_eq(info.name, written);
    rig_close(&rig);
}

Test(array, the_one_that_is_named_is_written_to_and_no_other)
{
    static const uint64_t two[] = {6 * MIB, 6 * MIB, 0};
    struct rig *alpha = named("alpha", two), *beta = named("beta", two), *twin = named("beta", two);
    const struct stria_drive_config *a = alpha->config.drives, *b = beta->config.drives,
                                    *t = twin->config.drives;
    expect_opened("alpha", DRIVES(&b[0], &a[1]), "alpha", "alpha");
    expect_opened("beta", DRIVES(&b[0], &a[1]), "beta", "beta");
    expect_opened("other", DRIVES(&b[0], &a[1]), "beta", NULL);
    expect_opened("beta", DRIVES(&b[0], &t[1]), "beta", NULL);
    expect_opened("beta", DRIVES(&a[0], &b[0], &t[1]), "beta", NULL);
    expect_opened("alpha", DRIVES(&b[0], &t[1], &a[0]), "alpha", "alpha");
    expect_opened("alpha", DRIVES(&b[0], &a[1], &b[1]), "beta", NULL);
    expect_opened("alpha", DRIVES(&a[0], &b[0], &a[1], &t[1]), "alpha", "alpha");
    expect_opened("alpha", DRIVES(&b[0]), "beta", NULL);
    expect_opened("beta", DRIVES(&b[0]), "beta", "beta");
    expect_opened(NULL, DRIVES(&b[0]), "beta", "beta");
    expect_opened(NULL, DRIVES(&b[0], &a[1]), "beta", NULL);
    rig_expect_whole(alpha, "run", 20 * CHUNK, 'a');
    rig_expect_whole(beta, "run", 20 * CHUNK, 'b');
    rig_expect_whole(twin, "run", 20 * CHUNK, 'b');
    rig_free(alpha);
    rig_free(beta);
    rig_free(twin);
}

Test(array, a_drive_that_was_away_learns_what_was_removed_meanwhile)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    rig_record(rig, "first", 60 * CHUNK, 1);
    rig_record(rig, "second", 30 * CHUNK, 2);
    rig_close(rig);
    uint64_t free_before = free_extents(rig);
    rig_close(rig);
    rig->config.drive_count = 2;
    remove_recording(rig, "first");
    rig_record(rig, "third", 60 * CHUNK, 3);
    rig_close(rig);
    rig->config.drive_count = 3;
    cr_expect(free_extents(rig) == free_before, "%llu extents are free, %llu were",
              (unsigned long long)free_extents(rig), (unsigned long long)free_before);
    struct stria_recording_info info;
    cr_expect(stria_array_find(rig->array, "first", &info) == STRIA_ERR_NOT_FOUND);
    rig_expect_whole(rig, "second", 30 * CHUNK, 2);
    rig_expect_whole(rig, "third", 60 * CHUNK, 3);
    rig_close(rig);
    rig->config.drives[0] = rig->config.drives[2];
    rig->config.drive_count = 1;
    cr_expect(stria_array_find(rig_open(rig, false), "third", &info) == STRIA_OK,
              "the drive that was away has the catalogue");
    rig_free(rig);
}

Test(array, a_copy_of_a_drive_is_told_apart)
{
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, three);
    rig_record(rig, "first", 20 * CHUNK, 1);
    rig_close(rig);
    char *image = malloc(6 * MIB);
    rig_peek(rig, 1, 0, 6 * MIB, image);
    rig_poke(rig, 2, 0, 6 * MIB, image);
    free(image);
    expect_complaint(rig, 1, "one is a copy");
    rig_free(rig);
}

/* Another process holds one drive alone, whatever its place in array.ini. */
static void expect_left_alone(struct rig *rig, uint32_t held)
{
    struct stria_trouble trouble = {0};
    struct stria_array_config *config = malloc(sizeof(*config));
    struct stria_array *holder, *array = NULL;
    void *before = malloc(6 * MIB), *after = malloc(6 * MIB);
    cr_assert(config && before && after);
    *config = rig->config;
    config->drives[0] = rig->config.drives[held];
    config->drive_count = 1;
    rig_peek(rig, !held, 0, 6 * MIB, before);
    cr_assert(stria_array_open_config(config, true, &holder, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(stria_array_open_config(&rig->config, true, &array, &trouble) == STRIA_ERR_BUSY);
    cr_expect(!array && strstr(trouble.sentence, config->drives[0].path) &&
                  strstr(trouble.sentence, "begin one again"),
              "%s", trouble.sentence);
    cr_assert(stria_array_open_config(&rig->config, false, &array, &trouble) == STRIA_OK, "%s",
              trouble.sentence);
    stria_array_close(array);
    stria_array_close(holder);
    rig_peek(rig, !held, 0, 6 * MIB, after);
    cr_expect(memcmp(before, after, 6 * MIB) == 0, "drive %u was written to", !held);
    free(config);
    free(before);
    free(after);
}

Test(array, is_not_written_to_while_any_drive_of_it_is_in_use)
{
    static const uint64_t two[] = {6 * MIB, 6 * MIB, 0};
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, two);
    rig_record(rig, "first", 20 * CHUNK, 1);
    rig_close(rig);
    expect_left_alone(rig, 0);
    expect_left_alone(rig, 1);
    rig_record(rig, "second", 20 * CHUNK, 2);
    rig_free(rig);
}

static void expect_refused(struct rig *rig, int code, const char *phrase)
{
    struct stria_trouble trouble = {0};
    struct stria_array *array = NULL;
    int got = stria_array_open_config(&rig->config, false, &array, &trouble);
    cr_expect(got == code && strstr(trouble.sentence, phrase), "%s: %s", stria_code_text(got),
              trouble.sentence);
    cr_expect(strstr(trouble.sentence, rig->config.drives[0].path), "%s", trouble.sentence);
}

static const uint64_t one[] = {6 * MIB, 0};

Test(array, a_truncated_file_is_told)
{
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, three);
    rig_record(rig, "first", 20 * CHUNK, 1);
    rig_close(rig);
    cr_assert(truncate(rig->config.drives[2].path, 4 * MIB) == 0);
    expect_complaint(rig, 1, "truncated");
    rig_free(rig);
}

static void edit_superblocks(struct rig *rig, void (*edit)(uint8_t page[STRIA_PAGE_BYTES]), unsigned copies)
{
    uint64_t offsets[2];
    uint8_t page[STRIA_PAGE_BYTES];
    cr_assert(stria_geometry_super_offsets(rig->config.drives[0].size_bytes, offsets) == STRIA_OK);
    for (unsigned copy = 0; copy < copies; copy++) {
        rig_peek(rig, 0, offsets[copy], sizeof(page), page);
        edit(page);
        rig_poke(rig, 0, offsets[copy], sizeof(page), page);
    }
}

static void damage(uint8_t page[STRIA_PAGE_BYTES])
{
    page[100] ^= 4;
}

static void wipe(uint8_t page[STRIA_PAGE_BYTES])
{
    memset(page, 0, STRIA_PAGE_BYTES);
}

static void make_newer(uint8_t page[STRIA_PAGE_BYTES])
{
    struct stria_superblock super;
    struct stria_superblock_unknown unknown;
    cr_assert(stria_superblock_decode(page, &super, &unknown) == STRIA_SUPERBLOCK_VALID);
    super.version = STRIA_FORMAT_VERSION + 1;
    stria_superblock_encode(page, &super);
}

Test(array, what_cannot_be_opened_says_why)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, one);
    rig_record(rig, "first", 20 * CHUNK, 1);
    rig_close(rig);
    edit_superblocks(rig, damage, 1);
    rig_expect_whole(rig, "first", 20 * CHUNK, 1);
    rig_close(rig);
    edit_superblocks(rig, damage, 1);
    edit_superblocks(rig, make_newer, 2);
    expect_refused(rig, STRIA_ERR_VERSION, "use a newer Stria");
    edit_superblocks(rig, damage, 2);
    expect_refused(rig, STRIA_ERR_DAMAGED, "damaged");
    edit_superblocks(rig, wipe, 2);
    expect_refused(rig, STRIA_ERR_FORMAT, "carries no Stria array");
    rig_free(rig);
}

/* The other process tells through the pipe how much of its recording is durable, then it is no more. */
static uint64_t record_and_die(struct rig *rig, const char *name, uint64_t stream, unsigned chunks)
{
    int ends[2];
    uint64_t durable = 0, told;
    cr_assert(pipe(ends) == 0);
    pid_t child = fork();
    if (child == 0) {
        struct stria_writer *writer = rig_begin(rig, name);
        for (unsigned chunk = 0; chunk < chunks; chunk++) {
            struct stria_progress progress;
            rig_put(writer, chunk * CHUNK, CHUNK, stream);
            stria_clock_sleep_until(stria_clock_ns() + 2000000);
            stria_writer_progress(writer, &progress);
            if (write(ends[1], &progress.durable_bytes, sizeof(progress.durable_bytes)) < 0)
                break;
        }
        _exit(0);
    }
    close(ends[1]);
    while (read(ends[0], &told, sizeof(told)) == sizeof(told))
        durable = told;
    close(ends[0]);
    int status;
    cr_assert(waitpid(child, &status, 0) == child && WIFEXITED(status));
    return durable;
}

static void expect_survival(struct rig *rig, const char *name, uint64_t stream, unsigned chunks)
{
    uint64_t durable = record_and_die(rig, name, stream, chunks);
    struct stria_recording_info info;
    cr_assert(stria_array_find(rig_open(rig, false), name, &info) == STRIA_OK);
    cr_expect(!info.complete && info.length_bytes >= durable && info.length_bytes <= chunks * CHUNK);
    rig_expect_whole(rig, name, info.length_bytes, stream);
    cr_expect(rig_verify(rig, NULL, &findings).corrupt == 0 && findings.count == 0);
    rig_close(rig);
}

Test(array, a_recording_whose_process_ends_is_there_up_to_its_watermark)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rig *rig = rig_make_files(policies[turn], three);
        rig_record(rig, "first", 30 * CHUNK, 1);
        rig_close(rig);
        expect_survival(rig, "second", 2, 1);
        expect_survival(rig, "third", 3, 70);
        rig_expect_whole(rig, "first", 30 * CHUNK, 1);
        rig_close(rig);
        remove_recording(rig, "third");
        rig_record(rig, "fourth", 60 * CHUNK, 4);
        rig_expect_whole(rig, "first", 30 * CHUNK, 1);
        rig_expect_whole(rig, "fourth", 60 * CHUNK, 4);
        rig_free(rig);
    }
}

/* What a recovery found stays what it is, whatever is recorded afterwards. */
Test(array, a_recording_that_was_cut_off_gets_its_end_before_the_next_one_begins)
{
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rig *rig = rig_make_files(policies[turn], three);
        record_and_die(rig, "cut", 1, 40);
        struct stria_recording_info found, after;
        cr_assert(stria_array_find(rig_open(rig, false), "cut", &found) == STRIA_OK);
        cr_expect(!rig->array->inventory.recordings[0].complete);
        rig_close(rig);
        rig_record(rig, "next", 30 * CHUNK, 2);
        rig_close(rig);
        cr_assert(stria_array_find(rig_open(rig, false), "cut", &after) == STRIA_OK);
        cr_expect(rig->array->inventory.recordings[0].complete, "it has an end on the media");
        cr_expect(!after.complete, "which is not presented as a clean one");
        cr_expect(after.length_bytes == found.length_bytes && after.bytes == found.bytes);
        rig_expect_whole(rig, "cut", found.length_bytes, 1);
        rig_free(rig);
    }
}

/* The absent drive may know of more of the stream than the others. */
Test(array, a_recording_that_was_cut_off_keeps_its_end_open_while_a_drive_is_away)
{
    struct rig *rig = rig_make_files(STRIA_POLICY_RAID0, three);
    record_and_die(rig, "cut", 1, 40);
    struct stria_recording_info whole, back;
    cr_assert(stria_array_find(rig_open(rig, false), "cut", &whole) == STRIA_OK);
    rig_close(rig);
    const struct stria_array_config all = rig->config;
    rig->config.drive_count = 2;
    rig_open(rig, true);
    cr_expect(!rig->array->inventory.recordings[0].complete);
    rig_close(rig);
    rig->config = all;
    cr_assert(stria_array_find(rig_open(rig, true), "cut", &back) == STRIA_OK);
    cr_expect(rig->array->inventory.recordings[0].complete);
    cr_expect(back.length_bytes == whole.length_bytes);
    rig_expect_whole(rig, "cut", whole.length_bytes, 1);
    rig_free(rig);
}

Test(array, as_many_recordings_as_the_catalogue_lists_and_their_removal_makes_room)
{
    struct rig *rig = rig_make(STRIA_POLICY_ADAPTIVE, three);
    struct stria_trouble trouble = {0};
    unsigned count = 0;
    for (int code = STRIA_OK; code == STRIA_OK; count++) {
        char name[16];
        struct stria_writer *writer;
        snprintf(name, sizeof(name), "r%u", count);
        const struct stria_writer_options options = {.name = name};
        code = stria_writer_begin(rig_open(rig, true), &options, &writer, &trouble);
        if (code != STRIA_OK)
            break;
        rig_end(writer);
    }
    cr_expect(count > 50 && strstr(trouble.sentence, "stria rm"), "%u: %s", count, trouble.sentence);
    rig_close(rig);
    struct stria_array_info info;
    stria_array_describe(rig_open(rig, true), &info);
    cr_expect(info.recording_count == count);
    for (unsigned index = 0; index < count; index++) {
        char name[16];
        snprintf(name, sizeof(name), "r%u", index);
        remove_recording(rig, name);
    }
    rig_record(rig, "first", 10 * CHUNK, 1);
    rig_close(rig);
    rig_expect_whole(rig, "first", 10 * CHUNK, 1);
    rig_free(rig);
}
