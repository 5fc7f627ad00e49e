#include "tools/live.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct stria_moment moment;

static void set_up(void)
{
    moment.progress = (struct stria_progress){.elapsed_ns = 12300000000ull,
                                              .stored_bytes = 30000000000ull,
                                              .dropped_bytes = 0,
                                              .buffer_bytes = 512u << 20,
                                              .buffer_used_bytes = 128u << 20,
                                              .buffer_high_water_bytes = 256u << 20,
                                              .input_bytes_per_s = 2500000000ull,
                                              .drive_count = 2};
    moment.drives[0] = (struct stria_drive_progress){.bytes_per_s = 2000000000ull, .in_flight = 8};
    moment.drives[1] =
        (struct stria_drive_progress){.bytes_per_s = 500000000ull, .in_flight = 3, .waiting = 5};
    moment.drive_names[0] = "left";
    moment.drive_names[1] = "right";
}

TestSuite(live, .init = set_up);

static char *block(unsigned columns, unsigned *lines)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    *lines = stria_live_print_block(&moment, columns, out);
    fclose(out);
    return text;
}

static char *line(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    stria_live_print_line(&moment, out);
    fclose(out);
    return text;
}

Test(live, the_block_shows_time_rates_queues_and_buffer)
{
    unsigned lines;
    char *text = block(100, &lines);
    cr_assert_eq(lines, 4);
    cr_assert_str_eq(text, "12.3 s  in 2500.0 MB/s (2384.2 MiB/s)  stored 30.0 GB (27.9 GiB)\n"
                           "  left         [############] 2000.0 MB/s (1907.3 MiB/s)     queue   8+0   \n"
                           "  right        [###.........] 500.0 MB/s (476.8 MiB/s)       queue   3+5   \n"
                           "  buffer       [###.........] 25 %, at most 50 %  dropped 0 bytes\n");
    free(text);
}

Test(live, it_tells_its_own_height_and_never_wraps)
{
    moment.progress.warning[0] = '\0';
    strcpy(moment.progress.warning,
           "drive right will be full in 12 s, and the others cannot keep up with the input");
    moment.drives[1].lost = true;
    for (unsigned columns = 1; columns < 200; columns++) {
        unsigned lines, counted = 0;
        char *text = block(columns, &lines);
        for (char *start = text, *end; (end = strchr(start, '\n')); start = end + 1, counted++)
            cr_assert_leq((unsigned)(end - start), columns);
        cr_assert_eq(counted, lines);
        free(text);
    }
}

Test(live, the_line_says_the_same_in_one)
{
    moment.drives[1].lost = true;
    strcpy(moment.progress.warning, "soon full");
    char *text = line();
    cr_assert_str_eq(
        text, "12.3 s: in 2500.0 MB/s (2384.2 MiB/s), buffer 25 %, dropped 0 bytes, drives MB/s left 2000 "
              "right 500 given up, warning: soon full\n");
    free(text);
}

Test(live, nothing_yet_is_no_reason_to_divide_by_zero)
{
    unsigned lines;
    moment = (struct stria_moment){.progress.drive_count = 2, .drive_names = {"a", "b"}};
    char *text = block(80, &lines);
    cr_assert(strstr(text, "[............]"));
    free(text);
    free(line());
}
