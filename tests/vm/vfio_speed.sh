#!/bin/sh
# Polling through VFIO, and passthrough, against the kernel's block layer: the same drive in the same guest, in turns; run
# by bench/vfio.sh, not by the test suite.
#: drive a size=1G
#: modules nvme vfio-pci
#: iommu
#: limit 1500
. "$(dirname "$0")/lib.sh"

device=$(device_of a)
address=$(address_of a)

bind() {
    echo "$address" >"/sys/bus/pci/devices/$address/driver/unbind"
    echo "$1" >"/sys/bus/pci/devices/$address/driver_override"
    echo "$address" >/sys/bus/pci/drivers_probe
}

# measured NAME PATH: one line of bytes a second and processor seconds a gigabyte, of the whole guest.
measured() {
    "$bench" --plain --machine --block 512KiB --depth 16 --seconds 5 "$2" >line
    echo "$1 $(cat line)" | tee -a $share/speed
}

turns() {
    bench=$(dirname "$stria")/../bench/stria_bench_drives
    # What is written for the first time grows the image.
    /bin/busybox dd if=/dev/zero of="$(device_of a)" bs=1M count=1024 2>/dev/null
    : >$share/speed
    # shellcheck disable=SC2034 # three times
    for turn in 1 2 3; do
        device=$(device_of a)
        measured block "$device"
        measured passthrough "passthrough:$device"
        bind vfio-pci
        measured vfio "vfio:$address"
        bind nvme
    done
}

it "measures the paths in turns" turns
finish
