#include "support/path.h"

#include <criterion/criterion.h>

Test(path, a_prefix_is_two_lower_case_letters_or_more_and_a_colon)
{
    cr_expect(stria_path_is_prefixed("null:1MiB"));
    cr_expect(stria_path_is_prefixed("memory:name:1MiB"));
    cr_expect(stria_path_is_prefixed("vfio:0000:01:00.0"));
    cr_expect(stria_path_is_prefixed("ab:"));
    cr_expect(!stria_path_is_prefixed("a:"), "a letter may be that of a disk");
    cr_expect(!stria_path_is_prefixed(":null"));
    cr_expect(!stria_path_is_prefixed("Null:1MiB"));
    cr_expect(!stria_path_is_prefixed("null"));
    cr_expect(!stria_path_is_prefixed(""));
}

Test(path, a_drive_of_another_host_has_one_though_it_is_not_letters_alone)
{
    cr_expect(stria_path_is_prefixed("nvme-tcp://host:4420/nqn.2014-08.org.example"));
    cr_expect(!stria_path_is_prefixed("nvme-tcp.img"));
}

Test(path, a_file_of_such_a_name_is_written_with_its_folder)
{
    cr_expect(!stria_path_is_prefixed("./null:1MiB"));
    cr_expect(!stria_path_is_prefixed("/dev/disk/by-path/pci-0000:01:00.0-nvme-1"));
    cr_expect(!stria_path_is_prefixed("drive-0:1.img"));
}
