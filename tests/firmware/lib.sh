# Sourced by the scenarios of the bare-metal image: what those of tests/e2e have, and a machine to run the image in.
# STRIA_IMAGE names the image; build/firmware has it by default.
# shellcheck source=tests/e2e/lib.sh
. "$(dirname "$0")/../e2e/lib.sh"

image=${STRIA_IMAGE:-$source_folder/build/firmware/firmware/stria-virt.elf}
for tool in qemu-system-aarch64 "$image"; do
    command -v "$tool" >/dev/null || {
        echo "1..0 # SKIP $tool is not there: packaging/install.sh firmware, cmake --preset firmware and build"
        exit 77
    }
done

# disk NUMBER [SIZE]: an empty image file d0.img, d1.img …
disk() {
    truncate -s "${2:-256M}" "d$1.img"
}

# drive NUMBER [PROPERTIES]: QEMU's options for a controller with that file behind it, one a line.
drive() {
    printf '%s\n' -drive "file=d$1.img,if=none,id=d$1,format=raw,cache=writeback" \
        -device "nvme,serial=BARE$1,drive=d$1${2:+,$2}"
}

# drives COUNT [PROPERTIES]: so many files and their controllers.
drives() {
    for one in $(seq 0 $(($1 - 1))); do
        [ -f "d$one.img" ] || disk "$one"
        drive "$one" "${2-}"
    done
}

# bare STATUS OPTIONS [QEMU_OPTION...]: runs the image with what is to be done as /chosen/bootargs; further options
# of QEMU also from the file machine, one a line. MACHINE, CPU and MEMORY may be set. What it says is in out.
bare() {
    wanted=$1
    options=$2
    shift 2
    touch machine
    while IFS= read -r option; do set -- "$@" "$option"; done <machine
    expect "$wanted" timeout -k 5 60 qemu-system-aarch64 -M "${MACHINE:-virt}" -cpu "${CPU:-cortex-a53}" \
        -m "${MEMORY:-512}" -nodefaults -display none -serial stdio -monitor none \
        -semihosting-config enable=on,target=native -kernel "$image" -append "$options" "$@"
}

# ini COUNT [NAME]: array.ini over the files of so many drives, for the command on the host; NAME is the array's, by
# default as the image names one.
ini() {
    {
        printf '[array]\nname = %s\nbuffer = 16MiB\n' "${2-bare}"
        for one in $(seq 0 $(($1 - 1))); do
            printf '[drive.drive%d]\npath = d%d.img\n' "$one" "$one"
        done
    } >array.ini
}

# on_host COUNT NAME BYTES: the command on the host lists the recording, proves it, and gets the sensor's stream.
on_host() {
    ini "$1"
    expect 0 "$stria" ls array.ini
    says "^ *$2 .* complete$"
    expect 0 "$stria" verify array.ini "$2"
    says ' ok$'
    "$stria" export array.ini "$2" >stream 2>err || fail "export: $(cat err)"
    expect 0 "$stria" check-synthetic stream
    says "^stream: $3 bytes, all as they were made$"
}

# rest_verifies COUNT: with all of so many drives well again, the image and the command on the host both prove what
# there is of the first recording; only known gaps may be missing.
rest_verifies() {
    drives "$1" >machine
    bare 0 "verify"
    says '^bare-1: .*: good$'
    ini "$1"
    "$stria" verify array.ini >out 2>err || [ $? -eq 1 ] || fail "$(cat err)"
    says ' ok(, with gaps)?$'
}
