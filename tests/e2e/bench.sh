#!/bin/sh
# stria bench: what it measures, what it refuses, what it leaves behind. Nothing here depends on how fast the machine
# is: rates are those of modelled drives, or are not looked at.
. "$(dirname "$0")/lib.sh"

# A drive that writes 20 MB/s, or what its first argument says, and knows no heat.
flat_profile() {
    cat >flat.ini <<EOF
[drive]
model = flat
capacity_mb = 1000
[link]
rate_mb_per_s = 400
[write.table]
until_mb = 1000
rate_mb_per_s = ${1-20}
[read]
rate_mb_per_s = 400
EOF
}

bench() {
    "$stria" bench "$@" --rest 0
}

a_new_file_is_measured_and_gone() {
    expect 0 bench size new.img --size 1MiB,2MiB --repeats 2 -o result.json
    [ ! -e new.img ] || fail "new.img is still there"
    json result.json 'd["schema"], d["partial"], d["test"], d["command"][:4]' \
        "('stria.bench/1', False, 'size', ['stria', 'bench', 'size', 'new.img'])"
    json result.json '[(r["point"], r["repeat"], r["bytes"]) for r in d["rounds"]]' \
        "[('1MiB', 0, 1048576), ('2MiB', 0, 2097152), ('1MiB', 1, 1048576), ('2MiB', 1, 2097152)]"
    json result.json 'd["drives"][0]["size_bytes"]' 2097152
}

the_sum_of_the_bins_is_the_total() {
    flat_profile
    expect 0 bench size a.img b.img --profile ./flat.ini --size 4MiB --repeats 1 -o result.json
    json result.json '[sum(map(sum, r["series"]["drive_bytes"])) == r["bytes"] == 8388608
        for r in d["rounds"]]' '[True]'
    json result.json '[sum(n for low, n in r["histogram"]) for r in d["rounds"]]' '[8]'
    json result.json '[len({len(x) for x in s["drive_bytes"] + s["temperature_c"] + s["throttle_count"] +
        [s["latency_p99_ns"], s["latency_max_ns"], s["buffer_bytes"]]}) for s in (r["series"] for r in d["rounds"])]' '[1]'
}

a_modelled_drive_is_as_fast_as_its_model() {
    flat_profile 20
    expect 0 bench size new.img --profile ./flat.ini --size 24MB --repeats 2 -o result.json
    # Never faster; how much slower is a matter of the machine.
    json result.json '0 < d["rating_bytes_per_s"] <= 21100000, d["rounds"][0]["mean_bytes_per_s"] <= 20900000' '(True, True)'
    json result.json 'd["rating_bytes_per_s"] == min(r["min_bytes_per_s"] for r in d["rounds"])' True
    json result.json 'd["drives"][0]["link"]["bytes_per_s"]' 400000000
    says '24MB +write +2 '
}

it "a new file is measured and gone again" a_new_file_is_measured_and_gone
it "the sum of the bins is the total, and all series are on one time line" the_sum_of_the_bins_is_the_total
it "a modelled drive is as fast as its model, and rated by its minimum" a_modelled_drive_is_as_fast_as_its_model
finish
