#include "support/standard.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

Test(standard, a_closed_descriptor_becomes_one_that_neither_reads_nor_writes)
{
    char byte = 'x';
    int kept = dup(STDERR_FILENO);
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        close(fd);
    int code = stria_standard_fill();
    int next = open("/dev/null", O_RDONLY);
    ssize_t got = read(STDIN_FILENO, &byte, 1), put = write(STDOUT_FILENO, &byte, 1),
            told = write(STDERR_FILENO, &byte, 1);
    dup2(kept, STDERR_FILENO);
    cr_assert_eq(code, 0);
    cr_assert_gt(next, STDERR_FILENO);
    cr_assert_eq(got, -1);
    cr_assert_eq(put, -1);
    cr_assert_eq(told, -1);
}

Test(standard, an_open_descriptor_stays_what_it_is)
{
    int pipes[2];
    char byte = 0;
    cr_assert_eq(pipe(pipes), 0);
    cr_assert_eq(dup2(pipes[0], STDIN_FILENO), STDIN_FILENO);
    cr_assert_eq(stria_standard_fill(), 0);
    cr_assert_eq(write(pipes[1], "y", 1), 1);
    cr_assert_eq(read(STDIN_FILENO, &byte, 1), 1);
    cr_assert_eq(byte, 'y');
}

Test(standard, says_when_there_is_nothing_to_stand_in)
{
    struct rlimit before, none;
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
    none = (struct rlimit){.rlim_cur = 0, .rlim_max = before.rlim_max};
    close(STDIN_FILENO);
    setrlimit(RLIMIT_NOFILE, &none);
    int code = stria_standard_fill();
    setrlimit(RLIMIT_NOFILE, &before);
    cr_assert_eq(code, -EMFILE);
}
