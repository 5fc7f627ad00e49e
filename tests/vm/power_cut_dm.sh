#!/bin/sh
# As power_cut.sh, but the kernel itself logs, by dm-log-writes, what its block layer is told: all drives are slices of one
# device, which has one cache.
#: drive whole size=45M
#: drive log size=256M
#: modules nvme dm-log-writes
#: after power_cut.py
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/marked.sh"

mebibyte=1048576

# table NAME TABLE
table() {
    /sbin/dmsetup create "$1" --table "$2"
    /sbin/dmsetup mknodes "$1"
}

# slice NAME BEGIN LENGTH, in MiB
slice() {
    table "$1" "0 $(($3 * 2048)) linear /dev/mapper/logged $(($2 * 2048))"
}

marked_through_dm() {
    table logged "0 $((45 * 2048)) log-writes $(device_of whole) $(device_of log)"
    slice a 0 20
    slice b 20 24
    slice m 44 1
    # shellcheck disable=SC2154 # set by lib.sh
    echo "[[\"a\", 0, $((20 * mebibyte))], [\"b\", $((20 * mebibyte)), $((24 * mebibyte))],
        [\"m\", $((44 * mebibyte)), $mebibyte]]" >$share/slices.json
    printf '[array]\nname = test\nchunk = 64KiB\ncommit_interval = 10ms\nbuffer = 4MiB\n' >array.ini
    for member in a b; do printf '[drive.%s]\npath = /dev/mapper/%s\n' $member $member >>array.ini; done
    record_marked /dev/mapper/m
    /sbin/dmsetup remove a
    /sbin/dmsetup remove b
    /sbin/dmsetup remove m
    /sbin/dmsetup remove logged
}

it "promises while it records" marked_through_dm
finish
