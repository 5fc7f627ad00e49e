#!/bin/sh
# A stream that is faster than the drives: wait, leave gaps, or stop, and say so.
. "$(dirname "$0")/lib.sh"

# Two drives that take about 20 MB/s each: one write at a time, 50 ms for each.
slow() {
    array adaptive 2 128MiB 'depth = 1'
    expect 0 "$stria" init array.ini
    sed 's/^size = .*/&\nfault = write:stall=50ms/' array.ini >slow.ini
}

# gaps_are_true INPUT OUTPUT: outside the gaps of report.json the output is the input, inside it is zeros.
gaps_are_true() {
    python3 - "$1" "$2" <<'PYTHON'
import json, sys
wanted, got = open(sys.argv[1], "rb").read(), open(sys.argv[2], "rb").read()
recording = json.load(open("report.json"))["recording"]
assert len(got) == recording["length_bytes"], (len(got), recording["length_bytes"])
assert sum(gap["length_bytes"] for gap in recording["gaps"]) == recording["dropped_bytes"]
assert recording["bytes"] + recording["dropped_bytes"] == recording["length_bytes"]
at = 0
for gap in recording["gaps"]:
    start, end = gap["offset_bytes"], gap["offset_bytes"] + gap["length_bytes"]
    assert got[at:start] == wanted[at:start], f"wrong data between {at} and {start}"
    assert not any(got[start:end]), f"data in the gap at {start}"
    at = end
assert got[at:] == wanted[at:len(got)], f"wrong data from {at} on"
PYTHON
}

drops() {
    slow
    "$stria" record slow.ini --name all --input synthetic --rate 200MB/s --size 80MB --on-overrun block >/dev/null
    expect 0 "$stria" export array.ini all -o wanted
    expect 0 "$stria" rm array.ini all
    expect 1 "$stria" record slow.ini --name r --input synthetic --rate 200MB/s --size 80MB --on-overrun drop --report report.json
    says 'gap at'
    json report.json 'd["recording"]["dropped_bytes"] > 10e6' True
    json report.json 'd["recording"]["length_bytes"]' 80000000
    json report.json 'set(x["cause"] for x in d["recording"]["gaps"])' "{'buffer'}"
    json report.json 'set(x["drive"] for x in d["recording"]["gaps"]) <= {"d0", "d1"}' True
    json report.json 'd["buffer"]["high_water_bytes"] == d["buffer"]["bytes"]' True
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"][0]["dropped_bytes"] > 10e6' True
    expect 1 "$stria" verify array.ini --json
    json out 'd["verdict"]' ok
    json out 'd["recordings"][0]["gap_bytes"] > 10e6' True
    json out 'sum(x["length_bytes"] for x in d["gaps"]) == d["recordings"][0]["gap_bytes"]' True
    json out 'set(x["cause"] for x in d["gaps"])' "{'buffer'}"
    expect 1 "$stria" export array.ini r -o output
    complains 'never stored, cause buffer, drive d[01]'
    gaps_are_true wanted output
    expect 1 "$stria" export array.ini r -o -
    cmp out output || fail "holes in a file and zeros in a pipe differ"
}

drops_from_a_pipe() {
    slow
    noise input 61234567
    sh -c "cat input | '$stria' record slow.ini --name r --on-overrun drop --report report.json; echo \$? >status" >out 2>err
    [ "$(cat status)" -eq 1 ] || fail "exit status $(cat status): $(cat err)"
    json report.json 'd["recording"]["length_bytes"]' 61234567
    status=0
    "$stria" export array.ini r -o output 2>err || status=$?
    [ $status -eq 1 ] || fail "exit status $status"
    gaps_are_true input output
}

stops() {
    slow
    expect 1 "$stria" record slow.ini --name r --input synthetic --rate 200MB/s --size 80MB --on-overrun stop --report report.json
    complains 'could not keep up'
    json report.json 'd["recording"]["dropped_bytes"]' 0
    json report.json '16e6 <= d["recording"]["bytes"] < 80e6' True
    expect 0 "$stria" verify array.ini
    sh -c "'$stria' export array.ini r | '$stria' check-synthetic" >out
    says 'all as they were made'
}

waits() {
    slow
    noise input 30000001
    expect 0 "$stria" record slow.ini --name r --input input --on-overrun drop --report report.json
    json report.json 'd["recording"]["dropped_bytes"]' 0
    expect 0 "$stria" record slow.ini --name s --input synthetic --rate 200MB/s --size 40MB
    expect 0 "$stria" export array.ini r -o output
    same input output
    sh -c "'$stria' export array.ini s | '$stria' check-synthetic" >out
    says '^standard input: 40000000 bytes'
}

just_fits() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    expect 0 "$stria" ls array.ini --json
    room=$(python3 -c 'import json; print(sum(x["free_bytes"] for x in json.load(open("out"))["drives"]))')
    noise input "$room"
    expect 0 "$stria" record array.ini --name r --input input
    expect 0 "$stria" export array.ini r -o output
    same input output
    expect 0 "$stria" rm array.ini r
    echo . >>input
    expect 1 "$stria" record array.ini --name r --input input --report report.json
    json report.json 'd["recording"]["bytes"]' "$room"
}

report_alone_on_stdout() {
    slow
    expect 0 "$stria" record array.ini --name r --input synthetic --size 3MB --report -
    json out 'd["schema"]' stria.record/1
    complains "recording 'r'"
}

# Both drives take nothing for a while: four buffers are filled, and what comes then finds none.
ended_while_buffers_are_full() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    sed 's/^buffer = .*/buffer = 4MiB/; s/^size = .*/&\nfault = write:stall=3s/' array.ini >slow.ini
    noise input 4694304
    mkfifo fifo
    background "$stria" record slow.ini --name r --input fifo --on-overrun drop --report report.json
    cat >feed.py <<'PYTHON'
import array, fcntl, os, signal, sys, termios, time
fd = os.open("fifo", os.O_WRONLY)
data = open("input", "rb").read()
while data:
    data = data[os.write(fd, data):]
left = array.array("i", [1])
while left[0]:
    time.sleep(0.01)
    fcntl.ioctl(fd, termios.FIONREAD, left)
os.kill(int(sys.argv[1]), signal.SIGINT)
time.sleep(60)
PYTHON
    python3 feed.py $process &
    feeder=$!
    echo $feeder >>"$scratch/processes"
    status=0
    wait $process || status=$?
    kill $feeder
    [ $status -eq 0 ] || fail "exit status $status: $(cat err)"
    json report.json 'd["recording"]["length_bytes"], d["recording"]["dropped_bytes"]' '(4694304, 0)'
    expect 0 "$stria" export array.ini r -o output
    same input output
}

# Long before a line is due for its time, and once.
warned_at_once() {
    slow
    sed 's/^buffer = .*/buffer = 64MiB/' slow.ini >large.ini
    expect 0 "$stria" record large.ini --name r --input synthetic --rate 60MB/s --size 100MB
    head -n 3 err | grep -q 'warning: the drives take less than comes in, d[01] holds most back: the buffer is full in' ||
        fail "no warning: $(cat err)"
    head -n 3 err | grep 'warning: the drives' | grep -q -E ', buffer [0-9]{1,2} %' || fail "it came late: $(cat err)"
}

it "a buffer that fills up is told of at once" warned_at_once
it "drop leaves gaps at their true offsets, and says which drive held them up" drops
it "drop takes a pipe to its end, to the byte" drops_from_a_pipe
it "a signal while every buffer is full loses nothing that was read" ended_while_buffers_are_full
it "stop ends a recording that is whole so far" stops
it "block waits and loses nothing, and a file never needs more" waits
it "an input that just fits is whole" just_fits
it "a report on standard output stands there alone" report_alone_on_stdout
finish
