#!/bin/sh
# Drives of other hosts that array.ini names by URL: connected for each command, and disconnected after it. Target and
# host are the same guest.
#: drive a size=48M
#: drive b size=48M
#: drive c size=48M
#: drive d size=48M
#: modules nvme
#: limit 1200
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/target.sh"

url_of() {
    case $1 in
        far2) echo "nvme-tcp://[::1]/$prefix:far2" ;;
        *) echo "nvme-tcp://127.0.0.1:4420/$prefix:$1" ;;
    esac
}

# far_array "LOCAL..." "FAR..." [LINE...]
far_array() {
    locals=$1 fars=$2
    shift 2
    array_of adaptive "$locals" 'commit_interval = 100ms' "$@"
    for far in $fars; do printf '[drive.%s]\npath = %s\n' "$far" "$(url_of "$far")" >>array.ini; done
}

# connected: how many controllers over TCP there are.
connected() {
    for folder in /sys/class/nvme/nvme*; do cat "$folder/transport" 2>/dev/null; done | grep -c tcp || :
}

none_left() {
    [ "$(connected)" -eq 0 ]
}

none_is_connected() {
    none_left || fail "after this, $(connected) are connected still: $*"
}

# then_gone STATUS COMMAND...: ends so, and leaves no connection behind.
then_gone() {
    expect "$@"
    none_is_connected "$@"
}

# says_so STATUS TEXT COMMAND...: fails so, with one sentence that has the text.
says_so() {
    sentence=$2
    status=$1
    shift 2
    expect "$status" "$@"
    complains "$sentence"
    complains_once
}

without_module() {
    far_array "a b" far1
    says_so 2 "modprobe nvme-tcp" "$stria" init array.ini
}

set_up() {
    load nvmet-tcp
    load nvme-tcp
    mount -t configfs configfs /sys/kernel/config
    open_port 1 ipv4 127.0.0.1
    open_port 2 ipv6 ::1
    offer far1 "$(device_of c)"
    offer far2 "$(device_of d)"
    offer bare
    show far1
    show far2 2
    show bare
}

mixed() {
    far_array "a b" "far1 far2"
    then_gone 0 "$stria" init array.ini
    noise input 30000001
    then_gone 0 "$stria" record array.ini --name r --input input --report report.json
    json report.json '(sorted((x["serial"], x["bytes"] > 0, x["errors"]) for x in d["drives"]) ==
        [("STRIA-" + name, True, 0) for name in ("a", "b", "far1", "far2")])' True
    json report.json 'sum(x["path"].startswith("nvme-tcp://") for x in d["drives"])' 2
    then_gone 0 "$stria" ls array.ini
    then_gone 0 "$stria" verify array.ini
    says 'r .*ok'
    then_gone 0 "$stria" export array.ini r -o output
    same input output
}

guarded() {
    far_array "a b" "far1 far2"
    then_gone 2 "$stria" init array.ini
    for far in far1 far2; do complains "$(url_of "$far" | sed 's/[][]/./g').*--erase STRIA-$far"; done
    # shellcheck disable=SC2046 # words are meant
    then_gone 0 "$stria" init array.ini $(erase_options "a b far1 far2")
    then_gone 0 "$stria" verify array.ini
}

surveyed() {
    then_gone 0 "$stria" drives "$(url_of far1)" --json
    json out '(d["drives"][0]["serial"], d["drives"][0]["path"])' "('STRIA-far1', '$(url_of far1)')"
    far_array "a b" "far1 far2"
    "$stria" doctor array.ini --json >out || [ $? -eq 1 ] || fail "doctor ends with $?"
    json out 'sorted(x["serial"] for x in d["drives"])' "['STRIA-a', 'STRIA-b', 'STRIA-far1', 'STRIA-far2']"
    none_is_connected doctor
    says_so 2 "nobody listens" "$stria" drives "nvme-tcp://127.0.0.1:4421/$prefix:far1"
    then_gone 0 "$stria" bench size "$(url_of far2)" --size 4MiB --repeats 1 --rest 0 --erase STRIA-far2 -o result.json
    json result.json 'd["drives"][0]["serial"]' STRIA-far2
}

# What somebody else has connected is used, and left.
left_alone() {
    /usr/sbin/nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid=4420 --nqn="$prefix:far1"
    device=$(device_of far1)
    far_array "a b" far1
    # shellcheck disable=SC2046 # words are meant
    expect 0 "$stria" init array.ini $(erase_options "a b far1")
    expect 0 "$stria" record array.ini --input synthetic --size 10MB
    expect 0 "$stria" verify array.ini
    [ "$(connected)" -eq 1 ] || fail "$(connected) are connected"
    [ "$(device_of far1)" = "$device" ] || fail "it is another device"
    /usr/sbin/nvme disconnect --nqn="$prefix:far1" >/dev/null
    then_gone 0 "$stria" verify array.ini
}

# While another command uses a drive, whoever had connected it leaves the connection.
shared() {
    far_array "a b" far1
    background "$stria" record array.ini --name shared --input synthetic --rate 2MB/s --duration 6s
    until_true 20 is_recording
    expect 0 "$stria" drives "$(url_of far1)"
    [ "$(connected)" -eq 1 ] || fail "the recorder's drive was disconnected"
    wait "$process" || fail "the recorder ends with $?: $(cat err)"
    none_is_connected record
}

is_recording() {
    [ "$(connected)" -eq 1 ] && device_of far1 >/dev/null
}

wrong() {
    says_so 2 "does not offer $prefix:far9 to this host" "$stria" drives "$(url_of far9)"
    says_so 2 "has no namespace" "$stria" drives "$(url_of bare)"
    says_so 2 "nobody listens at port 4419" "$stria" drives "nvme-tcp://127.0.0.1:4419/$prefix:far1"
    says_so 2 "there is no host" "$stria" drives "nvme-tcp://nowhere.invalid/$prefix:far1"
    says_so 2 "has no namespace 3: it has 1" "$stria" drives "$(url_of far1)?nsid=3"
    says_so 2 "names no NVMe subsystem" "$stria" drives "nvme-tcp://127.0.0.1:4420"
    none_is_connected
    # The rest of the array is there all the same.
    far_array "a b" "far1"
    sed -i 's/4420/4419/' array.ini
    expect 1 "$stria" verify array.ini
    complains "nobody listens at port 4419"
}

several_namespaces() {
    add_namespace bare 1 "$(device_of d)"
    add_namespace bare 5 "$(device_of b)"
    says_so 2 "has the namespaces 1, 5: choose one by .nsid=1" "$stria" drives "$(url_of bare)"
    then_gone 0 "$stria" drives "$(url_of bare)?nsid=5" "$(url_of bare)?nsid=1" --json
    json out '[x["size_bytes"] for x in d["drives"]]' '[50331648, 50331648]'
}

as_another_user() {
    /usr/bin/setpriv --reuid=65534 --clear-groups "$stria" drives "$(url_of far1)" 2>err && fail "it works for everybody"
    complains "run as root"
}

target_removed() {
    far_array "a b" far1
    # shellcheck disable=SC2046 # words are meant
    expect 0 "$stria" init array.ini $(erase_options "a b far1")
    recorded_while_hidden 14s until_true 20 is_recording
    until_true 30 none_left
    show far1
    nothing_else_lost
    none_is_connected verify
}

it "says that the kernel has no NVMe over TCP" without_module
it "the kernel's own target offers drives" set_up
it "makes, fills, verifies and exports an array of local drives and URLs, connected for each command only" mixed
it "overwrites a far drive only by its serial number" guarded
it "surveys and benches far drives" surveyed
it "uses what is connected already, and leaves it" left_alone
it "does not disconnect what another command uses" shared
it "tells in a sentence what is wrong with a URL" wrong
it "chooses among several namespaces" several_namespaces
it "says who may connect" as_another_user
it "goes on without a drive whose target is removed, and finds it again" target_removed
finish
