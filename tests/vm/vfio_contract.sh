#!/bin/sh
# The contract suite on our own driver over VFIO, on controllers of either block size.
#: drive a size=8M
#: drive b size=8M logical_block_size=4096 mdts=4
#: modules nvme vfio-pci
#: iommu
#: limit 1200
. "$(dirname "$0")/lib.sh"

suite=$(dirname "$stria")/../tests/contract/test_contract

contract() {
    [ -x "$suite" ] || skip "the contract suite is not built"
    device_of "$1" >/dev/null
    address=$(address_of "$1")
    echo "$address" >"/sys/bus/pci/devices/$address/driver/unbind"
    echo vfio-pci >"/sys/bus/pci/devices/$address/driver_override"
    echo "$address" >/sys/bus/pci/drivers_probe
    STRIA_TEST_VFIO=vfio:$address STRIA_TEST_SUBJECTS=VFIO "$suite" --jobs 1 --tap=contract.tap >log 2>&1 || {
        cat log contract.tap
        exit 1
    }
    [ "$(grep -c '^ok' contract.tap)" -ge 15 ]
    ! grep -q 'SKIP' contract.tap
}

it "the contract suite holds over VFIO" contract a
it "and with blocks of 4096 bytes and transfers of 64 KiB" contract b
finish
