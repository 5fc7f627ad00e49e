#include "config/keys.h"

#include "config/array.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <string.h>

/* Room for whatever a key stores, filled so that every change is seen. */
static union {
    unsigned char bytes[8192];
    uint64_t number;
    uint32_t count;
    double ratio;
    bool flag;
} field;

static bool parse(enum stria_key_section section, const char *name, const char *value)
{
    const struct stria_key *key = stria_key_find(section, name);
    cr_assert_not_null(key, "there is no key %s", name);
    memset(&field, 0xa5, sizeof(field));
    return key->parse(value, &field);
}

static bool untouched(void)
{
    for (size_t i = 0; i < sizeof(field.bytes); i++)
        if (field.bytes[i] != 0xa5)
            return false;
    return true;
}

static bool refused(enum stria_key_section section, const char *name, const char *value)
{
    return !parse(section, name, value) && untouched();
}

Test(keys, a_key_belongs_to_its_section)
{
    cr_expect_not_null(stria_key_find(STRIA_KEY_ARRAY, "chunk"));
    cr_expect_null(stria_key_find(STRIA_KEY_DRIVE, "chunk"));
    cr_expect_not_null(stria_key_find(STRIA_KEY_DRIVE, "path"));
    cr_expect_null(stria_key_find(STRIA_KEY_ARRAY, "path"));
    cr_expect_null(stria_key_find(STRIA_KEY_ARRAY, "Chunk"));
    cr_expect_null(stria_key_find(STRIA_KEY_ARRAY, ""));
}

Test(keys, each_stands_once_and_tells_what_it_takes)
{
    for (const struct stria_key *key = stria_keys; key->name; key++) {
        cr_expect_eq(stria_key_find(key->section, key->name), key, "%s stands twice", key->name);
        cr_expect(key->allowed[0] && key->meaning[0] && key->meaning[strlen(key->meaning) - 1] != '.');
        cr_expect(!key->required || !key->initial, "%s has a default and need not be given", key->name);
    }
}

Test(keys, no_key_takes_nothing_and_what_is_refused_changes_nothing)
{
    for (const struct stria_key *key = stria_keys; key->name; key++)
        cr_expect(refused(key->section, key->name, ""), "%s", key->name);
}

Test(keys, the_ends_of_a_range_belong_to_it)
{
    cr_expect(parse(STRIA_KEY_ARRAY, "commit_interval", "1ms") && field.number == 1000000);
    cr_expect(parse(STRIA_KEY_ARRAY, "commit_interval", "60s") && field.number == 60000000000);
    cr_expect(refused(STRIA_KEY_ARRAY, "commit_interval", "999us"));
    cr_expect(refused(STRIA_KEY_ARRAY, "commit_interval", "60001ms"));
    cr_expect(parse(STRIA_KEY_ARRAY, "write_deadline", "100ms") && field.number == 100000000);
    cr_expect(parse(STRIA_KEY_ARRAY, "read_deadline", "10min") && field.number == 600000000000);
    cr_expect(refused(STRIA_KEY_ARRAY, "write_deadline", "99ms"));
    cr_expect(refused(STRIA_KEY_ARRAY, "read_deadline", "601s"));
    cr_expect(parse(STRIA_KEY_ARRAY, "depth", "1") && field.count == 1);
    cr_expect(parse(STRIA_KEY_ARRAY, "depth", "256") && field.count == 256);
    cr_expect(refused(STRIA_KEY_ARRAY, "depth", "0"));
    cr_expect(refused(STRIA_KEY_ARRAY, "depth", "257"));
    cr_expect(parse(STRIA_KEY_ARRAY, "chunk", "64KiB") && field.count == 65536);
    cr_expect(parse(STRIA_KEY_ARRAY, "chunk", "16MiB") && field.count == 16777216);
    cr_expect(refused(STRIA_KEY_ARRAY, "chunk", "32KiB"));
    cr_expect(refused(STRIA_KEY_ARRAY, "chunk", "32MiB"));
    cr_expect(refused(STRIA_KEY_ARRAY, "chunk", "1MB"), "no power of two");
}

Test(keys, counts_have_no_units_and_reach_to_the_largest_number)
{
    cr_expect(parse(STRIA_KEY_DRIVE, "fault_seed", "18446744073709551615") && field.number == UINT64_MAX);
    cr_expect(refused(STRIA_KEY_DRIVE, "fault_seed", "18446744073709551616"));
    cr_expect(refused(STRIA_KEY_ARRAY, "depth", "1KiB"));
    cr_expect(refused(STRIA_KEY_ARRAY, "depth", "+8"));
    cr_expect(refused(STRIA_KEY_ARRAY, "depth", " 8"));
}

Test(keys, sizes_of_files_are_more_than_nothing_and_what_a_file_can_have)
{
    cr_expect(parse(STRIA_KEY_DRIVE, "size", "1") && field.number == 1);
    cr_expect(parse(STRIA_KEY_DRIVE, "size", "9223372036854775807") && field.number == INT64_MAX);
    cr_expect(refused(STRIA_KEY_DRIVE, "size", "0"));
    cr_expect(refused(STRIA_KEY_DRIVE, "size", "9223372036854775808"));
}

Test(keys, scales_shrink_sizes_and_change_rates)
{
    cr_expect(parse(STRIA_KEY_DRIVE, "capacity_scale", "1") && field.ratio == 1);
    cr_expect(refused(STRIA_KEY_DRIVE, "capacity_scale", "1.001"));
    cr_expect(refused(STRIA_KEY_DRIVE, "capacity_scale", "0"));
    cr_expect(parse(STRIA_KEY_DRIVE, "rate_scale", "100") && field.ratio == 100);
    cr_expect(refused(STRIA_KEY_DRIVE, "rate_scale", "100.5"));
    cr_expect(refused(STRIA_KEY_DRIVE, "rate_scale", "-1"));
}

Test(keys, words_are_as_they_are_written)
{
    cr_expect(parse(STRIA_KEY_ARRAY, "discard", "yes") && field.flag);
    cr_expect(parse(STRIA_KEY_ARRAY, "discard", "no") && !field.flag);
    cr_expect(refused(STRIA_KEY_ARRAY, "discard", "Yes"));
    cr_expect(refused(STRIA_KEY_ARRAY, "discard", "true"));
    cr_expect(parse(STRIA_KEY_DRIVE, "backend", "passthrough") && field.flag);
    cr_expect(parse(STRIA_KEY_DRIVE, "backend", "auto") && !field.flag);
    cr_expect(refused(STRIA_KEY_DRIVE, "backend", "uring"));
    cr_expect(refused(STRIA_KEY_ARRAY, "policy", "RAID0"));
}

Test(keys, a_path_fits_with_its_end_or_is_refused)
{
    char path[STRIA_CONFIG_PATH_BYTES + 1];
    memset(path, 'p', sizeof(path));
    path[STRIA_CONFIG_PATH_BYTES] = '\0';
    cr_expect(refused(STRIA_KEY_DRIVE, "path", path));
    path[STRIA_CONFIG_PATH_BYTES - 1] = '\0';
    cr_expect(parse(STRIA_KEY_DRIVE, "path", path));
    cr_expect_str_eq((const char *)field.bytes, path);
}

Test(keys, a_name_is_safe_as_that_of_a_file)
{
    char longest[65];
    memset(longest, 'n', sizeof(longest));
    longest[64] = '\0';
    cr_expect(!stria_name_allowed(longest));
    longest[63] = '\0';
    cr_expect(stria_name_allowed(longest));
    cr_expect(stria_name_allowed("a") && stria_name_allowed("_") && stria_name_allowed("0.b-c_D"));
    cr_expect(!stria_name_allowed("") && !stria_name_allowed(".") && !stria_name_allowed("..") &&
              !stria_name_allowed("-r"));
    cr_expect(!stria_name_allowed("a/b") && !stria_name_allowed("a b") && !stria_name_allowed("a\n"));
}
