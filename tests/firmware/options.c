#include "firmware/options.h"

#include "core/code.h"

#include <criterion/criterion.h>
#include <string.h>

static struct stria_firmware_options options;
static char complaint[192];

static int read(const char *text)
{
    return stria_firmware_options_read(&options, text, complaint, sizeof(complaint));
}

Test(firmware_options, lists_when_nothing_is_said)
{
    cr_assert_eq(read(""), STRIA_OK);
    cr_assert_eq(options.command_count, 1);
    cr_assert_eq(options.commands[0], STRIA_COMMAND_LIST);
    cr_assert(options.mmu);
    cr_assert(!options.maintain);
}

Test(firmware_options, keeps_the_order_of_commands_and_takes_values_anywhere)
{
    cr_assert_eq(
        read(" init size=96MiB  record\tpolicy=raid0 verify name=night mmu=off cache=maintain seed=0x10\n"),
        STRIA_OK);
    cr_assert_eq(options.command_count, 3);
    cr_assert_eq(options.commands[0], STRIA_COMMAND_INIT);
    cr_assert_eq(options.commands[1], STRIA_COMMAND_RECORD);
    cr_assert_eq(options.commands[2], STRIA_COMMAND_VERIFY);
    cr_assert_eq(options.bytes, 96u << 20);
    cr_assert_eq(options.policy, STRIA_POLICY_RAID0);
    cr_assert_str_eq(options.name, "night");
    cr_assert_eq(options.seed, 16);
    cr_assert(!options.mmu);
    cr_assert(options.maintain);
}

Test(firmware_options, every_command_has_its_word)
{
    static const char *const words[] = {
        [STRIA_COMMAND_LIST] = "list",     [STRIA_COMMAND_INIT] = "init",   [STRIA_COMMAND_RECORD] = "record",
        [STRIA_COMMAND_VERIFY] = "verify", [STRIA_COMMAND_ZONES] = "zones", [STRIA_COMMAND_SIZES] = "sizes",
        [STRIA_COMMAND_RATIO] = "ratio"};
    for (size_t index = 0; index < sizeof(words) / sizeof(words[0]); index++) {
        cr_assert_eq(read(words[index]), STRIA_OK);
        cr_assert_eq(options.commands[0], index);
    }
}

Test(firmware_options, names_the_word_that_is_wrong)
{
    static const char *const bad[] = {"recrod",    "depth=0",   "depth=many", "mmu=maybe",  "chunk=63KiB",
                                      "drives=33", "policy=md", "size=",      "name=",      "seed=1x",
                                      "=",         "depth==1",  "list=1",     "size=1PiB=", "rate=-1"};
    for (size_t index = 0; index < sizeof(bad) / sizeof(bad[0]); index++) {
        cr_assert_eq(read(bad[index]), STRIA_ERR_INVALID, "%s", bad[index]);
        cr_assert(strstr(complaint, bad[index]), "%s", complaint);
    }
    cr_assert_eq(read("chunk=96KiB"), STRIA_ERR_INVALID);
    cr_assert(strstr(complaint, "power of two"));
}

Test(firmware_options, refuses_more_commands_than_it_keeps)
{
    cr_assert_eq(read("list list list list list list list list"), STRIA_OK);
    cr_assert_eq(read("list list list list list list list list list"), STRIA_ERR_INVALID);
}

Test(firmware_options, a_word_longer_than_any_is_wrong_and_harmless)
{
    char text[4096];
    memset(text, 'a', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    cr_assert_eq(read(text), STRIA_ERR_INVALID);
}
