#!/bin/sh
# Fake drives: as fast and as full as their profile says, from one run to the next.
. "$(dirname "$0")/lib.sh"

# A drive that writes 120 MB at 300 MB/s and then 26 MB/s.
fake_array() {
    cat >array.ini <<EOF
[array]
name = test
buffer = 64MiB
[drive.left]
path = left.img
size = 256MiB
profile = solidigm-p41-plus
capacity_scale = 0.001
rate_scale = 0.1
EOF
    expect 0 "$stria" init array.ini
}

# record NAME MEGABYTES: its mean rate in MB/s is in $mean.
record() {
    noise input "$2"000000
    expect 0 "$stria" record array.ini --name "$1" --input input --report "$1.json"
    mean=$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(d["aggregate"]["mean_bytes_per_s"] // 1000000)' \
        "$1.json")
    echo "$1: $mean MB/s"
}

filled_yesterday_is_full_today() {
    fake_array
    record first 100
    fast=$mean
    record second 60
    [ "$mean" -lt 60 ] || fail "20 MB at 300 MB/s and 40 at 26 were $mean MB/s"
    [ "$fast" -gt $((mean * 2)) ] || fail "the first recording was no faster than the second"
}

trim_makes_it_new() {
    fake_array
    record first 160
    # Full as it is, it would write on at 26 MB/s.
    expect 0 "$stria" fake trim array.ini
    says '^left: 0 bytes hold data, the next byte is written at 300\.0 MB/s'
    record second 60
    [ "$mean" -gt 40 ] || fail "$mean MB/s behind the trim"
    expect 0 "$stria" ls array.ini --json
    json out '[(x["name"], x["complete"]) for x in d["recordings"]]' "[('first', True), ('second', True)]"
}

rest_brings_the_cache_back() {
    fake_array
    record first 160
    expect 0 "$stria" fake rest 1s array.ini left
    says 'the next byte is written at 26\.2 MB/s'
    expect 0 "$stria" fake rest 180s array.ini left
    says 'the next byte is written at 300\.0 MB/s'
}

# 45 MB/s are too much once the drive has fallen: that is told before the buffer is full, and afterwards where it fell.
the_cliff_is_told() {
    fake_array
    expect 0 "$stria" record array.ini --name r --input synthetic --rate 45MB/s --duration 5500ms --report report.json
    complains 'warning: the drives take less than comes in, left holds most back: the buffer is full in [0-9.]+ s'
    says 'drive left fell from 4[0-9]\.[0-9] MB/s .* to 2[0-9]\.[0-9] MB/s .* behind 1[0-4][0-9]\.[0-9] MB'
    json report.json '[100000000 < x["knee"]["offset_bytes"] < 150000000 for x in d["drives"]]' '[True]'
    json report.json 'd["drives"][0]["knee"]["before_bytes_per_s"] > 1.3 * d["drives"][0]["knee"]["after_bytes_per_s"]' True
    json report.json 'd["recording"]["dropped_bytes"]' 0
}

profiles_are_shown() {
    expect 0 "$stria" fake ls
    says '^samsung-980 +500 +2400\.0 +255\.0'
    says '^teclast-240 '
    expect 0 "$stria" fake ls --json
    json out 'd["schema"], sum(x["name"] == "samsung-sm961" for x in d["profiles"])' "('stria.fake/1', 1)"
    expect 0 "$stria" fake show samsung-980
    says '^ +0 . 20 +2400\.0 +2400\.0 +█+$'
    says 'each place by itself'
    expect 0 "$stria" fake show samsung-980 --json
    json out 'round(d["fill"][0]["bytes_per_s"] / 1e6), round(d["places"][3]["bytes_per_s"] / 1e6)' '(2400, 1000)'
    expect 2 "$stria" fake show samsung-98O
    complains 'did you mean samsung-980'
    complains_once
}

a_measurement_becomes_a_profile() {
    fake_array
    record first 200
    expect 0 "$stria" fake fit first.json --capacity 1GB --model 'The left one' -o left.ini
    expect 0 "$stria" fake show ./left.ini --json
    json out 'd["profile"]["model"]' 'The left one'
    # 26.2 MB/s behind the cliff, as it was measured.
    json out '24 <= d["fill"][-1]["bytes_per_s"] / 1e6 <= 28' True
    printf 'written, rate\n20GB, 2.4GB/s\n50GB, 1.67GB/s\n' >points.csv
    expect 0 "$stria" fake fit points.csv --capacity 500GB
    says '^until_gb = 20 50$'
    says '^rate_gb_per_s = 2\.4 1\.67$'
}

nonsense_gets_a_sentence() {
    array adaptive 2 32MiB
    expect 2 "$stria" fake trim array.ini
    complains 'has no fake drive'
    complains_once
    fake_array
    expect 2 "$stria" fake rest 1s array.ini right
    complains "has no drive 'right'"
    expect 2 "$stria" fake rest soon array.ini
    complains 'soon'
    complains_once
    expect 2 "$stria" fake polish
    complains 'ls, show, trim, rest and fit'
    printf '20GB, 2.4GB/s\n10GB, 1GB/s\n' >points.csv
    expect 2 "$stria" fake fit points.csv
    complains 'points.csv:2: bytes written have to grow'
    echo '{' >broken.json
    expect 2 "$stria" fake fit broken.json
    complains 'is not valid JSON'
    complains_once
    expect 2 "$stria" fake fit missing.json
    complains 'missing.json'
}

it "a drive that falls off its cliff is told of before the buffer is full, and where it fell" the_cliff_is_told
it "a drive that was filled yesterday is still full today" filled_yesterday_is_full_today
it "a trim makes a fake drive new, and keeps the recordings" trim_makes_it_new
it "rest brings the cache back, when it is long enough" rest_brings_the_cache_back
it "profiles are listed and drawn, for people and as JSON" profiles_are_shown
it "a measurement becomes a profile of the same rates" a_measurement_becomes_a_profile
it "nonsense gets a sentence" nonsense_gets_a_sentence
finish
