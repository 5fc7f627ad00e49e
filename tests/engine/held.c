#define _GNU_SOURCE
/* What is being read is kept from being removed, and what was removed all the same is not called damaged. */
#include "engine/held.h"

#include "engine/array_internal.h"
#include "support/clock.h"
#include "tests/contract/forbid.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BYTES (40 * 64 * KIB)

static const uint64_t sizes[] = {8 * MIB, 8 * MIB, 0};

static struct rig *recorded_under(enum stria_policy policy)
{
    struct rig *rig = rig_make_files(policy, sizes);
    rig_record(rig, "a", BYTES, 1);
    rig_record(rig, "b", BYTES, 2);
    rig_close(rig);
    return rig;
}

static struct rig *recorded(void)
{
    return recorded_under(STRIA_POLICY_ADAPTIVE);
}

static int remove_as_another(const struct rig *rig, const char *name, struct stria_trouble *trouble)
{
    struct stria_array *other;
    cr_assert(stria_array_open_config(&rig->config, true, &other, trouble) == STRIA_OK, "%s",
              trouble->sentence);
    const int code = stria_array_remove(other, name, trouble);
    stria_array_close(other);
    return code;
}

Test(held, what_is_read_is_removed_only_after_its_last_reader)
{
    struct rig *rig = recorded();
    struct stria_reader *first, *second;
    struct stria_trouble trouble = {0};
    cr_assert(stria_reader_open(rig_open(rig, false), "a", &first, &trouble) == STRIA_OK);
    cr_assert(stria_reader_open(rig->array, "a", &second, &trouble) == STRIA_OK);
    cr_expect(remove_as_another(rig, "a", &trouble) == STRIA_ERR_BUSY);
    cr_expect(strstr(trouble.sentence, "recording a is being read by process"), "%s", trouble.sentence);
    stria_reader_close(first);
    cr_expect(remove_as_another(rig, "a", &trouble) == STRIA_ERR_BUSY);
    cr_expect(remove_as_another(rig, "b", &trouble) == STRIA_OK, "%s", trouble.sentence);
    stria_reader_close(second);
    cr_expect(remove_as_another(rig, "a", &trouble) == STRIA_OK, "%s", trouble.sentence);
    rig_free(rig);
}

Test(held, what_was_removed_since_the_array_was_opened_is_not_read)
{
    struct rig *rig = recorded();
    struct stria_reader *reader;
    struct stria_trouble trouble = {0};
    struct stria_verify_result result;
    static const char *const name = "a";
    const struct stria_verify_options named = {.names = &name, .name_count = 1};
    rig_open(rig, false);
    cr_assert(remove_as_another(rig, "a", &trouble) == STRIA_OK);
    cr_expect(stria_reader_open(rig->array, "a", &reader, &trouble) == STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "has just been removed"), "%s", trouble.sentence);
    cr_expect(stria_array_verify(rig->array, &named, &result, &trouble) == STRIA_ERR_NOT_FOUND);
    cr_assert(stria_array_verify(rig->array, NULL, &result, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(result.recording_count == 1 && strcmp(result.recordings[0].info.name, "b") == 0);
    cr_expect(!result.damaged);
    stria_verify_result_free(&result);
    rig_free(rig);
}

Test(held, what_is_being_removed_is_left_out_unless_it_was_asked_for)
{
    struct rig *rig = recorded();
    struct stria_array *other;
    struct stria_trouble trouble = {0};
    struct stria_recording_info info;
    struct stria_verify_result result;
    static const char *const name = "a";
    const struct stria_verify_options named = {.names = &name, .name_count = 1};
    cr_assert(stria_array_open_config(&rig->config, true, &other, &trouble) == STRIA_OK);
    cr_assert(stria_array_recording(other, 0, &info) == STRIA_OK && strcmp(info.name, "a") == 0);
    cr_assert(stria_held_alone(other, &info, &trouble) == STRIA_OK);
    rig_open(rig, false);
    cr_expect(stria_array_verify(rig->array, &named, &result, &trouble) == STRIA_ERR_BUSY);
    cr_expect(strstr(trouble.sentence, "recording a is being removed by process"), "%s", trouble.sentence);
    cr_assert(stria_array_verify(rig->array, NULL, &result, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(result.recording_count == 1 && strcmp(result.recordings[0].info.name, "b") == 0);
    cr_expect(result.bytes == BYTES && !result.damaged);
    stria_verify_result_free(&result);
    stria_held_release(other, info.id);
    cr_assert(stria_array_verify(rig->array, NULL, &result, &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(result.recording_count == 2 && result.bytes == 2ull * BYTES);
    stria_verify_result_free(&result);
    stria_array_close(other);
    rig_free(rig);
}

Test(held, what_cannot_be_locked_is_removed_only_where_there_are_no_locks)
{
    struct rig *rig = recorded();
    struct stria_trouble trouble = {0};
    struct stria_recording_info info;
    rig_open(rig, true);
    forbid_fcntl(F_OFD_SETLK, ENOLCK);
    cr_expect(stria_array_remove(rig->array, "b", &trouble) == STRIA_OK, "%s", trouble.sentence);
    forbid_fcntl(F_OFD_SETLK, EIO);
    cr_expect(stria_array_remove(rig->array, "a", &trouble) == STRIA_ERR_IO);
    cr_expect(strstr(trouble.sentence, "recording a stays") &&
                  strstr(trouble.sentence, "on d0 failed (i/o error)"),
              "%s", trouble.sentence);
    cr_expect(stria_array_recording(rig->array, 0, &info) == STRIA_OK && strcmp(info.name, "a") == 0);
    rig_free(rig);
}

/* Each request that reads a drive's catalogue, from the first one counted on: a fault. */
static void strike_catalogue(struct rig *rig, uint32_t drive, unsigned first, const char *what)
{
    const struct stria_geometry *geometry = &rig_open(rig, false)->members[drive].super.geometry;
    const uint64_t begin = geometry->catalogue_offset, end = begin + geometry->catalogue_bytes;
    snprintf(rig->config.drives[drive].fault, sizeof(rig->config.drives[drive].fault),
             "read#%u-@%" PRIu64 "-%" PRIu64 ":%s", first, begin, end, what);
    rig_close(rig);
}

/* One drive whose catalogue takes several requests; the file has holes. */
static struct rig *large(void)
{
    static const uint64_t small[] = {8 * MIB, 0};
    struct rig *rig = rig_make_files(STRIA_POLICY_ADAPTIVE, small);
    struct stria_drive_config *drive = &rig->config.drives[0];
    drive->size_bytes = 1280 * MIB;
    unlink(drive->path);
    const int fd = open(drive->path, O_CREAT | O_EXCL | O_RDWR, 0600);
    cr_assert(fd >= 0 && ftruncate(fd, (off_t)drive->size_bytes) == 0);
    close(fd);
    rig_create(rig);
    return rig;
}

Test(held, a_slow_drive_has_its_deadline_for_each_answer)
{
    struct rig *rig = large();
    struct stria_reader *reader;
    struct stria_trouble trouble = {0};
    rig->config.read_deadline_ns = STRIA_NS_PER_S;
    rig_record(rig, "a", BYTES, 1);
    rig_close(rig);
    strike_catalogue(rig, 0, 1, "stall=400ms");
    rig_open(rig, false);
    cr_assert(rig->array->members[0].super.geometry.catalogue_bytes >= 4 * MIB);
    rig->config.drives[0].fault[0] = '\0';
    cr_assert(remove_as_another(rig, "a", &trouble) == STRIA_OK, "%s", trouble.sentence);
    cr_expect(stria_reader_open(rig->array, "a", &reader, &trouble) == STRIA_ERR_NOT_FOUND);
    cr_expect(strstr(trouble.sentence, "has just been removed"), "%s", trouble.sentence);
    cr_expect(stria_array_present(rig->array) == 1);
    rig_free(rig);
}

Test(held, a_drive_that_is_silent_about_its_catalogue_costs_one_deadline)
{
    struct rig *rig = recorded();
    struct stria_reader *reader;
    struct stria_trouble trouble = {0};
    rig->config.read_deadline_ns = 3 * STRIA_NS_PER_S;
    /* The first is what opens the array. */
    strike_catalogue(rig, 0, 2, "lost");
    cr_assert(stria_array_present(rig_open(rig, false)) == 2);
    const uint64_t start_ns = stria_clock_ns();
    cr_assert(stria_reader_open(rig->array, "a", &reader, &trouble) == STRIA_OK, "%s", trouble.sentence);
    const uint64_t took_ns = stria_clock_ns() - start_ns;
    cr_expect(took_ns < 6 * STRIA_NS_PER_S, "it took %llu ms", (unsigned long long)took_ns / 1000000);
    stria_reader_close(reader);
    cr_expect(stria_array_present(rig->array) == 1);
    rig_free(rig);
}

Test(held, a_drive_that_always_answers_again_ends_the_look_and_is_kept)
{
    struct rig *rig = recorded();
    struct stria_reader *reader;
    strike_catalogue(rig, 0, 2, "again");
    cr_assert(stria_array_present(rig_open(rig, false)) == 2);
    cr_assert(stria_reader_open(rig->array, "a", &reader, NULL) == STRIA_OK);
    stria_reader_close(reader);
    cr_expect(stria_array_present(rig->array) == 2);
    rig_free(rig);
}

/* A file's bytes, read and written without regard to anybody's locks, as another host would. */
static void transfer(const char *path, uint8_t *data, uint64_t bytes, bool write)
{
    const int fd = open(path, write ? O_WRONLY : O_RDONLY);
    cr_assert(fd >= 0);
    cr_assert((write ? pwrite(fd, data, bytes, 0) : pread(fd, data, bytes, 0)) == (ssize_t)bytes);
    cr_assert(!write || fsync(fd) == 0);
    close(fd);
}

/* Another host that removes the recording "a" while we have the array open. */
struct other_host {
    struct rig *rig;
    uint8_t *after[2]; /* what the drives will hold */
    uint32_t findings;
};

static struct other_host other_host(struct rig *rig)
{
    struct other_host other = {.rig = rig};
    struct stria_trouble trouble = {0};
    uint8_t *images[2];
    for (uint32_t drive = 0; drive < 2; drive++) {
        images[drive] = malloc(sizes[drive]);
        other.after[drive] = malloc(sizes[drive]);
        cr_assert(images[drive] && other.after[drive]);
        transfer(rig->config.drives[drive].path, images[drive], sizes[drive], false);
    }
    cr_assert(remove_as_another(rig, "a", &trouble) == STRIA_OK);
    for (uint32_t drive = 0; drive < 2; drive++) {
        transfer(rig->config.drives[drive].path, other.after[drive], sizes[drive], false);
        transfer(rig->config.drives[drive].path, images[drive], sizes[drive], true);
        free(images[drive]);
    }
    return other;
}

static void other_host_removes(const struct other_host *other)
{
    for (uint32_t drive = 0; drive < 2; drive++)
        transfer(other->rig->config.drives[drive].path, other->after[drive], sizes[drive], true);
}

static void other_host_free(struct other_host *other)
{
    for (uint32_t drive = 0; drive < 2; drive++)
        free(other->after[drive]);
}

static void remove_at_first(void *context, const struct stria_verify_finding *finding)
{
    struct other_host *other = context;
    (void)finding;
    if (other->findings++ == 0)
        other_host_removes(other);
}

/* One bit of the extent at a position of the first drive. */
static void damage(struct rig *rig, uint64_t position)
{
    struct stria_drive_info info;
    cr_assert(stria_array_drive(rig_open(rig, false), 0, &info) == STRIA_OK);
    rig_close(rig);
    rig_flip(rig, 0, info.data_offset_bytes + position * 64 * KIB);
}

Test(held, what_another_host_removes_while_it_is_verified_is_told_and_not_damaged)
{
    struct rig *rig = recorded();
    /* It is noticed while the rest is still to be read. */
    damage(rig, 0);
    struct other_host other = other_host(rig);
    struct stria_trouble trouble = {0};
    struct stria_verify_result result;
    const struct stria_verify_options options = {.context = &other, .finding = remove_at_first, .depth = 1};
    cr_assert(stria_array_verify(rig_open(rig, false), &options, &result, &trouble) == STRIA_OK);
    cr_expect(other.findings > 0);
    cr_expect(result.recording_count == 2 && result.recordings[0].removed && !result.recordings[1].removed);
    cr_expect(!result.damaged);
    stria_verify_result_free(&result);
    other_host_free(&other);
    rig_free(rig);
}

/* Reads the stream to its end; counts the bytes called damaged. */
static int64_t read_on(struct stria_reader *reader, uint64_t *offset, uint64_t end, uint64_t *damaged_bytes)
{
    static uint8_t data[64 * KIB];
    enum stria_read_verdict verdict;
    int64_t count = 1;
    while (*offset < end && count > 0) {
        count = stria_reader_read(reader, *offset, data, sizeof(data), &verdict);
        if (count > 0)
            *offset += (uint64_t)count;
        if (count > 0 && verdict == STRIA_READ_CORRUPT)
            *damaged_bytes += (uint64_t)count;
    }
    return count;
}

Test(held, what_another_host_removes_right_after_a_damaged_chunk_was_told_is_not_damaged)
{
    struct rig *rig = recorded_under(STRIA_POLICY_RAID0);
    struct stria_reader *reader;
    uint64_t offset = 0, damaged_bytes = 0;
    damage(rig, 0);
    damage(rig, 18);
    struct other_host other = other_host(rig);
    cr_assert(stria_reader_open(rig_open(rig, false), "a", &reader, NULL) == STRIA_OK);
    cr_assert(read_on(reader, &offset, 2 * 64 * KIB, &damaged_bytes) > 0);
    cr_expect(damaged_bytes == 64 * KIB, "it is there, and damaged");
    other_host_removes(&other);
    cr_expect(read_on(reader, &offset, BYTES, &damaged_bytes) == STRIA_ERR_NOT_FOUND);
    cr_expect(damaged_bytes == 64 * KIB, "no more than what was damaged while it was there");
    cr_expect(read_on(reader, &offset, BYTES, &damaged_bytes) == STRIA_ERR_NOT_FOUND, "and so it stays");
    stria_reader_close(reader);
    other_host_free(&other);
    rig_free(rig);
}
