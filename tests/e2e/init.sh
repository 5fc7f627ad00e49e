#!/bin/sh
# Making an array, and all that must not be overwritten.
. "$(dirname "$0")/lib.sh"

allocates_fully() {
    array adaptive 3 48MiB
    expect 0 "$stria" init array.ini
    for drive in 0 1 2; do
        [ "$(stat -c %s drive$drive.img)" -eq $((48 << 20)) ] || fail "drive$drive.img has another size"
        [ $(($(stat -c %b drive$drive.img) * 512)) -ge $((48 << 20)) ] || fail "drive$drive.img is sparse"
    done
    expect 0 "$stria" ls array.ini --json
    json out 'd["schema"]' stria.ls/1
    json out 'len(d["drives"])' 3
    json out 'all(x["free_bytes"] > 40 << 20 for x in d["drives"])' True
    json out 'd["recordings"]' '[]'
}

nothing_at_the_front() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    head -c 65536 /dev/zero >zeroes
    head -c 65536 drive0.img | cmp - zeroes
    expect 2 blkid -p drive0.img
}

refuses_a_file_with_content() {
    array adaptive 2 32MiB
    noise drive1.img 1000000
    cp drive1.img before
    expect 2 "$stria" init array.ini
    complains_once
    complains 'drive1\.img'
    complains '--erase'
    same drive1.img before
    [ ! -e drive0.img ] || fail "drive0.img was made although drive1.img was refused"
    expect 0 "$stria" init array.ini --erase drive1.img
    expect 0 "$stria" ls array.ini
}

refuses_an_array() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    noise input 3000000
    expect 0 "$stria" record array.ini --name kept --input input
    expect 2 "$stria" init array.ini
    complains '--erase'
    expect 0 "$stria" export array.ini kept -o output
    same input output
}

refuses_a_file_system() {
    array adaptive 2 32MiB
    truncate -s 32M drive0.img
    mkfs.ext4 -q drive0.img
    cp drive0.img before
    expect 2 "$stria" init array.ini
    complains_once
    complains 'drive0\.img'
    complains 'ext4'
    same drive0.img before
}

# Letters and a colon name a backend, or nothing at all.
refuses_an_unknown_prefix() {
    noise 'photos:2024' 40000000
    cp 'photos:2024' before
    printf '[drive.a]\npath = photos:2024\n[drive.b]\npath = b.img\nsize = 32MiB\n' >array.ini
    for erase in '' '--erase photos:2024'; do
        # shellcheck disable=SC2086 # two words or none
        expect 2 "$stria" init array.ini $erase
        complains "no backend serves what begins with 'photos:'.*\./photos:2024"
        expect 2 "$stria" bench size photos:2024 --size 1MiB $erase
        complains_once
        complains "no backend serves what begins with 'photos:'.*\./photos:2024"
    done
    same 'photos:2024' before
    [ ! -e b.img ] || fail "the other drive was made"
    sed -i 's:photos:./photos:' array.ini
    expect 2 "$stria" init array.ini
    complains '--erase \./photos:2024'
    same 'photos:2024' before
    expect 0 "$stria" init array.ini --erase ./photos:2024
    expect 0 "$stria" ls array.ini
}

refuses_a_partition_table() {
    array adaptive 2 32MiB
    truncate -s 32M drive0.img
    echo 'label: gpt' | sfdisk -q drive0.img
    expect 2 "$stria" init array.ini
    complains 'drive0\.img'
    complains 'gpt|partition'
}

refuses_what_is_mounted() {
    truncate -s 32M disk
    mkfs.ext4 -q disk
    device=$(loop_device disk)
    mkdir mounted
    mount "$device" mounted || skip "this machine mounts no ext4"
    echo "$PWD/mounted" >>"$scratch/mounts"
    array adaptive 2 32MiB
    sed -i "s:^path = drive0.img:path = $device:; /$(basename "$device")/{n;d}" array.ini
    expect 2 "$stria" init array.ini
    complains "$device"
    complains 'mounted'
    expect 2 "$stria" init array.ini --erase "$device"
    complains 'mounted'
    echo still writable >mounted/file
}

# A copy of a drive on one with larger blocks is the same drive: short last chunks are padded for it.
moves_to_larger_blocks() {
    array adaptive 2 24MiB
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 1000001 --name before
    for drive in 0 1; do
        device=$(loop_device drive$drive.img 4096)
        sed -i "s#^path = drive$drive.img#path = $device#" array.ini
    done
    sed -i '/^size/d' array.ini
    noise input 3000001
    expect 0 "$stria" record array.ini --input input --name after --report report.json
    json report.json 'any(x["lost"] for x in d["drives"])' False
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini after -o output
    same input output
}

takes_a_loop_device() {
    truncate -s 32M disk
    device=$(loop_device disk)
    array adaptive 2 32MiB
    sed -i "s:^path = drive0.img:path = $device:; /$(basename "$device")/{n;d}" array.ini
    expect 0 "$stria" init array.ini
    noise input 5000001
    expect 0 "$stria" record array.ini --name a --input input
    expect 0 "$stria" export array.ini a -o output
    same input output
}

refuses_the_root_device() {
    root=$(findmnt -n -o SOURCE /)
    [ -b "$root" ] || skip "the root is not on a block device"
    array adaptive 2 32MiB
    sed -i "s:^path = drive0.img:path = $root:; \\:= $root:{n;d}" array.ini
    expect 2 "$stria" init array.ini --erase "$root"
    complains "$root"
    [ ! -e drive1.img ]
}

takes_the_largest_block() {
    truncate -s 32M small
    truncate -s 32M large
    small=$(loop_device small 512)
    large=$(loop_device large 4096)
    printf '[drive.small]\npath = %s\n[drive.large]\npath = %s\n' "$small" "$large" >array.ini
    expect 0 "$stria" init array.ini
    noise input 5000511
    expect 0 "$stria" record array.ini --name odd --input input
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini odd -o output
    same input output
}

needs_room() {
    mounted_tmpfs full 20M
    array adaptive 2 32MiB
    sed -i 's:drive1.img:full/drive1.img:' array.ini
    status=0
    "$stria" init array.ini >out 2>err || status=$?
    [ $status -ge 2 ] || fail "exit status $status"
    complains_once
    complains 'full/drive1\.img'
    [ ! -e full/drive1.img ] || fail "half a file was left behind"
}

too_small() {
    array adaptive 2 100KiB
    expect 2 "$stria" init array.ini
    complains 'array\.ini:[0-9]+: .*drive0\.img'
    complains 'array\.ini:[0-9]+: .*drive1\.img'
    [ ! -e drive0.img ]
}

same_drive_twice() {
    array adaptive 2 32MiB
    sed -i 's:drive1.img:./drive0.img:' array.ini
    expect 2 "$stria" init array.ini
    complains 'drive0\.img'
    [ ! -e drive0.img ]
}

# A device's name that is mistyped must not become a file in the memory of /dev.
no_file_among_devices() {
    needs_root
    array adaptive 2 32MiB
    sed -i 's:drive1.img:/dev/stria-e2e-nothing:' array.ini
    expect 2 "$stria" init array.ini
    complains_once
    complains 'there is no device /dev/stria-e2e-nothing'
    [ ! -e /dev/stria-e2e-nothing ] || fail "a file was made in /dev"
    [ ! -e drive0.img ] || fail "the other drive was made"
}

not_over_itself() {
    array adaptive 2 32MiB
    sed -i 's:drive1.img:./array.ini:' array.ini
    cp array.ini before
    for erase in '' '--erase ./array.ini'; do
        # shellcheck disable=SC2086 # two words or none
        expect 2 "$stria" init array.ini $erase
        complains_once
        complains 'array.ini describes the array'
    done
    same before array.ini
}

it "files are created at their size and allocated in full" allocates_fully
it "nothing is written where a partition scanner looks" nothing_at_the_front
it "a file with content is refused and stays as it was, unless it is named" refuses_a_file_with_content
it "an array with recordings is not made anew by accident" refuses_an_array
it "a file system is refused by its name" refuses_a_file_system
it "what begins like a backend's name is no file" refuses_an_unknown_prefix
it "a partition table is refused" refuses_a_partition_table
it "a mounted device is refused, also when it is named" refuses_what_is_mounted
it "a loop device and a file make an array" takes_a_loop_device
it "the device of the running system is refused always" refuses_the_root_device
it "a drive copied to one with larger blocks goes on being recorded onto" moves_to_larger_blocks
it "blocks of 512 and 4096 bytes are mixed" takes_the_largest_block
it "a file that finds no room is refused, and not left behind" needs_room
it "a drive that is too small is refused" too_small
it "the same drive under two names is refused" same_drive_twice
it "a device that is not there does not become a file" no_file_among_devices
it "the file that describes the array is refused as a drive" not_over_itself
finish
