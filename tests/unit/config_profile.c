#include "config/profile.h"
#include "config/profile_keys.h"
#include "core/random.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct stria_profile profile;
static struct stria_problems problems;

static const char good[] = "[drive]\n"
                           "model = Something 500 GB\n"
                           "capacity_gb = 500\n"
                           "[link]\n"
                           "rate_gb_per_s = 3.5\n"
                           "[write.table]\n"
                           "until_gb = 20 500   ; a comment\n"
                           "rate_gb_per_s = 2.4 0.255\n"
                           "[read]\n"
                           "rate_mib_per_s = 2500\n";

static int parse(const char *text)
{
    stria_problems_clear(&problems);
    return stria_profile_parse("folder/some.ini", text, strlen(text), &profile, &problems);
}

/* The good profile with one line put for another, or behind all others for a null line. */
static int parse_with(const char *line, const char *instead)
{
    char text[2048];
    const char *at = line ? strstr(good, line) : good + strlen(good);
    cr_assert_not_null(at);
    snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - good), good, instead, at + (line ? strlen(line) : 0));
    return parse(text);
}

static void assert_sentence(const char *sentence)
{
    for (size_t i = 0; i < problems.count; i++)
        if (strstr(problems.sentences[i], sentence))
            return;
    for (size_t i = 0; i < problems.count; i++)
        fprintf(stderr, "said: %s\n", problems.sentences[i]);
    cr_assert_fail("nobody said: %s", sentence);
}

static void assert_refused(const char *line, const char *instead, const char *sentence)
{
    cr_assert_eq(parse_with(line, instead), STRIA_ERR_INVALID, "taken: %s", instead);
    cr_assert_eq(problems.count, 1, "%zu problems with %s, the second: %s", problems.count, instead,
                 problems.count > 1 ? problems.sentences[1] : "");
    assert_sentence(sentence);
}

/* Key by key: a struct compared as bytes would compare its padding too. */
static void assert_same(struct stria_profile *a, struct stria_profile *b)
{
    for (unsigned section = 0; section < STRIA_PROFILE_SECTIONS; section++) {
        const unsigned keys_of = section > STRIA_PROFILE_STALL_1 ? STRIA_PROFILE_STALL_1 : section;
        for (const struct stria_profile_key *key = stria_profile_keys; key->stem; key++) {
            if (key->section != keys_of)
                continue;
            const void *field_a = stria_profile_key_field(a, key, section);
            const void *field_b = stria_profile_key_field(b, key, section);
            const size_t bytes = key->field == STRIA_FIELD_TEXT ? STRIA_NAME_BYTES
                                 : key->items                   ? key->items * sizeof(struct stria_rate_step)
                                                                : sizeof(uint64_t);
            cr_assert_eq(memcmp(field_a, field_b, bytes), 0, "%s: %s in [%s] differs", a->name, key->stem,
                         stria_profile_sections[section]);
        }
    }
    cr_assert_eq(a->parameters.law.kind, b->parameters.law.kind);
    cr_assert_eq(a->parameters.law.step_count, b->parameters.law.step_count);
    cr_assert_eq(a->parameters.worn.step_count, b->parameters.worn.step_count);
    cr_assert_eq(a->parameters.write_zones.count, b->parameters.write_zones.count);
    cr_assert_eq(a->parameters.read_zones.count, b->parameters.read_zones.count);
    cr_assert_eq(a->parameters.stall_count, b->parameters.stall_count);
}

Test(config_profile, a_good_profile_is_read_with_its_units)
{
    cr_assert_eq(parse(good), STRIA_OK);
    const struct stria_model_parameters *p = &profile.parameters;
    cr_assert_str_eq(profile.name, "some");
    cr_assert_str_eq(profile.model, "Something 500 GB");
    cr_assert_eq(p->capacity_bytes, 500000000000u);
    cr_assert_eq(p->link_bytes_per_s, 3500000000u);
    cr_assert_eq(p->law.step_count, 2);
    cr_assert_eq(p->law.steps[0].until_bytes, 20000000000u);
    cr_assert_eq(p->law.steps[1].bytes_per_s, 255000000u);
    cr_assert_eq(p->read_bytes_per_s, 2500ull * 1048576u);
}

Test(config_profile, every_profile_of_the_program_is_good_and_found_by_name)
{
    unsigned count = 0;
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++, count++) {
        const int code = stria_profile_find(text->name, &profile, &problems);
        cr_assert_eq(code, STRIA_OK, "%s: %s", text->name, problems.count ? problems.sentences[0] : "");
        cr_assert_str_eq(profile.name, text->name);
        cr_assert_eq(stria_model_check(&profile.parameters, NULL, 0), 0);
    }
    cr_assert_geq(count, 14);
}

Test(config_profile, the_figures_of_a_built_in_profile_all_have_their_source_in_a_comment)
{
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++) {
        cr_assert(strstr(text->text, "; Published"), "%s names no source", text->name);
        /* Each section but the drive's own begins with a comment, or the line above it is one. */
        for (const char *at = strchr(text->text, '['); at; at = strstr(at + 1, "\n[")) {
            const char *section = *at == '\n' ? at + 1 : at;
            const char *body = strchr(section, '\n') + 1;
            cr_assert(strncmp(section, "[drive]", 7) == 0 || *body == ';' || section[-2] != '\n' ||
                          strncmp(section, "[stall.", 7) == 0,
                      "%s: no source for %.20s", text->name, section);
        }
    }
}

Test(config_profile, an_unknown_name_gets_the_known_ones_and_the_nearest)
{
    cr_assert_eq(stria_profile_find("samsung-98O", &profile, &problems), STRIA_ERR_NOT_FOUND);
    assert_sentence("did you mean samsung-980?");
    assert_sentence("teclast-240");
    cr_assert_eq(stria_profile_find("floppy", &profile, &problems), STRIA_ERR_NOT_FOUND);
    assert_sentence("there is no drive profile 'floppy': the profiles are apacer-as2280p4");
}

Test(config_profile, a_path_names_a_file_and_a_missing_one_is_said)
{
    char path[] = "/tmp/stria-profile-XXXXXX.ini";
    const int fd = mkstemps(path, 4);
    cr_assert_geq(fd, 0);
    cr_assert_eq(write(fd, good, strlen(good)), (ssize_t)strlen(good));
    close(fd);
    cr_assert_eq(stria_profile_find(path, &profile, &problems), STRIA_OK);
    cr_assert(strncmp(profile.name, "stria-profile-", 14) == 0);
    unlink(path);
    cr_assert_eq(stria_profile_find(path, &profile, &problems), STRIA_ERR_NOT_FOUND);
    assert_sentence(path);
}

Test(config_profile, a_fifo_is_no_profile_and_is_not_waited_for, .timeout = 20)
{
    char path[] = "/tmp/stria-profile-XXXXXX.ini";
    const int fd = mkstemps(path, 4);
    cr_assert(fd >= 0 && unlink(path) == 0 && mkfifo(path, 0600) == 0);
    close(fd);
    cr_assert_eq(stria_profile_find(path, &profile, &problems), STRIA_ERR_INVALID);
    cr_assert(strstr(problems.sentences[0], "is no file"), "%s", problems.sentences[0]);
    unlink(path);
}

Test(config_profile, what_a_line_says_wrong_is_refused_with_file_line_and_remedy)
{
    assert_refused("capacity_gb = 500", "capacity_gb = -500",
                   "folder/some.ini:3: capacity_gb cannot be '-500': it "
                   "takes a number from 1e-09 to 1152921505");
    assert_refused("capacity_gb = 500", "capacity_gb = 0x10", "capacity_gb cannot be '0x10'");
    assert_refused("capacity_gb = 500", "capacity_gb = nan", "capacity_gb cannot be 'nan'");
    assert_refused("capacity_gb = 500", "capacity_gb = 9e9", "capacity_gb cannot be '9e9'");
    assert_refused("capacity_gb = 500", "capacity_gb = 99999999999", "capacity_gb cannot be '99999999999'");
    assert_refused("capacity_gb = 500", "capacity_gb =", "capacity_gb cannot be ''");
    assert_refused("capacity_gb = 500", "capacity_gb = 500\ncapacity_mb = 5",
                   ":4: capacity_mb is given twice, first in "
                   "line 3");
    assert_refused("rate_gb_per_s = 3.5", "rate_gb_per_s = 3.5\nrate_gb = 3",
                   "rate can be written rate_gb_per_s");
    assert_refused("model = Something 500 GB", "model = S\ncolour = red",
                   "unknown key 'colour' in [drive]: the keys "
                   "are model, capacity_gb, price");
    assert_refused("model = Something 500 GB\n", "", "some.ini:1: [drive] has no model, which it needs");
    assert_refused("until_gb = 20 500 ", "until_gb = 20 x500",
                   "until_gb cannot be 'x500': it takes numbers from");
    assert_refused(NULL, "[raed]\n", "unknown section [raed]: did you mean [read]?");
    assert_refused(NULL, "[link]\nrate_gb_per_s = 1\n", "[link] stands here again, first in line 4");
    assert_refused(NULL, "nonsense\n", "'nonsense' has no '='");
    assert_refused("[drive]", "x = 1\n[drive]", "some.ini:1: 'x' stands before any section");
    assert_refused(NULL, "[mixed]\ninterference_percent = 101\n", "takes a number from 0 to 100");
    cr_assert_eq(parse_with("capacity_gb = 500", "capacity = 500"), STRIA_ERR_INVALID);
    assert_sentence("capacity can be written capacity_gb, capacity_bytes");
    assert_sentence("[drive] has no capacity_gb");
}

Test(config_profile, what_lines_say_wrong_together_is_refused)
{
    assert_refused("rate_gb_per_s = 2.4 0.255", "rate_gb_per_s = 3.6 0.255",
                   ":8: number 1 of rate in [write.table] is 3.6 GB/s, above the 3.5 GB/s of the link");
    assert_refused("rate_mib_per_s = 2500", "rate_gb_per_s = 4",
                   "rate in [read] is 4 GB/s, above the 3.5 GB/s");
    assert_refused("model = Something 500 GB", "model =; Something 500 GB", "model");
    assert_refused("until_gb = 20 500", "until_gb = 20 20",
                   ":7: number 2 of until in [write.table] is not above");
    assert_refused("until_gb = 20 500", "until_gb = 20", "[write.table] has 1 limits and 2 rates");
    assert_refused("[write.table]\nuntil_gb = 20 500   ; a comment\nrate_gb_per_s = 2.4 0.255\n", "",
                   "says nothing of how fast the drive writes");
    assert_refused("[link]\nrate_gb_per_s = 3.5\n", "", "has no [link] section");
    assert_refused(NULL,
                   "[write.cache]\nslc_gb_per_s = 2\nfold_gb_per_s = 1\nstatic_gb = 1\ndynamic_percent = 1\n"
                   "bits_per_cell = 3\n",
                   "two laws for one drive");
    assert_refused(NULL, "[write.zones]\nuntil_gb = 600\nrate_gb_per_s = 1\n",
                   "zone 1 in [write.zones] ends at 600 GB, past the drive's capacity of 500 GB");
    assert_refused(NULL, "[write.zones]\nuntil_gb = 100 50\nrate_gb_per_s = 1 1\n", "let the limits ascend");
    assert_refused(NULL, "[read.zones]\nuntil_gb = 100\nrate_gb_per_s = 5\n",
                   "number 1 of rate in [read.zones] is 5");
    assert_refused(NULL, "[stall.1]\ninterval_mb = 240\nlength_min_ms = 40\nlength_max_ms = 40\n",
                   "2.4 GB/s as a mean, which takes 4 GB/s between the stalls, above the 3.5");
    assert_refused(NULL, "[stall.1]\ninterval_mb = 2.4\nlength_min_ms = 1\nlength_max_ms = 1\n",
                   "2.4 GB/s, which the stalls leave no time for");
    assert_refused(NULL, "[stall.2]\ninterval_gb = 1\nlength_min_ms = 1\nlength_max_ms = 1\n",
                   "[stall.2] without [stall.1]");
    assert_refused(NULL, "[stall.1]\ninterval_gb = 1\nlength_min_ms = 2\nlength_max_ms = 1\n",
                   "length_max in [stall.1] is less than length_min");
    assert_refused(NULL, "[recovery]\nidle_s = 1\nrefill_gb_per_s = 4\n",
                   "refill in [recovery] is 4 GB/s, above");
    assert_refused(
        NULL,
        "[heat]\nambient_c = 25\nresistance_k_per_w = 5\nidle_w = 2\nactive_w = 1\ntime_constant_s = 30\n",
        "active in [heat] is less than idle");
    assert_refused(
        NULL,
        "[heat]\nambient_c = 25\nresistance_k_per_w = 5\nidle_w = 1\nactive_w = 5\ntime_constant_s = 30\n"
        "warm_c = 80\nwarm_rate_percent = 50\nhot_c = 70\nhot_rate_percent = 20\n",
        "hot in [heat] has to be the higher temperature");
    assert_refused(
        NULL,
        "[heat]\nambient_c = 25\nresistance_k_per_w = 5\nidle_w = 1\nactive_w = 5\ntime_constant_s = 30\n"
        "warm_c = 80\n",
        "warm_c in [heat] needs warm_rate_percent beside it");
}

Test(config_profile, every_problem_is_told_at_once)
{
    cr_assert_eq(
        parse(
            "[drive]\nmodel = x\ncapacity_gb = -1\n[link]\nrate_gb_per_s = 1\n[write.table]\nuntil_gb = 5 4\n"
            "rate_gb_per_s = 2 1\n[reed]\n"),
        STRIA_ERR_INVALID);
    assert_sentence("capacity_gb cannot be '-1'");
    assert_sentence("number 1 of rate in [write.table] is 2 GB/s");
    assert_sentence("number 2 of until");
    assert_sentence("unknown section [reed]");
    assert_sentence("has no [read] section");
    cr_assert_eq(problems.count, 5);
}

Test(config_profile, text_that_is_no_profile_is_refused_without_a_crash)
{
    cr_assert_eq(parse(""), STRIA_ERR_INVALID);
    cr_assert_eq(parse("[[[]]]\n= = =\n[drive\n]\n"), STRIA_ERR_INVALID);
    static char junk[60000];
    memset(junk, 'a', sizeof(junk) - 1);
    cr_assert_eq(parse(junk), STRIA_ERR_INVALID);
    assert_sentence("bytes long");
    cr_assert_eq(stria_profile_parse("x", "a\0b", 3, &profile, &problems), STRIA_ERR_INVALID);
    assert_sentence("not a text file");
}

Test(config_profile, a_scaled_profile_is_the_same_drive_smaller_and_slower)
{
    cr_assert_eq(stria_profile_find("samsung-980", &profile, &problems), STRIA_OK);
    const struct stria_model_parameters full = profile.parameters;
    cr_assert_eq(stria_profile_scale(&profile, 0.001, 0.1, NULL), STRIA_OK);
    const struct stria_model_parameters *p = &profile.parameters;
    cr_assert_eq(p->capacity_bytes, 500000000u);
    cr_assert_eq(p->law.steps[0].until_bytes, 20000000u);
    cr_assert_eq(p->law.steps[0].bytes_per_s, 240000000u);
    cr_assert_eq(p->write_zones.zones[1].until_bytes, 80000000u);
    cr_assert_eq(p->read_bytes_per_s, 265000000u);
    cr_assert_eq(p->idle_ns, full.idle_ns);
    cr_assert_eq(p->write_latency_ns, full.write_latency_ns);
}

Test(config_profile, every_profile_can_be_scaled_over_a_wide_range_and_by_one_it_stays)
{
    static const double scales[] = {1e-6, 0.001, 0.017, 0.3, 1, 7.7, 100};
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++) {
        for (unsigned i = 0; i < 49; i++) {
            stria_profile_find(text->name, &profile, &problems);
            struct stria_trouble trouble;
            cr_assert_eq(stria_profile_scale(&profile, scales[i / 7], scales[i % 7], &trouble), STRIA_OK,
                         "%s", trouble.sentence);
        }
        struct stria_profile same;
        stria_profile_find(text->name, &same, &problems);
        stria_profile_find(text->name, &profile, &problems);
        cr_assert_eq(stria_profile_scale(&profile, 1, 1, NULL), STRIA_OK);
        assert_same(&same, &profile);
    }
}

Test(config_profile, an_absurd_scale_gets_a_sentence_and_leaves_the_profile)
{
    struct stria_trouble trouble;
    stria_profile_find("samsung-980", &profile, &problems);
    static const double bad[] = {0, -1, 1e-12, 1e12, 0.0 / 0.0, 1.0 / 0.0};
    for (unsigned i = 0; i < 6; i++) {
        cr_assert_eq(stria_profile_scale(&profile, bad[i], 1, &trouble), STRIA_ERR_INVALID);
        cr_assert(strstr(trouble.sentence, "capacity_scale cannot be"));
        cr_assert_eq(stria_profile_scale(&profile, 1, bad[i], &trouble), STRIA_ERR_INVALID);
        cr_assert(strstr(trouble.sentence, "rate_scale cannot be"));
    }
    cr_assert_eq(profile.parameters.capacity_bytes, 500000000000u);
}

Test(config_profile, what_is_written_reads_back_exactly)
{
    for (const struct stria_profile_text *text = stria_profile_texts; text->name; text++) {
        cr_assert_eq(stria_profile_find(text->name, &profile, &problems), STRIA_OK);
        for (unsigned scaled = 0; scaled < 2; scaled++) {
            char *written = NULL;
            size_t bytes = 0;
            FILE *out = open_memstream(&written, &bytes);
            stria_profile_write(&profile, "two lines\nof a note", out);
            fclose(out);
            struct stria_profile back;
            const int code = stria_profile_parse(text->name, written, bytes, &back, &problems);
            cr_assert_eq(code, STRIA_OK, "%s: %s\n%s", text->name,
                         problems.count ? problems.sentences[0] : "", written);
            assert_same(&back, &profile);
            cr_assert(strncmp(written, "; two lines\n; of a note\n", 24) == 0);
            free(written);
            stria_profile_scale(&profile, 0.0137, 0.377, NULL);
        }
    }
}

static char *read_manual(void)
{
    static char text[64 << 10];
    FILE *in = fopen("man/stria-profile.5", "r");
    cr_assert_not_null(in);
    const size_t bytes = fread(text, 1, sizeof(text) - 1, in);
    text[bytes] = '\0';
    fclose(in);
    return text;
}

Test(config_profile, the_manual_has_every_section_every_key_and_every_unit)
{
    const char *manual = read_manual();
    for (unsigned section = 0; section <= STRIA_PROFILE_STALL_1; section++) {
        char heading[64];
        snprintf(heading, sizeof(heading), "[%s]", stria_profile_sections[section]);
        cr_assert(strstr(manual, heading), "no %s in the manual", heading);
    }
    for (const struct stria_profile_key *key = stria_profile_keys; key->stem; key++) {
        char name[64];
        cr_assert(strstr(manual, stria_profile_key_print(name, sizeof(name), key)), "no %s in the manual",
                  name);
    }
    for (const struct stria_unit *unit = stria_units; unit->suffix; unit++) {
        char suffix[64];
        snprintf(suffix, sizeof(suffix), "_%s", unit->suffix);
        cr_assert(!unit->suffix[0] || strstr(manual, suffix), "no %s in the manual", suffix);
    }
}

Test(config_profile, the_example_of_the_manual_is_a_good_profile)
{
    char *begin = strstr(read_manual(), ".Bd -literal -offset indent\n");
    cr_assert_not_null(begin);
    begin = strchr(begin, '\n') + 1;
    *strstr(begin, ".Ed") = '\0';
    cr_assert_eq(parse(begin), STRIA_OK, "%s", problems.count ? problems.sentences[0] : "");
    cr_assert_eq(profile.parameters.law.step_count, 3);
}

Test(config_profile, whatever_is_written_is_refused_or_makes_a_possible_drive)
{
    static const char *const pieces[] = {"-1",          "0",           "99999999999999999999",
                                         "1e9",         ".",           "\n",
                                         "[",           "]",           "=",
                                         " ",           ";",           "_gb",
                                         "nan",         "0.000000001", "[write.table]\n",
                                         "[stall.1]\n", "\xff",        "100"};
    struct stria_random random;
    stria_random_seed(&random, 12);
    unsigned texts = 0, taken = 0;
    while (stria_profile_texts[texts].name)
        texts++;
    for (unsigned i = 0; i < 4000; i++) {
        char text[16384];
        snprintf(text, sizeof(text) - 256, "%s",
                 stria_profile_texts[stria_random_below(&random, texts)].text);
        for (uint64_t change = stria_random_between(&random, 1, 3); change > 0; change--) {
            const size_t length = strlen(text);
            const size_t at = stria_random_below(&random, length + 1);
            const size_t gone = stria_random_below(&random, length - at < 12 ? length - at + 1 : 12);
            const char *piece = pieces[stria_random_below(&random, sizeof(pieces) / sizeof(pieces[0]))];
            memmove(text + at + strlen(piece), text + at + gone, length - at - gone + 1);
            for (size_t k = 0; piece[k]; k++)
                text[at + k] = piece[k];
        }
        const int code = parse(text);
        cr_assert_eq(code == STRIA_OK, problems.count == 0);
        if (code == STRIA_OK) {
            cr_assert_eq(stria_model_check(&profile.parameters, NULL, 0), 0,
                         "possible by its rules, not by the model's:\n%s", text);
            taken++;
        }
    }
    cr_assert_gt(taken, 400);
    cr_assert_lt(taken, 3600);
}
