#!/bin/sh
# What the other scenarios stand on: the drives are what was asked for, and the host does what it is told.
#: drive a size=64M
#: drive b size=64M logical_block_size=4096 mdts=4 max_ioqpairs=1
#: drive c size=64M throttle=0
#: drive d size=64M error=2048
#: drive e size=64M plug=no
#: modules nvme
#: limit 600
. "$(dirname "$0")/lib.sh"

as_asked() {
    [ "$(cat "/sys/class/block/$(basename "$(device_of a)")/queue/logical_block_size")" -eq 512 ]
    [ "$(cat "/sys/class/block/$(basename "$(device_of b)")/queue/logical_block_size")" -eq 4096 ]
    [ "$(cat "/sys/class/block/$(basename "$(device_of b)")/queue/max_hw_sectors_kb")" -eq 64 ]
    [ "$(blockdev --getsize64 "$(device_of a)")" -eq $((64 << 20)) ]
    [ -c "$(generic_of a)" ]
    cmp "$(by_id a)" "$(device_of a)"
}

# seconds_for_a_mebibyte DEVICE
seconds_for_a_mebibyte() {
    started=$(date +%s)
    /bin/dd if=/dev/zero of="$1" bs=256k count=4 oflag=direct
    echo $(($(date +%s) - started))
}

throttled() {
    device=$(device_of c)
    throttle c 200000
    /bin/dd if=/dev/zero of="$device" bs=256k count=4 oflag=direct # what the bucket lets pass at once
    [ "$(seconds_for_a_mebibyte "$device")" -ge 2 ]
    throttle c 0
}

bad_sector() {
    device=$(device_of d)
    /bin/dd if=/dev/zero of="$device" bs=512 seek=2047 count=1 oflag=direct
    expect 1 /bin/dd if=/dev/zero of="$device" bs=512 seek=2048 count=1 oflag=direct
    /bin/dd if=/dev/zero of="$device" bs=512 seek=2049 count=1 oflag=direct
}

hotplug() {
    plug e
    /bin/dd if=/dev/zero of="$(device_of e)" bs=512 count=1 oflag=direct
    unplug e
    expect 1 controller_of e
    plug e
    /bin/dd if=/dev/zero of="$(device_of e)" bs=512 count=1 oflag=direct
}

read_only_host() {
    expect 1 touch "$source_folder/written"
    echo kept >$share/kept
}

it "gives the drives that were asked for" as_asked
it "throttles and releases a drive while it runs" throttled
it "fails writes of one sector, and of no other" bad_sector
it "plugs and unplugs a drive" hotplug
it "leaves the host's files alone but for its share" read_only_host
finish
