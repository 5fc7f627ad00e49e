#!/bin/sh
# Arrays that nobody has bought yet: what the simulation says of them, and that it says the truth.
. "$(dirname "$0")/lib.sh"

lossless_or_not() {
    expect 0 "$stria" simulate --drive samsung-980 --drive samsung-980 --rate 1.6GB/s --size 500GB --buffer 4GiB
    says '^LOSSLESS'
    says 'too slow after 5 min 16 s, at 506\.[0-9] GB'
    # The cliff at the very end is the buffer's.
    says '^  64MiB +1640\.'
    says '^\* 4GiB +16[0-9][0-9]\.'
    says '█████'
    expect 1 "$stria" simulate --drive '2*samsung-980' --rate 1.7GB/s --size 500GB --buffer 4GiB
    says '^NOT LOSSLESS: 6\.[0-9] GB'
    says 'first loss comes after 3 min 08 s, at 321\.[0-9] GB .* drive [01] \(samsung-980\) holds most back'
    says 'too slow after 3 min 08 s'
    expect 0 "$stria" simulate --drive samsung-sm961 --rate 1GB/s --size 2GB --buffer 4GiB
    says '^\* 4GiB +any: the whole recording fits'
    # A time that is asked about is no less: what is still in the buffer at its end is not counted as stored.
    expect 0 "$stria" simulate --drive samsung-sm961 --duration 2s --buffer 4GiB
    says '^  mean +1(499|500)\.'
    expect 0 "$stria" simulate --drive samsung-sm961 --rate 1GB/s --size 100GB
    says 'At this rate the array is full after 4 min 15 s, at 256\.0 GB'
}

the_document_has_all_keys() {
    keys="['asked', 'buffer', 'capacity_bytes', 'compare', 'drives', 'dropped_bytes', 'duration_ns', 'first_loss', 'histogram', 'latency_ns', 'limit', \
'lossless_bytes_per_s', 'mean_bytes_per_s', 'schema', 'series', 'stored_bytes', 'stream_bytes', 'sustained_bytes_per_s', \
'verdict', 'want']"
    expect 1 "$stria" simulate --drive '2*samsung-980' --rate 1.7GB/s --size 500GB --buffer 4GiB --json
    json out 'd["schema"], d["verdict"], d["stored_bytes"] + d["dropped_bytes"] == d["stream_bytes"]' \
        "('stria.simulate/1', 'lossy', True)"
    json out 'sorted(d)' "$keys"
    json out 'round(d["first_loss"]["time_ns"] / 1e9), round(d["first_loss"]["offset_bytes"] / 1e9)' '(189, 321)'
    json out 'd["first_loss"]["drive"] in (0, 1), len(d["drives"]), sum(x["bytes"] for x in d["drives"]) == d["stored_bytes"]' \
        '(True, 2, True)'
    json out 'd["buffer"]["high_water_bytes"] == d["buffer"]["bytes"] == max(d["buffer"]["high_water_bytes_series"])' True
    # Rising with the buffer, from the lowest second's towards the mean.
    json out '[int(k) for k in d["lossless_bytes_per_s"]] == sorted(int(k) for k in d["lossless_bytes_per_s"])' True
    json out 'list(d["lossless_bytes_per_s"].values()) == sorted(d["lossless_bytes_per_s"].values())' True
    json out 'd["want"], d["compare"]' '(None, None)'
    cp out first
    expect 1 "$stria" simulate --drive '2*samsung-980' --rate 1.7GB/s --size 500GB --buffer 4GiB --json
    same out first
    expect 0 "$stria" simulate --drive samsung-sm961 --size 10GB --json
    json out 'sorted(d)' "$keys"
    json out 'd["verdict"], d["first_loss"], d["limit"]' '(None, None, None)'
    expect 0 "$stria" simulate --drive '2*samsung-980' --size 480GB --json
    json out 'd["sustained_bytes_per_s"]["1s"] <= d["lossless_bytes_per_s"]["67108864"] <= d["mean_bytes_per_s"] * 1.001' True
}

what_is_lossless_is_told_by_the_rate() {
    expect 0 "$stria" simulate --drive '3*samsung-980' --size 200GB --capacity-scale 0.5 --json
    rate=$(python3 -c 'import json; print(json.load(open("out"))["lossless_bytes_per_s"]["536870912"])')
    expect 0 "$stria" simulate --drive '3*samsung-980' --size 200GB --capacity-scale 0.5 --rate $((rate / 100 * 99))
    expect 1 "$stria" simulate --drive '3*samsung-980' --size 200GB --capacity-scale 0.5 --rate $((rate / 100 * 103))
}

wanted_drives_are_found() {
    for one in samsung-980:45 samsung-sm961:80 samsung-980-pro:100; do
        sed "s/^\[drive\]/[drive]\nprice = ${one#*:}/" "$source_folder/config/profiles/${one%:*}.ini" >"${one%:*}.ini"
    done
    set -- --drive ./samsung-980.ini --drive ./samsung-sm961.ini --drive ./samsung-980-pro.ini
    expect 0 "$stria" simulate --want 2.5GB/s --duration 40s "$@"
    says '^ +samsung-980-pro +1 '
    says '^cheapest: 2 × samsung-980 for 90\.00'
    expect 0 "$stria" simulate --want 2.5GB/s --duration 3min "$@" --json
    json out '[x["drives"] for x in d["want"]["profiles"]]' '[4, 2, 2]'
    json out 'd["want"]["cheapest"]["price"], sum(d["want"]["cheapest"]["mix"].values()) == d["want"]["cheapest"]["drives"]' \
        '(145.0, True)'
    json out 'sorted(d["want"]["cheapest"]["mix"].values())' '[1, 1]'
    expect 1 "$stria" simulate --want 60GB/s --duration 10s --drive teclast-240
    says 'no number of these drives'
}

# The command in docs/two-cheaper-drives.md prints the table in it.
the_documented_table_is_what_is_printed() {
    page=$source_folder/docs/two-cheaper-drives.md
    sed -n '/^<!-- generated/,/^<!-- end/{/^<!--/d;p}' "$page" >documented
    command=$(sed -n 's/^stria simulate --compare/simulate --compare/p' "$page")
    eval "expect 0 \"$stria\" $command"
    same out documented
    eval "expect 0 \"$stria\" $command --json"
    winner='lambda size, policy, key, names: max((x for x in next(r for r in d["compare"] if r["size_bytes"] == size * 10**9 and r["policy"] == policy)["arrays"] if x["array"] in names), key=lambda x: x[key])["array"]'
    pair='("2*samsung-980", "samsung-980-pro")'
    for policy in raid0 adaptive; do
        json out "($winner)(400, '$policy', 'mean_bytes_per_s', $pair)" '2*samsung-980'
        json out "($winner)(400, '$policy', 'minimum_bytes_per_s', $pair)" samsung-980-pro
        json out "($winner)(400, '$policy', 'lossless_bytes_per_s', $pair)" samsung-980-pro
        json out "($winner)(100, '$policy', 'minimum_bytes_per_s', $pair)" '2*samsung-980'
        json out "next(r for r in d['compare'] if r['size_bytes'] == 4 * 10**11 and r['policy'] == '$policy')['best']['lossless_bytes_per_s']" \
            '2*samsung-sm961'
    done
    rate='lambda policy: next(x for r in d["compare"] if r["size_bytes"] == 4 * 10**11 and r["policy"] == policy for x in r["arrays"] if "+" in x["array"])["lossless_bytes_per_s"]'
    json out "($rate)('adaptive') > 1.3 * ($rate)('raid0')" True
}

# sensor RATE: records it in real time onto the fake drives, new ones; exit status 1 when something was lost.
sensor() {
    rm -f left.img* right.img*
    expect 0 "$stria" init array.ini
    got=0
    "$stria" record array.ini --name sensor --input synthetic --size 400MB --rate "$1" --on-overrun drop >out 2>err || got=$?
    echo "a sensor of $1: $got"
    [ "$got" -le 1 ] || fail "exit status $got: $(cat err)"
    return "$got"
}

# Records onto new fake drives as fast as they go and makes profiles from the report; exit status 1 when a simulation with
# these does not take the time that the recording took.
fitted() {
    rm -f left.* right.*
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --name one --input synthetic --size 400MB --report one.json
    for drive in left right; do
        path=$(python3 -c 'import json, sys; print(*[x["path"] for x in json.load(open("one.json"))["drives"] if x["name"] == sys.argv[1]])' $drive)
        expect 0 "$stria" fake fit one.json --drive "$path" --capacity 314572800 -o "$drive.ini"
    done
    expect 0 "$stria" simulate --drive ./left.ini --drive ./right.ini --size 400MB --buffer 32MiB --json
    python3 - <<'PYTHON'
import json, sys
said, was = json.load(open("out"))["mean_bytes_per_s"], json.load(open("one.json"))["aggregate"]["mean_bytes_per_s"]
print(f"simulated / recorded: {said / was:.3f}")
sys.exit(abs(said / was - 1) >= 0.05)
PYTHON
}

# Two unequal fake drives are recorded on in real time, as fast as they go, and profiles are made from the report. What
# a simulation with these says a sensor may have, it may have in real time within 5 %. A busy machine makes fake drives
# slower, never faster, and in fits: what it can disturb has more than one try.
a_fitted_simulation_predicts_the_recording() {
    cat >array.ini <<END
[array]
name = test
buffer = 32MiB
[drive.left]
path = left.img
size = 300MiB
profile = solidigm-p41-plus
capacity_scale = 0.0008
rate_scale = 0.08
[drive.right]
path = right.img
size = 300MiB
profile = samsung-980
capacity_scale = 0.0008
rate_scale = 0.08
END
    fitted || fitted || fitted || fail "what is simulated is not what was recorded"
    below=40000000 above=120000000
    while [ $((above - below)) -gt 500000 ]; do
        middle=$(((below + above) / 2))
        if "$stria" simulate --drive ./left.ini --drive ./right.ini --size 400MB --buffer 32MiB --rate $middle >out; then
            below=$middle
        else
            above=$middle
        fi
    done
    ! sensor $((above * 105 / 100)) || fail "$below bytes/s are told to be the limit, 5 % more are lossless too"
    slower=$((below * 95 / 100))
    sensor $slower || sensor $slower || sensor $slower || fail "$below bytes/s are told, 5 % less are too much"
}

nonsense_gets_a_sentence() {
    while IFS='|' read -r words complaint; do
        eval "expect 2 \"$stria\" simulate $words"
        complains "$complaint"
        complains_once
    done <<'END'
|name the drives with --drive
--drive samsung-98O|did you mean samsung-980
--drive samsung-980 --rate 0|more than zero
--drive samsung-980 --rate -1|-1
--drive samsung-980 --rate fast|fast
--drive samsung-980 --size 0|nothing cannot be simulated
--drive samsung-980 --duration 0|nothing cannot be simulated
--drive 0*samsung-980|no drives
--drive 33*samsung-980|more than 32
--drive samsung-980 --chunk 3MiB|power of two
--drive samsung-980 --depth 0|1 to 256
--drive samsung-980 --buffer 1MiB|--buffer takes 4 to 65536 chunks
--drive samsung-980 --policy raid5|adaptive or raid0
--drive samsung-980 --capacity-scale 1e9|1e9
--drive samsung-980 --capacity-scale 0.0000001|too small
--drive samsung-980 --capacity-scale 1000 --chunk 64KiB|more than can be simulated
--drive samsung-980 --rate 1|more than a year
--drive samsung-980 --rate 1GB/s --duration 1000000h|more than a year
--drive samsung-980 --rate 18446744073709551615 --duration 1h|more than can be simulated
--drive samsung-980 --rate nan|not a rate
--want 1GB/s|needs a --duration
--want 1GB/s --rate 1GB/s --duration 1s|in place of --rate
--compare samsung-980 --drive samsung-980|stands without --drive
--compare samsung-980+|samsung-980
--drive samsung-980 --sise 3GB|did you mean --size
END
}

# A wait of minutes, if nothing ends it.
a_signal_ends_it() {
    for signal in INT TERM HUP; do
        expect 124 timeout -k 20 -s $signal 0.3 \
            "$stria" simulate --drive '32*samsung-pm9a3' --rate 1GB/s --chunk 256KiB --size 8TB
    done
}

# Hours of drives one after the other, in arithmetic that the tests of the core have shown the sanitizers.
if [ -z "${STRIA_SANITIZED-}" ] || [ -n "${STRIA_TEST_LONG-}" ]; then
    it "a recording is lossless or not, and if not it is told when, where and for which drive" lossless_or_not
    it "the fewest drives and the cheapest mix for a sensor are found" wanted_drives_are_found
    it "the documented comparison is what the command prints, and averages and minima name different winners" \
        the_documented_table_is_what_is_printed
    it "profiles fitted to a recording predict its lossless rate within 5 %" a_fitted_simulation_predicts_the_recording
fi
it "the document has the same keys whatever was asked, and is the same for the same seed" the_document_has_all_keys
it "a sensor a little below the lossless rate loses nothing, one a little above does" what_is_lossless_is_told_by_the_rate
it "a signal ends it at once" a_signal_ends_it
it "nonsense gets a sentence" nonsense_gets_a_sentence
finish
