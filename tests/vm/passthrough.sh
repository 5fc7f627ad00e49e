#!/bin/sh
# NVMe passthrough: the drives' own commands, past the kernel's block layer.
#: drive a size=8M
#: drive b size=96M mdts=4
#: drive c size=96M logical_block_size=4096
#: drive d size=96M error=40000
#: drive e size=96M max_ioqpairs=1
#: modules nvme
#: limit 1500
. "$(dirname "$0")/lib.sh"

contract=$(dirname "$stria")/../tests/contract/test_contract

# The drive is the contract's own, with room for nothing else.
contract_kept() {
    STRIA_TEST_NVME=$(device_of a) STRIA_TEST_SUBJECTS=NVMe timeout 250 "$contract" --tap=contract.tap >out 2>err || {
        cat out err
        return 1
    }
    [ "$(grep -c '^ok' contract.tap)" -gt 0 ]
}

# passed_to POLICY "DRIVE...": array.ini over these drives by passthrough.
passed_to() {
    array_of "$1" "$2"
    sed -i 's/^path = .*/&\nbackend = passthrough/' array.ini
}

records_whole() {
    noise input 30000001
    expect 0 "$stria" record array.ini --name "$1" --input input --report report.json
    expect 0 "$stria" verify array.ini
    says "$1 .*ok"
    expect 0 "$stria" export array.ini "$1" -o output
    same input output
}

both_ways() {
    passed_to adaptive "b c e"
    expect 0 "$stria" init array.ini
    records_whole passed
    json report.json 'all(drive["bytes"] > 0 and drive["errors"] == 0 for drive in d["drives"])' True
    array_of adaptive "b c e"
    expect 0 "$stria" export array.ini passed -o output
    same input output
    records_whole blocks
    passed_to adaptive "b c e"
    expect 0 "$stria" export array.ini blocks -o output
    same input output
}

character_paths() {
    printf '[array]\nbuffer = 16MiB\n' >array.ini
    for drive in b c e; do printf '[drive.%s]\npath = %s\n' $drive "$(generic_of $drive)" >>array.ini; done
    records_whole named
}

trimmed() {
    passed_to adaptive "b c e"
    for name in passed blocks named; do expect 0 "$stria" rm array.ini $name; done
    sed -i 's/^buffer.*/&\ndiscard = yes/' array.ini
    records_whole again
}

# Status 0x280, a write fault, and not an errno: the extent goes elsewhere and the drive is kept.
bad_sector() {
    passed_to adaptive "d e"
    # shellcheck disable=SC2046 # words are meant
    expect 0 "$stria" init array.ini $(erase_options "d e")
    noise input 80000001
    expect 0 "$stria" record array.ini --name r --input input --report report.json
    json report.json 'sum(drive["errors"] for drive in d["drives"]) > 0' True
    expect 0 "$stria" export array.ini r -o output
    same input output
}

guarded() {
    passed_to adaptive "b c"
    expect 2 "$stria" init array.ini
    complains 'STRIA-b'
    array_of adaptive "b c"
    sed -i 's/^path = /&passthrough:/' array.ini
    expect 2 "$stria" init array.ini
    complains 'STRIA-b'
    complains 'STRIA-c'
    device=$(device_of a)
    /sbin/mkfs.ext4 -q -F "$device"
    printf '[drive.a]\npath = passthrough:%s\n' "$device" >array.ini
    expect 2 "$stria" init array.ini
    complains 'ext4'
    expect 2 "$stria" bench size "passthrough:$device" --size 1MiB
    complains 'ext4'
}

# Loaded with queues for it, the kernel's driver lets completions be polled for.
polled() {
    unload nvme
    load nvme poll_queues=1
    passed_to adaptive "b c e"
    [ "$(cat "/sys/class/block/$(basename "$(device_of b)")/queue/io_poll")" -eq 1 ]
    # shellcheck disable=SC2046 # words are meant
    expect 0 "$stria" init array.ini $(erase_options "b c e")
    records_whole polled
    contract_kept
}

it "keeps the contract of a backend" contract_kept
it "records by passthrough what is read back by blocks, and the other way round" both_ways
it "takes the path of a character device" character_paths
it "trims by the drive's own command" trimmed
it "takes a bad sector for what it is" bad_sector
it "refuses what it would refuse as a block device" guarded
it "polls where the driver has queues for it" polled
finish
