#!/bin/sh
# What goes in comes out, from every source, under both policies.
. "$(dirname "$0")/lib.sh"

made() {
    array "$@"
    expect 0 "$stria" init array.ini
}

# round_trip POLICY DRIVES BYTES
round_trip() {
    made "$1" "$2" 32MiB
    noise input "$3"
    expect 0 "$stria" record array.ini --name take-1 --input input
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini take-1 -o output
    same input output
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"][0]["name"]' take-1
    json out 'd["recordings"][0]["bytes"]' "$3"
    json out 'd["recordings"][0]["complete"]' True
    json out 'd["recordings"][0]["dropped_bytes"]' 0
    json out '[x["path"] for x in d["drives"]]' "$(python3 -c "print([f'drive{i}.img' for i in range($2)])")"
    json out 'set(x["serial"] for x in d["drives"])' '{None}'
}

# Recordings are told apart by their id, and by the moment at which they were begun.
listed_with_id_and_time() {
    made adaptive 1 32MiB
    for name in a b; do
        expect 0 "$stria" record array.ini --name $name --input synthetic --size 100KB --report $name.json
    done
    expect 0 "$stria" ls array.ini --json
    json out '[x["id"] for x in d["recordings"]] == [json.load(open(n + ".json"))["recording"]["id"] for n in "ab"]' True
    json out 'd["recordings"][0]["id"] < d["recordings"][1]["id"]' True
    json out '[x["started"] for x in d["recordings"]] == [json.load(open(n + ".json"))["started"] for n in "ab"]' True
    json out '[abs(__import__("datetime").datetime.fromisoformat(x["started"].replace("Z", "+00:00")).timestamp() -
        __import__("os").path.getmtime(x["name"] + ".json")) < 600 for x in d["recordings"]]' '[True, True]'
}

odd_tails() {
    made adaptive 3 32MiB
    for bytes in 1 511 512 513 4095 4097 1048575 1048576 1048577 3145727; do
        noise input $bytes
        expect 0 "$stria" record array.ini --name "n$bytes" --input input
        expect 0 "$stria" export array.ini "n$bytes" -o output
        same input output
        rm output
    done
    expect 0 "$stria" verify array.ini
}

from_a_pipe() {
    made adaptive 2 32MiB
    noise input 7654321
    sh -c "cat input | '$stria' record array.ini --name piped" >out 2>err
    sh -c "'$stria' export array.ini piped -o - >output"
    same input output
    cat input | "$stria" record array.ini --input - --name dash
    "$stria" export array.ini dash >output
    same input output
}

from_a_fifo() {
    made adaptive 2 32MiB
    noise input 2345678
    mkfifo fifo
    cat input >fifo &
    expect 0 "$stria" record array.ini --name fifo --input fifo
    expect 0 "$stria" export array.ini fifo -o output
    same input output
}

from_nothing() {
    made adaptive 2 32MiB
    : >input
    expect 0 "$stria" record array.ini --name empty --input input
    expect 0 "$stria" export array.ini empty -o output
    [ ! -s output ]
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"][0]["bytes"]' 0
    json out 'd["recordings"][0]["complete"]' True
}

missing_input() {
    made adaptive 2 32MiB
    expect 2 "$stria" record array.ini --name a --input no-such-file
    complains_once
    complains 'no-such-file'
    expect 2 "$stria" record array.ini --name a --input .
    complains_once
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"]' '[]'
}

# Of a slow sensor not even one byte is due in this time.
ends_at_duration() {
    array adaptive 2 24MiB
    expect 0 "$stria" init array.ini
    expect 0 timeout 30 "$stria" record array.ini --input synthetic --rate 1 --duration 300ms --name none
    expect 0 timeout 30 "$stria" record array.ini --input synthetic --rate 10 --duration 1s --name ten
    expect 0 "$stria" ls array.ini --json
    json out '[(x["name"], x["bytes"]) for x in d["recordings"]]' "[('none', 0), ('ten', 10)]"
}

# 100.001 ms of that sensor are 6553665 bytes, and each chunk makes the drive wait longer than they last.
duration_of_a_pace() {
    array adaptive 1 24MiB 'depth = 1'
    expect 0 "$stria" init array.ini
    sed 's/^buffer = .*/buffer = 4MiB/; s/^size = .*/&\nfault = write:stall=120ms/' array.ini >slow.ini
    noise file 10000000
    for input in synthetic file; do
        expect 0 "$stria" record slow.ini --input $input --rate 65536000 --duration 100.001ms --name $input
    done
    expect 0 "$stria" ls array.ini --json
    json out '[x["bytes"] for x in d["recordings"]]' '[6553665, 6553665]'
    expect 0 "$stria" export array.ini file -o output
    head -c 6553665 file >wanted
    same wanted output
}

longest_duration() {
    made adaptive 2 32MiB
    noise input 1000000
    expect 0 "$stria" record array.ini --input input --name r --duration 5124095h
    expect 0 "$stria" export array.ini r -o output
    same input output
}

ends_at_size() {
    made adaptive 2 32MiB
    noise input 9000000
    expect 0 "$stria" record array.ini --name part --input input --size 5000001
    expect 0 "$stria" export array.ini part -o output
    head -c 5000001 input >wanted
    same wanted output
}

parts_of_it() {
    made adaptive 3 32MiB
    noise input 9000000
    expect 0 "$stria" record array.ini --name whole --input input
    expect 0 "$stria" export array.ini whole -o output --offset 1048575 --length 2097155
    tail -c +1048576 input | head -c 2097155 >wanted
    same wanted output
    expect 0 "$stria" export array.ini whole -o tail --offset 8999999
    tail -c 1 input >wanted
    same wanted tail
    expect 2 "$stria" export array.ini whole -o beyond --offset 9000001
    complains_once
    [ ! -e beyond ]
}

describes_itself() {
    made adaptive 2 64MiB
    expect 0 "$stria" record array.ini --name sensor --input synthetic --rate 20MB/s --duration 1s
    expect 0 "$stria" verify array.ini sensor
    expect 0 "$stria" ls array.ini --json
    json out '15e6 < d["recordings"][0]["bytes"] < 25e6' True
    expect 0 "$stria" export array.ini sensor -o output
    gzip -1 -c output >packed
    [ "$(stat -c %s packed)" -gt $(($(stat -c %s output) * 98 / 100)) ] || fail "synthetic data can be compressed"
}

names_are_unique() {
    made adaptive 2 32MiB
    noise input 1000000
    expect 0 "$stria" record array.ini --name one --input input
    expect 2 "$stria" record array.ini --name one --input input
    complains_once
    complains 'one'
    for bad in '../up' 'a/b' '' '.hidden' 'with blank' "$(printf '%064d' 1)"; do
        expect 2 "$stria" record array.ini --name "$bad" --input input
        complains_once
    done
    expect 0 "$stria" record array.ini --input input
    expect 0 "$stria" record array.ini --input input
    expect 0 "$stria" ls array.ini --json
    json out 'len(set(x["name"] for x in d["recordings"]))' 3
    expect 2 "$stria" export array.ini nope -o output
    complains 'nope'
    expect 2 "$stria" rm array.ini nope
    complains 'nope'
    expect 2 "$stria" verify array.ini nope
    complains 'nope'
}

reports() {
    made adaptive 3 64MiB
    expect 0 "$stria" record array.ini --name r --input synthetic --rate 40MB/s --duration 2s --report report.json
    json report.json 'd["schema"]' stria.record/1
    json report.json 'sorted(set(["uuid","name","policy","chunk_bytes"]) - set(d["array"]))' '[]'
    json report.json 'sorted(set("name id bytes length_bytes durable_bytes dropped_bytes duration_ns gaps".split()) - set(d["recording"]))' '[]'
    json report.json 'sorted(set("bytes mean_bytes_per_s sustained_bytes_per_s latency_ns lossless_bytes_per_s".split()) - set(d["aggregate"]))' '[]'
    json report.json 'list(d["aggregate"]["sustained_bytes_per_s"])' "['1s', '5s', '10s', '30s', '60s']"
    json report.json 'd["aggregate"]["sustained_bytes_per_s"]["60s"]' None
    json report.json 'list(d["aggregate"]["latency_ns"])' "['p50', 'p90', 'p99', 'p999', 'max']"
    json report.json 'all(not set("path serial bytes mean_bytes_per_s sustained_bytes_per_s latency_ns errors retries stalls".split()) - set(x) for x in d["drives"])' True
    json report.json 'd["recording"]["bytes"] == d["recording"]["length_bytes"] == d["recording"]["durable_bytes"]' True
    json report.json 'sum(x["bytes"] for x in d["drives"]) == d["recording"]["bytes"] == d["aggregate"]["bytes"]' True
    json report.json 'sum(d["series"]["input_bytes"]) == d["recording"]["length_bytes"]' True
    json report.json 'sum(map(sum, d["series"]["drive_bytes"])) == d["recording"]["bytes"]' True
    json report.json '0 < d["buffer"]["high_water_bytes"] <= d["buffer"]["bytes"]' True
    json report.json 'abs(__import__("datetime").datetime.fromisoformat(d["started"].replace("Z", "+00:00")).timestamp() -
        __import__("os").path.getmtime("report.json")) < 600' True
    json report.json '(sum(n for low, n in d["aggregate"]["histogram"]), sum(n for x in d["drives"] for low, n in x["histogram"]))' '(77, 77)'
    json report.json 'max(x for x in d["latency_series"]["max_ns"] if x) == d["aggregate"]["latency_ns"]["max"]' True
    json report.json '[max(x for x in most if x) == drive["latency_ns"]["max"]
        for most, drive in zip(d["latency_series"]["drive_max_ns"], d["drives"])]' '[True, True, True]'
    json report.json 'len(d["latency_series"]["p99_ns"]) >= 2, len({len(x) for x in d["latency_series"]["drive_p99_ns"] +
        [d["latency_series"]["p99_ns"]]})' '(True, 1)'
    # Each key is told of.
    python3 - "$source_folder/docs/record-result.md" report.json <<'EOF'
import json, re, sys
told = set(re.findall(r"`([a-z0-9_]+)`", open(sys.argv[1]).read()))
def keys(value):
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return set(value if isinstance(value, dict) else []).union(*map(keys, inner))
missing = keys(json.load(open(sys.argv[2]))) - told
assert not missing, f"docs/record-result.md does not tell of {sorted(missing)}"
EOF
    expect 2 "$stria" record array.ini --name s --input synthetic --size 1MiB --report no/such/folder.json
    complains 'no/such/folder\.json'
    expect 0 "$stria" ls array.ini --json
    json out 'len(d["recordings"])' 1
}

larger_than_the_array() {
    made adaptive 2 16MiB
    noise input 40000000
    expect 1 "$stria" record array.ini --name flood --input input --report report.json
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"][0]["bytes"] > 20e6' True
    stored=$(python3 -c 'import json; print(json.load(open("out"))["recordings"][0]["bytes"])')
    status=0
    "$stria" export array.ini flood -o output || status=$?
    [ $status -le 1 ]
    head -c "$stored" input >wanted
    head -c "$stored" output | cmp - wanted
    expect 2 "$stria" record array.ini --name more --input input
    complains 'full|room|space|free'
}

ended_by_a_signal() {
    made adaptive 2 64MiB
    for signal in INT TERM; do
        background "$stria" record array.ini --name "by-$signal" --input synthetic --rate 10MB/s
        until_true 10 sh -c "'$stria' ls array.ini --json 2>/dev/null | grep -q by-$signal || grep -q . err"
        sleep 0.5
        kill -$signal $process
        status=0
        wait $process || status=$?
        [ $status -eq 0 ] || fail "exit status $status after SIG$signal: $(cat err)"
        expect 0 "$stria" ls array.ini --json
        json out 'd["recordings"][-1]["complete"]' True
        json out 'd["recordings"][-1]["bytes"] > 0' True
    done
    expect 0 "$stria" verify array.ini
}

reader_goes_away() {
    made adaptive 2 32MiB
    noise input 9000000
    expect 0 "$stria" record array.ini --name a --input input
    status=0
    { "$stria" export array.ini a -o - || echo $? >status; } | head -c 1000 >front
    head -c 1000 input | cmp - front
    [ ! -s err ] || grep -q . err
    [ -s status ] || fail "exporting into a closed pipe ended with 0"
    [ "$(cat status)" -le 3 ] || fail "exporting into a closed pipe ended by a signal: $(cat status)"
    expect 0 "$stria" verify array.ini
}

# unprivileged COMMAND...: as a user whom limits bind; root may lock what it likes.
unprivileged() {
    if [ "$(id -u)" -ne 0 ]; then
        "$@"
        return
    fi
    setpriv --reuid 65534 --regid 65534 --clear-groups --inh-caps -all --bounding-set -all -- "$@"
}

little_locked_memory() {
    made adaptive 2 32MiB
    noise input 9000000
    cp "$stria" stria
    if [ "$(id -u)" -eq 0 ]; then
        chmod 711 "$scratch"
        chown -R 65534:65534 .
    fi
    unprivileged true || skip "this machine lets no process drop its privileges"
    # The shell sets a limit for itself and its children, which prlimit cannot do for a function.
    (
        prlimit --pid "$(exec sh -c 'echo $PPID')" --memlock=65536:65536
        expect 0 unprivileged ./stria record array.ini --name a --input input
    )
    # The address sanitizer locks nothing, and says that it did.
    [ -n "${STRIA_SANITIZED-}" ] || complains 'the buffer of 16 MiB is not locked'
    complains 'drive0\.img and 1 more: no fixed buffers: the locked-memory limit is 64 KiB'
    [ "$(grep -c warning: err)" -eq 1 ] || fail "told more than once: $(cat err)"
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini a -o output
    same input output
}

exported_once() {
    made adaptive 2 32MiB
    noise input 1000000
    expect 0 "$stria" record array.ini --name a --input input
    mounted_tmpfs full 300K
    status=0
    "$stria" export array.ini a -o full/output 2>err || status=$?
    [ $status -eq 3 ] || fail "exit status $status when the file system is full"
    complains 'full/output'
}

several() {
    made adaptive 3 64MiB
    for number in 1 2 3 4 5; do
        noise input$number $((number * 1100000))
        expect 0 "$stria" record array.ini --name take$number --input input$number
    done
    for number in 5 1 3 2 4; do
        expect 0 "$stria" export array.ini take$number -o output
        same input$number output
    done
    expect 0 "$stria" verify array.ini take2 take5 --json
    json out 'd["schema"]' stria.verify/1
    json out 'd["verdict"]' ok
    json out 'sorted(x["name"] for x in d["recordings"])' "['take2', 'take5']"
    json out 'all(x["ok"] == x["extents"] > 0 for x in d["recordings"])' True
}

one_recorder_at_a_time() {
    made adaptive 2 64MiB
    background "$stria" record array.ini --name first --input synthetic --rate 5MB/s
    sleep 0.7
    "$stria" record array.ini --name second --input synthetic --size 1MiB >out2 2>err2 && fail "two recorders at once"
    grep -q . err2
    [ "$(wc -l <err2)" -eq 1 ] || fail "not one sentence: $(cat err2)"
    kill -INT $process
    wait $process
    expect 0 "$stria" verify array.ini
}

listed() {
    "$stria" ls "$1" | grep -q "$2"
}

# Whichever of the drives the other recorder has.
one_recorder_of_any_drive() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    for held in 0 1; do
        other=$((1 - held))
        printf '[array]\nname = test\nbuffer = 16MiB\n[drive.only]\npath = drive%d.img\n' "$held" >part.ini
        cp "drive$other.img" before
        background "$stria" record part.ini --name "part$held" --input synthetic --rate 2MB/s
        until_true 20 listed part.ini "part$held"
        status=0
        "$stria" record array.ini --name both --input synthetic --size 1MiB >out2 2>err2 || status=$?
        [ $status -eq 2 ] || fail "exit status $status of the second recorder: $(cat err2)"
        [ "$(wc -l <err2)" -eq 1 ] || fail "not one sentence: $(cat err2)"
        grep -q "drive$held.img is busy" err2 || fail "does not name the drive in use: $(cat err2)"
        kill -INT $process
        wait $process || true
        same "drive$other.img" before
    done
    expect 0 "$stria" verify array.ini
}

unequal_fill_together() {
    {
        printf '[array]\nbuffer = 16MiB\npolicy = adaptive\n'
        printf '[drive.a]\npath = a.img\nsize = 24MiB\n[drive.b]\npath = b.img\nsize = 64MiB\n'
    } >array.ini
    expect 0 "$stria" init array.ini
    noise input 60000000
    expect 0 "$stria" record array.ini --name big --input input --report report.json
    json report.json 'min(x["bytes"] for x in d["drives"]) > 10e6' True
    expect 0 "$stria" export array.ini big -o output
    same input output
}

raid0_takes_equal_shares() {
    made raid0 4 32MiB
    noise input $((16 << 20))
    expect 0 "$stria" record array.ini --name r --input input --report report.json
    json report.json 'set(x["bytes"] for x in d["drives"])' '{4194304}'
}

input_that_fails() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    noise input 1500000
    expect 3 python3 - "$stria" <<'PYTHON'
import socket, subprocess, sys
ours, theirs = socket.socketpair()
run = subprocess.Popen([sys.argv[1], "record", "array.ini", "--name", "r", "--input", "-"], stdin=theirs)
theirs.send(b"unread")  # so that closing resets the connection
theirs.close()
ours.sendall(open("input", "rb").read())
ours.close()
sys.exit(run.wait())
PYTHON
    complains 'cannot read standard input'
    expect 0 "$stria" export array.ini r -o output
    same input output
}

# Room that holds nothing any more is given back to the drive first: here to the file behind a loop device.
free_room_is_trimmed() {
    array adaptive 1 24MiB "discard = $1"
    noise drive0.img 25165824
    device=$(loop_device drive0.img)
    sed -i "s#^path = drive0.img#path = $device#; /^size/d" array.ini
    expect 0 "$stria" init array.ini --erase "$device"
    sync drive0.img
    expect 0 "$stria" record array.ini --input synthetic --size 2MB --name r
    expect 0 "$stria" verify array.ini
    sync drive0.img
    kept=$(($(stat -c %b drive0.img) * 512))
    test "$kept" "$2" 12000000 || fail "$kept bytes are allocated behind a recording of 2 MB"
}

it "what is free is trimmed before a recording when asked for" free_room_is_trimmed yes -lt
it "what is free is left as it is when not asked for" free_room_is_trimmed no -gt
it "what came before the input failed is recorded" input_that_fails
it "a file comes back identical, adaptive" round_trip adaptive 4 12345678
it "a file comes back identical, raid0" round_trip raid0 4 12345678
it "a file comes back identical from one drive" round_trip adaptive 1 5555555
it "ls tells each recording's id and beginning, as its report did" listed_with_id_and_time
it "tails of any length come back" odd_tails
it "a pipe is recorded, and exported into one" from_a_pipe
it "a FIFO is recorded" from_a_fifo
it "an empty input is a recording" from_nothing
it "an input that is not there is named, and nothing is recorded" missing_input
it "--size ends a recording to the byte" ends_at_size
it "--duration with --rate is as many bytes of a file as of a sensor, however slow the drives" duration_of_a_pace
it "the longest --duration there is records all" longest_duration
it "--duration ends a recording of however slow a sensor" ends_at_duration
it "--offset and --length export a part" parts_of_it
it "the synthetic sensor keeps its pace and cannot be compressed" describes_itself
it "names are unique and safe" names_are_unique
it "the report has every key, and its sums agree" reports
it "what an array has no room for leaves the rest readable" larger_than_the_array
it "SIGINT and SIGTERM end a recording properly" ended_by_a_signal
it "a reader that goes away ends an export, not by a signal" reader_goes_away
it "64 KiB of lockable memory are enough" little_locked_memory
it "a full file system ends an export with a sentence" exported_once
it "several recordings live side by side" several
it "an array has one recorder at a time" one_recorder_at_a_time
it "a recorder that has one of the drives keeps others from all of them" one_recorder_of_any_drive
it "unequal drives fill together" unequal_fill_together
it "raid0 gives every drive the same" raid0_takes_equal_shares
finish
