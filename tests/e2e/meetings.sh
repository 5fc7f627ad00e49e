#!/bin/sh
# Parts of an array are written apart, each while the other is away, and meet again.
. "$(dirname "$0")/lib.sh"

pair() {
    array adaptive 2 32MiB 'chunk = 64KiB' 'commit_interval = 5ms'
    expect 0 "$stria" init array.ini
    noise input 20000
}

# apart DRIVE COMMAND...: with that drive alone.
apart() {
    other=drive$((1 - $1)).img
    shift
    mv "$other" away
    got=0
    "$@" >out 2>err || got=$?
    mv away "$other"
    [ "$got" -eq 0 ] || [ "$got" -eq 1 ] || fail "exit status $got of $*: $(cat err)"
}

record() {
    "$stria" record array.ini --name "$1" --input input
}

names() {
    "$stria" ls array.ini --json 2>err >list
    python3 -c 'import json
print(*sorted(x["name"] for x in json.load(open("list"))["recordings"] if x["complete"]))'
}

present() {
    for name in "$@"; do
        expect 0 "$stria" export array.ini "$name" -o output
        same input output
        rm output
    done
}

# The catalogue of so small a drive has 512 entries.
record_and_remove_until_compacted() {
    turn=0
    while [ $turn -lt 155 ]; do
        turn=$((turn + 1))
        apart "$1" record passing
        apart "$1" "$stria" rm array.ini passing
    done
}

compacted_part_forgets_nothing_of_the_other() {
    pair
    expect 0 "$stria" record array.ini --name common --input input
    expect 0 "$stria" record array.ini --name removed --input input
    apart 0 "$stria" rm array.ini removed
    apart 1 record precious1
    apart 1 record precious2
    record_and_remove_until_compacted 0
    present common precious1 precious2
    expect 0 "$stria" record array.ini --name last --input input
    present common precious1 precious2 last
    [ "$(names)" = "common last precious1 precious2" ] || fail "there are: $(names)"
    expect 0 "$stria" verify array.ini
    apart 1 "$stria" ls array.ini
    says precious2
    ! grep -q removed out || fail "what a part has removed came back"
    apart 0 "$stria" ls array.ini
    says precious2
}

# many DRIVE FIRST LAST: so many recordings on one drive, which are not looked at.
many() {
    turn=$2
    while [ "$turn" -le "$3" ]; do
        apart "$1" record "part$1-$turn"
        turn=$((turn + 1))
    done
}

what_does_not_fit_together_is_told_and_not_written() {
    pair
    many 0 1 140
    many 1 1 140
    sha256sum drive0.img drive1.img >before
    expect 0 "$stria" ls array.ini
    complains "no room for all that they know together"
    [ "$(names | wc -w)" -eq 280 ] || fail "only $(names | wc -w) recordings are listed"
    present part0-1 part0-140 part1-1 part1-140
    expect 2 "$stria" record array.ini --name more --input input
    complains "no room for all that they know together"
    sha256sum -c before
    turn=60
    while [ $turn -lt 140 ]; do
        turn=$((turn + 1))
        apart 0 "$stria" rm array.ini part0-$turn
    done
    expect 0 "$stria" record array.ini --name more --input input
    [ "$(names | wc -w)" -eq 201 ] || fail "$(names | wc -w) recordings are listed"
    present part0-1 part0-60 part1-1 part1-140 more
}

it "a part that compacted its catalogue forgets nothing of the other, and what it removed" \
    compacted_part_forgets_nothing_of_the_other
it "what does not fit together is told, and nothing is written" \
    what_does_not_fit_together_is_told_and_not_written
finish
