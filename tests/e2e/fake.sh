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

two_at_once() {
    fake_array
    "$stria" record array.ini --name long --input synthetic --rate 10MB/s --duration 30s >long.log 2>&1 &
    recorder=$!
    until_true 20 sh -c "'$stria' ls array.ini --json | grep -q long"
    expect 2 "$stria" fake trim array.ini
    complains 'is busy'
    complains_once
    expect 2 "$stria" record array.ini --name other --input synthetic --size 1MB
    complains 'is busy'
    kill $recorder
    wait $recorder || :
    expect 0 "$stria" fake trim array.ini
}

a_full_disk_keeps_no_state_from_being_stored() {
    mounted_tmpfs small 24m
    array adaptive 1 16MiB
    mv array.ini small && cd small
    echo 'profile = samsung-sm961' >>array.ini
    expect 0 "$stria" init array.ini
    dd if=/dev/zero of=fill bs=4k 2>/dev/null || :
    expect 0 "$stria" record array.ini --name one --input synthetic --size 2MB
    expect 0 "$stria" fake rest 0 array.ini
    says '^d0: [2-4]\.[0-9] MB'
    mv drive0.img.fake ../kept
    echo full >>fill || :
    dd if=/dev/zero of=fill oflag=append conv=notrunc bs=4k 2>/dev/null || :
    expect 3 "$stria" record array.ini --name two --input synthetic --size 2MB
    complains 'no room for drive0\.img\.fake, the state of a fake drive, which takes 32 KiB'
    complains_once
    cd ..
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
    printf '\357\273\277# Test report of May\n\nwritten, rate\n20GB, 2.4GB/s\n50GB, 1.67GB/s\n70GB; 5GB/s\n' >points.csv
    expect 0 "$stria" fake fit points.csv --capacity 500GB
    says '^until_gb = 20 50 70$'
    says '^rate_gb_per_s = 2\.4 1\.67 5$'
    says '^model = points\.csv$'
}

# What any command has written down about a drive can become a profile of it.
results_of_other_commands_become_profiles() {
    expect 0 "$stria" simulate --drive solidigm-p41-plus --drive samsung-980 --size 300GB --json
    cp out simulated.json
    expect 0 "$stria" fake fit simulated.json --drive solidigm-p41-plus --capacity 1TB
    says '^rate_bytes_per_s = .* 26[0-9]{7}$'
    expect 0 "$stria" bench fill target.img --size 64MiB --repeats 1 --rest 0 -o bench.json
    expect 0 "$stria" fake fit bench.json --model 'Bench me; twice'
    says '^model = Bench me; twice$'
}

a_recording_that_waited_for_its_input_is_no_measurement() {
    fake_array
    expect 0 "$stria" record array.ini --name slow --input synthetic --rate 10MB/s --size 8MB --report slow.json
    expect 2 "$stria" fake fit slow.json
    complains 'slow.json tells how fast the input was, and not the drives'
    complains_once
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
    while IFS='|' read -r text complaint; do
        echo "$text" >broken.json
        expect 2 "$stria" fake fit broken.json
        complains "$complaint"
        complains_once
    done <<'END'
{|broken.json
[]|broken.json
{"series":{"drive_bytes":[5],"interval_ns":1},"drives":[]}|broken.json
{"schema":"stria.record/1","series":{"drive_bytes":5},"drives":5}|broken.json
20GB, nan|broken.json:1: .* is not a rate
20GB, -1|broken.json:1: .* is not a rate
20GB, 2000GB/s|broken.json:1: .* at most 1000 GB/s
20GB, 0|broken.json:1: .* more than zero
18446744073709551615, 1|no possible drive
20GB 2GB/s|a line is bytes written in all, a comma
|nothing was written
END
    python3 -c 'print("20GB, " + "0" * 300 + "1")' >points.csv
    expect 2 "$stria" fake fit points.csv
    complains 'points.csv:1: the line is longer'
    expect 2 "$stria" fake fit .
    complains 'directory'
    printf '20GB, 2.4GB/s\n' >points.csv
    while IFS='|' read -r words complaint; do
        eval "expect 2 \"$stria\" fake $words"
        complains "$complaint"
        complains_once
    done <<'END'
fit points.csv --capacity 10GB|more than a drive of 10000000000 bytes
fit points.csv --capacity 0|more than nothing
fit points.csv --model "$(printf 'two\nlines')"|--model cannot be
fit points.csv --model 'one ; two'|--model cannot be
fit points.csv --model ' one'|--model cannot be
fit points.csv --model xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx|it takes 1 to 63
fit points.csv -o missing/left.ini|missing/left.ini
ls -o left.ini|are for fit
show samsung-980 --capacity 1GB|are for fit
trim array.ini --json|--json is for ls and show
rest -5s array.ini|unknown option '-5s'
rest 99999999999h array.ini|too large for a time
rest 5124095h array.ini|ten years at most
END
    expect 2 "$stria" fake fit missing.json
    complains 'missing.json'
}

it "a drive that falls off its cliff is told of before the buffer is full, and where it fell" the_cliff_is_told
it "a drive that was filled yesterday is still full today" filled_yesterday_is_full_today
it "a trim makes a fake drive new, and keeps the recordings" trim_makes_it_new
it "rest brings the cache back, when it is long enough" rest_brings_the_cache_back
it "a full disk keeps no state from being stored, and no room for one is told" a_full_disk_keeps_no_state_from_being_stored
it "two who want the same fake drive get it one after the other" two_at_once
it "profiles are listed and drawn, for people and as JSON" profiles_are_shown
it "a measurement becomes a profile of the same rates" a_measurement_becomes_a_profile
it "results of other commands become profiles" results_of_other_commands_become_profiles
it "a recording that waited for its input is no measurement of its drives" a_recording_that_waited_for_its_input_is_no_measurement
it "nonsense gets a sentence" nonsense_gets_a_sentence
finish
