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
        s["drive_latency_p99_ns"] + s["drive_latency_max_ns"] + [s["latency_p99_ns"], s["latency_max_ns"], s["buffer_bytes"]]}) for s in (r["series"] for r in d["rounds"])]' '[1]'
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
    # What the recorder's own meter saw: every write, of each drive, in its second.
    json result.json '[sum(n for low, n in r["histogram"]) == sum(n for h in r["drive_histograms"] for low, n in h) == 32
        for r in d["rounds"]]' '[True, True]'
    json result.json '[max(x for x in r["series"]["latency_max_ns"] if x) == r["latency_ns"]["max"] for r in d["rounds"]]' '[True, True]'
    json result.json '[max(x for m in r["series"]["drive_latency_max_ns"] for x in m if x) == r["latency_ns"]["max"]
        for r in d["rounds"]]' '[True, True]'
    json result.json '[0 < r["begin_ns"] < r["begin_ns"] + r["duration_ns"] <= d["duration_ns"] for r in d["rounds"]]' '[True, True]'
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

nothing_precious_is_overwritten() {
    noise precious 1000000
    cp precious copy
    expect 2 bench size precious --size 64KiB
    complains 'precious exists, and what is in it would be lost: .* --erase precious'
    complains_once
    same precious copy
    expect 2 bench size new.img --size 64KiB --erase precious
    complains 'erase precious is none of what'
    [ ! -e new.img ] || fail "new.img was made for nothing"
    expect 0 bench size precious --erase precious --size 64KiB --block 64KiB --repeats 1
    [ "$(stat -c %s precious)" -eq 1000000 ] || fail "the file has another size"
    ! cmp -s precious copy || fail "nothing was written"
    # Reading asks for nobody's leave, and changes nothing.
    cp precious copy
    expect 0 bench read precious --repeats 1 -o result.json
    same precious copy
    json result.json 'd["rounds"][0]["bytes"]' 999936
}

what_is_no_drive_is_refused() {
    truncate -s 1M sparse
    expect 2 bench size sparse --erase sparse --size 64KiB
    complains 'sparse is sparse'
    mkdir folder
    expect 2 bench size folder --size 64KiB
    complains 'folder is neither a block device nor a file'
    expect 2 bench size nosuch/new.img --size 64KiB
    expect 2 bench size new.img
    complains 'say with --size'
    expect 2 bench size new.img --size 1MiB --block 1000
    complains 'no multiple'
    expect 2 bench size new.img --size 1MiB -o new.img
    complains 'what is to be measured'
    expect 2 bench sise new.img --size 1MiB
    complains 'did you mean size'
    [ ! -e new.img ] || fail "new.img was left behind"
}

memory_in_disguise_is_refused() {
    mounted_tmpfs memory 8M
    expect 2 bench size memory/new.img --size 1MiB
    complains 'lies on tmpfs, which is memory'
    complains_once
}

a_cached_loop_device_is_refused() {
    head -c 8388608 /dev/zero >disk
    device=$(loop_device disk)
    expect 2 bench size "$device" --size 2MiB --repeats 1
    complains "$device is a loop device that writes into memory first.*'losetup --direct-io=on $device'"
    complains_once
    expect 2 bench read "$device" --size 2MiB --repeats 1
    cmp disk /dev/zero -n 8388608 || fail "something was written"
    printf '[array]\nname = rig\nchunk = 64KiB\nbuffer = 1MiB\n[drive.a]\npath = %s\n' "$device" >array.ini
    expect 0 "$stria" init array.ini
    expect 2 bench size array.ini --size 1MiB --repeats 1
    complains 'losetup --direct-io=on'
    losetup --direct-io=on "$device" 2>/dev/null || skip "this machine writes to no loop device directly"
    expect 0 bench size array.ini --size 1MiB --repeats 1
    expect 0 bench size "$device" --erase "$device" --size 2MiB --repeats 1
}

a_device_keeps_its_first_mebibyte() {
    truncate -s 0 disk
    head -c 8388608 /dev/zero >disk
    device=$(loop_device disk)
    losetup --direct-io=on "$device" 2>/dev/null || skip "this machine writes to no loop device directly"
    expect 0 bench size "$device" --size 2MiB --repeats 1 -o result.json
    json result.json 'd["drives"][0]["offset_bytes"]' 1048576
    blockdev --flushbufs "$device"
    cmp -n 1048576 disk /dev/zero || fail "something was written to the first MiB"
    [ "$(tail -c +1048577 disk | head -c 2097152 | tr -d '\0' | wc -c)" -gt 2000000 ] || fail "what was written is not there"
    mkfs.ext4 -q "$device" 6M || skip "this machine makes no ext4"
    cp disk copy
    expect 2 bench size "$device" --size 1MiB
    complains 'carries .*ext4.* --erase'
    same disk copy
    mkdir here
    mount "$device" here || skip "this machine mounts no ext4"
    (cd here && pwd) >>"$scratch/mounts"
    expect 2 bench size "$device" --erase "$device" --size 1MiB
    complains 'mounted'
}

trim_that_did_not_happen_is_told() {
    expect 0 bench size new.img --size 64KiB --repeats 2 -o result.json
    complains 'no TRIM before the rounds: a file'
    [ "$(grep -c 'no TRIM' err)" -eq 1 ] || fail "it is told more than once"
    json result.json '{(r["trimmed"], r["trim_reason"]) for r in d["rounds"]}' "{(False, 'a file cannot be given back by TRIM')}"
    flat_profile 200
    expect 0 bench size new.img --profile ./flat.ini --size 64KiB --repeats 1 -o result.json
    json result.json '{(r["trimmed"], r["trim_reason"]) for r in d["rounds"]}' '{(True, None)}'
}

what_no_link_carries_is_refused() {
    expect 1 bench size null:4GiB --size 1GiB --link 1MB/s --repeats 1 -o result.json
    complains 'above the 1\.0 MB/s .* that its link carries'
    json result.json '[(r["above_link"], r["mean_bytes_per_s"], r["bytes"]) for r in d["rounds"]]' '[(True, None, 1073741824)]'
    json result.json 'd["rating_bytes_per_s"], d["points"][0]["repeats"], d["reason"] is None' '(None, 0, False)'
}

the_flush_is_inside_the_clock() {
    printf '[array]\nname = slow\n[drive.a]\npath = slow.img\nsize = 4MiB\nfault = flush#1:stall=1500ms\n' >array.ini
    expect 0 bench size array.ini --raw --size 1MiB --repeats 1 -o result.json
    json result.json 'd["rounds"][0]["duration_ns"] >= 1500000000, d["rounds"][0]["mean_bytes_per_s"] < 700000' '(True, True)'
    # The bins in which nothing completed are zero, and count.
    json result.json 'd["rounds"][0]["series"]["drive_bytes"][0][-5:-1]' '[0, 0, 0, 0]'
    json result.json 'd["rounds"][0]["min_bytes_per_s"] < 1048576' True
}

an_end_keeps_what_was_measured() {
    flat_profile 20
    background "$stria" bench size new.img --profile ./flat.ini --size 1MiB,100MB --rest 0 -o result.json
    until_true 20 grep -q 'round 2' err
    kill -INT "$process"
    status=0
    wait "$process" || status=$?
    [ "$status" -eq 1 ] || fail "exit status $status instead of 1"
    json result.json 'd["partial"], d["reason"], [r["partial"] for r in d["rounds"]]' "(True, 'it was stopped', [False, True])"
    json result.json '[(p["point"], p["repeats"]) for p in d["points"]]' "[('1MiB', 1), ('100MB', 0)]"
    json result.json 'd["points"][1]["mean_bytes_per_s"], d["points"][1]["rating_bytes_per_s"]' '(None, None)'
    grep -q 'cut short' out
}

a_killed_bench_leaves_nothing() {
    flat_profile 20
    background "$stria" bench size new.img --profile ./flat.ini --size 100MB --rest 0 -o result.json
    until_true 20 grep -q 'round 1 of 3' err
    kill -9 "$process"
    wait "$process" || true
    [ "$(ls)" = "$(printf 'err\nflat.ini\nout')" ] || fail "left behind: $(ls)"
}

what_a_killed_bench_recorded_is_removed_by_the_next() {
    small_array
    # A round may end, and take its recording away, before the kill.
    for _ in 1 2 3 4 5 6 7 8 9 10; do
        background "$stria" bench size array.ini --size 40MiB --rest 0
        until_true 20 sh -c "'$stria' ls array.ini --json | grep -q stria-bench"
        kill -9 "$process"
        wait "$process" || true
        expect 0 "$stria" ls array.ini --json
        ! grep -q stria-bench out || break
    done
    json out '[(x["name"].rsplit("-", 2)[0], x["complete"]) for x in d["recordings"]]' "[('kept', True), ('stria-bench', False)]"
    expect 2 "$stria" record array.ini --name stria-bench-mine --input input
    complains 'the next bench removes'
    expect 0 bench size array.ini --size 1MiB --repeats 1
    complains 'removed 1 recording that a bench which was killed had left'
    expect 0 "$stria" ls array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['kept']"
    expect 0 bench size array.ini --size 1MiB --repeats 1
    ! grep -q 'was killed' err || fail "removed twice"
    expect 0 "$stria" export array.ini kept -o kept
    same kept input
}

keys_are_the_same_for_every_test() {
    expect 0 bench size new.img --size 64KiB --repeats 1 -o a.json
    expect 0 bench accuracy new.img --size 64KiB --block 4KiB --repeats 1 -o b.json
    expect 1 bench fill null:4GiB --link 1MB/s --repeats 1 -o c.json
    keys='(sorted(d), sorted(d["rounds"][0]), sorted(d["rounds"][0]["series"]), sorted(d["points"][0]), sorted(d["drives"][0]))'
    json b.json "$keys" "$(python3 -c "import json; d = json.load(open('a.json')); print($keys)")"
    json c.json "$keys" "$(python3 -c "import json; d = json.load(open('a.json')); print($keys)")"
    # Each key is told of.
    python3 - "$source_folder/docs/bench-result.md" a.json <<'EOF'
import json, re, sys
told = set(re.findall(r"`([a-z0-9_]+)`", open(sys.argv[1]).read()))
found = set()
def walk(value):
    if isinstance(value, dict):
        for key, inner in value.items():
            found.add(key)
            walk(inner)
    elif isinstance(value, list):
        for inner in value:
            walk(inner)
walk(json.load(open(sys.argv[2])))
missing = found - told
assert not missing, f"docs/bench-result.md does not tell of {sorted(missing)}"
EOF
}

the_document_is_one_and_stands_alone() {
    expect 0 bench size new.img --size 64KiB --repeats 1 -o -
    json out 'd["schema"]' stria.bench/1
    [ "$(wc -l <out)" -eq 1 ] || fail "more than a document on standard output"
    complains '64KiB +write'
    ! grep -q -E 'NaN|Infinity' out || fail "no numbers"
    mkdir locked
    chmod 555 locked
    [ "$(id -u)" -eq 0 ] || expect 2 bench size new.img --size 64KiB -o locked/result.json
    expect 2 bench size new.img --size 64KiB -o nosuch/result.json
    complains 'nosuch/result.json cannot be written'
}

a_decimal_comma_changes_nothing() {
    localedef -c -i de_DE -f UTF-8 ./de_DE.UTF-8 2>/dev/null || [ -d de_DE.UTF-8 ] || skip "no locale can be made here"
    export LOCPATH="$PWD" LC_ALL=de_DE.UTF-8
    [ "$(env printf %.1f 1,5 2>/dev/null)" = 1,5 ] || skip "this machine has no locale with a decimal comma"
    flat_profile 200
    expect 0 bench fill new.img --profile ./flat.ini --size 0.5MiB --block 64KiB --repeats 1 -o result.json
    json result.json 'd["rounds"][0]["bytes"]' 524288
    says '524\.3 kB \(512\.0 KiB\)'
}

a_full_disk_loses_no_result() {
    mounted_tmpfs full 64K
    head -c 100000 /dev/zero >full/ballast 2>/dev/null || true
    expect 3 bench size new.img --size 64KiB --repeats 1 --archive kept -o full/result.json
    [ ! -e full/result.json ] || fail "half a result"
    expect 0 "$stria" bench ls --archive kept
    says 'size'
    expect 3 bench size huge.img --size 1000TiB
    complains 'huge.img'
    [ ! -e huge.img ] || fail "huge.img was left behind"
}

the_archive_is_a_ledger() {
    expect 0 bench size new.img --size 64KiB --repeats 1 --archive ledger
    expect 0 bench size new.img --size 64KiB --repeats 1 --archive ledger
    expect 0 bench read new.img --size 64KiB --repeats 1 --archive ledger
    echo junk >ledger/junk.json
    expect 0 "$stria" bench ls --archive ledger --json
    json out 'd["schema"], [x["test"] for x in d["results"]].count("size"), len(d["results"])' "('stria.archive/1', 2, 4)"
    json out '[x["complaint"] for x in d["results"] if x["name"] == "junk.json"]' "['not a whole JSON document']"
    expect 0 "$stria" bench ls --archive ledger
    says '^  20[0-9-]+T[0-9:]+Z +size '
    expect 2 "$stria" bench ls --archive nosuch
    expect 2 "$stria" bench ls
    touch file
    expect 2 bench size new.img --size 64KiB --archive file
    complains 'file is no folder'
}

a_profile_that_is_saved_makes_the_drive_again() {
    flat_profile '40 10' '0.04 1'
    expect 0 bench fill new.img --profile ./flat.ini --size 60MB --repeats 1 --save-profile saved.ini
    expect 0 "$stria" fake show ./saved.ini --json
    json out 'sum(step["bytes_per_s"] > 0 for step in d["fill"]) > 0' True
    expect 0 bench fill new.img --profile ./saved.ini --size 60MB --repeats 1 -o again.json
    # Written again, the same bytes take as long within what a fit may be off (5 %), or longer where the machine is slow.
    json again.json '2.85e9 < d["rounds"][0]["duration_ns"]' True
    expect 2 bench size new.img --size 1MiB --save-profile other.ini
    complains 'run test fill'
}

fio_is_told_the_same() {
    expect 0 "$stria" bench size new.img --size 1MiB,2MiB --like-fio
    says '^fio --ioengine=io_uring --direct=1 --rw=write --bs=1048576 --iodepth=8 --offset=0 --size=2097152 --end_fsync=1 '
    [ "$(grep -c '^fio' out)" -eq 2 ] || fail "not a command for each size"
    [ ! -e new.img ] || fail "new.img was made"
    expect 2 "$stria" bench size memory:1MiB --like-fio
    command -v fio >/dev/null || skip "fio is not there"
    expect 0 "$stria" bench read new.img --size 1MiB --like-fio
    grep '^fio' out >told.sh
    head -c 1048576 /dev/zero >new.img
    sh told.sh >fio.json || fail "fio does not take its command: $(cat told.sh fio.json)"
    json fio.json 'd["jobs"][0]["read"]["io_bytes"]' 1048576
}

heat_stops_a_bench() {
    cat >hot.ini <<EOF
[drive]
model = hot
capacity_gb = 1
[link]
rate_mb_per_s = 400
[write.table]
until_gb = 1
rate_mb_per_s = 20
[read]
rate_mb_per_s = 400
[heat]
ambient_c = 50
idle_w = 1
active_w = 5
resistance_k_per_w = 10
time_constant_s = 1
warm_c = 95
warm_rate_percent = 50
EOF
    "$stria" fake show ./hot.ini >/dev/null 2>why || skip "no such model: $(head -c 300 why)"
    expect 1 bench size new.img --profile ./hot.ini --size 200MB --repeats 1 --stop-at 60 -o result.json
    complains 'new.img reached 6[0-9] °C'
    json result.json 'd["partial"], d["rounds"][0]["temperature_max_c"] >= 60' '(True, True)'
    json result.json 'all(50 <= t <= 100 for t in d["rounds"][0]["series"]["temperature_c"][0])' True
}

help_tells_of_every_test() {
    expect 0 "$stria" bench --help
    for test in size zone block fill steady paced accuracy read; do
        says "^  $test +"
        grep -q "^.It Cm $test\$" "$source_folder/man/stria-bench.1" || fail "man/stria-bench.1 does not tell of $test"
    done
    expect 2 "$stria" bench
    expect 2 "$stria" bench size
    complains 'needs something to measure'
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
it "nothing precious is overwritten, and reading changes nothing" nothing_precious_is_overwritten
it "what is no drive, or has holes, is refused" what_is_no_drive_is_refused
it "memory in disguise is refused" memory_in_disguise_is_refused
it "a loop device that writes into memory first is refused" a_cached_loop_device_is_refused
it "a device keeps its first mebibyte, and one in use is refused" a_device_keeps_its_first_mebibyte
it "a TRIM that did not happen is told, and why" trim_that_did_not_happen_is_told
it "what no link carries is refused" what_no_link_carries_is_refused
it "the flush is inside the clock, and idle bins count as zero" the_flush_is_inside_the_clock
it "an end by signal keeps what was measured" an_end_keeps_what_was_measured
it "a killed bench leaves nothing behind" a_killed_bench_leaves_nothing
it "what a killed bench recorded is removed by the next one" what_a_killed_bench_recorded_is_removed_by_the_next
it "keys are the same for every test, and each is told of" keys_are_the_same_for_every_test
it "the document is one, and stands alone" the_document_is_one_and_stands_alone
it "a decimal comma changes nothing" a_decimal_comma_changes_nothing
it "a full disk loses no result" a_full_disk_loses_no_result
it "the archive is a ledger of runs" the_archive_is_a_ledger
it "a profile that is saved makes the drive again" a_profile_that_is_saved_makes_the_drive_again
it "fio is told the same" fio_is_told_the_same
it "heat stops a bench" heat_stops_a_bench
it "help and manual tell of every test" help_tells_of_every_test
finish
