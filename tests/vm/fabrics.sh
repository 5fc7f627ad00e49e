#!/bin/sh
# Drives of other hosts, by NVMe over TCP, recorded on beside local ones. Target and host are the same guest.
#: drive a size=96M
#: drive b size=96M
#: drive c size=96M
#: drive d size=96M
#: modules nvme nvmet-tcp nvme-tcp
#: limit 900
. "$(dirname "$0")/lib.sh"
. "$(dirname "$0")/target.sh"

# join NAME: on the host that records.
join() {
    /usr/sbin/nvme connect --transport=tcp --traddr=127.0.0.1 --trsvcid=4420 --nqn="$prefix:$1" \
        --hostnqn="$prefix:host" --ctrl-loss-tmo=4 --reconnect-delay=1
    device_of "$1"
}

made() {
    array_of "$1" "$2" 'commit_interval = 100ms'
    # shellcheck disable=SC2046 # words are meant
    "$stria" init array.ini $(erase_options "$2") || "$stria" init array.ini
}

mixed() {
    mount -t configfs configfs /sys/kernel/config
    open_port 1 ipv4 127.0.0.1
    offer far1 "$(device_of c)"
    offer far2 "$(device_of d)"
    show far1
    show far2
    join far1
    join far2
    made "$1" "a b far1 far2"
    noise input 50000001
    expect 0 "$stria" record array.ini --name r --input input --report report.json
    json report.json '(sorted((x["serial"], x["bytes"] > 0, x["errors"]) for x in d["drives"]) ==
        [("STRIA-" + name, True, 0) for name in ("a", "b", "far1", "far2")])' True
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini r -o output
    same input output
}

# It is the far drive's own superblock: at home, the array is found without any network.
at_home() {
    array_of adaptive "a b c d"
    expect 0 "$stria" verify array.ini
    says 'r .*ok'
}

# rate "DRIVE...": bytes a second that these take, and the processor time of recorder and kernel for it.
rate() {
    made adaptive "$1"
    busy=$(awk '/^cpu / {print $2 + $3 + $4 + $7 + $8}' /proc/stat)
    expect 0 "$stria" record array.ini --input synthetic --size 120MB --report report.json
    busy=$(($(awk '/^cpu / {print $2 + $3 + $4 + $7 + $8}' /proc/stat) - busy))
    python3 -c '
import json, sys
rate = json.load(open("report.json"))["aggregate"]["mean_bytes_per_s"]
print("# two drives %s: %.0f MB/s, %.1f processor seconds a GB" % (sys.argv[1], rate / 1e6, float(sys.argv[2]) / 100 / 0.12))
' "$2" "$busy" | tee -a $share/measured
}

both_rates() {
    rate "a b" local
    rate "far1 far2" 'over TCP'
}

target_removed() {
    made adaptive "a b far1"
    recorded_while_hidden 12s sleep 0
    show far1
    until_true 20 join far1
    array_of adaptive "a b far1"
    nothing_else_lost
}

it "makes, fills, verifies and exports an array of local drives and drives over TCP" mixed adaptive
it "finds the same array where the far drives are local" at_home
it "records to drives over TCP alone" both_rates
it "goes on without a drive whose target is removed, and finds it again" target_removed
[ ! -e $share/measured ] || while read -r line; do tap "$line"; done <$share/measured
finish
