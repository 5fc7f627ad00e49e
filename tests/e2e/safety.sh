#!/bin/sh
# Nothing that is in use, or that the array is made of, is overwritten; whatever the descriptors and limits are.
. "$(dirname "$0")/lib.sh"

small() {
    array adaptive 2 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 2MB --name one
}

# init --erase of drives on which somebody records changes none of them.
erase_in_use() {
    small
    "$stria" record array.ini --input synthetic --rate 1MB/s --duration 3s --name live >record.out 2>&1 &
    recorder=$!
    sleep 1
    expect 2 "$stria" init array.ini --erase drive0.img --erase drive1.img
    complains 'drive0.img is in use'
    wait $recorder
    expect 0 "$stria" verify array.ini
    says 'one .*ok'
    says 'live .*ok'
}

# One drive in use spares the others.
erase_beside_one_in_use() {
    small
    cp drive0.img before
    flock -x drive1.img sleep 3 &
    sleep 0.5
    expect 2 "$stria" init array.ini --erase drive0.img --erase drive1.img
    complains 'drive1.img is in use'
    same before drive0.img
    expect 0 "$stria" verify array.ini
}

closed_descriptors() {
    small
    "$stria" record array.ini --input synthetic --rate 300KB/s --duration 6s --name quiet >&- 2>&- || true
    expect 0 "$stria" verify array.ini
    for drive in drive0.img drive1.img; do
        [ "$(head -c 4096 $drive | tr -d '\0' | wc -c)" -eq 0 ] || fail "something was written to the start of $drive"
    done
    printf 12345678 >eight
    expect 0 "$stria" record array.ini --input eight --name eight
    got=0
    "$stria" export array.ini eight >&- 2>err || got=$?
    [ $got -eq 3 ] || fail "export to a closed descriptor ended with $got"
    got=0
    timeout 20 "$stria" record array.ini --input - --name closed <&- 2>err || got=$?
    [ $got -ne 0 ] && [ $got -ne 124 ] || fail "recording from a closed descriptor ended with $got"
}

report_over_the_array() {
    small
    cp array.ini ini
    ln -s drive0.img link
    for path in drive0.img ./link array.ini; do
        expect 2 "$stria" record array.ini --input synthetic --size 1MB --name two --report "$path"
        complains 'name another file'
        expect 2 "$stria" export array.ini one -o "$path"
    done
    same ini array.ini
    expect 0 "$stria" verify array.ini
}

cut_short() {
    small
    timeout -s KILL 1 "$stria" record array.ini --input synthetic --rate 5MB/s --name cut >record.out 2>&1 || true
    expect 0 "$stria" verify array.ini cut
    says 'cut .*ok, cut short'
    expect 0 "$stria" export array.ini cut -o output
    complains 'was cut short'
}

file_size_limit() {
    small
    (
        ulimit -f 1
        got=0
        "$stria" export array.ini one -o output 2>err || got=$?
        [ $got -eq 3 ] || exit 1
    ) || fail "export past the file size limit did not end with status 3"
    [ ! -e output ] || fail "a part was left under the name of the whole"
    [ -z "$(find . -name 'output.part*')" ] || fail "a part was left"
}

terminal_closed() {
    small
    "$stria" record array.ini --input synthetic --rate 5MB/s --name hup --report r.json >record.out 2>&1 &
    recorder=$!
    sleep 1
    kill -HUP $recorder
    wait $recorder
    expect 0 "$stria" ls array.ini
    says 'hup .*complete'
}

raid0_without_one() {
    array raid0 3 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    mv drive1.img away.img
    noise input 3000000
    expect 1 "$stria" record array.ini --name degraded --input input
    mv away.img drive1.img
    expect 0 "$stria" export array.ini degraded -o output
    same input output
}

it "records under raid0 while a drive is away" raid0_without_one
it "changes no drive when one that shall be erased is being recorded onto" erase_in_use
it "changes no drive when another is in use" erase_beside_one_in_use
it "writes nothing into drives when standard descriptors are closed" closed_descriptors
it "refuses a report or an export over the array's drives and its INI file" report_over_the_array
it "says that a recording was cut short when it is verified or exported" cut_short
it "tells of a file size limit and leaves no part behind" file_size_limit
it "ends a recording properly when the terminal is closed" terminal_closed
finish
