#!/bin/sh
# The image comes up on whatever machine "virt" is made to be, and says what it finds there.
. "$(dirname "$0")/lib.sh"

finds_four() {
    drives 4 >machine
    bare 0 "list"
    says '^stria: 4 NVMe controllers$'
    [ "$(grep -c 'class 010802 nvme$' out)" -eq 4 ] || fail "not four controllers: $(cat out)"
    # Every BAR has a place of its own, and its natural alignment.
    grep -o 'bar 0 at 0x[0-9a-f]*' out | sort | uniq -d >twice
    [ ! -s twice ] || fail "two functions at one address: $(cat twice)"
}

without_mmu() {
    drives 2 >machine
    bare 0 "mmu=off list"
    says '^stria: 2 NVMe controllers$'
}

low_configuration_space() {
    drives 1 >machine
    MACHINE=virt,highmem=off
    bare 0 "list"
    says '^stria: 1 NVMe controllers$'
}

entered_in_el2() {
    drives 1 >machine
    MACHINE=virt,virtualization=on
    bare 0 "list"
    says '^stria: 1 NVMe controllers$'
}

# Ports, a switch with two downstream ports, and an old bridge, all empty but for three drives.
behind_bridges() {
    for one in 0 1 2; do disk $one; done
    {
        for port in 0 1 2 3; do
            printf '%s\n' -device "pcie-root-port,id=root$port,chassis=1$port,slot=$port"
        done
        printf '%s\n' -device x3130-upstream,id=up,bus=root1 \
            -device xio3130-downstream,id=down0,bus=up,chassis=20,slot=0 \
            -device xio3130-downstream,id=down1,bus=up,chassis=21,slot=1 \
            -device pcie-pci-bridge,id=old,bus=root2
        drive 0 bus=root0
        drive 1 bus=down0
        drive 2 bus=down1
    } >machine
    bare 0 "list"
    says '^stria: 3 NVMe controllers$'
    # One MiB for each bridge with something behind it: the drives are apart.
    [ "$(grep -A1 nvme out | grep -o 'at 0x[0-9a-f]*00000,' | sort -u | wc -l)" -eq 3 ] || fail "$(cat out)"
}

wrong_option() {
    bare 2 "list depth=many"
    says "^stria: 'depth=many' is no command and no value that can be set$"
}

too_little_memory() {
    MEMORY=128
    bare 2 "list"
    says 'there are only 128 MiB from 0x40000000 on: give the machine more'
}

# A device tree whose PCI Express root lies where nothing is.
exception_ends_it() {
    command -v fdtput >/dev/null || skip "fdtput is not installed: packaging/install.sh firmware"
    qemu-system-aarch64 -M virt,dumpdtb=tree.dtb -cpu cortex-a53 -m 512 -nodefaults -display none
    fdtput -t x tree.dtb "$(fdtget -l tree.dtb / | sed -n 's:^pcie@:/&:p')" reg 50 0 0 10000000
    bare 70 "$1 list" -dtb tree.dtb
    says '^stria: stopped by an access to memory that is not mapped.*address 0x5000000000$'
}

it "finds four controllers and gives each a place" finds_four
it "runs with the MMU off" without_mmu
it "finds configuration space below 4 GiB" low_configuration_space
it "comes down from EL2" entered_in_el2
it "gives out bus numbers and windows behind ports, a switch and a bridge" behind_bridges
it "names the option that it does not know" wrong_option
it "says so where the memory does not suffice" too_little_memory
it "ends with status 70 and a report at an exception" exception_ends_it mmu=on
it "does so with the MMU off" exception_ends_it mmu=off
finish
