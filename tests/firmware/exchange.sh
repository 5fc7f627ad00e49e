#!/bin/sh
# An array goes back and forth between the command on Linux and the image on bare metal.
. "$(dirname "$0")/lib.sh"

MIB=1048576

linux_made() {
    array "$1" 3 64MiB "chunk = 256KiB"
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --name one --input synthetic --seed 5 --size 7654321
    expect 0 "$stria" record array.ini --name two --input synthetic --seed 6 --size 4MiB
    for one in 0 1 2; do mv "drive$one.img" "d$one.img"; done
    drives 3 >machine
}

image_verifies() {
    linux_made "$1"
    bare 0 "verify"
    says '^one: 7654321 bytes, 30 extents, 30 ok, 0 corrupt.*: good$'
    says '^two: 4194304 bytes, 16 extents, 16 ok, 0 corrupt.*: good$'
    bare 0 "verify name=two"
    [ "$(grep -c ': good$' out)" -eq 1 ] || fail "more than the one that was named: $(cat out)"
}

# The controllers come in another order than the drives of the array.
in_any_order() {
    linux_made raid0
    { drive 2; drive 0; drive 1; } >machine
    bare 0 "verify"
    says '^one: 7654321 bytes, 30 extents, 30 ok'
}

flip() {
    printf '\377\376\375' | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

damage_is_found() {
    linux_made raid0
    ini 3
    data=$("$stria" ls array.ini --json 2>err | python3 -c 'import json,sys; print(json.load(sys.stdin)["drives"][1]["data_offset_bytes"])')
    flip d1.img $((data + 1234))
    bare 1 "verify"
    says '^one: 262144 bytes at 262144 are corrupt \(drive 1 at'
    says '^one: .* 29 ok, 1 corrupt,.*: damaged$'
    says '^two: .*: good$'
    # The command says the same.
    expect 1 "$stria" verify array.ini
}

zeroes_are_found() {
    linux_made raid0
    ini 3
    data=$("$stria" ls array.ini --json 2>err | python3 -c 'import json,sys; print(json.load(sys.stdin)["drives"][2]["data_offset_bytes"])')
    dd if=/dev/zero of=d2.img bs=256K seek=$((data / 262144)) count=1 conv=notrunc status=none
    bare 1 "verify"
    says '^one: 262144 bytes at 524288 are stale'
}

drive_is_away() {
    linux_made adaptive
    { drive 0; drive 2; } >machine
    bare 1 "verify"
    says '^one: .* missing'
    bare 1 "record name=meanwhile size=4MiB"
    says '^drive 1: lost, 0 bytes'
    says '^recording meanwhile: adaptive, not whole, 4194304 bytes, 4194304 stored, 0 dropped'
    drives 3 >machine
    bare 0 "verify"
    says '^meanwhile: 4194304 bytes, 16 extents, 16 ok'
    ini 3
    expect 0 "$stria" verify array.ini
}

back_and_forth() {
    linux_made adaptive
    bare 0 "record name=three size=5MiB seed=3"
    ini 3 test
    expect 0 "$stria" record array.ini --name four --input synthetic --seed 4 --size 3MiB
    bare 0 "record verify name=five size=2MiB"
    for name in one two three four five; do
        "$stria" export array.ini $name >stream 2>err || fail "export $name: $(cat err)"
        expect 0 "$stria" check-synthetic stream
    done
    bare 0 "verify"
    [ "$(grep -c ': good$' out)" -eq 5 ] || fail "$(cat out)"
}

# The catalogue of one drive is gone: the others complement it, and the next recording writes it anew.
catalogue_is_mended() {
    linux_made adaptive
    dd if=/dev/zero of=d0.img bs=64K seek=2 count=2 conv=notrunc status=none
    bare 0 "record verify name=next size=2MiB"
    says 'its catalogue does not count'
    bare 0 "verify"
    if grep -q 'its catalogue does not count' out; then fail "it was not written anew: $(cat out)"; fi
    [ "$(grep -c ': good$' out)" -eq 3 ] || fail "$(cat out)"
}

# Superblock A of one drive, superblock B of another.
superblock_copies() {
    linux_made adaptive
    flip d0.img $((65536 + 40))
    flip d1.img $((64 * MIB - 131072 + 65536 - 65536 + 40))
    bare 0 "verify"
    says '^one: 7654321 bytes, 30 extents, 30 ok'
}

it "proves what Linux recorded under raid0" image_verifies raid0
it "proves what Linux recorded under adaptive" image_verifies adaptive
it "finds the drives in any order" in_any_order
it "finds a damaged chunk, and says where" damage_is_found
it "finds a chunk that was never written" zeroes_are_found
it "reads and records while a drive is away" drive_is_away
it "records in turns with Linux" back_and_forth
it "mends the catalogue of a drive that lost it" catalogue_is_mended
it "takes the other copy of a superblock" superblock_copies
finish
