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

newer_version() {
    made adaptive
    cp drive0.img before
    # The version follows the magic, in both copies of the superblock.
    python3 - <<'PYTHON'
data = bytearray(open("drive0.img", "rb").read())
at = data.find(b"STRIASB1")
found = 0
while at >= 0:
    data[at + 8] = 99
    found += 1
    at = data.find(b"STRIASB1", at + 1)
assert found == 2, found
open("drive0.img", "wb").write(data)
PYTHON
    cp drive0.img changed
    status=0
    "$stria" record array.ini --name more --input input 2>err || status=$?
    [ $status -ne 0 ] || fail "recorded onto a drive of a newer version"
    complains 'drive0\.img'
    same drive0.img changed
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
it "a superblock of a newer or damaged version is not written over" newer_version
it "an array without any of its drives is told" all_missing
finish
