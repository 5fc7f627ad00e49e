# Sourced by every scenario of this folder, which runs inside the guest as root, with the host's files read-only under it.
#
# The shell is busybox's, with its own idea of dd, mount, modprobe and the like: a new process costs a lot in a guest
# without KVM. Where the real one is meant, it is named by its path.
#
# What tests/e2e/lib.sh offers is here too. /tmp is memory, /run/share is a folder of the host that stays when the
# guest has gone. Drives go by the names that the scenario's "#: drive" lines give them.
. "$(dirname "$0")/../e2e/lib.sh"

# shellcheck disable=SC2034 # for the scenarios
share=/run/share

# load MODULE [NAME=VALUE]...: with what it depends on.
load() {
    /sbin/modprobe -d "$VM_KERNEL_TREE" "$@"
}

# unload MODULE...
unload() {
    /sbin/modprobe -d "$VM_KERNEL_TREE" -r "$@"
}

# host CALL: asks run.py, prints the answer; fails if it is an error.
host() {
    port=
    for folder in /sys/class/virtio-ports/*; do
        [ "$(cat "$folder/name")" != calls ] || port=/dev/${folder##*/}
    done
    [ -n "$port" ] || fail "the port to the host is not there"
    exec 9<>"$port"
    echo "$1" | tr '\n' ' ' >&9
    echo >&9
    read -r answer <&9
    exec 9<&-
    echo "$answer"
    case $answer in *'"error"'*) fail "the host answers to $1: $answer" ;; esac
}

# throttle DRIVE BYTES: writes at most so many bytes a second from now on; 0 for no limit. The drive needs throttle=.
throttle() {
    host "{\"execute\": \"qom-set\", \"arguments\": {\"path\": \"/objects/throttle-$1\", \"property\": \"limits\",
        \"value\": {\"bps-write\": $2}}}"
}

# unplug DRIVE: takes the controller out of its slot, and waits for it to be gone.
unplug() {
    host "{\"execute\": \"device_del\", \"arguments\": {\"id\": \"$1\"}}"
    host "{\"wait\": \"DEVICE_DELETED\", \"seconds\": 60, \"data\": {\"device\": \"$1\"}}" | grep -q true ||
        fail "the drive $1 cannot be unplugged"
}

# plug DRIVE: puts it into its slot, again or for the first time.
plug() {
    host "{\"plug\": \"$1\"}"
}

serial_of() {
    echo "STRIA-$1"
}

# controller_of DRIVE: prints its folder, /sys/class/nvme/nvmeN; fails while it is not there.
controller_of() {
    for folder in /sys/class/nvme/nvme*; do
        read -r serial <"$folder/serial" || continue
        [ "$serial" != "STRIA-$1" ] || {
            echo "$folder"
            return 0
        }
    done 2>/dev/null
    return 1
}

# address_of DRIVE: prints its PCI address, 0000:01:00.0.
address_of() {
    cat "$(controller_of "$1")/address"
}

# device_of DRIVE: prints its block device, /dev/nvmeXn1, once that is there.
device_of() {
    until_true 20 has_device "$1"
    has_device "$1"
}

has_device() {
    name=$(controller_of "$1") || return 1
    for namespace in "$name"/nvme*n1; do
        # With multipath, the controller's folder has the hidden path nvmeXcYn1 of the device nvmeXn1.
        namespace=$(echo "${namespace##*/}" | sed 's/c[0-9]*n/n/')
        [ -b "/dev/$namespace" ] || return 1
        echo "/dev/$namespace"
        return 0
    done
    return 1
}

# generic_of DRIVE: prints its character device for passthrough, /dev/ngXn1.
generic_of() {
    device_of "$1" | sed 's,/dev/nvme,/dev/ng,'
}

# by_id DRIVE: makes the link that udev, which does not run here, would make, and prints it.
by_id() {
    device=$(device_of "$1")
    model=$(sed 's/ *$//; s/ \+/_/g' "$(controller_of "$1")/model")
    mkdir -p /dev/disk/by-id
    ln -sf "../../${device##*/}" "/dev/disk/by-id/nvme-${model}_STRIA-$1"
    echo "/dev/disk/by-id/nvme-${model}_STRIA-$1"
}

# array_of POLICY "DRIVE..." [LINE...]: array.ini over these drives; further lines go into [array].
array_of() {
    policy=$1
    members=$2
    shift 2
    {
        printf '[array]\nname = test\npolicy = %s\nbuffer = 16MiB\n' "$policy"
        for line in "$@"; do echo "$line"; done
        for member in $members; do printf '[drive.%s]\npath = %s\n' "$member" "$(by_id "$member")"; done
    } >array.ini
}

# fresh "DRIVE...": nothing is on these drives any more.
fresh() {
    for member in $1; do
        /sbin/blkdiscard --force --zeroout "$(device_of "$member")"
    done
}

# erase_options "DRIVE...": prints --erase SERIAL for each.
erase_options() {
    for member in $1; do echo "--erase STRIA-$member"; done
}

# recorded_while_hidden TIME COMMAND...: records for so long, and hides far1 (tests/vm/target.sh) three seconds after the
# command has succeeded: the recording goes on without it, and names it in its report.
recorded_while_hidden() {
    background "$stria" record array.ini --name r --input synthetic --rate 3MB/s --duration "$1" --report report.json
    shift
    "$@"
    sleep 3
    hide far1
    ended=0
    wait "$process" || ended=$?
    [ $ended -eq 1 ] || fail "it ended with $ended: $(cat err)"
    json report.json '[x["name"] for x in d["drives"] if x["lost"]]' "['far1']"
    json report.json '{(x["drive"], x["cause"]) for x in d["recording"]["gaps"]} <= {("far1", "drive")}' True
    json report.json 'd["recording"]["bytes"] > 20e6' True
}

# nothing_else_lost: with far1 back, all is there that the report did not call lost.
nothing_else_lost() {
    status=0
    "$stria" verify array.ini r --json >verified || status=$?
    [ $status -le 1 ] || fail "exit status $status"
    json verified 'd["recordings"][0]["missing"] + d["recordings"][0]["corrupt"]' 0
}

# shellcheck disable=SC2154 # set by run.py
for module in $VM_MODULES; do
    load "$module" || exit 1
done
