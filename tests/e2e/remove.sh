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

it "a drive that fails while a recording is removed is told" a_lost_drive_is_told
it "space is used again, adaptive" space_is_used_again adaptive
it "space is used again, raid0" space_is_used_again raid0
it "free space is what it was" free_space_comes_back
it "a removed recording's name is free, and its data stay away" name_comes_back
finish
