#!/bin/sh
# stria bench: what it measures, what it refuses, what it leaves behind. Nothing here depends on how fast the machine
# is: rates are those of modelled drives, or are not looked at.
. "$(dirname "$0")/lib.sh"

# A drive that writes 20 MB/s and knows no heat.
# flat_profile [RATES [UNTIL]]: MB/s, each until so many GB are written.
flat_profile() {
    cat >flat.ini <<EOF
[drive]
model = flat
capacity_gb = 1
[link]
rate_mb_per_s = 400
[write.table]
until_gb = ${2-1}
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

the_fast_region_ends_in_a_knee() {
    flat_profile '40 10' '0.06 1'
    expect 0 bench fill new.img --profile ./flat.ini --size 80MB --repeats 1 -o result.json
    json result.json '50000000 <= d["knee"]["offset_bytes"] <= 70000000, d["knee"]["after_bytes_per_s"] < 11000000' \
        '(True, True)'
    json result.json 'len(d["fill"]["bytes_per_s"]) in (32, 33), d["fill"]["step_bytes"] > 0' '(True, True)'
    says 'knee +behind'
}

places_come_in_an_order_of_chance() {
    expect 0 bench zone new.img --size 256KiB --block 64KiB --zones 8 --repeats 2 --seed 3 -o one.json
    expect 0 bench zone new.img --size 256KiB --block 64KiB --zones 8 --repeats 2 --seed 3 -o two.json
    json one.json 'sorted(r["offset_bytes"] for r in d["rounds"][:8]) == [262144 * i for i in range(8)]' True
    json one.json '[r["offset_bytes"] for r in d["rounds"][:8]] == sorted(r["offset_bytes"] for r in d["rounds"][:8])' False
    order='[r["offset_bytes"] for r in d["rounds"]]'
    json two.json "$order" "$(python3 -c "import json; d = json.load(open('one.json')); print($order)")"
    json one.json '[(p["point"], p["repeats"]) for p in d["points"]].count(("at 0", 2))' 1
}

every_block_goes_with_every_depth() {
    expect 0 bench block new.img --size 4MiB --block 4KiB,64KiB --depth 1,4 --runtime 20ms --repeats 1 -o result.json
    json result.json '[(r["block_bytes"], r["depth"]) for r in d["rounds"]]' '[(4096, 1), (4096, 4), (65536, 1), (65536, 4)]'
}

steady_state_is_attained_by_a_steady_drive() {
    flat_profile 20
    expect 0 bench steady new.img --profile ./flat.ini --size 1MB --block 64KiB --runtime 300ms -o result.json
    json result.json 'd["rounds"][0]["point"], d["rounds"][0]["rated"], d["rounds"][0]["bytes"]' "('precondition', False, 1999872)"
    json result.json '5 <= d["steady"]["rounds"] == len(d["rounds"]) - 1 <= 25' True
    json result.json 'd["steady"]["attained"] == (d["steady"]["reason"] is None)' True
}

what_is_read_back_is_what_was_written() {
    expect 0 bench accuracy new.img --size 2MiB --block 64KiB --repeats 2 -o result.json
    json result.json 'd["accuracy"]' \
        "{'bytes': 8388608, 'ok': 2048, 'corrupt': 0, 'missing': 0, 'misplaced': 0, 'stale': 0}"
}

# lying_drive FAULT: an array.ini whose one drive misbehaves so.
lying_drive() {
    printf '[array]\nname = liar\n[drive.a]\npath = liar.img\nsize = 4MiB\nfault = %s\n' "$1" >array.ini
}

what_a_drive_does_wrong_is_told_apart() {
    # 64 writes of 64 KiB in each repeat; what is struck lies there for two passes of reading.
    lying_drive 'write#3:ignored'
    expect 1 bench accuracy array.ini --raw --size 4MiB --block 64KiB --depth 1 --repeats 1 -o result.json
    json result.json 'd["accuracy"]["missing"], d["accuracy"]["ok"]' '(32, 2016)'
    lying_drive 'write#67:ignored'
    expect 1 bench accuracy array.ini --raw --size 4MiB --block 64KiB --depth 1 --repeats 2 -o result.json
    json result.json 'd["accuracy"]["stale"], d["accuracy"]["missing"]' '(32, 0)'
    lying_drive 'write#64:misdirect=1MiB'
    expect 1 bench accuracy array.ini --raw --size 4MiB --block 64KiB --depth 1 --repeats 1 -o result.json
    json result.json 'd["accuracy"]["misplaced"] > 0, d["accuracy"]["corrupt"]' '(True, 0)'
    lying_drive 'write#5:torn=6144'
    expect 1 bench accuracy array.ini --raw --size 4MiB --block 64KiB --depth 1 --repeats 1 -o result.json
    json result.json 'd["accuracy"]["corrupt"], d["accuracy"]["missing"]' '(2, 28)'
}

a_drive_that_errs_is_told() {
    lying_drive 'write#3:eio'
    expect 3 bench size array.ini --raw --size 4MiB --block 64KiB --repeats 1 -o result.json
    json result.json 'd["rounds"][0]["errors"], d["rounds"][0]["bytes"]' '(1, 4128768)'
    complains 'met 1 error'
    lying_drive 'write#9:gone'
    expect 3 bench size array.ini --raw --size 4MiB --block 64KiB --repeats 2 -o result.json
    json result.json 'd["partial"], d["rounds"][0]["partial"], len(d["rounds"]), d["rating_bytes_per_s"]' '(True, True, 1, None)'
    complains 'liar.img cannot go on'
}

small_array() {
    flat_profile 20
    array adaptive 2 32MiB 'chunk = 256KiB' 'depth = 4'
    sed -i 's/^size = .*/&\nprofile = flat.ini/; s/^buffer = .*/buffer = 4MiB/' array.ini
    expect 0 "$stria" init array.ini
    noise input 1000000
    expect 0 "$stria" record array.ini --name kept --input input
}

an_array_is_measured_through_the_recorder() {
    small_array
    expect 0 bench size array.ini --size 8MiB --repeats 2 -o result.json
    json result.json 'd["options"]["policy"], d["options"]["buffer_bytes"], len(d["drives"])' "('adaptive', 4194304, 2)"
    json result.json '[sum(map(sum, r["series"]["drive_bytes"])) == r["bytes"] == 8388608 for r in d["rounds"]]' '[True, True]'
    json result.json '[r["trimmed"] for r in d["rounds"]]' '[True, True]'
    expect 0 bench accuracy array.ini --size 8MiB --repeats 1 -o result.json
    json result.json 'd["accuracy"]["bytes"], d["accuracy"]["ok"]' '(16777216, 4096)'
    expect 0 bench read array.ini --size 4MiB --repeats 1 -o result.json
    json result.json '[(r["direction"], r["rated"]) for r in d["rounds"]]' "[('write', False), ('read', True)]"
    # What was on it is on it, and nothing else.
    expect 0 "$stria" ls array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['kept']"
    expect 0 "$stria" export array.ini kept -o kept
    same kept input
}

the_lossless_rate_is_found() {
    small_array
    expect 0 bench paced array.ini --size 24MiB --repeats 1 -o result.json
    # Two drives of 20 MB/s; how near to that depends on the machine, but never above it and what the buffer adds.
    json result.json '0 < d["lossless"]["measured_bytes_per_s"] < 50000000' True
    json result.json 'd["lossless"]["buffer_bytes"], d["rating_bytes_per_s"] == d["lossless"]["measured_bytes_per_s"]' \
        '(4194304, True)'
    json result.json 'all((r["dropped_bytes"] == 0) == (r["rate_bytes_per_s"] <= d["lossless"]["measured_bytes_per_s"])
        for r in d["rounds"][1:])' True
    expect 2 bench paced new.img --size 1MiB
    complains 'goes through the recorder'
    expect 2 bench zone array.ini
    complains 'with --raw'
}

it "a new file is measured and gone again" a_new_file_is_measured_and_gone
it "the sum of the bins is the total, and all series are on one time line" the_sum_of_the_bins_is_the_total
it "the fast region of a drive ends in a knee" the_fast_region_ends_in_a_knee
it "places come in an order of chance, the same for the same seed" places_come_in_an_order_of_chance
it "every block goes with every depth" every_block_goes_with_every_depth
it "steady state is decided by rounds behind a precondition" steady_state_is_attained_by_a_steady_drive
it "what is read back is what was written" what_is_read_back_is_what_was_written
it "corrupt, missing, misplaced and stale blocks are told apart" what_a_drive_does_wrong_is_told_apart
it "a drive that errs or goes is told" a_drive_that_errs_is_told
it "an array is measured through the recorder, and what is on it stays" an_array_is_measured_through_the_recorder
it "the lossless rate of an array is found" the_lossless_rate_is_found
it "a modelled drive is as fast as its model, and rated by its minimum" a_modelled_drive_is_as_fast_as_its_model
finish
