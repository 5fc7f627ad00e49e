#include "config/array.h"
#include "config/keys.h"
#include "core/name.h"

#include <criterion/criterion.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DRIVE "[drive.a]\npath = a.img\n"

static char folder[64];
static struct stria_array_config *config;
static struct stria_problems problems;

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "/tmp/stria-config-XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    config = malloc(sizeof(*config));
}

static void tear_down(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
    stria_problems_clear(&problems);
    free(config);
}

TestSuite(config_array, .init = set_up, .fini = tear_down);

static int parse(const char *text)
{
    stria_problems_clear(&problems);
    return stria_array_config_parse("x.ini", text, strlen(text), config, &problems);
}

static void assert_good(const char *text)
{
    int code = parse(text);
    cr_assert_eq(code, STRIA_OK, "refused: %s",
                 problems.count ? problems.sentences[0] : "without a sentence");
    cr_assert_eq(problems.count, 0);
}

/* The text has exactly one problem, whose sentence contains all of the words. */
static void assert_refused(const char *text, ...)
{
    cr_assert_eq(parse(text), STRIA_ERR_INVALID, "taken: %s", text);
    cr_assert_eq(problems.count, 1, "%zu problems, the first two: %s | %s", problems.count,
                 problems.count > 0 ? problems.sentences[0] : "",
                 problems.count > 1 ? problems.sentences[1] : "");
    va_list words;
    va_start(words, text);
    for (const char *word = va_arg(words, const char *); word; word = va_arg(words, const char *))
        cr_assert(strstr(problems.sentences[0], word), "'%s' is not in: %s", word, problems.sentences[0]);
    va_end(words);
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "w");
    cr_assert(file && fwrite(data, 1, bytes, file) == bytes && fclose(file) == 0);
}

Test(config_array, the_design_example_is_taken_as_written)
{
    assert_good(
        "[array]\nname   = rig\npolicy = raid0          ; or adaptive\nchunk  = 2MiB\nbuffer = 256MiB\n"
        "commit_interval = 100ms\nwrite_deadline = 5s\nread_deadline = 30s\ndepth = 16\ndiscard = yes\n"
        "[drive.left]\npath    = /dev/disk/by-id/nvme-x   ; or a file\n"
        "[drive.right]\npath = right.img\nsize    = 8GiB                        ; files only\n"
        "profile = samsung-980\ncapacity_scale = 0.001\nrate_scale     = 0.1\n"
        "fault = eio@5\nfault_seed = 18446744073709551615\n");
    cr_assert_str_eq(config->name, "rig");
    cr_assert_eq(config->policy, STRIA_POLICY_RAID0);
    cr_assert_eq(config->chunk_bytes, 2u << 20);
    cr_assert_eq(config->buffer_bytes, 256u << 20);
    cr_assert_eq(config->commit_interval_ns, 100000000);
    cr_assert_eq(config->write_deadline_ns, 5000000000ull);
    cr_assert_eq(config->read_deadline_ns, 30000000000ull);
    cr_assert_eq(config->depth, 16);
    cr_assert(config->discard);
    cr_assert_eq(config->drive_count, 2);
    cr_assert_str_eq(config->drives[0].name, "left");
    cr_assert_str_eq(config->drives[0].path, "/dev/disk/by-id/nvme-x");
    cr_assert_eq(config->drives[0].size_bytes, 0);
    cr_assert_str_eq(config->drives[0].profile, "");
    cr_assert_eq(config->drives[1].size_bytes, 8ull << 30);
    cr_assert_str_eq(config->drives[1].profile, "samsung-980");
    cr_assert_eq(config->drives[1].capacity_scale, 0.001);
    cr_assert_eq(config->drives[1].rate_scale, 0.1);
    cr_assert_str_eq(config->drives[1].fault, "eio@5");
    cr_assert_eq(config->drives[1].fault_seed, UINT64_MAX);
}

Test(config_array, names_are_as_the_media_want_them)
{
    assert_good("[array]\nname = rig\n" DRIVE);
    cr_assert(stria_name_valid(config->name), "the default shows behind the name that was given");
    cr_assert_not(config->name_initial);
    cr_assert(config->chunk_initial);
    assert_good("[array]\nchunk = 1MiB\n" DRIVE);
    cr_assert(config->name_initial);
    cr_assert_not(config->chunk_initial);
    cr_assert(stria_name_valid(config->drives[0].name));
}

Test(config_array, what_is_not_given_has_a_default)
{
    assert_good(DRIVE);
    cr_assert_str_eq(config->name, "array");
    cr_assert(config->name_initial);
    cr_assert_eq(config->policy, STRIA_POLICY_ADAPTIVE);
    cr_assert_eq(config->chunk_bytes, STRIA_CHUNK_BYTES_DEFAULT);
    cr_assert_eq(config->buffer_bytes, 512u << 20);
    cr_assert_eq(config->commit_interval_ns, 200000000);
    cr_assert_eq(config->write_deadline_ns, 10000000000ull);
    cr_assert_eq(config->read_deadline_ns, 10000000000ull);
    cr_assert_eq(config->depth, 8);
    cr_assert_not(config->discard);
    cr_assert_eq(config->drives[0].capacity_scale, 1);
    cr_assert_eq(config->drives[0].rate_scale, 1);
    cr_assert_eq(config->drives[0].fault_seed, 0);
}

Test(config_array, every_default_is_a_value_that_its_key_allows)
{
    for (const struct stria_key *key = stria_keys; key->name; key++) {
        char field[STRIA_CONFIG_PATH_BYTES];
        cr_assert(!key->initial || key->parse(key->initial, field), "%s = %s", key->name, key->initial);
        cr_assert_not(key->parse("", field), "%s takes nothing", key->name);
        cr_assert(key->allowed[0] && key->meaning[0]);
    }
}

Test(config_array, all_problems_are_reported_at_once_with_their_lines)
{
    cr_assert_eq(
        parse("[array]\npolicy = raid5\nchunk = 3MiB\nbuffr = 1GiB\n[drive.a]\nsize = 1GiB\n[drve.b]\n"
              "[drive.c]\npath = c\nno value\n"),
        STRIA_ERR_INVALID);
    static const char *const expected[] = {
        "x.ini:2: policy cannot be 'raid5': it takes adaptive or raid0",
        "x.ini:3: chunk cannot be '3MiB': it takes a power of two from 64KiB to 16MiB",
        "x.ini:4: unknown key 'buffr' in [array]: did you mean buffer?",
        "x.ini:7: unknown section [drve.b]: did you mean [drive.NAME]?",
        "x.ini:10: 'no value' has no '=': write a key, '=' and a value",
        "x.ini:5: [drive.a] has no path: give it a device or a file, in at most 4095 bytes",
    };
    const size_t count = sizeof(expected) / sizeof(expected[0]);
    cr_assert_eq(problems.count, count);
    for (size_t i = 0; i < count; i++)
        cr_assert_str_eq(problems.sentences[i], expected[i]);
}

Test(config_array, values_out_of_range_are_refused_with_what_is_allowed)
{
    static const char *const bad[][3] = {
        {"name", "", "63"},
        {"name", "../up", "letters"},
        {"name", ".hidden", "letters"},
        {"name", "a b", "letters"},
        {"policy", "RAID0", "raid0"},
        {"chunk", "32KiB", "64KiB"},
        {"chunk", "32MiB", "16MiB"},
        {"chunk", "1MB", "power"},
        {"chunk", "0", "power"},
        {"chunk", "-1", "power"},
        {"buffer", "lots", "512MiB"},
        {"buffer", "0", "512MiB"},
        {"depth", "0", "1 to 256"},
        {"depth", "257", "1 to 256"},
        {"depth", "8.5", "1 to 256"},
        {"depth", "8KiB", "1 to 256"},
        {"depth", "99999999999999999999", "1 to 256"},
        {"discard", "maybe", "yes or no"},
        {"commit_interval", "0", "1ms"},
        {"commit_interval", "61s", "60s"},
        {"write_deadline", "99ms", "100ms"},
        {"read_deadline", "99ms", "100ms"},
        {"write_deadline", "11min", "10min"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "[array]\n%s = %s\n" DRIVE, bad[i][0], bad[i][1]);
        assert_refused(text, "x.ini:2: ", bad[i][0], bad[i][1], bad[i][2], NULL);
    }
}

Test(config_array, drive_values_out_of_range_are_refused_too)
{
    static const char *const bad[][3] = {
        {"size", "0", "8GiB"},
        {"size", "9EiB", "8GiB"},
        {"size", "9223372036854775808", "8GiB"},
        {"capacity_scale", "0", "0.001"},
        {"capacity_scale", "1.1", "at most 1"},
        {"capacity_scale", "-1", "0.001"},
        {"rate_scale", "1e3", "0.1"},
        {"rate_scale", "101", "at most 100"},
        {"rate_scale", "nan", "0.1"},
        {"fault_seed", "x", "whole"},
        {"fault_seed", "18446744073709551616", "whole"},
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[256];
        snprintf(text, sizeof(text), "[array]\n" DRIVE "profile = samsung-980\n%s = %s\n", bad[i][0],
                 bad[i][1]);
        assert_refused(text, "x.ini:5: ", bad[i][0], bad[i][1], bad[i][2], NULL);
    }
}

Test(config_array, the_buffer_holds_at_least_four_chunks_and_at_most_65536)
{
    assert_good("[array]\nchunk = 16MiB\nbuffer = 64MiB\n" DRIVE);
    assert_refused("[array]\nchunk = 16MiB\nbuffer = 63MiB\n" DRIVE, "x.ini:3: buffer is 63MiB", "64MiB",
                   NULL);
    assert_refused("[array]\nchunk = 64KiB\nbuffer = 5GiB\n" DRIVE, "x.ini:3: buffer is 5GiB", "at most 4GiB",
                   NULL);
}

Test(config_array, keys_and_sections_stand_once)
{
    assert_refused("[array]\ndepth = 1\ndepth = 2\n" DRIVE, "x.ini:3: depth is given twice", "line 2", NULL);
    assert_refused("[array]\n" DRIVE "[array]\ndepth = 2\n", "x.ini:4: [array]", "line 1", NULL);
    assert_refused("[array]\n" DRIVE "[drive.a]\npath = b\n", "x.ini:4: [drive.a]", "line 2", NULL);
    assert_refused("[array]\n[drive.a]\npath = a\npath = a\n", "x.ini:4: path is given twice", "line 3",
                   NULL);
}

Test(config_array, keys_of_another_section_are_sent_there)
{
    assert_refused("[array]\npath = a\n" DRIVE, "path does not belong in [array]", "[drive.NAME]", NULL);
    assert_refused("[array]\n" DRIVE "chunk = 1MiB\n", "chunk does not belong in [drive.NAME]", "[array]",
                   NULL);
    assert_refused("[array]\nfrobnicate = 1\n" DRIVE, "unknown key 'frobnicate'", "name, policy, chunk",
                   NULL);
    assert_refused("depth = 1\n[array]\n" DRIVE, "x.ini:1: 'depth' stands before any section", NULL);
}

Test(config_array, sections_are_spelled_right_and_drives_have_names)
{
    assert_refused("[arry]\ndepth = 1\n[array]\n" DRIVE, "x.ini:1: unknown section [arry]", "[array]", NULL);
    assert_refused("[array]\n" DRIVE "[nonsense]\nx = 1\n", "x.ini:4: unknown section [nonsense]", NULL);
    assert_refused("[array]\n" DRIVE "[drive]\npath = b\n", "x.ini:4: a drive cannot be called ''", NULL);
    assert_refused("[array]\n" DRIVE "[drive.a/b]\npath = b\n", "x.ini:4: a drive cannot be called 'a/b'",
                   NULL);
    assert_refused("[array\n[array]\n" DRIVE, "x.ini:1: ", "']'", NULL);
    assert_refused("[array] depth = 1\n" DRIVE, "x.ini:1: ", "behind [array]", NULL);
    assert_good(" [ array ] ; comment\n" DRIVE);
}

Test(config_array, a_semicolon_behind_a_blank_or_the_equals_sign_begins_a_comment)
{
    assert_good("[array]\ndepth = 4 ; comment\n" DRIVE);
    assert_refused("[array]\n[drive.a]\npath =; comment\n", "x.ini:3: ", "path", NULL);
    assert_refused("[array]\n[drive.a]\npath = ; comment\n", "x.ini:3: ", "path", NULL);
}

Test(config_array, so_does_a_hash)
{
    assert_good(
        "# comment\n[array] # comment\ndepth = 4 # comment\n[drive.a]\npath = b#1.img \t# the right one\n");
    cr_assert_eq(config->depth, 4);
    cr_assert_str_eq(config->drives[0].path, "b#1.img");
    assert_refused("[array]\n[drive.a]\npath =# comment\n", "x.ini:3: ", "path", NULL);
    assert_refused("[array]\n[drive.a]\npath = # comment ; # more\n", "x.ini:3: ", "path", NULL);
}

Test(config_array, an_array_has_one_to_thirty_two_drives)
{
    char text[4096] = "[array]\n";
    assert_refused(text, "names no drive", "[drive.NAME]", NULL);
    for (unsigned i = 0; i < 32; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "[drive.d%u]\npath = d%u\n", i, i);
    assert_good(text);
    cr_assert_eq(config->drive_count, 32);
    strcat(text, "[drive.e]\npath = e\n[drive.f]\npath = f\n");
    assert_refused(text, "34 drives", "at most 32", NULL);
}

Test(config_array, one_drive_under_two_names_is_found_out)
{
    assert_refused("[array]\n" DRIVE "[drive.b]\npath = a.img\n", "x.ini:5: [drive.a] and [drive.b]", "a.img",
                   NULL);
    assert_refused("[array]\n" DRIVE "[drive.b]\npath = ./a.img\n", "the same drive", "./a.img", NULL);
    write_file("a.img", "x", 1);
    cr_assert(symlink("a.img", "soft") == 0 && link("a.img", "hard") == 0 && symlink(".", "here") == 0);
    assert_refused("[array]\n" DRIVE "[drive.b]\npath = soft\n", "the same drive", "soft", NULL);
    assert_refused("[array]\n" DRIVE "[drive.b]\npath = hard\n", "the same drive", "hard", NULL);
    assert_refused("[array]\n" DRIVE "[drive.b]\npath = here/a.img\n", "the same drive", "here", NULL);
    assert_refused("[array]\n[drive.a]\npath = new\n[drive.b]\npath = here/new\n", "the same drive", NULL);
    assert_good("[array]\n[drive.a]\npath = null:\n[drive.b]\npath = null:\n");
}

Test(config_array, a_path_that_begins_with_passthrough_is_the_plain_one_reached_by_it)
{
    assert_good("[drive.a]\npath = passthrough:/dev/nvme3n1\n[drive.b]\npath = passthrough:disk.img\n"
                "[drive.c]\npath = passthrough:nvme-tcp://h/nqn.2014-08.org.example:a\n"
                "[drive.d]\npath = passthrough:/dev/ng4n1\n");
    static const char *const plain[] = {"/dev/nvme3n1", "disk.img", "nvme-tcp://h/nqn.2014-08.org.example:a",
                                        "/dev/nvme4n1"};
    for (unsigned i = 0; i < 4; i++) {
        cr_expect_str_eq(config->drives[i].path, plain[i]);
        cr_expect(config->drives[i].passthrough);
    }
    assert_refused("[drive.a]\npath = passthrough:/dev/nvme3n1\n[drive.b]\npath = /dev/nvme3n1\n",
                   "same drive", NULL);
}

Test(config_array, the_character_device_of_a_namespace_means_passthrough_to_its_drive)
{
    assert_good("[drive.a]\npath = /dev/ng3n1\n[drive.b]\npath = /dev/nvme4n1\nbackend = passthrough\n"
                "[drive.c]\npath = /dev/ng5n1p1\n[drive.d]\npath = /dev/nvme6n1\nbackend = auto\n");
    cr_assert_str_eq(config->drives[0].path, "/dev/nvme3n1");
    cr_assert(config->drives[0].passthrough && config->drives[1].passthrough);
    cr_assert_str_eq(config->drives[2].path, "/dev/ng5n1p1");
    cr_assert_not(config->drives[2].passthrough || config->drives[3].passthrough);
    assert_refused("[drive.a]\npath = /dev/ng3n1\n[drive.b]\npath = /dev/nvme3n1\n", "same drive", NULL);
}

Test(config_array, a_relative_path_starts_in_the_folder_of_the_file)
{
    static const char text[] =
        "[array]\n[drive.a]\npath = d/a.img\n[drive.b]\npath = /b.img\n[drive.c]\npath = memory:1MiB\n";
    cr_assert_eq(stria_array_config_parse("some/where/x.ini", text, strlen(text), config, &problems),
                 STRIA_OK);
    cr_assert_str_eq(config->drives[0].path, "some/where/d/a.img");
    cr_assert_str_eq(config->drives[1].path, "/b.img");
    cr_assert_str_eq(config->drives[2].path, "memory:1MiB");
    assert_good(text);
    cr_assert_str_eq(config->drives[0].path, "d/a.img");
}

Test(config_array, what_is_for_files_or_fakes_only_is_refused_elsewhere)
{
    assert_refused("[array]\n[drive.a]\npath = memory:1GiB\nsize = 1GiB\n", "x.ini:4: size is for files",
                   "memory:1GiB", NULL);
    assert_refused("[array]\n" DRIVE "rate_scale = 0.5\n", "x.ini:4: rate_scale is for fake drives",
                   "profile", NULL);
}

Test(config_array, a_drive_of_another_host_is_checked_as_far_as_its_text_goes)
{
    static const char far[] = "nvme-tcp://[fd00::2]:4420/nqn.2014-08.org.example:far1?nsid=2";
    char text[256];
    snprintf(text, sizeof(text), "[array]\n[drive.a]\npath = %s\n", far);
    stria_problems_clear(&problems);
    cr_assert_eq(stria_array_config_parse("there/x.ini", text, strlen(text), config, &problems), STRIA_OK);
    cr_assert_str_eq(config->drives[0].path, far);
    assert_refused("[array]\n[drive.a]\npath = nvme-tcp://h\n",
                   "x.ini:3: nvme-tcp://h names no NVMe subsystem", NULL);
    assert_refused("[array]\n[drive.a]\npath = nvme-tcp://h/nqn.a\nsize = 1GiB\n",
                   "x.ini:4: size is for files", NULL);
    assert_refused("[array]\n[drive.a]\npath = nvme-tcp://h/nqn.a\n[drive.b]\npath = nvme-tcp://h/nqn.a\n",
                   "are the same drive", NULL);
}

Test(config_array, a_profile_is_known_or_is_a_file_beside_this_one)
{
    assert_refused("[array]\n" DRIVE "profile = samsung-908\n", "x.ini:4: ", "'samsung-908'", "samsung-980",
                   NULL);
    assert_refused("[array]\n" DRIVE "profile = mine.ini\n", "x.ini:4: ", "mine.ini", NULL);
    cr_assert_eq(mkdir("there", 0755), 0);
    write_file("there/mine.ini", "[nonsense]\n", 11);
    static const char text[] = "[array]\n" DRIVE "profile = mine.ini\n";
    stria_problems_clear(&problems);
    cr_assert_eq(stria_array_config_parse("there/x.ini", text, strlen(text), config, &problems),
                 STRIA_ERR_INVALID);
    cr_assert(strstr(problems.sentences[0], "there/x.ini:4: there/mine.ini:1: "), "%s",
              problems.sentences[0]);
}

Test(config_array, every_kind_of_line_end_and_a_byte_order_mark_are_taken)
{
    assert_good("\xef\xbb\xbf[array]\r\nname = rig\r\n[drive.a]\r\npath = a.img\r\n");
    cr_assert_str_eq(config->name, "rig");
    cr_assert_str_eq(config->drives[0].path, "a.img");
    assert_good("[array]\nname = rig\n[drive.a]\npath = a.img");
    cr_assert_str_eq(config->drives[0].path, "a.img");
    assert_good("[array]\n  name = rig\n   depth = 9\n" DRIVE);
    cr_assert_eq(config->depth, 9);
    assert_refused("[array]\n[drive.a]\npath = a\rb\n", "x.ini:3: path", "control character", NULL);
}

Test(config_array, a_long_path_is_kept_whole_and_a_longer_line_refused)
{
    char text[20000], path[4200];
    memset(path, 'p', sizeof(path));
    path[4095] = '\0';
    snprintf(text, sizeof(text), "[array]\n[drive.a]\npath = /%s\n", path + 1);
    assert_good(text);
    cr_assert_eq(strlen(config->drives[0].path), 4095);
    memset(text, ' ', 9000);
    /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): the line goes on */
    memcpy(text, "[array]\n", 8);
    strcpy(text + 9000, "depth = 1\n" DRIVE);
    assert_refused(text, "x.ini:2: this line is 9002 bytes long", "8191", NULL);
}

Test(config_array, what_is_no_ini_file_gets_one_sentence)
{
    static const struct {
        const char *path, *word;
    } bad[] = {{"missing.ini", "there is no missing.ini"},
               {"folder.ini", "is a folder"},
               {"empty.ini", "is empty"},
               {"blank.ini", "is empty"},
               {"zeros.ini", "not a text file"},
               {"huge.ini", "larger than 1 MiB"}};
    static char huge[(1 << 20) + 1];
    memset(huge, ';', sizeof(huge));
    cr_assert_eq(mkdir("folder.ini", 0755), 0);
    write_file("empty.ini", "", 0);
    write_file("blank.ini", " \n\r\n\t", 5);
    write_file("zeros.ini", "[array]\0x\n", 10);
    write_file("huge.ini", huge, sizeof(huge));
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        stria_problems_clear(&problems);
        cr_assert_eq(stria_array_config_read(bad[i].path, config, &problems),
                     i == 0 ? STRIA_ERR_NOT_FOUND : STRIA_ERR_INVALID);
        cr_assert_eq(problems.count, 1);
        cr_assert(strstr(problems.sentences[0], bad[i].word), "%s", problems.sentences[0]);
    }
}

Test(config_array, a_file_is_read_as_its_text_is)
{
    static const char text[] = "[array]\nname = rig\n" DRIVE;
    write_file("rig.ini", text, strlen(text));
    char path[96];
    snprintf(path, sizeof(path), "%s/rig.ini", folder);
    cr_assert_eq(stria_array_config_read(path, config, &problems), STRIA_OK);
    cr_assert_str_eq(config->name, "rig");
    cr_assert_eq(strncmp(config->drives[0].path, folder, strlen(folder)), 0);
    cr_assert_str_eq(config->file, path);
}

Test(config_array, noise_is_refused_and_never_harms)
{
    static unsigned char noise[4096];
    uint64_t state = 88172645463325252ull;
    for (unsigned round = 0; round < 300; round++) {
        static const char alphabet[] = "[]=;:\n\r\t .array drive chunk path 019MiB\xff\x01";
        for (size_t i = 0; i < sizeof(noise); i++) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            noise[i] = (unsigned char)alphabet[state % sizeof(alphabet)];
        }
        stria_problems_clear(&problems);
        cr_assert_eq(stria_array_config_parse("x.ini", (char *)noise, sizeof(noise), config, &problems),
                     STRIA_ERR_INVALID);
        cr_assert_gt(problems.count, 0);
    }
}
