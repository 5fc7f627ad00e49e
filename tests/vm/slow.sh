#!/bin/sh
# Drives that are slow, become slow, or have a bad sector.
#: drive a size=64M throttle=0
#: drive b size=64M throttle=0
#: drive c size=64M throttle=0
#: drive d size=64M error=12288
#: modules nvme
#: limit 900
. "$(dirname "$0")/lib.sh"

members="a b c"

# made POLICY "DRIVE...": small chunks, so that what is on its way to a slow drive is there soon.
made() {
    array_of "$1" "$2" 'chunk = 64KiB' 'commit_interval = 100ms'
    sed -i 's/^buffer = .*/buffer = 2MiB/' array.ini
    # shellcheck disable=SC2046 # words are meant
    "$stria" init array.ini $(erase_options "$2") || "$stria" init array.ini
}

# One drive takes 300 kB/s: three of them as raid0 take 900 kB/s, and 3 MB/s come.
one_slow() {
    made "$1" "$members"
    throttle b 300000
    expect "$2" "$stria" record array.ini --name r --input synthetic --rate 3MB/s --duration 6s --on-overrun drop \
        --report report.json
    throttle b 0
    json report.json "$3" True
    expect "$2" "$stria" verify array.ini
}

becomes_slow() {
    made adaptive "$members"
    background "$stria" record array.ini --name r --input synthetic --rate 2MB/s --duration 12s --on-overrun drop \
        --report report.json
    sleep 3
    throttle a 100000
    sleep 4
    throttle a 0
    wait "$process" || fail "it ended with $?"
    # While a was slow, the others took its share.
    python3 - <<'PYTHON'
import json
report = json.load(open("report.json"))
series = report["series"]
names = [drive["name"] for drive in report["drives"]]
bins = dict(zip(names, series["drive_bytes"]))
per_second = 10**9 // series["interval_ns"]
def most_uneven(one, other):
    sums = lambda name, at: sum(bins[name][at:at + 2 * per_second])
    return min(sums(one, at) / max(1, sums(other, at)) for at in range(len(bins[one]) - 2 * per_second))
assert report["recording"]["dropped_bytes"] == 0, report["recording"]
assert most_uneven("a", "b") < 0.5, bins
PYTHON
    expect 0 "$stria" verify array.ini
}

bad_sector() {
    made adaptive "a d"
    noise input 20000000
    expect 0 "$stria" record array.ini --name r --input input --report report.json
    json report.json '[(x["name"], x["lost"], x["errors"] > 0) for x in d["drives"]]' "[('a', False, False), ('d', False, True)]"
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini r -o output
    same input output
}

bad_sector_raid0() {
    made raid0 "a d"
    noise input 20000000
    expect 1 "$stria" record array.ini --name r --input input
    says 'no longer plain RAID0'
    expect 0 "$stria" export array.ini r -o output
    same input output
}

it "loses nothing under adaptive while one drive is slow" one_slow adaptive 0 'd["recording"]["dropped_bytes"] == 0'
it "loses what raid0 cannot take while one drive is slow, and says so" one_slow raid0 1 'd["recording"]["dropped_bytes"] > 0 and {gap["cause"] for gap in d["recording"]["gaps"]} == {"buffer"}'
it "shifts the load from a drive that becomes slow, and back" becomes_slow
it "writes a chunk elsewhere when a sector is bad, and keeps the drive" bad_sector
it "says that a recording is no RAID0 any more when a sector is bad" bad_sector_raid0
finish
