#!/bin/sh
# Under the raid0 policy the kernel's own RAID0 reads a recording back.
. "$(dirname "$0")/lib.sh"

# by_hand DRIVES: rows of chunks, as md RAID0 and dm-stripe lay them.
by_hand() {
    array raid0 "$1" 32MiB 'chunk = 256KiB'
    expect 0 "$stria" init array.ini
    noise input $((9 * 262144 * $1 + 100000))
    expect 0 "$stria" record array.ini --name r --input input
    expect 0 "$stria" ls array.ini --json
    python3 - "$1" <<'PYTHON'
import json, sys
CHUNK, count = 262144, int(sys.argv[1])
data = [drive["data_offset_bytes"] for drive in json.load(open("out"))["drives"]]
drives = [open(f"drive{i}.img", "rb") for i in range(count)]
wanted = open("input", "rb").read()
for number in range((len(wanted) + CHUNK - 1) // CHUNK):
    drive = number % count
    drives[drive].seek(data[drive] + number // count * CHUNK)
    part = wanted[number * CHUNK:(number + 1) * CHUNK]
    assert drives[drive].read(len(part)) == part, f"chunk {number} is not on drive {drive}"
PYTHON
}

by_the_kernel() {
    needs_root
    array raid0 4 32MiB
    expect 0 "$stria" init array.ini
    noise input $((24 << 20))
    expect 0 "$stria" record array.ini --name r --input input
    expect 0 "$stria" ls array.ini --json
    data=$(python3 -c 'import json; print(json.load(open("out"))["drives"][0]["data_offset_bytes"])')
    members=
    for drive in 0 1 2 3; do
        tail -c +$((data + 1)) drive$drive.img >member$drive
        members="$members $(loop_device member$drive 512)"
    done
    device=/dev/md/stria-test-$$
    # shellcheck disable=SC2086 # four words
    mdadm --build $device --level=0 --chunk=1024 --raid-devices=4 $members >/dev/null 2>&1 ||
        skip "this machine's kernel has no RAID0"
    echo $device >>"$scratch/raids"
    head -c $((24 << 20)) $device | cmp - input
}

unequal() {
    printf '[array]\npolicy = raid0\nbuffer = 16MiB\n' >array.ini
    printf '[drive.a]\npath = a.img\nsize = 16MiB\n[drive.b]\npath = b.img\nsize = 48MiB\n' >>array.ini
    expect 0 "$stria" init array.ini
    noise input 40000000
    expect 1 "$stria" record array.ini --name r --input input --report report.json
    json report.json 'max(x["bytes"] for x in d["drives"]) <= 16 << 20' True
    json report.json 'd["recording"]["gaps"][0]["cause"]' full
    expect 2 "$stria" record array.ini --name s --input input
    expect 0 "$stria" ls array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['r']"
    json out '[x["free_bytes"] for x in d["drives"]]' '[0, 0]'
}

it "chunk k lies on drive k mod N in row k div N" by_hand 4
it "also with three drives" by_hand 3
it "the kernel's RAID0 reads it back" by_the_kernel
it "of unequal drives as much is used as the smallest has" unequal
finish
