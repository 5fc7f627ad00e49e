#!/bin/sh
# Drives that err, crawl, hang and vanish under the image.
. "$(dirname "$0")/lib.sh"

MIB=1048576

# bad NUMBER EVENT SECTOR...: a controller whose drive fails such requests of these sectors, always.
bad() {
    one=$1
    event=$2
    shift 2
    {
        for sector in "$@"; do
            printf '[inject-error]\nevent = "%s"\niotype = "%s"\nerrno = "5"\nsector = "%s"\nonce = "off"\n' \
                none "$event" "$sector"
        done
    } >"d$one.rules"
    printf '%s\n' -drive "driver=blkdebug,config=d$one.rules,image.driver=file,image.filename=d$one.img,if=none,id=d$one" \
        -device "nvme,serial=BARE$one,drive=d$one"
}

# slow NUMBER BYTES_PER_SECOND
slow() {
    printf '%s\n' -drive "file=d$1.img,if=none,id=d$1,format=raw,throttling.bps-write=$2" \
        -device "nvme,serial=BARE$1,drive=d$1"
}

data_offset() {
    "$stria" ls array.ini --json 2>err |
        python3 -c "import json,sys; print(json.load(sys.stdin)['drives'][$1]['data_offset_bytes'])"
}

# made DRIVES POLICY [CHUNK]
made() {
    drives "$1" >machine
    bare 0 "init policy=$2 chunk=${3:-256KiB}"
    ini "$1"
}

one_sector_errs() {
    made 3 "$1"
    sector=$((($(data_offset 1) + 2 * 262144 + 4096) / 512))
    { drive 0; bad 1 write $sector; drive 2; } >machine
    bare 0 "record verify size=6MiB buffer=4MiB"
    says '^drive 1: live, [0-9]+ bytes, 0 lost, [1-9][0-9]* errors'
    says '^recording bare-1: .* whole, 6291456 bytes, 6291456 stored, 0 dropped'
    says '^bare-1: 6291456 bytes, 24 extents, 24 ok'
    on_host 3 bare-1 $((6 * MIB))
}

reads_err() {
    made 2 raid0
    bare 0 "record size=4MiB buffer=4MiB"
    sector=$((($(data_offset 1) + 3 * 262144) / 512))
    { drive 0; bad 1 read $sector; } >machine
    bare 1 "verify"
    says '^bare-1: 262144 bytes at 1835008 are unreadable \(drive 1'
    says '^bare-1: .* 15 ok, 1 corrupt.*: damaged$'
}

# A drive that takes next to nothing: the others store what comes, and nothing of the stream is lost.
slow_drive_adaptive() {
    made 3 adaptive
    { drive 0; slow 1 1000000; drive 2; } >machine
    bare 0 "record verify size=24MiB buffer=24MiB rate=12MiB deadline=60000"
    says '^recording bare-1: adaptive, whole, 25165824 bytes, 25165824 stored, 0 dropped'
    taken=$(sed -n 's/^drive 1: live, \([0-9]*\) bytes.*/\1/p' out)
    [ "$taken" -lt $((8 * MIB)) ] || fail "the slow drive took a third: $taken"
    on_host 3 bare-1 $((24 * MIB))
}

# Under raid0 it holds all up: what finds no slot is lost, and named.
slow_drive_raid0() {
    made 3 raid0
    { drive 0; slow 1 1000000; drive 2; } >machine
    bare 1 "record verify size=24MiB buffer=4MiB rate=24MiB deadline=60000"
    says '^gap at [0-9]+: [0-9]+ bytes, cause buffer$'
    says '^recording bare-1: raid0, not whole, 25165824 bytes, [0-9]+ stored, [1-9][0-9]* dropped'
    says '^bare-1: .*: good$'
    ini 3
    expect 1 "$stria" verify array.ini
    says 'ok, with gaps$'
}

# One that does not answer in time is given up; its chunks go elsewhere.
drive_hangs() {
    made 3 "$1" 64KiB
    # QEMU itself finishes what is in flight before it resets a controller: no more than it does in seconds.
    { drive 0; slow 1 10000; drive 2; } >machine
    bare 1 "record size=6MiB buffer=8MiB depth=1 deadline=3000"
    says '^drive 1 \(00:02.0\) is given up: '
    says '^drive 1: lost'
    says "^recording bare-1: $1, not whole, 6291456 bytes, [0-9]+ stored"
    rest_verifies 3
}

last_drive_hangs() {
    made 1 adaptive 64KiB
    slow 0 10000 >machine
    bare 1 "record size=4MiB buffer=4MiB depth=1 deadline=3000"
    says '^drive 0 \(00:01.0\) is given up: '
    says '^recording bare-1: adaptive, not whole, '
    says '^stria: the recording has no end on the drives: '
}

# in_slots COUNT: so many drives, each behind a root port of its own, from device 1 on.
in_slots() {
    for one in $(seq 0 $(($1 - 1))); do
        printf '%s\n' -device "pcie-root-port,id=slot$one,chassis=$one,slot=$one,addr=$((one + 1))"
        drive "$one" "bus=slot$one"
    done
}

# A hand pulls a drive: its registers read as all ones from then on.
drive_is_pulled() {
    made 3 "$1"
    in_slots 3 >machine
    python3 "$source_folder/tests/firmware/pull.py" qtest 2 out ' begins' >pulled 2>&1 &
    puller=$!
    echo $puller >>"$scratch/processes"
    until_true 30 test -S qtest
    bare 1 "record verify size=32MiB buffer=8MiB rate=8MiB" -accel tcg -qtest unix:qtest -qtest-log none
    wait $puller || fail "$(cat pulled)"
    says '^drive 1 \(02:00.0\) is given up: '
    says '^drive 1: lost'
    says '^drive 0: live, [0-9]+ bytes, 0 lost'
    says '^drive 2: live, [0-9]+ bytes, 0 lost'
    says "^recording bare-1: $1, not whole, 33554432 bytes, [0-9]+ stored"
    ! grep '^gap' out | grep -v 'cause drive$' || fail "something else was lost"
    # Back in its slot it has what it had made durable.
    rest_verifies 3
}

# The catalogue of one drive, at 128 KiB, cannot be read: it is left out, and what lies on it is missing, no more.
metadata_err() {
    made 2 raid0
    bare 0 "record size=4MiB buffer=4MiB"
    { drive 0; bad 1 read 257; } >machine
    bare 1 "verify"
    says '^stria: 00:02.0 is left out: its metadata cannot be read: '
    says '^bare-1: .* 8 ok, 0 corrupt, 8 missing.*: damaged$'
}

power_cut() {
    made 2 "$1"
    touch machine
    set --
    while IFS= read -r option; do set -- "$@" "$option"; done <machine
    background qemu-system-aarch64 -M virt -cpu cortex-a53 -m 512 -nodefaults -display none \
        -serial stdio -monitor none -semihosting-config enable=on,target=native -kernel "$image" \
        -append "record size=200MiB rate=8MiB commit=100 buffer=4MiB" "$@"
    until_true 30 grep -q 'recording bare-1 begins' out
    # Until something is committed that a reader finds.
    until_true 30 sh -c "'$stria' ls array.ini --json 2>/dev/null | grep -q '\"length_bytes\": *[1-9]'"
    kill -9 "$process"
    wait "$process" 2>/dev/null || true
    expect 0 "$stria" ls array.ini
    says 'bare-1'
    bare 0 "record name=after size=2MiB"
    bare 0 "verify"
    says '^bare-1: [1-9][0-9]* bytes,.*: good$'
    says '^after: 2097152 bytes.*: good$'
    expect 0 "$stria" verify array.ini
    "$stria" export array.ini bare-1 >stream 2>err || fail "$(cat err)"
    expect 0 "$stria" check-synthetic stream
}

it "writes elsewhere what a bad sector refuses: adaptive" one_sector_errs adaptive
it "writes elsewhere what a bad sector refuses: raid0" one_sector_errs raid0
it "tells what cannot be read back" reads_err
it "loses nothing by a slow drive under adaptive" slow_drive_adaptive
it "names what a slow drive costs under raid0" slow_drive_raid0
it "gives up a drive that does not answer: adaptive" drive_hangs adaptive
it "gives up a drive that does not answer: raid0" drive_hangs raid0
it "gives up a drive that is pulled, and records the rest: adaptive" drive_is_pulled adaptive
it "gives up a drive that is pulled, and records the rest: raid0" drive_is_pulled raid0
it "ends where no drive is left" last_drive_hangs
it "leaves out a drive whose metadata cannot be read" metadata_err
it "recovers what was durable when the power went: adaptive" power_cut adaptive
it "recovers what was durable when the power went: raid0" power_cut raid0
finish
