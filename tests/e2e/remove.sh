#!/bin/sh
# Removing a recording frees its space and touches no other.
. "$(dirname "$0")/lib.sh"

space_is_used_again() {
    array "$1" 3 32MiB
    expect 0 "$stria" init array.ini
    noise kept 20000000
    expect 0 "$stria" record array.ini --name kept --input kept
    turn=0
    while [ $turn -lt 5 ]; do
        turn=$((turn + 1))
        noise input 40000000
        expect 0 "$stria" record array.ini --name "turn$turn" --input input
        expect 0 "$stria" export array.ini "turn$turn" -o output
        same input output
        expect 0 "$stria" rm array.ini "turn$turn"
        expect 2 "$stria" export array.ini "turn$turn" -o again
        [ ! -e again ] || fail "a removed recording was exported"
        rm output
    done
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini kept -o output
    same kept output
}

free_space_comes_back() {
    array adaptive 3 32MiB
    expect 0 "$stria" init array.ini
    expect 0 "$stria" ls array.ini --json
    before=$(python3 -c 'import json; print(sum(x["free_bytes"] for x in json.load(open("out"))["drives"]))')
    noise input 20000000
    expect 0 "$stria" record array.ini --name a --input input
    expect 0 "$stria" ls array.ini --json
    json out "sum(x['free_bytes'] for x in d['drives']) <= $before - 20000000" True
    expect 0 "$stria" rm array.ini a
    expect 0 "$stria" ls array.ini --json
    json out "sum(x['free_bytes'] for x in d['drives'])" "$before"
    json out 'd["recordings"]' '[]'
}

name_comes_back() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    noise first 3000000
    noise second 2000000
    expect 0 "$stria" record array.ini --name a --input first
    expect 0 "$stria" rm array.ini a
    expect 0 "$stria" record array.ini --name a --input second
    expect 0 "$stria" export array.ini a -o output
    same second output
}

a_lost_drive_is_told() {
    array adaptive 3 32MiB
    expect 0 "$stria" init array.ini
    noise input 3000000
    expect 0 "$stria" record array.ini --name a --input input
    sed 's/^path = drive1.img/&\nfault = write:gone/' array.ini >faulty.ini
    expect 1 "$stria" rm faulty.ini a
    complains 'drive d1 was given up: drive1.img: .*gone'
    expect 2 "$stria" export array.ini a
}

# read_half: exports recording a to a pipe of which only the beginning is taken yet.
read_half() {
    mkfifo pipe
    "$stria" export array.ini a >pipe 2>export.err &
    reader=$!
    echo $reader >>"$scratch/processes"
    exec 3<pipe
    head -c 1000000 <&3 >output
}

read_rest() {
    cat <&3 >>output
    exec 3<&-
    got=0
    wait $reader || got=$?
    [ $got -eq "$1" ] || fail "exit status $got of the reader: $(cat export.err)"
}

on_devices() {
    array adaptive 2 64MiB
    truncate -s 64M drive0.img drive1.img
    first=$(loop_device drive0.img)
    second=$(loop_device drive1.img)
    sed -i -e "s:drive0.img:$first:" -e "s:drive1.img:$second:" -e /^size/d array.ini
}

# what_is_read_stays COMMAND...: which makes array.ini.
what_is_read_stays() {
    "$@"
    expect 0 "$stria" init array.ini
    noise input 40000000
    noise other 40000000
    expect 0 "$stria" record array.ini --name a --input input
    expect 0 "$stria" record array.ini --name b --size 1MiB --input input
    read_half
    expect 2 "$stria" rm array.ini a
    complains_once
    complains "recording a is being read by process $reader \\(stria\\): wait until that has ended"
    expect 0 "$stria" rm array.ini b
    expect 0 "$stria" record array.ini --name c --input other
    read_rest 0
    same input output
    expect 0 "$stria" rm array.ini a
    expect 0 "$stria" export array.ini c -o output
    same other output
}

a_killed_reader_is_in_nobodys_way() {
    array adaptive 2 64MiB
    expect 0 "$stria" init array.ini
    noise input 40000000
    expect 0 "$stria" record array.ini --name a --input input
    read_half
    kill -9 $reader
    wait $reader || true
    expect 0 "$stria" rm array.ini a
    exec 3<&-
}

what_is_being_removed_is_left_out() {
    array adaptive 2 64MiB
    expect 0 "$stria" init array.ini
    noise input 3000000
    expect 0 "$stria" record array.ini --name a --input input
    expect 0 "$stria" record array.ini --name b --input input
    sed 's/^path = drive1.img/&\nfault = flush:stall=3s/' array.ini >slow.ini
    inode=$(stat -c %i drive0.img)
    "$stria" rm slow.ini a &
    remover=$!
    echo $remover >>"$scratch/processes"
    until grep -q -E "OFDLCK +ADVISORY +WRITE .*:$inode " /proc/locks; do
        kill -0 $remover || fail "rm was never seen to hold what it removes"
        sleep 0.02
    done
    expect 0 "$stria" verify array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['b']"
    wait $remover || fail "exit status $? of rm"
    expect 0 "$stria" verify array.ini
}

# elsewhere COMMAND...: runs it on copies of the drives, which then take their place: what a host does that
# has the drives too, but not this machine's locks.
elsewhere() {
    mkdir elsewhere
    cp array.ini drive?.img elsewhere/
    (cd elsewhere && "$@") || fail "elsewhere: $*"
    for drive in drive?.img; do
        dd if="elsewhere/$drive" of="$drive" bs=1M conv=notrunc,fsync status=none
    done
}

replaced() {
    "$stria" rm array.ini a && "$stria" record array.ini --name b --input ../other
}

what_another_host_removes_is_told() {
    array adaptive 2 64MiB
    expect 0 "$stria" init array.ini
    noise input 60000000
    noise other 60000000
    expect 0 "$stria" record array.ini --name a --input input
    read_half
    elsewhere replaced
    read_rest 2
    grep -q "recording a was removed by another host while it was exported" export.err ||
        fail "the reader said: $(cat export.err)"
    expect 0 "$stria" verify array.ini
}

it "what is being read is not removed, and keeps nobody from recording" what_is_read_stays array adaptive 2 64MiB
it "the same on devices" what_is_read_stays on_devices
it "a reader that was killed keeps nothing from being removed" a_killed_reader_is_in_nobodys_way
it "what is being removed keeps nobody from verifying the rest" what_is_being_removed_is_left_out
it "a recording that another host removes is not called damaged" what_another_host_removes_is_told
it "a drive that fails while a recording is removed is told" a_lost_drive_is_told
it "space is used again, adaptive" space_is_used_again adaptive
it "space is used again, raid0" space_is_used_again raid0
it "free space is what it was" free_space_comes_back
it "a removed recording's name is free, and its data stay away" name_comes_back
finish
