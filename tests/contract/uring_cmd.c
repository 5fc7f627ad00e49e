/* What can be said of passthrough without an NVMe drive; the contract runs over it where there is one. */
#include "backends/uring_cmd.h"

#include "tests/contract/loop.h"
#include "tests/contract/subject.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void refused(const char *device, int code, const char *phrase)
{
    char path[160];
    snprintf(path, sizeof(path), "passthrough:%s", device);
    const struct stria_drive_options options = {.path = path, .depth = 4, .exclusive = true, .direct = true};
    struct stria_drive *drive;
    struct stria_trouble trouble = {0};
    const int got = stria_drive_open(&options, &drive, &trouble);
    cr_expect(got == code, "%s: %s", device, stria_code_text(got));
    cr_expect(strstr(trouble.sentence, phrase) && strstr(trouble.sentence, device) &&
                  !strstr(trouble.sentence, "passthrough:"),
              "%s", trouble.sentence);
}

Test(uring_cmd, a_whole_namespace_has_a_character_device)
{
    char path[64], small[8];
    cr_assert(stria_passthrough_character_path("nvme0n1", path, sizeof(path)));
    cr_assert_str_eq(path, "/dev/ng0n1");
    cr_assert(stria_passthrough_character_path("nvme12n34", path, sizeof(path)));
    cr_assert_str_eq(path, "/dev/ng12n34");
    cr_assert_not(stria_passthrough_character_path("nvme0n1", small, sizeof(small)));
    const char *others[] = {"nvme0n1p2", "nvme0c0n1", "nvme0", "sda", "loop0", ""};
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        cr_assert_not(stria_passthrough_character_path(others[i], path, sizeof(path)), "%s", others[i]);
}

Test(uring_cmd, the_format_in_use_has_two_more_bits_where_there_are_more_than_sixteen)
{
    cr_expect_eq(stria_passthrough_format(0x01, 0), 1);
    cr_expect_eq(stria_passthrough_format(0x61, 15), 1);
    cr_expect_eq(stria_passthrough_format(0x21, 16), 17);
    cr_expect_eq(stria_passthrough_format(0x61, 63), 49);
    cr_expect_eq(stria_passthrough_format(0x12, 63), 2, "bit 4 is about metadata");
}

Test(uring_cmd, what_is_no_nvme_drive_gets_a_sentence)
{
    char path[128];
    subject_file_make(subject_folder(), SUBJECT_BYTES, path);
    refused(path, STRIA_ERR_UNSUPPORTED, "is a file");
    char device[128];
    const int loop = loop_attach(path, 512, device);
    if (loop >= 0)
        refused(device, STRIA_ERR_UNSUPPORTED, "is no NVMe namespace");
    if (loop >= 0)
        close(loop);
    unlink(path);
    refused(path, STRIA_ERR_NOT_FOUND, "does not exist");
}
