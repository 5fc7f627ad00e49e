#include "support/fabrics_url.h"

#include "support/path.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#define NQN "nqn.2014-08.org.example:far1"

static struct stria_fabrics_url parse(const char *text)
{
    struct stria_fabrics_url url;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_fabrics_url_parse(text, &url, &trouble), STRIA_OK, "%s", trouble.sentence);
    return url;
}

/* The sentence names the whole text, and has this in it. */
static void refuse(const char *text, const char *part)
{
    struct stria_fabrics_url url;
    struct stria_trouble trouble = {0};
    cr_assert_eq(stria_fabrics_url_parse(text, &url, &trouble), STRIA_ERR_INVALID, "%s is taken", text);
    cr_assert_eq(trouble.code, STRIA_ERR_INVALID);
    cr_assert(strstr(trouble.sentence, part), "%s: %s", text, trouble.sentence);
    cr_assert(strlen(text) > 200 || strstr(trouble.sentence, text) == trouble.sentence, "%s",
              trouble.sentence);
}

Test(fabrics_url, has_a_host_a_port_and_a_subsystem)
{
    const struct stria_fabrics_url url = parse("nvme-tcp://storage-2.lab:8009/" NQN);
    cr_assert_str_eq(url.host, "storage-2.lab");
    cr_assert_str_eq(url.port, "8009");
    cr_assert_str_eq(url.nqn, NQN);
    cr_assert_eq(url.namespace_id, 0);
}

Test(fabrics_url, leaves_out_the_port_for_4420)
{
    cr_assert_str_eq(parse("nvme-tcp://10.0.0.2/" NQN).port, "4420");
    cr_assert_str_eq(parse("nvme-tcp://[::1]/" NQN).port, "4420");
}

Test(fabrics_url, takes_IPv6_out_of_its_brackets)
{
    const struct stria_fabrics_url url = parse("nvme-tcp://[fe80::2%eth0]:4421/" NQN);
    cr_assert_str_eq(url.host, "fe80::2%eth0");
    cr_assert_str_eq(url.port, "4421");
}

Test(fabrics_url, takes_names_with_colons_and_slashes_as_they_are)
{
    const char *nqn = "nqn.2014-08.org.nvmexpress:uuid:e79acf8d-7307-41f9-bf28-9dab5559dd77/a";
    char text[256];
    snprintf(text, sizeof(text), "nvme-tcp://h/%s?nsid=7", nqn);
    const struct stria_fabrics_url url = parse(text);
    cr_assert_str_eq(url.nqn, nqn);
    cr_assert_eq(url.namespace_id, 7);
}

Test(fabrics_url, allows_names_of_223_bytes_and_no_more)
{
    char text[512] = "nvme-tcp://h/nqn.";
    memset(text + 17, 'x', 223 - 4);
    cr_assert_eq(strlen(parse(text).nqn), 223);
    text[17 + 223 - 4] = 'x';
    refuse(text, "at most 223");
}

Test(fabrics_url, without_a_host_is_refused)
{
    refuse("nvme-tcp://", "names no host");
    refuse("nvme-tcp:///" NQN, "names no host");
    refuse("nvme-tcp://:4420/" NQN, "names no host");
    refuse("nvme-tcp://[]/" NQN, "names no host");
    refuse("nvme-tcp://[::1/" NQN, "names no host");
    refuse("nvme-rdma://h/" NQN, "nvme-tcp://HOST");
}

Test(fabrics_url, with_a_port_that_is_none_is_refused)
{
    refuse("nvme-tcp://h:/" NQN, "from 1 to 65535");
    refuse("nvme-tcp://h:0/" NQN, "from 1 to 65535");
    refuse("nvme-tcp://h:65536/" NQN, "from 1 to 65535");
    refuse("nvme-tcp://h:44 20/" NQN, "from 1 to 65535");
    refuse("nvme-tcp://h:-1/" NQN, "from 1 to 65535");
    refuse("nvme-tcp://h:99999999999999999999/" NQN, "from 1 to 65535");
}

Test(fabrics_url, with_IPv6_outside_of_brackets_is_refused_with_what_is_right)
{
    refuse("nvme-tcp://fd00::2/" NQN, "[fd00::2]");
}

Test(fabrics_url, without_a_subsystem_is_refused)
{
    refuse("nvme-tcp://h", "no NVMe subsystem");
    refuse("nvme-tcp://h:4420", "no NVMe subsystem");
    refuse("nvme-tcp://[::1]x/" NQN, "no NVMe subsystem");
    refuse("nvme-tcp://h/", "nqn.");
    refuse("nvme-tcp://h/far1", "nqn.");
    refuse("nvme-tcp://h/nqn.2014-08.org.nvmexpress.discovery", "nvme discover");
}

/* The kernel is told a list of options with commas between. */
Test(fabrics_url, cannot_smuggle_in_an_option)
{
    refuse("nvme-tcp://h/" NQN ",hostnqn=nqn.other", "commas");
    refuse("nvme-tcp://h,hostnqn=nqn.other/" NQN, "names no host");
    refuse("nvme-tcp://h/nqn.a b", "blanks");
}

Test(fabrics_url, has_nothing_behind_the_subsystem_but_a_namespace)
{
    cr_assert_eq(parse("nvme-tcp://h/" NQN "?nsid=1").namespace_id, 1);
    cr_assert_eq(parse("nvme-tcp://h/" NQN "?nsid=4294967294").namespace_id, 4294967294u);
    refuse("nvme-tcp://h/" NQN "?nsid=0", "?nsid=");
    refuse("nvme-tcp://h/" NQN "?nsid=4294967295", "?nsid=");
    refuse("nvme-tcp://h/" NQN "?nsid=", "?nsid=");
    refuse("nvme-tcp://h/" NQN "?nsid=1x", "?nsid=");
    refuse("nvme-tcp://h/" NQN "?", "?nsid=");
    refuse("nvme-tcp://h/" NQN "?ns=1", "?nsid=");
}

Test(fabrics_url, is_no_path_of_a_file)
{
    cr_assert(stria_path_is_prefixed("nvme-tcp://h/" NQN));
    cr_assert(stria_path_is_prefixed("nvme-tcp://"));
    cr_assert(!stria_path_is_prefixed("nvme-tcp:a"));
    cr_assert(!stria_path_is_prefixed("./nvme-tcp://h"));
}
