#!/bin/sh
# Drives are known by what is on them, and the rest of an array is read without the missing one.
. "$(dirname "$0")/lib.sh"

made() {
    array "$1" 4 32MiB
    expect 0 "$stria" init array.ini
    noise input 20000001
    expect 0 "$stria" record array.ini --name take --input input
}

other_names() {
    made "$1"
    mkdir elsewhere
    mv drive0.img elsewhere/one
    mv drive2.img elsewhere/two
    cat >moved.ini <<'INI'
[array]
name = test
[drive.w]
path = drive3.img
[drive.x]
path = elsewhere/two
[drive.y]
path = elsewhere/one
[drive.z]
path = drive1.img
INI
    expect 0 "$stria" verify moved.ini
    expect 0 "$stria" export moved.ini take -o output
    same input output
    expect 0 "$stria" record moved.ini --name second --input input
    expect 0 "$stria" export moved.ini second -o output2
    same input output2
}

# rest_is_exported: after drive2.img was taken away.
rest_is_exported() {
    expect 1 "$stria" export array.ini take -o output
    complains 'drive2|d2'
    python3 - <<'PYTHON'
CHUNK = 1 << 20
wanted, got = open("input", "rb").read(), open("output", "rb").read()
assert len(wanted) == len(got), (len(wanted), len(got))
whole = holes = 0
for at in range(0, len(wanted), CHUNK):
    if got[at:at + CHUNK] == wanted[at:at + CHUNK]:
        whole += 1
    else:
        assert not any(got[at:at + CHUNK]), f"chunk at {at} is neither whole nor a hole"
        holes += 1
assert 2 <= holes <= 10 and whole >= 10, (whole, holes)
PYTHON
    expect 1 "$stria" verify array.ini --json
    json out 'd["verdict"]' damaged
    json out 'd["recordings"][0]["missing"] > 0' True
}

one_missing() {
    made "$1"
    noise small 1000
    expect 0 "$stria" record array.ini --name other --input small
    mv drive2.img gone
    rest_is_exported
    # What these two were asked for they do without it.
    expect 0 "$stria" ls array.ini --json
    complains 'd2|drive2'
    json out 'len(d["recordings"]), [x["present"] for x in d["drives"]].count(False)' '(2, 1)'
    expect 0 "$stria" rm array.ini other
    complains 'd2|drive2'
    mv gone drive2.img
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini take -o output2
    same input output2
    expect 2 "$stria" export array.ini other
}

stranger_in_its_place() {
    made adaptive
    mkdir other
    (
        cd other
        array adaptive 4 32MiB
        expect 0 "$stria" init array.ini
        expect 0 "$stria" record array.ini --name theirs --input ../input
    )
    mv drive2.img kept
    cp other/drive2.img drive2.img
    rest_is_exported
    same drive2.img other/drive2.img
}

# stranger_of DRIVES: alpha.ini over so many drives, the first half of which are array beta's.
stranger_of() {
    for name in alpha beta; do
        mkdir $name
        (
            cd $name
            array adaptive "$1" 16MiB
            sed -i "s/^name = .*/name = $name/" array.ini
            expect 0 "$stria" init array.ini
            expect 0 "$stria" record array.ini --name run1 --input ../input
        )
    done
    drive=0
    while [ $drive -lt $((($1 + 1) / 2)) ]; do
        cp beta/drive$drive.img alpha/drive$drive.img
        drive=$((drive + 1))
    done
}

stranger_is_not_changed() {
    noise input 3000001
    for drives in 1 2 4; do
        mkdir of$drives
        (
            cd of$drives
            cp ../input .
            stranger_of $drives
            cp alpha/drive0.img before
            sed -i 's/^name = .*/name = gamma/' alpha/array.ini
            for command in "rm alpha/array.ini run1" "record alpha/array.ini --input input"; do
                # shellcheck disable=SC2086 # words
                expect 2 "$stria" $command
                complains_once
                complains "alpha/drive0\.img of 'beta' with UUID"
                same alpha/drive0.img before
            done
            expect 0 "$stria" ls alpha/array.ini
            complains 'name = gamma'
        )
    done
    cd of2
    sed -i 's/^name = .*/name = alpha/' alpha/array.ini
    expect 0 "$stria" rm alpha/array.ini run1
    complains "alpha/drive0\.img belongs to another array, 'beta'"
    same alpha/drive0.img before
}

truncated() {
    made adaptive
    truncate -s 2M drive2.img
    rest_is_exported
}

# make_newer FILE: both copies of its superblock as a later version would write them, with a check that is right.
make_newer() {
    PYTHONPATH=$source_folder/tests/format python3 - "$1" <<'PYTHON'
import struct, sys
from xxh3 import xxh3_64
data = bytearray(open(sys.argv[1], "rb").read())
at = data.find(b"STRIASB1")
found = 0
while at >= 0:
    check = struct.unpack_from("<Q", data, at + 4088)[0]
    assert xxh3_64(bytes(data[at:at + 4088])) == check, "the check is not where it was"
    struct.pack_into("<I", data, at + 8, 99)
    struct.pack_into("<Q", data, at + 4088, xxh3_64(bytes(data[at:at + 4088])))
    found += 1
    at = data.find(b"STRIASB1", at + 1)
assert found == 2, found
open(sys.argv[1], "wb").write(data)
PYTHON
}

# damage_superblocks FILE: both copies say what their check does not.
damage_superblocks() {
    python3 - "$1" <<'PYTHON'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.find(b"STRIASB1")
while at >= 0:
    data[at + 100] ^= 1
    at = data.find(b"STRIASB1", at + 1)
open(sys.argv[1], "wb").write(data)
PYTHON
}

all_of_a_newer_version() {
    array adaptive 2 16MiB
    expect 0 "$stria" init array.ini
    for drive in 0 1; do
        make_newer drive$drive.img
        cp drive$drive.img kept$drive
    done
    for command in "ls array.ini" "verify array.ini" "rm array.ini take" "record array.ini --input synthetic --size 1MB"; do
        # shellcheck disable=SC2086 # words
        expect 2 "$stria" $command
        complains_once
        complains 'drive0\.img is in format version 99, this Stria reads up to version 1: use a newer Stria'
    done
    for drive in 0 1; do same drive$drive.img kept$drive; done
}

# one_other CHANGE SENTENCE: one of several drives is not written to, the others are.
one_other() {
    made adaptive
    "$1" drive2.img
    cp drive2.img changed
    expect 0 "$stria" ls array.ini
    complains "drive2\.img $2"
    rest_is_exported
    expect 1 "$stria" record array.ini --name more --input input
    complains "drive2\.img $2"
    same drive2.img changed
    expect 0 "$stria" export array.ini more -o output
    same input output
}

all_missing() {
    made adaptive
    rm drive?.img
    expect 2 "$stria" ls array.ini
    complains 'drive0\.img'
}

it "drives may have other names and another order, adaptive" other_names adaptive
it "drives may have other names and another order, raid0" other_names raid0
it "without one drive the rest is exported, holes at their places, adaptive" one_missing adaptive
it "without one drive the rest is exported, holes at their places, raid0" one_missing raid0
it "another array's drive is not taken for the missing one, and not touched" stranger_in_its_place
it "another array's drives are not changed in the name of this one" stranger_is_not_changed
it "a truncated drive is a missing one" truncated
it "an array of a newer version is not written to, and the version is told" all_of_a_newer_version
it "one drive of a newer version is not written to" one_other make_newer 'is in format version 99'
it "one drive whose superblocks are damaged is not written to" one_other damage_superblocks 'was a drive of a Stria array, but both copies'
it "an array without any of its drives is told" all_missing
finish
