#define _GNU_SOURCE

#include "support/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static char folder[64];

static void enter_folder(void)
{
    snprintf(folder, sizeof(folder), "/tmp/stria-file-XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
}

static void remove_folder(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

static unsigned files_here(void)
{
    unsigned count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry = readdir(here); entry; entry = readdir(here))
        count += entry->d_name[0] != '.';
    closedir(here);
    return count;
}

static void assert_holds(const char *path, const char *expected)
{
    char content[64] = "";
    FILE *file = fopen(path, "r");
    cr_assert(file, "%s is not there", path);
    size_t length = fread(content, 1, sizeof(content) - 1, file);
    fclose(file);
    content[length] = '\0';
    cr_assert_str_eq(content, expected);
}

TestSuite(file, .init = enter_folder, .fini = remove_folder);

Test(file, a_new_file_gets_the_mode_of_the_umask_and_nothing_else_is_left)
{
    struct stat status;
    umask(027);
    cr_assert_eq(stria_file_write_whole("new", "one", 3, NULL), STRIA_OK);
    assert_holds("new", "one");
    cr_assert_eq(stat("new", &status), 0);
    cr_assert_eq(status.st_mode & 07777, 0640);
    cr_assert_eq(files_here(), 1);
}

Test(file, an_existing_file_is_replaced_by_a_new_one)
{
    struct stat before, after;
    cr_assert_eq(stria_file_write_whole("it", "a longer text", 13, NULL), STRIA_OK);
    cr_assert_eq(stat("it", &before), 0);
    int open_before = open("it", 0);
    cr_assert_eq(stria_file_write_whole("it", "two", 3, NULL), STRIA_OK);
    cr_assert_eq(stat("it", &after), 0);
    cr_assert_neq(before.st_ino, after.st_ino);
    assert_holds("it", "two");
    close(open_before);
}

Test(file, a_symbolic_link_keeps_pointing_where_it_did)
{
    struct stat status;
    cr_assert_eq(stria_file_write_whole("target", "one", 3, NULL), STRIA_OK);
    cr_assert_eq(symlink("target", "link"), 0);
    cr_assert_eq(stria_file_write_whole("link", "two", 3, NULL), STRIA_OK);
    cr_assert(lstat("link", &status) == 0 && S_ISLNK(status.st_mode));
    assert_holds("target", "two");
}

Test(file, a_left_over_of_a_killed_process_is_no_obstacle)
{
    char left_over[32];
    snprintf(left_over, sizeof(left_over), "it.tmp%ld", (long)getpid());
    fclose(fopen(left_over, "w"));
    cr_assert_eq(stria_file_write_whole("it", "one", 3, NULL), STRIA_OK);
    cr_assert_eq(files_here(), 1);
}

Test(file, a_failure_names_the_path_and_changes_nothing)
{
    struct stria_trouble trouble;
    cr_assert_eq(stria_file_write_whole("no/such/file", "x", 1, &trouble), STRIA_ERR_NOT_FOUND);
    cr_assert(strstr(trouble.sentence, "no/such/file"), "%s", trouble.sentence);
    cr_assert_eq(mkdir("folder", 0755), 0);
    cr_assert_eq(stria_file_write_whole("folder", "x", 1, &trouble), STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, "folder"), "%s", trouble.sentence);
    cr_assert_eq(files_here(), 1);
}

Test(file, a_device_is_written_directly)
{
    struct stria_trouble trouble;
    struct stat status;
    cr_assert_eq(stria_file_write_whole("/dev/null", "x", 1, &trouble), STRIA_OK);
    cr_assert_eq(stria_file_write_whole("/dev/full", "x", 1, &trouble), STRIA_ERR_NO_SPACE);
    cr_assert(stat("/dev/null", &status) == 0 && S_ISCHR(status.st_mode));
}

/* The child writes on and on until a signal ends it, at whatever it then is. */
Test(file, a_process_that_a_signal_ends_leaves_no_temporary_file)
{
    static char text[1 << 20];
    for (unsigned turn = 0; turn < 40; turn++) {
        const pid_t child = fork();
        if (child == 0) {
            signal(SIGTERM, SIG_DFL);
            for (;;)
                if (stria_file_write_whole("it", text, sizeof(text), NULL) != STRIA_OK)
                    _exit(1);
        }
        cr_assert(child > 0);
        const struct timespec pause = {.tv_nsec = 1000000L + 700000L * turn};
        nanosleep(&pause, NULL);
        int status;
        cr_assert(kill(child, SIGTERM) == 0 && waitpid(child, &status, 0) == child);
        cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
        cr_assert_leq(files_here(), 1, "in turn %u", turn);
    }
}

/* As what the program was started with: not close-on-exec. */
static int inherited(const char *path, int flags)
{
    const int fd = open(path, flags | O_CREAT, 0644);
    cr_assert(fd >= 0);
    return fd;
}

Test(file, a_path_that_leads_to_an_open_descriptor_is_that_descriptor)
{
    char names[3][64];
    const int fd = inherited("log", O_WRONLY | O_APPEND);
    cr_assert_eq(write(fd, "header ", 7), 7);
    snprintf(names[0], sizeof(names[0]), "/dev/fd/%d", fd);
    snprintf(names[1], sizeof(names[1]), "/proc/self/fd/%d", fd);
    snprintf(names[2], sizeof(names[2]), "link");
    cr_assert_eq(symlink(names[0], "link"), 0);
    for (unsigned i = 0; i < 3; i++) {
        cr_expect_eq(stria_file_descriptor(names[i]), fd, "%s", names[i]);
        cr_expect_eq(stria_file_check_place(names[i], NULL), STRIA_OK);
        cr_expect_eq(stria_file_write_whole(names[i], "more ", 5, NULL), STRIA_OK);
    }
    assert_holds("log", "header more more more ");
    cr_assert_eq(write(fd, "end", 3), 3);
    assert_holds("log", "header more more more end");
}

Test(file, standard_output_has_many_names)
{
    cr_expect_eq(stria_file_descriptor("-"), 1);
    cr_expect_eq(stria_file_descriptor("/dev/stdout"), 1);
    cr_expect_eq(stria_file_descriptor("/dev/stderr"), 2);
    cr_expect_eq(stria_file_descriptor("/dev/../dev/fd/1"), 1);
    cr_expect_str_eq(stria_file_shown("/dev/stdout"), "standard output");
    cr_expect_lt(stria_file_descriptor("1"), 0);
    cr_expect_lt(stria_file_descriptor("/dev/null"), 0);
    cr_expect_lt(stria_file_descriptor("/dev/fd/1x"), 0);
}

Test(file, a_descriptor_that_nobody_gave_is_not_written_to)
{
    char name[64];
    struct stria_trouble trouble;
    const int own = open("own", O_WRONLY | O_CREAT | O_CLOEXEC, 0644), reading = inherited("in", O_RDONLY);
    const int wrong[] = {own, reading, 999};
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), "/dev/fd/%d", wrong[i]);
        cr_expect_eq(stria_file_check_place(name, &trouble), STRIA_ERR_INVALID);
        cr_expect(strstr(trouble.sentence, name), "%s", trouble.sentence);
        cr_expect_neq(stria_file_write_whole(name, "x", 1, &trouble), STRIA_OK);
    }
    assert_holds("own", "");
}

Test(file, what_is_read_is_known_by_every_name)
{
    char name[64];
    struct stat status, null;
    struct stria_trouble trouble;
    const int fd = inherited("it", O_RDWR);
    cr_assert(stat("it", &status) == 0 && stat("/dev/null", &null) == 0);
    cr_assert(link("it", "hard") == 0 && symlink("hard", "soft") == 0 && mkdir("folder", 0755) == 0);
    snprintf(name, sizeof(name), "/dev/fd/%d", fd);
    const char *const same[] = {"it", "hard", "soft", "folder/../it", name};
    for (unsigned i = 0; i < 5; i++) {
        cr_expect(stria_file_leads_to(same[i], &status), "%s", same[i]);
        cr_expect_eq(stria_file_check_apart(same[i], "it", "precious", &trouble), STRIA_ERR_REFUSED);
        cr_expect(strstr(trouble.sentence, "is precious"), "%s", trouble.sentence);
    }
    cr_expect_not(stria_file_leads_to("missing", &status));
    cr_expect_not(stria_file_leads_to("/dev/null", &null));
    cr_expect_eq(stria_file_check_apart("it", "missing", "precious", &trouble), STRIA_OK);
}

static int ends[2];
static char text[1 << 20];

static void make_pipe(int flags)
{
    cr_assert_eq(pipe2(ends, flags), 0);
    for (size_t i = 0; i < sizeof(text); i++)
        text[i] = (char)(i * 7 / 3);
}

static void *read_all(void *unused)
{
    static char got[sizeof(text)];
    size_t bytes = 0;
    for (ssize_t more = 1; more > 0; bytes += more > 0 ? (size_t)more : 0) {
        struct pollfd one = {.fd = ends[0], .events = POLLIN};
        poll(&one, 1, -1);
        more = read(ends[0], got + bytes, sizeof(got) - bytes);
        if (bytes + (size_t)(more > 0 ? more : 0) == sizeof(got))
            break;
    }
    cr_expect_eq(memcmp(got, text, sizeof(text)), 0);
    return unused;
}

static void expect_all_comes_through(int flags)
{
    pthread_t reader;
    size_t written;
    make_pipe(flags);
    cr_assert_eq(pthread_create(&reader, NULL, read_all, NULL), 0);
    cr_expect_eq(stria_file_write_all(ends[1], text, sizeof(text), -1, &written), 0);
    cr_expect_eq(written, sizeof(text));
    pthread_join(reader, NULL);
}

Test(file, all_comes_through_a_pipe, .timeout = 20)
{
    expect_all_comes_through(0);
}

Test(file, all_comes_through_a_pipe_that_never_waits, .timeout = 20)
{
    expect_all_comes_through(O_NONBLOCK);
}

static void expect_ended_by(int stop_fd)
{
    size_t written = 0;
    cr_expect_eq(stria_file_write_all(ends[1], text, sizeof(text), stop_fd, &written), -EINTR);
    cr_expect_eq(written, (size_t)fcntl(ends[1], F_GETPIPE_SZ), "%zu bytes went through", written);
}

static void *ask_to_stop(void *fd)
{
    const uint64_t one = 1;
    usleep(50000);
    (void)!write(*(int *)fd, &one, sizeof(one));
    return NULL;
}

Test(file, a_pipe_that_nobody_reads_can_be_left, .timeout = 20)
{
    for (unsigned i = 0; i < 2; i++) {
        pthread_t other;
        int stop = eventfd(0, 0);
        make_pipe(i ? O_NONBLOCK : 0);
        pthread_create(&other, NULL, ask_to_stop, &stop);
        expect_ended_by(stop);
        pthread_join(other, NULL);
    }
}

static void note(int number)
{
    (void)number;
}

static _Atomic bool over;

/* Again and again, as one might come before it is waited for. */
static void *interrupt(void *thread)
{
    while (!over) {
        usleep(20000);
        pthread_kill(*(pthread_t *)thread, SIGUSR1);
    }
    return NULL;
}

Test(file, a_signal_with_a_handler_ends_the_wait_for_a_reader, .timeout = 20)
{
    pthread_t other, self = pthread_self();
    const struct sigaction action = {.sa_handler = note};
    sigaction(SIGUSR1, &action, NULL);
    make_pipe(0);
    pthread_create(&other, NULL, interrupt, &self);
    expect_ended_by(-1);
    over = true;
    pthread_join(other, NULL);
}
