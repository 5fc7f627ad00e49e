#!/bin/sh
# Drives that go away, are reset or stop answering while they are recorded on.
#: drive a size=64M throttle=0
#: drive b size=64M throttle=0
#: drive c size=64M throttle=0
#: drive d size=64M throttle=0
#: modules nvme
#: kernel nvme_core.io_timeout=6
#: limit 1200
. "$(dirname "$0")/lib.sh"

# made POLICY "DRIVE..." [LINE...]
made() {
    policy=$1
    drives=$2
    shift 2
    array_of "$policy" "$drives" 'chunk = 64KiB' 'commit_interval = 100ms' "$@"
    # shellcheck disable=SC2046 # words are meant
    "$stria" init array.ini $(erase_options "$drives") || "$stria" init array.ini
}

# recording_meanwhile COMMAND...: runs the command while a recording goes on; its status is in $ended.
recording_meanwhile() {
    background "$stria" record array.ini --name r --input synthetic --rate 2MB/s --duration 10s --report report.json
    sleep 3
    "$@"
    ended=0
    wait "$process" || ended=$?
    cat err
}

# survived DRIVE: the recording is degraded by this drive's loss, whole but for the gaps it names, and no drive is "full".
survived() {
    [ $ended -eq 1 ] || fail "it ended with $ended"
    json report.json '[x["name"] for x in d["drives"] if x["lost"]]' "['$1']"
    json report.json 'd["recording"]["degraded"] and not any(x["full"] for x in d["drives"])' True
    json report.json 'd["recording"]["duration_ns"] < 25e9' True
    json report.json '{(x["drive"], x["cause"]) for x in d["recording"]["gaps"]} <= {("'"$1"'", "drive")}' True
    # What was stored on the others is right: the stream describes itself.
    status=0
    "$stria" verify array.ini r --json >verified || status=$?
    [ $status -le 1 ] || fail "exit status $status"
    json verified 'd["recordings"][0]["corrupt"] + d["recordings"][0]["misplaced"]' 0
}

unplugged() {
    made "$1" "a b c"
    recording_meanwhile unplug c
    survived c
    plug c
    device_of c
    # With the drive back, nothing is missing but what was told to be.
    array_of "$1" "a b c"
    status=0
    "$stria" verify array.ini r --json >verified || status=$?
    [ $status -le 1 ] || fail "exit status $status"
    json verified 'd["recordings"][0]["missing"] + d["recordings"][0]["corrupt"]' 0
}

removed_by_sysfs() {
    made adaptive "a b d"
    recording_meanwhile remove_by_sysfs d
    survived d
    echo 1 >/sys/bus/pci/rescan
    device_of d
}

remove_by_sysfs() {
    echo 1 >"$(controller_of "$1")/device/remove"
}

# A reset takes a moment and loses nothing: the kernel sends again what was in flight. Requests that QEMU forgets in a reset
# it misses after 6 seconds, and resets again after 12.
reset() {
    made adaptive "a b c" 'write_deadline = 1min'
    recording_meanwhile reset_thrice b
    [ $ended -eq 0 ] || fail "it ended with $ended"
    json report.json 'd["recording"]["dropped_bytes"] == 0 and not any(x["lost"] for x in d["drives"])' True
    expect 0 "$stria" verify array.ini
    says 'r .*ok'
}

reset_thrice() {
    for turn in 1 2 3; do
        echo "turn $turn"
        echo 1 >"$(controller_of "$1")/reset_controller"
        sleep 1
    done
}

# The kernel waits 6 seconds before it does something about the drive, the array does not. It is slow and not still, since
# QEMU does not survive a kernel that ends a request which never began.
stops_answering() {
    made adaptive "a b c" 'write_deadline = 2s'
    recording_meanwhile throttle a 15000
    throttle a 0
    survived a
}

it "goes on without a drive that is unplugged, adaptive" unplugged adaptive
it "goes on without a drive that is unplugged, raid0" unplugged raid0
it "goes on without a drive that is removed by sysfs" removed_by_sysfs
it "loses nothing when a controller is reset" reset
it "gives up a drive that stops answering, before the kernel does" stops_answering
finish
