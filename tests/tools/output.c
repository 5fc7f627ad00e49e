/* Exported files, on a medium whose fsync this program stands in for. */
#include "tools/output.h"

#include "support/file.h"
#include "tests/engine/rig.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SYNCS_MAX 8u

static char folder[64];
static struct rig *rig;
static struct stria_trouble trouble;

/* What was synced, in the order of the calls. */
static struct {
    unsigned count;
    unsigned fails_at; /* the call that fails with EIO, from 1; zero: none */
    struct {
        bool folder, named; /* named: the file had its name by then */
        off_t bytes;
    } calls[SYNCS_MAX];
} syncs;

/* In place of the system's, for everything that is linked into this program. */
int fsync(int fd)
{
    struct stat status;
    if (fstat(fd, &status) != 0 || syncs.count == SYNCS_MAX)
        abort();
    syncs.calls[syncs.count].folder = S_ISDIR(status.st_mode);
    syncs.calls[syncs.count].named = access("exported", F_OK) == 0;
    syncs.calls[syncs.count].bytes = status.st_size;
    if (++syncs.count != syncs.fails_at)
        return 0;
    errno = EIO;
    return -1;
}

static void set_up(void)
{
    static const uint64_t sizes[] = {12 * MIB, 0};
    snprintf(folder, sizeof(folder), "/tmp/stria-output-XXXXXX");
    cr_assert(mkdtemp(folder) && chdir(folder) == 0);
    rig = rig_make(STRIA_POLICY_ADAPTIVE, sizes);
    syncs.count = 0;
}

static void tear_down(void)
{
    char command[96];
    rig_free(rig);
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(output, .init = set_up, .fini = tear_down, .timeout = 60);

static int export_word(void)
{
    struct stria_output *output;
    int code = stria_output_open("exported", rig_open(rig, false), &output, &trouble);
    cr_assert(code == STRIA_OK, "%s", trouble.sentence);
    cr_assert(stria_output_write(output, "stripes", 7, &trouble) == STRIA_OK);
    return stria_output_finish(output, &trouble);
}

static bool anything_is_left(void)
{
    return system("test -z \"$(ls -A)\"") != 0;
}

static void expect_synced_in_order(void)
{
    cr_assert(syncs.count == 2, "%u syncs", syncs.count);
    cr_expect(!syncs.calls[0].folder && !syncs.calls[0].named && syncs.calls[0].bytes == 7);
    cr_expect(syncs.calls[1].folder && syncs.calls[1].named);
}

Test(output, is_durable_before_it_has_its_name_and_the_name_before_all_is_said_to_be_well)
{
    cr_assert(export_word() == STRIA_OK);
    expect_synced_in_order();
}

Test(output, that_the_disk_did_not_take_is_a_failure_and_leaves_no_file)
{
    syncs.fails_at = 1;
    cr_expect(export_word() == STRIA_ERR_IO);
    cr_expect(strstr(trouble.sentence, "cannot write exported after 7 bytes"), "%s", trouble.sentence);
    cr_expect(!anything_is_left());
}

Test(output, whose_name_the_disk_did_not_take_is_a_failure)
{
    syncs.fails_at = 2;
    cr_expect(export_word() == STRIA_ERR_IO);
}

Test(output, a_report_goes_the_same_way)
{
    cr_assert(stria_file_write_whole("exported", "stripes", 7, &trouble) == STRIA_OK);
    expect_synced_in_order();
    cr_assert(unlink("exported") == 0);
    syncs.count = 0;
    syncs.fails_at = 1;
    cr_expect(stria_file_write_whole("exported", "stripes", 7, &trouble) == STRIA_ERR_IO);
    cr_expect(!anything_is_left());
}
