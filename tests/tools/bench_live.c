#include "tools/bench.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct stria_target targets[2];
static struct stria_round_plan plan = {.point = "4GiB", .write = true};
static struct stria_crew_moment crew = {
    .bytes = 1, .bytes_per_s = {2000000000, 500000000}, .total_bytes_per_s = 2500000000};

static struct stria_bench_moment moment_of(enum stria_bench_phase phase)
{
    strcpy(targets[0].config.path, "/dev/left");
    strcpy(targets[1].config.path, "/dev/right");
    crew.temperature_c[0] = (struct stria_told){true, 61};
    return (struct stria_bench_moment){.test = "size",
                                       .phase = phase,
                                       .plan = &plan,
                                       .round = 4,
                                       .round_count = 21,
                                       .elapsed_ns = 83000000000,
                                       .left_ns = {true, 187000000000},
                                       .crew = phase == STRIA_BENCH_ROUND ? &crew : NULL,
                                       .targets = targets,
                                       .target_count = 2};
}

static char *block_of(enum stria_bench_phase phase, unsigned columns, unsigned *lines)
{
    char *text = NULL;
    size_t bytes;
    const struct stria_bench_moment moment = moment_of(phase);
    FILE *out = open_memstream(&text, &bytes);
    *lines = bench_live_print_block(&moment, columns, out);
    fclose(out);
    return text;
}

static unsigned lines_in(const char *text)
{
    unsigned lines = 0;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

Test(bench_live, a_round_shows_each_drive_and_what_is_left)
{
    unsigned lines;
    char *text = block_of(STRIA_BENCH_ROUND, 200, &lines);
    cr_assert_eq(lines, 3);
    cr_assert_eq(lines_in(text), 3);
    cr_assert(strstr(text, "size: 4GiB, round 5 of 21"), "%s", text);
    cr_assert(strstr(text, "left about 3 min 07 s"), "%s", text);
    cr_assert(strstr(text, "left             [####################] 2000.0 MB/s"), "%s", text);
    cr_assert(strstr(text, "right            [#####...............] 500.0 MB/s"), "%s", text);
    cr_assert(strstr(text, "61 °C"), "%s", text);
    free(text);
}

Test(bench_live, a_rest_is_one_line_that_says_so)
{
    unsigned lines;
    char *text = block_of(STRIA_BENCH_REST, 200, &lines);
    cr_assert_eq(lines, 1);
    cr_assert(strstr(text, "round 5 of 21, rest"), "%s", text);
    free(text);
}

Test(bench_live, no_line_is_longer_than_the_terminal)
{
    unsigned lines;
    char *text = block_of(STRIA_BENCH_ROUND, 30, &lines);
    for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
        cr_assert_leq(strlen(line), 30);
    free(text);
}
