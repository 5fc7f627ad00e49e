#include "tools/source.h"

#include "core/synthetic.h"
#include "support/clock.h"
#include "tools/signals.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define MILLISECOND 1000000ull

static char folder[64];
static unsigned char buffer[1 << 20] __attribute__((aligned(4096)));
static struct stria_trouble trouble;

static void set_up(void)
{
    snprintf(folder, sizeof(folder), "/tmp/stria-source-XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    stria_signals_take();
}

static void tear_down(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(source, .init = set_up, .fini = tear_down, .timeout = 20);

static struct stria_source *started(struct stria_source_options options)
{
    struct stria_source *source;
    cr_assert_eq(stria_source_open(&options, &source, &trouble), STRIA_OK, "%s", trouble.sentence);
    stria_source_start(source);
    return source;
}

static int64_t fill(struct stria_source *source, size_t bytes)
{
    return stria_source_fill(source, buffer, bytes, &trouble);
}

static void assert_refused(const char *input, int code, const char *word)
{
    struct stria_source *source;
    const struct stria_source_options options = {.input = input};
    cr_assert_eq(stria_source_open(&options, &source, &trouble), code);
    cr_assert(strstr(trouble.sentence, word), "%s", trouble.sentence);
}

static void *write_slowly(void *path)
{
    int fd = open(path, O_WRONLY);
    for (int i = 0; i < 5; i++) {
        usleep(5000);
        (void)!write(fd, "abc", 3);
    }
    close(fd);
    return NULL;
}

static void *interrupt_soon(void *unused)
{
    usleep(50000);
    kill(getpid(), SIGINT);
    return unused;
}

Test(source, a_file_is_given_whole_and_then_ends)
{
    FILE *file = fopen("input", "w");
    fprintf(file, "0123456789");
    fclose(file);
    struct stria_source *source = started((struct stria_source_options){.input = "input"});
    cr_assert_not(stria_source_is_live(source));
    cr_assert_eq(fill(source, 4), 4);
    cr_assert_eq(fill(source, 1000), 6);
    cr_assert_eq(memcmp(buffer, "456789", 6), 0);
    cr_assert_eq(fill(source, 1000), 0);
    stria_source_close(source);
}

Test(source, a_size_ends_it_to_the_byte)
{
    struct stria_source *source =
        started((struct stria_source_options){.input = "/dev/zero", .bytes_max = 1000});
    cr_assert_eq(fill(source, 600), 600);
    cr_assert_eq(fill(source, 600), 400);
    cr_assert_eq(fill(source, 600), 0);
    stria_source_close(source);
}

Test(source, what_cannot_be_read_is_named)
{
    cr_assert_eq(mkdir("folder", 0755), 0);
    assert_refused("missing", STRIA_ERR_NOT_FOUND, "missing");
    assert_refused("folder", STRIA_ERR_INVALID, "folder");
}

Test(source, a_fifo_is_waited_for_and_its_pieces_are_put_together)
{
    pthread_t writer;
    cr_assert_eq(mkfifo("fifo", 0644), 0);
    struct stria_source *source = started((struct stria_source_options){.input = "fifo"});
    cr_assert(stria_source_is_live(source));
    pthread_create(&writer, NULL, write_slowly, "fifo");
    cr_assert_eq(fill(source, 100), 15);
    cr_assert_eq(memcmp(buffer, "abcabcabcabcabc", 15), 0);
    pthread_join(writer, NULL);
    stria_source_close(source);
}

Test(source, a_fifo_that_nobody_writes_to_can_be_left_by_a_signal)
{
    pthread_t other;
    cr_assert_eq(mkfifo("fifo", 0644), 0);
    struct stria_source *source = started((struct stria_source_options){.input = "fifo"});
    pthread_create(&other, NULL, interrupt_soon, NULL);
    cr_assert_eq(fill(source, 100), 0);
    pthread_join(other, NULL);
    stria_source_close(source);
}

Test(source, a_duration_ends_even_a_silent_pipe)
{
    cr_assert_eq(mkfifo("fifo", 0644), 0);
    const uint64_t before = stria_clock_ns();
    struct stria_source *source =
        started((struct stria_source_options){.input = "fifo", .duration_ns = 50 * MILLISECOND});
    cr_assert_eq(fill(source, 100), 0);
    cr_assert_geq(stria_clock_ns() - before, 50 * MILLISECOND);
    stria_source_close(source);
}

Test(source, the_synthetic_sensor_describes_itself_and_goes_on_where_it_was)
{
    size_t bad;
    struct stria_source *source = started((struct stria_source_options){.input = "synthetic", .seed = 5});
    for (uint64_t offset = 0; offset < 4 * sizeof(buffer); offset += sizeof(buffer)) {
        cr_assert_eq(fill(source, sizeof(buffer)), sizeof(buffer));
        cr_assert_eq(stria_synthetic_check(buffer, sizeof(buffer), offset, &bad), STRIA_SYNTHETIC_OK);
    }
    stria_source_close(source);
}

/* Puts a socket in the place of standard input that fails after bytes have come through it. */
static void break_input_after(size_t bytes)
{
    int ends[2];
    cr_assert(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    memset(buffer, 7, bytes);
    cr_assert(write(ends[0], buffer, bytes) == (ssize_t)bytes);
    cr_assert(write(ends[1], "unread", 6) == 6); /* so that closing resets it */
    close(ends[0]);
    cr_assert(dup2(ends[1], STDIN_FILENO) == STDIN_FILENO);
    close(ends[1]);
}

Test(source, what_came_before_an_input_failed_is_handed_out)
{
    break_input_after(1000);
    struct stria_source *source = started((struct stria_source_options){.input = "-"});
    memset(buffer, 0, sizeof(buffer));
    cr_assert_eq(fill(source, sizeof(buffer)), 1000);
    cr_expect(buffer[0] == 7 && buffer[999] == 7 && buffer[1000] == 0);
    for (unsigned again = 0; again < 2; again++) {
        cr_expect(fill(source, sizeof(buffer)) < 0);
        cr_expect(strstr(trouble.sentence, "cannot read standard input"), "%s", trouble.sentence);
    }
    stria_source_close(source);
}

Test(source, a_pace_is_held_on_average_also_after_a_pause)
{
    const uint64_t before = stria_clock_ns();
    struct stria_source *source =
        started((struct stria_source_options){.input = "synthetic", .rate_bytes_per_s = 100u << 20});
    cr_assert(stria_source_is_live(source));
    for (int i = 0; i < 10; i++) {
        if (i == 3)
            usleep(40000);
        cr_assert_eq(fill(source, sizeof(buffer)), sizeof(buffer));
    }
    const uint64_t took = stria_clock_ns() - before;
    cr_assert(took >= 100 * MILLISECOND && took < 1000 * MILLISECOND, "took %llu ns",
              (unsigned long long)took);
    stria_source_close(source);
}

static void make_input(size_t bytes)
{
    int fd = open("input", O_WRONLY | O_CREAT, 0644);
    cr_assert(fd >= 0 && ftruncate(fd, (off_t)bytes) == 0);
    close(fd);
}

Test(source, a_duration_of_however_long_ends_nothing)
{
    static const uint64_t durations_ns[] = {UINT64_MAX, UINT64_MAX - 1, 1ull << 63};
    make_input(1000);
    for (unsigned i = 0; i < 3; i++) {
        struct stria_source *source =
            started((struct stria_source_options){.input = "input", .duration_ns = durations_ns[i]});
        cr_expect_eq(fill(source, 600), 600);
        cr_expect_eq(fill(source, 600), 400);
        stria_source_close(source);
        source = started((struct stria_source_options){.input = "synthetic", .duration_ns = durations_ns[i]});
        cr_expect_eq(fill(source, 600), 600);
        stria_source_close(source);
    }
}

/* The drives make it wait for longer than the duration is. */
Test(source, with_a_pace_a_duration_is_the_same_number_of_bytes_of_a_file_however_long_it_takes)
{
    make_input(sizeof(buffer));
    struct stria_source *source = started((struct stria_source_options){
        .input = "input", .rate_bytes_per_s = 10000001, .duration_ns = 50 * MILLISECOND});
    cr_assert_eq(fill(source, 100000), 100000);
    usleep(100000);
    cr_assert_eq(fill(source, sizeof(buffer)), 400000);
    cr_assert_eq(fill(source, sizeof(buffer)), 0);
    stria_source_close(source);
}

Test(source, with_a_pace_a_duration_ends_a_pipe_by_the_clock)
{
    cr_assert_eq(mkfifo("fifo", 0644), 0);
    int both = open("fifo", O_RDWR);
    cr_assert_eq(write(both, buffer, 1000), 1000);
    struct stria_source *source = started((struct stria_source_options){
        .input = "fifo", .rate_bytes_per_s = 1000000000, .duration_ns = 50 * MILLISECOND});
    cr_assert_eq(fill(source, sizeof(buffer)), 1000);
    cr_assert_eq(fill(source, sizeof(buffer)), 0);
    stria_source_close(source);
    close(both);
}

Test(source, with_a_pace_a_duration_is_a_number_of_bytes)
{
    struct stria_source *source = started((struct stria_source_options){
        .input = "synthetic", .rate_bytes_per_s = 10000001, .duration_ns = 50 * MILLISECOND});
    cr_assert_eq(fill(source, sizeof(buffer)), 500000);
    cr_assert_eq(fill(source, sizeof(buffer)), 0);
    stria_source_close(source);
}

Test(source, a_signal_ends_a_slow_pace_at_once)
{
    pthread_t other;
    struct stria_source *source =
        started((struct stria_source_options){.input = "synthetic", .rate_bytes_per_s = 1000});
    pthread_create(&other, NULL, interrupt_soon, NULL);
    const int64_t got = fill(source, sizeof(buffer));
    cr_assert(got >= 50 && got < 5000, "a sensor of 1000 bytes a second has sent %lld", (long long)got);
    cr_assert_eq(fill(source, sizeof(buffer)), 0);
    pthread_join(other, NULL);
    stria_source_close(source);
}
