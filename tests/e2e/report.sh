#!/bin/sh
# Results as a page that a real browser opens, with the network shut off, and in the forms that other programs read.
. "$(dirname "$0")/lib.sh"

browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome || true)

# Two recordings of the same stream on fake drives, one of which falls off its cliff; made once for all.
make_recordings() {
    cat >array.ini <<END
[array]
name = rig
buffer = 8MiB
[drive.left]
path = left.img
size = 160MiB
profile = samsung-980
capacity_scale = 0.0003
rate_scale = 0.02
[drive.right]
path = right.img
size = 160MiB
profile = samsung-sm961
capacity_scale = 0.001
rate_scale = 0.05
END
    for policy in raid0 adaptive; do
        sed "s/^name = rig/&\npolicy = $policy/" array.ini >$policy.ini
        rm -f ./*.img ./*.fake
        expect 0 "$stria" init $policy.ini
        "$stria" record $policy.ini --name take --input synthetic --rate 100MB/s --size 200MB --on-overrun drop \
            --report "$scratch/$policy.json" || [ $? -eq 1 ]
    done
    expect 1 "$stria" simulate --drive '2*samsung-980' --rate 1.7GB/s --size 500GB --buffer 4GiB --json
    cp out "$scratch/simulation.json"
    expect 0 "$stria" bench size new.img --profile samsung-980 --capacity-scale 0.0002 --rate-scale 0.1 --size 40MiB,150MiB \
        --repeats 2 --rest 0s -o "$scratch/bench.json"
}

# A bench of a drive that gets warm, and what a real one would tell besides.
make_a_warm_bench() {
    cat >warm.ini <<END
[drive]
model = warm
capacity_gb = 1
[link]
rate_mb_per_s = 400
[write.table]
until_gb = 1
rate_mb_per_s = 40
[read]
rate_mb_per_s = 400
[heat]
ambient_c = 50
idle_w = 1
active_w = 4
resistance_k_per_w = 10
time_constant_s = 1
warm_c = 95
warm_rate_percent = 50
END
    expect 0 "$stria" bench size new.img --profile ./warm.ini --size 120MB --block 16KiB --repeats 1 --rest 0s -o warm.json
    python3 - "$scratch/warm.json" <<'END'
import json, sys
document = json.load(open("warm.json"))
series = document["rounds"][0]["series"]
bins = len(series["throttle_count"][0])
series["throttle_count"] = [[3 if k < bins // 2 else 4 for k in range(bins)]]
json.dump(document, open(sys.argv[1], "w"))
END
}

inputs() {
    for input in raid0 adaptive simulation bench warm; do
        [ -s "$scratch/$input.json" ] || fail "the inputs were not made"
    done
}

# browse PAGE OPTION...: whatever the page asks for over a network is not found.
browse() {
    [ -n "$browser" ] || skip "there is no Chromium"
    page=$1
    shift
    timeout 120 "$browser" --headless=new --no-sandbox --disable-gpu --hide-scrollbars --disable-dev-shm-usage \
        --user-data-dir="$PWD/browser" --host-resolver-rules='MAP * ~NOTFOUND' --enable-logging=stderr --v=0 \
        --virtual-time-budget=20000 "$@" "file://$PWD/$page" >browsed 2>browser.log || fail "the browser failed: $(tail browser.log)"
    if grep -E 'CONSOLE' browser.log; then
        fail "the page complains"
    fi
}

# drawn PAGE CHARTS OPTION...: so many charts or more, every one with something in it, and nothing wider than the window.
drawn() {
    wanted=$2
    page=$1
    shift 2
    browse "$page" --dump-dom "$@"
    charts=$(sed -n 's/^<html.* data-charts="\([0-9]*\)".*/\1/p' browsed)
    [ "${charts:-0}" -ge "$wanted" ] || fail "fewer than $wanted charts: $(grep -o '<html[^>]*>' browsed)"
    for attribute in 'data-state="drawn"' "data-inked=\"$charts\"" 'data-overflow="0"'; do
        grep -q -e "$attribute" browsed || fail "the page lacks $attribute: $(grep -o '<html[^>]*>' browsed)"
    done
}

# shows CAPTION...: charts of these names are in the page that was browsed last.
shows() {
    for caption; do
        grep -q -F "<figcaption>$caption<" browsed || fail "there is no chart '$caption'"
    done
}

a_page_is_made() {
    inputs
    for input in raid0 adaptive simulation bench warm; do
        expect 0 "$stria" report "$scratch/$input.json" -o $input.html
        grep -q '</html>' $input.html || fail "$input.html has no end"
    done
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/bench.json" "$scratch/simulation.json" -o all.html
    [ "$(wc -c <all.html)" -gt "$(wc -c <raid0.html)" ] || fail "what was added is not in the page"
}

a_page_is_drawn() {
    inputs
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/adaptive.json" -o page.html
    [ ! -s out ] || fail "it also wrote to standard output"
    drawn page.html 6
    expect 0 "$stria" report "$scratch/simulation.json" -o page.html
    drawn page.html 6
    shows 'Latency percentiles' 'Buffer fill'
    expect 0 "$stria" report "$scratch/bench.json" -o page.html
    drawn page.html 5
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/bench.json" "$scratch/simulation.json" -o page.html
    drawn page.html 11
}

latencies_and_temperatures_are_drawn() {
    inputs
    expect 0 "$stria" report "$scratch/warm.json" -o page.html
    drawn page.html 6
    shows 'Bandwidth over time' 'Latency percentiles' 'Latency over time' Temperature
    grep -q -F 'p99' browsed || fail "no p99 over time"
    # Of each drive, and without what a recording does not know.
    expect 0 "$stria" report "$scratch/adaptive.json" -o page.html
    drawn page.html 5
    shows 'Latency percentiles' 'Latency over time' 'Buffer fill'
    grep -q -E '(left|right) (longest|p99)' browsed || fail "no latencies of each drive"
    ! grep -q -F '<figcaption>Temperature<' browsed || fail "a temperature that nobody measured"
    # A document of before there were histograms shows its percentiles.
    python3 - "$scratch/adaptive.json" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
del document["latency_series"], document["aggregate"]["histogram"]
for drive in document["drives"]:
    del drive["histogram"]
json.dump(document, open("old.json", "w"))
END
    expect 0 "$stria" report old.json -o page.html
    drawn page.html 4
    shows 'Latency percentiles'
    ! grep -q -F '<figcaption>Latency over time<' browsed || fail "latencies over time that nobody measured"
}

a_page_is_seen() {
    inputs
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/adaptive.json" -o page.html
    browse page.html --screenshot=light.png --window-size=1000,900
    python3 "$source_folder/tests/e2e/png.py" light.png --expect light --hues 2
    browse page.html --screenshot=dark.png --window-size=1000,900 --blink-settings=preferredColorScheme=0
    python3 "$source_folder/tests/e2e/png.py" dark.png --expect dark --hues 2
}

a_page_fits_a_phone() {
    inputs
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/bench.json" -o page.html
    drawn page.html 7 --window-size=390,844
    browse page.html --screenshot=phone.png --window-size=390,1600
    python3 "$source_folder/tests/e2e/png.py" phone.png --expect light --hues 2
}

a_page_is_printed() {
    inputs
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/adaptive.json" -o page.html
    browse page.html --print-to-pdf=page.pdf --no-pdf-header-footer --blink-settings=preferredColorScheme=0
    python3 - <<'END' || fail "the print lacks charts, or is dark"
import re, zlib
pdf, text = open("page.pdf", "rb").read(), b""
for stream in re.finditer(rb"stream\r?\n", pdf):
    try:
        text += zlib.decompressobj().decompress(pdf[stream.end():])
    except zlib.error:
        pass
lines = len(re.findall(rb"\bl\n", text))
pages = len(re.findall(rb"/Type */Page\b", pdf))
print(f"{pages} pages, {lines} lines")
# The first hue of the light palette, and not that of the dark one.
assert pdf.startswith(b"%PDF-") and 1 <= pages <= 8 and lines > 300
assert b"0 .4471 .698 RG" in text and b".302 .6392 .8667 RG" not in text
END
}

names_cannot_break_out() {
    inputs
    python3 - "$scratch/raid0.json" <<'END'
import json, sys
document = json.load(open(sys.argv[1]))
evil = "</script><script>console.error('broken out')</script><img src=x onerror=\"console.error('out')\">"
document["drives"][0]["name"] = document["drives"][1]["path"] = evil
document["recording"]["name"] = document["array"]["name"] = evil
for gap in document["recording"]["gaps"]:
    gap["drive"] = gap["cause"] = evil
json.dump(document, open("evil.json", "w"))
END
    expect 0 "$stria" report evil.json -o page.html
    drawn page.html 4
    grep -q '&lt;/script&gt;' browsed || fail "the name is not shown"
}

a_script_error_would_be_noticed() {
    inputs
    expect 0 "$stria" report "$scratch/raid0.json" -o page.html
    sed 's/^  paint();$/  nothing.there();/' page.html >broken.html
    if (drawn broken.html 4) >noticed 2>&1; then
        fail "a broken page passes"
    fi
    grep -q 'the page complains' noticed || skip "$(tail -n 1 noticed)"
}

other_forms() {
    inputs
    expect 0 "$stria" report "$scratch/raid0.json" "$scratch/bench.json" --csv
    python3 - "$scratch/raid0.json" <<'END' || fail "the CSV is not what was measured"
import csv, json, sys
rows = list(csv.DictReader(open("out", newline="")))
document = json.load(open(sys.argv[1]))
stored = sum(int(row["value"]) for row in rows if row["result"] == "raid0" and row["quantity"] == "stored_bytes")
assert stored == document["recording"]["bytes"] == sum(map(sum, document["series"]["drive_bytes"])), stored
rating = [row["value"] for row in rows if row["result"] == "bench" and row["quantity"] == "minimum_bytes_per_s" and not row["round"]]
assert len(rating) == 1, rating
END
    expect 0 "$stria" report "$scratch/raid0.json" --openmetrics -o stria.prom
    [ "$(tail -n 1 stria.prom)" = "# EOF" ] || fail "no end"
    expect 0 "$stria" report "$scratch/raid0.json" --influx
    says '^stria,result=raid0,kind=record .*dropped_bytes=[0-9]+i'
    python3 - "$scratch/raid0.json" <<'END' || fail "the points are not of when it was"
import datetime, json, sys
document = json.load(open(sys.argv[1]))
started = datetime.datetime.fromisoformat(document["started"].replace("Z", "+00:00")).timestamp()
until = started + document["recording"]["duration_ns"] / 1e9
times = [int(line.rsplit(" ", 1)[1]) / 1e9 for line in open("out") if line.startswith("stria_bin,")]
assert len(times) > 20 and started < min(times) and max(times) < until + 1.001, (started, min(times), max(times), until)
END
    expect 0 "$stria" report "$scratch/bench.json" --influx
    python3 - "$scratch/bench.json" <<'END' || fail "rounds are not where they were"
import datetime, json, sys
document = json.load(open(sys.argv[1]))
started = datetime.datetime.fromisoformat(document["started"].replace("Z", "+00:00")).timestamp()
begins = [round["begin_ns"] / 1e9 for round in document["rounds"]]
assert begins == sorted(begins) and len(set(begins)) == 4, begins
rounds = [float(line.rsplit(" ", 1)[1]) / 1e9 for line in open("out") if line.startswith("stria,") and ",round=" in line]
assert all(abs(time - started - begin) < 1e-3 for time, begin in zip(rounds, begins)), (rounds, begins)
END
    "$stria" report - --csv <"$scratch/bench.json" >out || fail "not from standard input"
    says '^standard input,'
}

nothing_precious_is_overwritten() {
    inputs
    cp "$scratch/raid0.json" result.json
    expect 2 "$stria" report result.json -o result.json
    complains 'one of the results'
    same result.json "$scratch/raid0.json"
    array raid0 1 32MiB
    expect 0 "$stria" init array.ini
    cp drive0.img before
    expect 2 "$stria" report result.json -o drive0.img
    complains 'drive of an array'
    same drive0.img before
    mkdir folder
    expect 2 "$stria" report result.json -o folder
    complains 'folder'
    truncate -s 8M disk
    device=$(loop_device disk)
    expect 2 "$stria" report result.json -o "$device"
    complains 'device'
    cmp -n 8388608 disk /dev/zero || fail "the device was written to"
}

nonsense_gets_a_sentence() {
    inputs
    cp "$scratch/raid0.json" a.json
    head -c 2000 a.json >half.json
    echo '{"schema": "stria.record/9"}' >later.json
    while IFS='|' read -r words complaint; do
        eval "expect 2 \"$stria\" $words"
        complains "$complaint"
        complains_once
    done <<'END'
report|something is missing
report a.json|write -o page.html
report a.json --csv --influx|one form at a time
report none.json --csv|cannot read none.json
report half.json --csv|ends in the middle
report later.json --csv|reads stria.record/1
report a.json --cvs|did you mean --csv
compare a.json|something is missing
compare a.json half.json|ends in the middle
compare a.json a.json --despite weather|there is no condition 'weather'
compare a.json a.json --tolerance some|--tolerance
compare a.json a.json --price-a 3|add it, or leave them out
compare a.json a.json --versus --despite kernel|no equal conditions
compare a.json a.json --versus --price-a dear|--price-a
END
}

comparisons() {
    inputs
    for policy in raid0 adaptive; do
        expect 0 "$stria" simulate --drive samsung-980 --drive samsung-sm961 --policy $policy --size 200GB --json
        cp out $policy.json
    done
    expect 0 "$stria" compare raid0.json raid0.json
    says '^same$'
    expect 2 "$stria" compare raid0.json adaptive.json
    says '^not comparable$'
    says 'policy differs: raid0 against adaptive'
    expect 0 "$stria" compare raid0.json adaptive.json --despite policy
    says '^better$'
    expect 1 "$stria" compare adaptive.json raid0.json --despite policy --json
    json out 'd["schema"], d["verdict"], d["reasons"]' "('stria.compare/1', 'worse', [])"
    json out '[f["verdict"] for f in d["figures"] if f["figure"] == "mean_bytes_per_s"]' "['worse']"
    expect 0 "$stria" compare "$scratch/bench.json" "$scratch/bench.json" --json
    json out 'd["verdict"], sorted({f["point"] for f in d["figures"]})' "('same', ['150MiB', '40MiB'])"
    expect 2 "$stria" compare "$scratch/bench.json" "$scratch/raid0.json"
    says 'test differs'
}

two_against_one() {
    expect 0 "$stria" simulate --drive '2*samsung-980' --size 500GB --json
    cp out two.json
    expect 0 "$stria" simulate --drive samsung-980-pro --size 500GB --json
    cp out one.json
    expect 0 "$stria" compare --versus two.json one.json --price-a 90 --price-b 130 --rate 1.6GB/s --json
    json out 'd["versus"]["winners"]["mean_bytes_per_s"], d["versus"]["winners"]["lossless_bytes_per_s"]' "('a', 'b')"
    json out 'd["versus"]["winners"]["price"], d["versus"]["b"]["price"], d["versus"]["rate_bytes_per_s"]' "('a', 130.0, 1600000000)"
    json out 'd["versus"]["a"]["capacity_is_at_least"], d["versus"]["b"]["capacity_is_at_least"]' '(True, True)'
    # Told of the free run only, it knows where the simulator's paced recording first loses.
    expect 1 "$stria" simulate --drive '2*samsung-980' --size 500GB --rate 1.7GB/s --buffer 4GiB --json
    cp out paced.json
    expect 0 "$stria" compare --versus two.json one.json --rate 1.7GB/s --buffer 4GiB --json
    python3 - <<'END' || fail "the capacity is not where the loss begins"
import json
lost = json.load(open("paced.json"))["first_loss"]["offset_bytes"]
told = json.load(open("out"))["versus"]["a"]["capacity_bytes"]
print(f"first loss at {lost / 1e9:.1f} GB, capacity {told / 1e9:.1f} GB")
assert abs(told / lost - 1) < 0.02
END
}

it "recordings, a simulation and a bench are the inputs" make_recordings
it "a bench of a drive that gets warm is another" make_a_warm_bench
# The browser sees the same page whoever has made it.
if [ -n "${STRIA_SANITIZED-}" ] && [ -z "${STRIA_TEST_LONG-}" ]; then
    it "a page is made of every kind of result" a_page_is_made
else
    it "a page opens from disk without a network, complains of nothing and draws every chart" a_page_is_drawn
    it "latencies by percentile and over time, and temperatures, are drawn where there are any" latencies_and_temperatures_are_drawn
    it "a page is seen in colours, light and dark" a_page_is_seen
    it "a page fits a phone" a_page_fits_a_phone
    it "a page is printed with its charts" a_page_is_printed
    it "names cannot break out of the page" names_cannot_break_out
    it "a page with an error in its script would be noticed" a_script_error_would_be_noticed
fi
it "CSV, OpenMetrics and InfluxDB lines are what was measured" other_forms
it "results, drives, devices and folders are not overwritten" nothing_precious_is_overwritten
it "nonsense gets a sentence" nonsense_gets_a_sentence
it "results are better, the same, worse, or not comparable" comparisons
it "two cheaper drives against one fast one" two_against_one
finish
