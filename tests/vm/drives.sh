#!/bin/sh
# The kernel's NVMe drives of different formats and abilities as one array, and the kernel's own RAID0 over it.
#: drive a size=64M
#: drive b size=64M logical_block_size=4096 mdts=4 max_ioqpairs=1
#: drive c size=80M max_ioqpairs=1
#: drive d size=64M logical_block_size=4096
#: drive e size=64M
#: modules nvme dm-mod raid0 ext4
#: limit 900
. "$(dirname "$0")/lib.sh"

export DM_DISABLE_UDEV=1
members="a b c d"

by_id_names() {
    array_of adaptive "$members"
    expect 0 "$stria" init array.ini
    says "serial STRIA-"
    noise input 30000001
    expect 0 "$stria" record array.ini --name r --input input --report report.json
    expect 0 "$stria" verify array.ini
    says 'r .*ok'
    expect 0 "$stria" export array.ini r -o output
    same input output
    expect 0 "$stria" ls array.ini --json
    json out '(sorted(drive["serial"] for drive in d["drives"]) == ["STRIA-" + name for name in "abcd"] and
        all("/by-id/" in drive["path"] for drive in d["drives"]))' True
    json report.json 'all(drive["bytes"] > 0 and drive["errors"] == 0 for drive in d["drives"])' True
}

# The drives are found by what is on them when their names have changed places.
names_swapped() {
    printf '[array]\nname = test\nbuffer = 16MiB\n' >array.ini
    for drive in d c b a; do printf '[drive.%s]\npath = %s\n' $drive "$(device_of $drive)" >>array.ini; done
    expect 0 "$stria" verify array.ini
    says 'r .*ok'
}

erased_by_serial() {
    array_of adaptive "$members"
    expect 2 "$stria" init array.ini
    complains 'STRIA-a'
    # shellcheck disable=SC2046 # words are meant
    expect 0 "$stria" init array.ini $(erase_options "$members")
    expect 0 "$stria" ls array.ini
}

# kernel_members: a device /dev/mapper/NAME over the data area of each drive, as long as the shortest; sets rows.
kernel_members() {
    expect 0 "$stria" ls array.ini --json
    python3 -c '
import json
drives = json.load(open("out"))["drives"]
rows = min(drive["free_bytes"] + drive["bytes"] for drive in drives) >> 20
print("rows=%d" % rows)
for drive in drives:
    print("offset_%s=%d" % (drive["serial"][-1], drive["data_offset_bytes"]))' >layout
    cat layout
    offset=
    . ./layout
    for member in $members; do
        eval "offset=\$offset_$member"
        /sbin/dmsetup create "data_$member" --table "0 $((rows * 2048)) linear $(device_of "$member") $((offset / 512))"
        /sbin/dmsetup mknodes "data_$member"
    done
}

raid0_recorded() {
    array_of raid0 "$members" 'chunk = 1MiB'
    # shellcheck disable=SC2046
    expect 0 "$stria" init array.ini $(erase_options "$members")
    noise "$share/input" 60000001
    expect 0 "$stria" record array.ini --name r --input "$share/input"
    kernel_members
    echo "$rows" >"$share/rows"
}

by_md() {
    /sbin/mdadm --build /dev/md127 --level=0 --chunk=1024 --raid-devices=4 /dev/mapper/data_a /dev/mapper/data_b \
        /dev/mapper/data_c /dev/mapper/data_d
    /bin/cmp -n 60000001 /dev/md127 "$share/input"
    /sbin/mdadm --stop /dev/md127
}

by_dm_stripe() {
    rows=$(cat "$share/rows")
    targets=
    for member in $members; do targets="$targets /dev/mapper/data_$member 0"; done
    /sbin/dmsetup create striped --table "0 $((rows * 4 * 2048)) striped 4 2048$targets"
    /sbin/dmsetup mknodes striped
    /bin/cmp -n 60000001 /dev/mapper/striped "$share/input"
    /sbin/dmsetup remove striped
}

# What holds a drive keeps us away from it.
held_by_dm() {
    array_of raid0 "$members"
    # shellcheck disable=SC2046
    expect 2 "$stria" init array.ini $(erase_options "$members")
    complains 'part of /dev/dm-'
    for member in $members; do /sbin/dmsetup remove "data_$member"; done
    rm "$share/input"
    expect 0 "$stria" verify array.ini
}

parent_of_mounted() {
    device=$(device_of e)
    echo 'start=2048' | /sbin/sfdisk --no-tell-kernel -q "$device"
    /sbin/blockdev --rereadpt "$device"
    until_true 10 [ -b "${device}p1" ]
    /bin/busybox mke2fs "${device}p1"
    mkdir place
    mount -t ext4 "${device}p1" place
    echo precious >place/file
    sync
    array_of adaptive "a e"
    for option in '' "$(erase_options "a e")"; do
        # shellcheck disable=SC2086
        expect 2 "$stria" init array.ini $option
        complains "partition ${device#/dev/}p1 is mounted on"
    done
    umount place
    mount -t ext4 "${device}p1" place
    [ "$(cat place/file)" = precious ]
    umount place
}

it "makes, fills, verifies and exports an array of 512 and 4096 byte drives by their names in /dev/disk/by-id" by_id_names
it "knows drives by their superblocks, whatever the kernel calls them" names_swapped
it "erases an array by serial numbers, and not without" erased_by_serial
it "records raid0 on drives of unequal size" raid0_recorded
it "md RAID0 over the data areas reads back the recording" by_md
it "dm-stripe over the data areas reads back the recording" by_dm_stripe
it "refuses drives that device mapper holds" held_by_dm
it "refuses the parent disk of a mounted partition, erased by name or not" parent_of_mounted
finish
