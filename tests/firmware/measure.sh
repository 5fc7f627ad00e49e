#!/bin/sh
# The tests of drives: what they say can be computed from one another, and no recording comes to harm.
. "$(dirname "$0")/lib.sh"

MIB=1048576

zones() {
    drives 2 >machine
    bare 0 "init record size=8MiB buffer=8MiB"
    # 12 MB a zone at 30 MB/s are four whole bins of 100 ms, however slow the machine is.
    for one in 0 1; do
        printf '%s\n' -drive "file=d$one.img,if=none,id=d$one,format=raw,throttling.bps-write=30000000" \
            -device "nvme,serial=BARE$one,drive=d$one"
    done >machine
    bare 0 "zones zones=2 size=12MiB repeats=2 verify"
    for one in 0 1; do
        [ "$(grep -c "^drive $one: zone [01]: mean [0-9]* MiB/s, least [0-9]* MiB/s$" out)" -eq 2 ] || fail "$(cat out)"
        # The rating is the least of what was least.
        least=$(sed -n "s:^drive $one\: zone .* least \([0-9]*\) MiB/s$:\1:p" out | sort -n | head -n 1)
        says "^drive $one: rating $least MiB/s: least of 4 minima"
    done
    says '^bare-1: .* 8 ok, .*: good$'
    on_host 2 bare-1 $((8 * MIB))
}

sizes() {
    disk 0 128M
    drive 0 >machine
    bare 0 "init record sizes size=16MiB buffer=8MiB repeats=1 verify"
    for size in 16 32 64; do says "^drive 0: MiB $size: mean [0-9]+ MiB/s"; done
    if grep -q 'MiB 128:' out; then fail "more than there is room for: $(cat out)"; fi
    says '^bare-1: .* 16 ok, .*: good$'
    on_host 1 bare-1 $((16 * MIB))
}

no_room() {
    disk 0 32M
    drive 0 >machine
    bare 2 "init zones size=16MiB zones=4"
    says 'there is no room for 16 MiB in free extents'
}

ratio() {
    drives 2 >machine
    bare 0 "init ratio size=8MiB buffer=8MiB repeats=3 verify"
    [ "$(grep -c '^ratio: round [012]: recorder [0-9]* KiB/s, bare loop [0-9]* KiB/s$' out)" -eq 3 ] || fail "$(cat out)"
    says '^ratio: [0-9]+\.[0-9]{3} of the bare loop, by the medians$'
    [ "$(grep -c ': good$' out)" -eq 3 ] || fail "a recording came to harm: $(cat out)"
}

drive_errs() {
    disk 0
    drive 0 >machine
    bare 0 "init"
    ini 1
    sector=$(($("$stria" ls array.ini --json 2>err | python3 -c 'import json,sys; print(json.load(sys.stdin)["drives"][0]["data_offset_bytes"])') / 512 + 9))
    printf '[inject-error]\nevent = "none"\niotype = "write"\nerrno = "5"\nsector = "%s"\nonce = "off"\n' $sector >rules
    printf '%s\n' -drive driver=blkdebug,config=rules,image.driver=file,image.filename=d0.img,if=none,id=d0 \
        -device nvme,serial=BARE0,drive=d0 >machine
    bare 3 "sizes size=8MiB"
    says '^stria: writing failed: i/o error$'
}

it "rates drives by the least in places all over them" zones
it "writes a row of sizes as far as there is room" sizes
it "says so where there is no room" no_room
it "compares the recorder with a bare loop" ratio
it "says that a drive failed" drive_errs
finish
