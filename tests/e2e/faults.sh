#!/bin/sh
# Drives that misbehave while recording: what can be kept is kept, what is lost is told.
. "$(dirname "$0")/lib.sh"

# made POLICY FAULT [LINE...]: four drives, of which d1 has a fault in faulty.ini; array.ini is without it.
made() {
    policy=$1
    fault=$2
    shift 2
    array "$policy" 4 64MiB "$@"
    expect 0 "$stria" init array.ini
    sed "s/^path = drive1.img/&\nfault = $fault/" array.ini >faulty.ini
    noise input 50000001
}

# nothing_is_lost POLICY FAULT REPORTED: exit 0, and the last holds for x, which is d1 in the report.
nothing_is_lost() {
    made "$1" "$2"
    expect 0 "$stria" record faulty.ini --name r --input input --report report.json
    json report.json "all($3 for x in d['drives'] if x['name'] == 'd1')" True
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini r -o output
    same input output
}

# Under raid0 the chunk that goes elsewhere makes the recording another thing than RAID0, which exit 1 tells.
raid0_is_left() {
    made raid0 'write#5@2MiB-60MiB:eio'
    expect 1 "$stria" record faulty.ini --name r --input input --report report.json
    says 'no longer plain RAID0'
    json report.json 'd["recording"]["dropped_bytes"]' 0
    json report.json 'any(x["lost"] for x in d["drives"])' False
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"][0]["plain_raid0"]' False
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini r -o output
    same input output
}

# finishes_on_the_others POLICY FAULT REASON: exit 1, the drive is lost for that reason, the rest is there.
finishes_on_the_others() {
    made "$1" "$2" 'write_deadline = 500ms' 'commit_interval = 50ms'
    started=$(date +%s)
    expect 1 "$stria" record faulty.ini --name r --input input --rate 50MB/s --report report.json
    [ $(($(date +%s) - started)) -lt 20 ] || fail "the dead drive held everything up"
    json report.json 'd["recording"]["degraded"]' True
    json report.json '[x["name"] for x in d["drives"] if x["lost"]]' "['d1']"
    json report.json '[x["lost_reason"] for x in d["drives"]]' "[None, '$3', None, None]"
    json report.json 'all((x["lost_ns"] is not None) == x["lost"] for x in d["drives"])' True
    json report.json '0 < d["drives"][1]["lost_ns"] <= d["recording"]["duration_ns"]' True
    complains "drive d1 \(drive1.img\) was given up after [0-9.]+ m?s: $3"
    says "d1 .*  lost after [0-9.]+ m?s: $3"
    json report.json 'd["recording"]["length_bytes"]' 50000001
    json report.json 'd["recording"]["bytes"] + d["recording"]["dropped_bytes"]' 50000001
    json report.json 'set(x["drive"] for x in d["recording"]["gaps"]) <= {"d1"}' True
    status=0
    "$stria" export array.ini r -o output 2>err || status=$?
    [ $status -le 1 ] || fail "exit status $status: $(cat err)"
    python3 - <<'PYTHON'
import json
wanted, got = open("input", "rb").read(), open("output", "rb").read()
recording = json.load(open("report.json"))["recording"]
gaps = [(x["offset_bytes"], x["offset_bytes"] + x["length_bytes"]) for x in recording["gaps"]]
assert len(wanted) == len(got)
for at in range(0, len(wanted), 1 << 20):
    if got[at:at + (1 << 20)] != wanted[at:at + (1 << 20)]:
        assert any(start <= at < end for start, end in gaps), f"wrong data at {at}, and no gap there"
PYTHON
}

# A drive that never answers costs one deadline when the array is opened, and not a minute for each thing asked of it.
silent_when_opened() {
    array adaptive 2 24MiB 'read_deadline = 1s'
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 2MB --name r
    sed 's/^path = drive1.img/&\nfault = any:lost/' array.ini >faulty.ini
    started=$(date +%s)
    expect 0 "$stria" ls faulty.ini
    complains 'does not answer'
    [ $(($(date +%s) - started)) -lt 20 ] || fail "it took $(($(date +%s) - started)) s"
}

# Rows that went on at the drives' start, in the room of what was removed, find a bad extent there: the chunk takes another
# that is free.
bad_extent_behind_the_wrap() {
    array raid0 2 24MiB 'chunk = 1MiB'
    expect 0 "$stria" init array.ini
    expect 0 "$stria" ls array.ini --json
    rows=$(python3 -c 'import json; print(json.load(open("out"))["drives"][1]["free_bytes"] >> 20)')
    start=$(python3 -c 'import json; print(json.load(open("out"))["drives"][1]["data_offset_bytes"])')
    expect 0 "$stria" record array.ini --input synthetic --size $(((rows - 8) * 2))MiB --name first
    expect 0 "$stria" record array.ini --input synthetic --size 14MiB --name second
    expect 0 "$stria" rm array.ini first
    bad=$((start + 5 * 1048576))
    sed "s/^path = drive1.img/&\nfault = write@$bad-$((bad + 1048576)):eio/" array.ini >faulty.ini
    noise input 20000000
    expect 1 "$stria" record faulty.ini --input input --name third --report report.json
    json report.json 'd["recording"]["dropped_bytes"]' 0
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini third -o output
    same input output
}

all_drives_lost() {
    array adaptive 2 64MiB 'commit_interval = 50ms'
    expect 0 "$stria" init array.ini
    sed 's/^size = .*/&\nfault = after=1s:gone/' array.ini >faulty.ini
    noise input 50000000
    expect 3 "$stria" record faulty.ini --name r --input input --rate 20MB/s
    complains 'no drive'
    expect 0 "$stria" ls array.ini --json
    json out '5e6 < d["recordings"][0]["length_bytes"] < 40e6' True
    length=$(python3 -c 'import json; print(json.load(open("out"))["recordings"][0]["length_bytes"])')
    expect 0 "$stria" export array.ini r -o output
    head -c "$length" input | cmp - output
}

# found_by_verify FAULT KIND: written as the drive pleases, and said to be done.
found_by_verify() {
    made adaptive "$1"
    expect 0 "$stria" record faulty.ini --name r --input input
    expect 1 "$stria" verify array.ini --json
    json out 'd["verdict"]' damaged
    json out "d['recordings'][0]['corrupt'] + d['recordings'][0]['misplaced'] > 0" True
    json out 'all(x["path"] == "drive1.img" for x in d["findings"])' True
    expect 1 "$stria" export array.ini r -o output
}

# The last of as many drives as an array may have.
last_of_all() {
    array adaptive 32 4MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 1MB --name r
    sed 's/^path = drive31.img/&\nfault = write#1-:gone/' array.ini >faulty.ini
    expect 1 timeout 60 "$stria" record faulty.ini --input synthetic --size 1MB --name s
    complains 'drive d31 .*was given up'
    expect 0 "$stria" rm array.ini s
    expect 1 timeout 60 "$stria" rm faulty.ini r
    complains 'drive d31 was given up: drive31.img: writing the catalogue failed'
}

wrong_script() {
    made adaptive 'write#x:eio'
    expect 2 "$stria" record faulty.ini --name r --input input
    complains_once
    complains 'write#x:eio'
}

it "one write that fails goes elsewhere, and the drive is kept" nothing_is_lost adaptive 'write#5@2MiB-60MiB:eio' 'x["errors"] >= 1 and not x["lost"]'
it "one write that fails goes elsewhere, and the recording is no longer plain RAID0" raid0_is_left
it "short writes go on where they ended" nothing_is_lost adaptive 'write@2MiB-60MiB,every=3:short=12288' 'x["retries"] >= 1'
it "a bad extent in what a removed recording left is passed over under raid0" bad_extent_behind_the_wrap
it "EAGAIN is tried again" nothing_is_lost adaptive 'write,every=2:again' 'x["retries"] >= 1'
it "a drive that is full before its time is left out" nothing_is_lost adaptive 'write@20MiB-60MiB:nospace' 'x["bytes"] > 0'
it "a drive that is gone is named, and the others finish" finishes_on_the_others adaptive 'write#15:gone' 'drive gone'
it "a drive that is gone is named, and the others finish, raid0" finishes_on_the_others raid0 'write#15:gone' 'drive gone'
it "a drive that hangs is given up at its deadline" finishes_on_the_others adaptive 'write#15-:lost' 'timed out'
it "a drive that does not answer when the array is opened costs one deadline" silent_when_opened
it "a drive that fails every write is given up" finishes_on_the_others adaptive 'write#15-:eio' 'i/o error'
it "when all drives are lost, what was durable is readable" all_drives_lost
it "the last of 32 drives is lost as any other" last_of_all
it "a torn write is found" found_by_verify 'write#5@2MiB-60MiB:torn=8192'
it "a write that never came is found" found_by_verify 'write#5@2MiB-60MiB:ignored'
it "a misdirected write is found" found_by_verify 'write#5@2MiB-50MiB:misdirect=1MiB'
it "a fault script that cannot be read is quoted" wrong_script
finish
