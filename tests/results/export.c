#include "results/export.h"

#include "tests/results/write_document.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct stria_measurement measurements[3];
static struct stria_text text;

/* In a locale that would write 1,5 for one and a half, where this machine has it. */
static void set_up(void)
{
    struct stria_trouble trouble;
    setlocale(LC_ALL, "de_DE.UTF-8");
    cr_assert_eq(document_read("take one.json", document_record, &measurements[0], &trouble), STRIA_OK);
    cr_assert_eq(document_read("b=\"bench\",\\.json", document_bench, &measurements[1], &trouble), STRIA_OK);
    cr_assert_eq(document_read("f.json", document_fio, &measurements[2], &trouble), STRIA_OK);
}

static void tear_down(void)
{
    for (unsigned i = 0; i < 3; i++)
        stria_measurement_clear(&measurements[i]);
    stria_text_clear(&text);
}

TestSuite(export, .init = set_up, .fini = tear_down);

/* The next field of RFC 4180 into out; the character behind it is returned, *at is behind that. */
static int next_field(const char **at, char *out, size_t size)
{
    size_t length = 0;
    const bool quoted = **at == '"';
    *at += quoted;
    for (;; (*at)++) {
        if (quoted && (*at)[0] == '"' && (*at)[1] == '"')
            (*at)++;
        else if (quoted ? **at == '"' : (**at == ',' || **at == '\r' || **at == '\0'))
            break;
        cr_assert(**at && length + 1 < size, "a field does not end");
        cr_assert(quoted || **at != '"', "a quote in a field without quotes");
        out[length++] = **at;
    }
    out[length] = '\0';
    *at += quoted;
    const int behind = (unsigned char)**at;
    *at += behind == '\r' ? 2 : 1;
    cr_assert(behind == ',' || (behind == '\r' && (*at)[-1] == '\n'), "a field ends in character %d", behind);
    return behind;
}

struct row {
    char fields[8][128];
};

static void next_row(const char **at, struct row *row)
{
    for (unsigned i = 0; i < 8; i++)
        cr_assert_eq(next_field(at, row->fields[i], sizeof(row->fields[i])), i < 7 ? ',' : '\r');
}

Test(export, csv_is_what_was_measured_and_any_reader_can_read_it)
{
    struct row row;
    uint64_t stored = 0, lines = 0, worst = 0;
    stria_export_csv(measurements, 3, &text);
    const char *at = text.bytes;
    next_row(&at, &row);
    cr_assert_str_eq(row.fields[6], "quantity");
    while (*at) {
        char *end;
        next_row(&at, &row);
        const uint64_t value = strtoull(row.fields[7], &end, 10);
        cr_assert(*row.fields[7] && !*end, "%s is no number", row.fields[7]);
        cr_assert_null(strchr(row.fields[5], ','));
        lines++;
        if (strcmp(row.fields[0], "take one") == 0 && strcmp(row.fields[6], "stored_bytes") == 0)
            stored += value;
        if (strcmp(row.fields[0], "b=\"bench\",\\") == 0 &&
            strcmp(row.fields[6], "minimum_bytes_per_s") == 0 && !*row.fields[1])
            worst = value;
        if (strcmp(row.fields[3], "right</script>,\"x") == 0 && *row.fields[4])
            cr_assert_eq(strtod(row.fields[5], NULL), (double)(1 + atoi(row.fields[4])));
    }
    cr_expect_eq(stored, 580000000, "the bins add up to %" PRIu64, stored);
    cr_expect_eq(worst, 500000000);
    cr_expect_gt(lines, 100);
}

/* A metric's name; leaves *at behind it. */
static void skip_name(const char **at)
{
    cr_assert(isalpha((unsigned char)**at) || **at == '_', "no name begins with %.20s", *at);
    while (isalnum((unsigned char)**at) || **at == '_' || **at == ':')
        (*at)++;
}

static void skip_labels(const char **at)
{
    cr_assert_eq(*(*at)++, '{');
    do {
        skip_name(at);
        cr_assert_eq(*(*at)++, '=');
        cr_assert_eq(*(*at)++, '"');
        for (; **at != '"'; (*at)++) {
            cr_assert(**at && **at != '\n', "a label does not end");
            if (**at == '\\') {
                (*at)++;
                cr_assert(strchr("\\\"n", **at), "an escape that there is not: %c", **at);
            }
        }
        (*at)++;
    } while (*(*at)++ == ',');
    cr_assert_eq((*at)[-1], '}');
}

static void skip_number(const char **at)
{
    const size_t digits = strspn(*at, "0123456789");
    cr_assert_gt(digits, 0, "no number: %.20s", *at);
    *at += digits;
    if (**at == '.') {
        const size_t decimals = strspn(++*at, "0123456789");
        cr_assert_gt(decimals, 0);
        *at += decimals;
    }
}

Test(export, openmetrics_holds_to_its_grammar_and_ends_where_it_says)
{
    char family[128] = "";
    unsigned samples = 0, families = 0;
    stria_export_openmetrics(measurements, 3, &text);
    const char *at = text.bytes;
    while (strcmp(at, "# EOF\n") != 0) {
        const char *line = at;
        if (strncmp(at, "# TYPE ", 7) == 0) {
            const char *name = at += 7;
            skip_name(&at);
            snprintf(family, sizeof(family), "%.*s", (int)(at - name), name);
            cr_assert_eq(strncmp(at, " gauge\n", 7), 0);
            char again[140];
            snprintf(again, sizeof(again), "# TYPE %s ", family);
            cr_assert_null(strstr(at, again), "%s comes twice", family);
            families++;
        } else if (strncmp(at, "# UNIT ", 7) == 0) {
            char unit[64];
            cr_assert_eq(sscanf(at, "# UNIT %*s %63s", unit), 1);
            cr_assert_gt(strlen(family), strlen(unit));
            cr_assert_str_eq(family + strlen(family) - strlen(unit), unit);
        } else if (strncmp(at, "# HELP ", 7) != 0) {
            skip_name(&at);
            cr_assert_eq((size_t)(at - line), strlen(family));
            cr_assert_eq(strncmp(line, family, strlen(family)), 0, "%.40s is not of %s", line, family);
            skip_labels(&at);
            cr_assert_eq(*at++, ' ');
            skip_number(&at);
            cr_assert_eq(*at, '\n');
            samples++;
        }
        at = strchr(at, '\n');
        cr_assert(at++, "the end is missing");
    }
    cr_expect_gt(families, 15);
    cr_expect_gt(samples, 60);
    cr_expect(strstr(
        text.bytes,
        "\nstria_minimum_bytes_per_second{result=\"b=\\\"bench\\\",\\\\\",kind=\"bench\"} 500000000\n"));
    cr_expect(strstr(
        text.bytes, "stria_latency_p99_seconds{result=\"take one\",kind=\"record\",drive=\"left\"} 0.009\n"));
    cr_expect(
        strstr(text.bytes, "stria_started_seconds{result=\"take one\",kind=\"record\"} 1796040000.5\n"));
    cr_expect(strstr(text.bytes,
                     "stria_temperature_max_celsius{result=\"b=\\\"bench\\\",\\\\\",kind=\"bench\"} 41\n"));
}

/* Tags open and close in order, and text is text. */
Test(export, svg_is_a_figure_whose_tags_close)
{
    char open[16][32];
    unsigned depth = 0, areas = 0, bands = 0;
    stria_export_svg(measurements, 3, &text);
    for (const char *at = strchr(text.bytes, '<'); at; at = strchr(at + 1, '<')) {
        char name[32];
        const char *end = strchr(at, '>');
        cr_assert(end, "a tag does not end");
        if (at[1] == '/') {
            cr_assert_eq(sscanf(at, "</%31[a-z]>", name), 1);
            cr_assert_gt(depth, 0);
            cr_assert_str_eq(name, open[--depth]);
            continue;
        }
        cr_assert_eq(sscanf(at, "<%31[a-z]", name), 1, "no tag: %.40s", at);
        areas += strcmp(name, "polygon") == 0;
        bands += strcmp(name, "title") == 0;
        if (end[-1] != '/')
            strcpy(open[depth++], name);
        cr_assert_lt(depth, 16);
    }
    cr_expect_eq(depth, 0);
    cr_expect_eq(areas, 3, "two drives and one");
    cr_expect_eq(bands, 1, "two gaps close together");
    cr_expect_null(strstr(text.bytes, "nan"));
    cr_expect(strstr(text.bytes, "right&lt;/script&gt;,&quot;x"));
    cr_expect(strstr(text.bytes, "it tells no rates over time"), "fio");
}

/* A part of a line up to one of the characters in ends, which are not escaped. */
static void skip_part(const char **at, const char *ends)
{
    const char *begin = *at;
    for (; !strchr(ends, **at); (*at)++) {
        cr_assert(**at != '\n' && **at != ' ' && **at != ',' && **at != '=', "not escaped: %.40s", begin);
        if (**at == '\\') {
            (*at)++;
            cr_assert(strchr(",= ", **at), "an escape that there is not");
        }
    }
    cr_assert(*at > begin, "an empty part: %.40s", begin);
}

Test(export, influx_lines_hold_to_their_protocol_and_bins_follow_one_another)
{
    uint64_t last_ns = 0, stored = 0;
    unsigned lines = 0;
    stria_export_influx(measurements, 3, &text);
    for (const char *at = text.bytes; *at; lines++) {
        const char *line = at;
        skip_part(&at, ", ");
        while (*at == ',') {
            at++;
            skip_part(&at, "=");
            at++;
            skip_part(&at, ", ");
        }
        do {
            at++;
            const char *key = at;
            skip_part(&at, "=");
            at++;
            const uint64_t value = strtoull(at, NULL, 10);
            at += strspn(at, "0123456789");
            cr_assert_eq(*at++, 'i');
            if (strncmp(line, "stria_bin,result=take\\ one,", 27) == 0 &&
                strncmp(key, "stored_bytes=", 13) == 0)
                stored += value;
        } while (*at == ',');
        if (*at == ' ') {
            const uint64_t ns = strtoull(at + 1, (char **)&at, 10);
            if (strstr(line, "input_bytes=") && strstr(line, "input_bytes=") < at) {
                cr_assert_gt(ns, last_ns);
                last_ns = ns;
            }
        }
        cr_assert_eq(*at++, '\n', "a line does not end: %.80s", line);
    }
    cr_expect_eq(stored, 580000000);
    cr_expect_eq(last_ns, UINT64_C(1796040004500000000));
    cr_expect_gt(lines, 40);
    cr_expect(strstr(text.bytes, "drive=right</script>\\,\"x "));
}
