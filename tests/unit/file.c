#include "support/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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
