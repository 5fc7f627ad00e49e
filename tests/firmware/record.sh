#!/bin/sh
# What the image records is an array as any other: the command on the host lists, proves and exports it.
. "$(dirname "$0")/lib.sh"

MIB=1048576

policies() {
    for count in 1 2 3 4; do
        rm -f d*.img machine
        drives "$count" >machine
        bare 0 "init record verify policy=$1 size=13MiB buffer=8MiB"
        says "^array bare made of $count drives, $1, chunks of 1024 KiB$"
        says "^recording bare-1: $1, whole, 13631488 bytes, 13631488 stored, 0 dropped, 13631488 durable$"
        says '^bare-1: 13631488 bytes, 13 extents, 13 ok,.*: good$'
        on_host "$count" bare-1 $((13 * MIB))
    done
}

# The same stream, made and recorded on the host, lies in the same places under raid0.
as_the_host_does() {
    drives 3 >machine
    bare 0 "init record policy=raid0 size=12MiB seed=42 name=twin"
    on_host 3 twin $((12 * MIB))
    mv stream bare_stream
    mkdir host
    (
        cd host || exit 1
        array raid0 3 256MiB
        expect 0 "$stria" init array.ini
        expect 0 "$stria" record array.ini --name twin --input synthetic --seed 42 --size 12MiB
        "$stria" export array.ini twin >stream
        for one in 0 1 2; do
            data=$("$stria" ls array.ini --json | python3 -c "import json,sys; print(json.load(sys.stdin)['drives'][$one]['data_offset_bytes'])")
            cmp -i "$data" -n $((4 * MIB)) "drive$one.img" "../d$one.img" || exit 1
        done
    ) || fail "$(cat host/out host/err)"
    same bare_stream host/stream
}

blocks() {
    for one in 0 1 2; do disk $one; done
    { drive 0; drive 1 logical_block_size=4096,physical_block_size=4096; drive 2; } >machine
    bare 0 "list init record verify policy=$1 size=9437195 chunk=256KiB buffer=2MiB"
    says '^drive 0: .* in blocks of 512,'
    says '^drive 1: .* in blocks of 4096,'
    on_host 3 bare-1 9437195
}

small_commands() {
    for one in 0 1; do disk $one; done
    { drive 0 mdts=1; drive 1 mdts=4,max_ioqpairs=1; } >machine
    bare 0 "list init record verify size=8MiB buffer=8MiB depth=20"
    says '^drive 0: .* commands of 8 KiB'
    says '^drive 1: .* commands of 64 KiB'
    on_host 2 bare-1 $((8 * MIB))
}

chunks() {
    drives 2 >machine
    bare 0 "init record verify size=5MiB chunk=64KiB buffer=1MiB"
    on_host 2 bare-1 $((5 * MIB))
    bare 0 "init record verify size=40MiB chunk=16MiB buffer=64MiB"
    on_host 2 bare-1 $((40 * MIB))
}

# Without caches in between, and with all the maintenance that a machine without coherence wants.
processors() {
    drives 2 >machine
    bare 0 "init record verify size=6MiB mmu=off"
    on_host 2 bare-1 $((6 * MIB))
    bare 0 "record verify size=6MiB name=maintained cache=maintain"
    on_host 2 maintained $((6 * MIB))
    CPU=cortex-a72 MACHINE=virt,virtualization=on,highmem=off
    bare 0 "record verify size=6MiB name=other"
    on_host 2 other $((6 * MIB))
}

behind_bridges() {
    for one in 0 1 2; do disk $one; done
    {
        printf '%s\n' -device pcie-root-port,id=root0,chassis=1,slot=1 -device pcie-root-port,id=root1,chassis=2,slot=2 \
            -device x3130-upstream,id=up,bus=root1 -device xio3130-downstream,id=down0,bus=up,chassis=3,slot=0 \
            -device xio3130-downstream,id=down1,bus=up,chassis=4,slot=1
        drive 0 bus=root0
        drive 1 bus=down0
        drive 2 bus=down1
    } >machine
    bare 0 "init record verify size=9MiB policy=raid0"
    on_host 3 bare-1 $((9 * MIB))
}

one_after_another() {
    drives 2 >machine
    bare 0 "init record size=4MiB name=first"
    bare 0 "record size=4MiB name=second seed=2"
    bare 2 "record size=4MiB name=second"
    says 'has a recording named second already'
    bare 0 "verify"
    says '^first: 4194304 bytes, 4 extents, 4 ok'
    says '^second: 4194304 bytes, 4 extents, 4 ok'
    on_host 2 first $((4 * MIB))
    on_host 2 second $((4 * MIB))
    bare 2 "verify name=third"
    says 'array bare has no recording named third'
}

paced() {
    drives 1 >machine
    bare 0 "init record size=3MiB rate=6MiB chunk=256KiB buffer=4MiB"
    # The ring holds all of it, so nothing is lost whatever the machine is busy with, and nothing comes early.
    rate=$(sed -n 's/^all drives: mean \([0-9]*\) MiB.*/\1/p' out)
    [ "$rate" -le 6 ] || fail "$rate MiB/s from a sensor of 6"
}

no_array() {
    drives 1 >machine
    bare 2 "record"
    says 'carries no array: make one with'
    disk 1 2M
    drive 1 >machine
    bare 2 "init"
    says 'has 2 MiB: with chunks of 1024 KiB a drive needs at least [0-9]+ MiB'
    : >machine
    bare 3 "init"
    says '^stria: 0 drives can be used, 1 are wanted$'
}

full() {
    disk 0 16M
    drive 0 >machine
    bare 1 "init record verify size=64MiB buffer=4MiB chunk=256KiB"
    says '^array bare is full$'
    says '^recording bare-1: adaptive, not whole'
    ini 1
    expect 1 "$stria" verify array.ini
    says 'ok, with gaps$'
}

memory_is_said() {
    drives 1 >machine
    bare 2 "init record buffer=512MiB"
    says 'no memory for the ring'
}

it "records under raid0 on one to four drives" policies raid0
it "records under adaptive on one to four drives" policies adaptive
it "stores the same bytes in the same places as the command on the host" as_the_host_does
it "mixes blocks of 512 and 4096 bytes, and ends within a block: raid0" blocks raid0
it "mixes blocks of 512 and 4096 bytes, and ends within a block: adaptive" blocks adaptive
it "cuts transfers to what each controller takes" small_commands
it "takes the smallest and the largest chunks" chunks
it "runs with the MMU off, with caches maintained, and from EL2" processors
it "records behind ports and a switch" behind_bridges
it "adds recordings to an array" one_after_another
it "keeps to the sensor's rate" paced
it "says what is wrong where there is no array to record to" no_array
it "ends the stream where the array is full" full
it "says which memory does not suffice" memory_is_said
finish
