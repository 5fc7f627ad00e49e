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
    ln -s "$device" by-id
    sed -i "s:^path = drive0.img:path = by-id:; /by-id/{n;d}" array.ini
    expect 0 "$stria" init array.ini
    says "by-id -> $device: room for"
    says 'drive1\.img: room for'
    if grep 'all are written' out; then fail "it speaks of blocks that are the same"; fi
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
    says 'all are written in blocks of 4096 bytes, which large needs, though others take 512'
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

# Blocks that only a list tells of cannot be allocated without being written.
needs_allocation() {
    truncate -s 64M disk
    mkfs.ext2 -q disk
    device=$(loop_device disk)
    mkdir plain
    mount "$device" plain || skip "this machine mounts no ext2"
    echo "$PWD/plain" >>"$scratch/mounts"
    if fallocate -l 1M plain/probe; then skip "ext2 allocates here"; fi
    array adaptive 2 24MiB
    sed -i 's:drive1.img:plain/drive1.img:' array.ini
    expect 2 "$stria" init array.ini
    complains_once
    complains 'plain/drive1\.img in full: its file system does not do that: use one that does, such as ext4 or XFS'
    [ ! -e plain/drive1.img ] || fail "half a file was left behind"
    [ ! -e drive0.img ] || fail "half an array was left behind"
}

# What is there stays as it was where another drive cannot be made.
fails_without_a_trace() {
    noise keep.img 40000000
    cp keep.img before
    : >a.img
    printf '[array]\nbuffer = 16MiB\n' >array.ini
    for drive in a keep new nowhere/b; do
        printf '[drive.%s]\npath = %s.img\nsize = 24MiB\n' "${drive##*/}" $drive
    done >>array.ini
    expect 2 "$stria" init array.ini --erase keep.img
    complains_once
    complains 'nowhere/b\.img'
    [ ! -s a.img ] || fail "an empty file has grown"
    [ ! -e new.img ] || fail "a new file was left behind"
    same keep.img before
    mkdir nowhere
    expect 0 "$stria" init array.ini --erase keep.img
    [ "$(stat -c %s keep.img)" -eq $((24 << 20)) ]
}

through_a_link() {
    array adaptive 2 32MiB
    mkdir elsewhere
    ln -s elsewhere/left.img drive0.img
    ln -s nowhere/right.img drive1.img
    expect 2 "$stria" init array.ini
    complains_once
    complains 'drive1\.img, which is a link to .*nowhere/right\.img'
    [ ! -e elsewhere/left.img ] || fail "half an array was left behind"
    [ -L drive0.img ] || fail "the link is gone"
    mkdir nowhere
    expect 0 "$stria" init array.ini
    [ "$(stat -c %s elsewhere/left.img)" -eq $((32 << 20)) ]
    expect 0 "$stria" ls array.ini
}

# kept_waiting FILE COMMAND...: background, of a command that opens the file and is now waiting for "let_go".
kept_waiting() {
    python3 - "$1" <<'END' &
import fcntl, os, signal, sys, time
file = open(sys.argv[1], "r+b")
signal.signal(signal.SIGIO, lambda number, frame: open("asked", "w").close())
try:
    fcntl.fcntl(file, fcntl.F_SETLEASE, fcntl.F_WRLCK)
except OSError:
    open("refused", "w").close()
open("leased", "w").close()
while not os.path.exists("free"):
    time.sleep(0.02)
END
    echo $! >>"$scratch/processes"
    until_true 20 [ -e leased ]
    [ ! -e refused ] || skip "this file system gives no leases"
    shift
    background "$@"
    until_true 20 [ -e asked ]
}

let_go() {
    : >free
}

# ended STATUS: of the command in the background.
ended() {
    got=0
    wait "$process" || got=$?
    [ "$got" -eq "$1" ] || fail "exit status $got instead of $1: $(cat err)"
}

# One finds no file, waits for another drive, and the file is an array's meanwhile.
meets_another_init() {
    printf '[drive.x]\npath = x.img\nsize = 32MiB\n' >first.ini
    printf '[drive.x]\npath = x.img\nsize = 32MiB\n[drive.big]\npath = big.img\n' >second.ini
    truncate -s 32M big.img
    kept_waiting big.img "$stria" init second.ini
    (
        expect 0 "$stria" init first.ini
        noise input 5000001
        expect 0 "$stria" record first.ini --name kept --input input
    ) >log 2>&1 || fail "$(cat log)"
    let_go
    ended 2
    expect 0 "$stria" export first.ini kept -o output
    same input output
}

keeps_others_off_while_it_looks() {
    printf '[drive.x]\npath = x.img\n[drive.big]\npath = big.img\n' >array.ini
    truncate -s 32M x.img big.img
    printf '[drive.x]\npath = x.img\n' >other.ini
    kept_waiting big.img "$stria" init array.ini
    got=0
    "$stria" init other.ini 2>complaint || got=$?
    [ "$got" -eq 2 ] || fail "exit status $got"
    grep 'x\.img is in use by another process' complaint
    let_go
    ended 0
    expect 0 "$stria" ls array.ini
}

ends_by_a_signal() {
    printf '[drive.new]\npath = new.img\nsize = 32MiB\n[drive.big]\npath = big.img\n' >array.ini
    truncate -s 32M big.img
    kept_waiting big.img "$stria" init array.ini
    kill -TERM "$process"
    ended 143
    let_go
    [ ! -e new.img ] || fail "a new file was left behind"
    expect 0 "$stria" init array.ini
}

same_bytes_twice() {
    truncate -s 64M disk
    first=$(loop_device disk)
    second=$(loop_device disk)
    printf '[drive.a]\npath = %s\n[drive.b]\npath = %s\n' "$first" "$second" >array.ini
    expect 2 "$stria" init array.ini
    complains_once
    complains "$first and $second lead to the same bytes"
    tr -d '\000' <disk >content
    [ ! -s content ] || fail "one of them was written"
}

forgets_partitions() {
    needs_root
    truncate -s 64M disk
    printf 'label: gpt\n,16M,\n,16M,\n' | sfdisk -q disk
    device=$(losetup --find --show --partscan disk 2>/dev/null) || skip "this machine gives no loop device"
    echo "$device" >>"$scratch/loops"
    partx -u "$device" || true
    name=$(basename "$device")
    [ -e "/sys/block/$name/${name}p1" ] || skip "the kernel makes no partitions on loop devices here"
    printf '[drive.a]\npath = %s\n' "$device" >array.ini
    expect 2 "$stria" init array.ini
    complains '2 partitions'
    expect 0 "$stria" init array.ini --erase "$device"
    [ ! -e "/sys/block/$name/${name}p1" ] || fail "the kernel still knows the partition"
    expect 0 "$stria" ls array.ini
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
it "a file system that cannot allocate is told" needs_allocation
it "an init that fails leaves what was there as it was" fails_without_a_trace
it "a link to a file that is not there yet is followed" through_a_link
it "what somebody records while another init looks elsewhere is not overwritten" meets_another_init
it "nobody takes a drive that an init looks at" keeps_others_off_while_it_looks
it "an init that only looks as yet ends by a signal at once" ends_by_a_signal
it "two devices over the same bytes are refused" same_bytes_twice
it "the kernel forgets the partitions of a disk that is erased" forgets_partitions
it "a drive that is too small is refused" too_small
it "the same drive under two names is refused" same_drive_twice
it "a device that is not there does not become a file" no_file_among_devices
it "the file that describes the array is refused as a drive" not_over_itself
finish
