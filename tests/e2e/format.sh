#!/bin/sh
# What the command writes, a reader made from docs/format.md alone reads.
. "$(dirname "$0")/lib.sh"

reader=$source_folder/tests/format/read_image.py

read_image() {
    python3 -B "$reader" "$@"
}

reads_back() {
    array "$1" 3 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    noise first 3000001
    noise second 65536
    expect 0 "$stria" record array.ini --name first --input first
    expect 0 "$stria" record array.ini --name second --input second
    expect 0 read_image --verify drive2.img drive0.img drive1.img
    says "^recording 1 $1 complete 3000001 bytes 46 chunks sealed: first\$"
    for name in first second; do
        expect 0 read_image --export $name drive1.img drive2.img drive0.img
        same out $name
    done
    expect 0 "$stria" rm array.ini first
    expect 2 read_image --export first drive0.img drive1.img drive2.img
    expect 0 read_image --export second drive0.img drive1.img drive2.img
    same out second
}

reads_what_is_left() {
    array adaptive 3 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    noise input 3000001
    expect 0 "$stria" record array.ini --name one --input input
    mv drive1.img away
    expect 1 "$stria" export array.ini one -o ours
    expect 1 read_image --export one drive2.img drive0.img
    same out ours
}

reads_the_killed() {
    array adaptive 2 48MiB 'chunk = 64KiB' 'commit_interval = 20ms'
    expect 0 "$stria" init array.ini
    background "$stria" record array.ini --name one --input synthetic --rate 8MB/s
    sleep 1
    kill -9 $process
    wait $process || :
    # Before the command has looked at the array again, and after.
    read_image --export one drive0.img drive1.img >before || :
    [ -s before ] || fail "nothing was durable after a second"
    expect 0 "$stria" export array.ini one -o ours
    same before ours
    expect 0 "$stria" verify array.ini one
    read_image --export one drive1.img drive0.img >after || :
    same after ours
}

it "a raid0 recording is read, until it is removed" reads_back raid0
it "an adaptive recording is read, until it is removed" reads_back adaptive
it "with a drive away, both read the same and leave the same holes" reads_what_is_left
it "a recording killed on the way ends at the same byte for both" reads_the_killed
finish
