#!/bin/sh
# bench/firmware.sh: the bare-metal image against a bare write loop in the same image, in turns, in QEMU: what core, hashes
# and ledgers cost of what the drives give. Fails below 0.8 with drives of a set speed. With drives as fast as the host lets
# them be it is the emulated processor that is measured; that ratio is told and not judged.
#   STRIA_BENCH_BUILD    the build with the image        (build/firmware, made if it is not there)
#   STRIA_BENCH_MEMORY   a folder on a tmpfs             (/dev/shm), up to 4 GiB are used there
#   STRIA_BENCH_ROUNDS   turns of each, the median counts (5)
set -eu
cd "$(dirname "$0")/.."
if [ -z "${STRIA_BENCH_BUILD-}" ]; then
    STRIA_BENCH_BUILD=build/firmware
    [ -f $STRIA_BENCH_BUILD/build.ninja ] || cmake --preset firmware >/dev/null
    cmake --build $STRIA_BENCH_BUILD >/dev/null
fi
command -v qemu-system-aarch64 >/dev/null || { echo "bench/firmware.sh: needs QEMU: run packaging/install.sh firmware" >&2; exit 3; }
folder=$(mktemp -d "${STRIA_BENCH_MEMORY:-/dev/shm}/stria-firmware.XXXXXX")
trap 'rm -rf "$folder"' EXIT

# run OPTIONS DRIVE_OPTIONS: the ratio, in thousandths.
run() {
    set -- "$1" "$2" -M virt -cpu max -m 512 -nodefaults -display none -serial stdio -monitor none
    for drive in 0 1 2 3; do
        rm -f "$folder/d$drive.img"
        truncate -s 1G "$folder/d$drive.img"
        set -- "$@" -drive "file=$folder/d$drive.img,if=none,id=d$drive,format=raw$2" -device "nvme,serial=B$drive,drive=d$drive"
    done
    options=$1
    shift 2
    timeout -k 5 300 qemu-system-aarch64 "$@" -semihosting-config enable=on,target=native \
        -kernel "$STRIA_BENCH_BUILD/firmware/stria-virt.elf" \
        -append "init ratio repeats=${STRIA_BENCH_ROUNDS:-5} $options" </dev/null >"$folder/log" || {
        cat "$folder/log" >&2
        exit 3
    }
    sed -n 's/^ratio: \([0-9]*\)\.\([0-9]*\) of.*/\1\2/p' "$folder/log" | sed 's/^0*\([0-9]\)/\1/'
}

show() {
    sed -n 's/^ratio: round/  round/p' "$folder/log"
    echo "$1: $(($2 / 1000)).$(printf %03d $(($2 % 1000))) of the bare loop"
}

free=$(run "size=256MiB" "")
show "four drives without a limit (emulated processor)" "$free"
set_speed=$(run "size=64MiB" ",throttling.bps-write=25000000")
show "four drives of 25 MB/s" "$set_speed"
[ "$set_speed" -ge 800 ] || {
    echo "bench/firmware.sh: below the 0.8 that is promised" >&2
    exit 1
}
