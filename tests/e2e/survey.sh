#!/bin/sh
# What stria drives and stria doctor see: on recorded machines, and on this one, whatever it has.
. "$(dirname "$0")/lib.sh"

make_tree=${STRIA_MAKE_TREE:-$(dirname "$stria")/../tests/survey/make_tree}

# recorded NAME: the tree of this name in the folder NAME.
recorded() {
    mkdir "$1"
    "$make_tree" "$source_folder/tests/survey/trees" "$1" "$1"
}

# What is mounted is told by a FIFO, from which nothing ever comes.
ended_while_they_wait() {
    recorded healthy
    rm healthy/proc/self/mountinfo
    mkfifo healthy/proc/self/mountinfo
    for signal in INT TERM HUP; do
        for command in drives doctor; do
            expect 124 timeout -k 20 -s $signal 1 "$stria" $command --root healthy
        done
    done
}

# examined COMMAND...: whatever this machine has, its answer is one of the two, in out.
examined() {
    got=0
    "$@" >out 2>err || got=$?
    [ $got -le 1 ] || fail "exit status $got: $(cat err)"
}

lists_a_machine() {
    recorded healthy
    expect 0 "$stria" drives --root healthy
    says '^/dev/nvme0n1 .*Samsung SSD 980 PRO 2TB .*S69ENX0T000000A .*5B2QGXA7 .*2000\.4 GB .*4096 B .*16\.0 GT/s x4 .*7877 MB/s .*39 °C .*3 %'
    says '^/dev/sda .*CT500MX500SSD1 .*6\.0 GT/s x1 .*600 MB/s'
    says 'sda2: mount /$'
    [ "$(grep -c '^/dev/' out)" -eq 5 ]
    expect 0 "$stria" drives --root healthy --json
    json out 'd["schema"]' 'stria.drives/1'
    json out '[x["path"] for x in d["drives"]]' "['/dev/nvme0n1', '/dev/nvme1n1', '/dev/nvme2n1', '/dev/nvme3n1', '/dev/sda']"
    json out 'd["drives"][1]["link"]' "{'gts': 16.0, 'width': 4, 'capable_gts': 16.0, 'capable_width': 4, 'bytes_per_s': 7876923076, 'capable_bytes_per_s': 7876923076}"
    json out 'd["drives"][4]["temperature_c"]' None
    json out 'd["drives"][4]["users"][0]' "{'use': 'mount', 'what': '/', 'part': 'sda2'}"
}

keys_are_stable() {
    recorded healthy
    truncate -s 1M file.img
    expect 0 "$stria" drives --root healthy --json
    mv out recorded.json
    expect 0 "$stria" drives file.img memory:1MiB --json
    mv out live.json
    python3 - <<'PY'
import json

def keys(value):
    return {key: keys(inner) for key, inner in value.items()} if isinstance(value, dict) else None

drives = [drive for name in ("recorded.json", "live.json") for drive in json.load(open(name))["drives"]]
shapes = []
for drive in drives:
    drive["array"] = None
    shapes.append(list(keys(drive).items()))
assert len(shapes) == 7 and all(shape == shapes[0] for shape in shapes), shapes
PY
}

# Each machine, and whether something serious is wrong with it.
tells_by_its_status() {
    for machine in healthy:0 downgraded:1 slot:1 narrow-port:1 format-512:0 hot:1 worn:1 scheduler:0 numa-far:0 interrupts:0 \
        powersave:1 memlock:0 old-kernel:1 small-memory:1 writer:1; do
        name=${machine%:*}
        recorded "$name"
        expect "${machine#*:}" "$stria" doctor --root "$name"
        expect "${machine#*:}" "$stria" doctor --root "$name" --json
        [ ! -s err ] || fail "diagnostics: $(cat err)"
    done
    json out 'd["schema"]' 'stria.doctor/1'
    json out 'd["verdict"]' serious
    json out 'd["findings"][0]["check"]' writers
    json out 'sorted(d["findings"][0])' "['check', 'cost_basis', 'cost_percent', 'evidence', 'remedy', 'severity', 'subject']"
    json out 'len(d["drives"])' 4
    expect 0 "$stria" doctor --root healthy --json
    json out 'd["verdict"]' healthy
    json out 'd["findings"]' '[]'
}

examines_an_array_of_devices() {
    recorded narrow-port
    cat >array.ini <<'INI'
[array]
name = rig
buffer = 4GiB
[drive.a]
path = /dev/nvme4n1
[drive.b]
path = /dev/disk/by-id/nvme-Samsung_SSD_980_PRO_2TB_S69ENX0T000001A
[drive.c]
path = /dev/nvme5n1
[drive.d]
path = /dev/nvme9n1
INI
    expect 1 "$stria" doctor array.ini --root narrow-port
    says '^serious: /dev/nvme9n1 \(present, costs 100 % of the rate\)'
    says '^serious: /dev/nvme4n1, /dev/nvme5n1 \(port, costs 75 % of the rate\)'
    says 'buffer of 4096 MiB needs 2048'
    [ "$(grep -n present out | cut -d: -f1)" -lt "$(grep -n '(port' out | cut -d: -f1)" ]
}

refuses_what_is_wrong() {
    array adaptive 1 8MiB
    expect 2 "$stria" doctor nowhere.img/x
    complains_once
    complains 'nowhere\.img'
    expect 2 "$stria" doctor array.ini /dev/null
    complains_once
    complains 'array\.ini'
    expect 2 "$stria" drives /dev/null
    complains_once
    complains 'neither a block device nor a file'
    expect 2 "$stria" doctor nowhere.ini
    complains 'nowhere\.ini'
    recorded healthy
    expect 2 "$stria" doctor /dev/nvme7n1 --root healthy
    complains '/dev/nvme7n1 is not there'
}

sees_files_before_and_after_init() {
    array adaptive 2 24MiB
    examined "$stria" doctor array.ini
    says '2 drives examined'
    [ ! -e drive0.img ] || fail "doctor made a file"
    expect 0 "$stria" drives drive0.img --json
    json out 'd["drives"][0]["exists"]' False
    json out 'd["drives"][0]["transport"]' file
    expect 0 "$stria" init array.ini
    expect 0 "$stria" drives drive0.img drive1.img --json
    json out '[x["array"]["name"] for x in d["drives"]]' "['test', 'test']"
    json out '[x["array"]["drive_index"] for x in d["drives"]]' '[0, 1]'
    json out 'd["drives"][0]["users"][0]["use"]' array
    json out 'd["drives"][0]["allocated_bytes"] >= d["drives"][0]["size_bytes"]' True
    examined "$stria" doctor array.ini --json
    json out '[x["check"] for x in d["findings"] if x["check"] == "allocated"]' '[]'
    truncate -s 100M sparse.img
    examined "$stria" doctor sparse.img --json
    json out '[x["check"] for x in d["findings"] if x["check"] == "allocated"]' "['allocated']"
}

sees_a_file_in_memory() {
    mounted_tmpfs here 32M
    truncate -s 8M here/a.img
    expect 0 "$stria" drives here/a.img --json
    json out 'd["drives"][0]["file_system"]["type"]' tmpfs
    json out 'd["drives"][0]["file_system"]["bytes"]' 33554432
    json out 'd["drives"][0]["disk"]' None
    cat >array.ini <<'INI'
[array]
name = rig
[drive.a]
path = here/b.img
size = 64MiB
INI
    expect 1 "$stria" doctor array.ini
    says 'here/b\.img \(room'
    says 'tmpfs'
}

sees_loop_devices() {
    truncate -s 64M under.img
    loop=$(loop_device under.img 4096)
    expect 0 "$stria" drives "$loop" --json
    json out 'd["drives"][0]["transport"]' loop
    json out 'd["drives"][0]["lba_bytes"]' 4096
    json out 'd["drives"][0]["size_bytes"]' 67108864
    json out 'd["drives"][0]["backing"].endswith("/under.img")' True
    json out 'd["drives"][0]["model"]' None
    json out 'd["drives"][0]["users"]' '[]'
    expect 0 "$stria" drives
    says "^$loop +loop "
    # The file beneath is held by the device.
    expect 1 "$stria" doctor under.img
    says "in-use"
    says "part of $loop"
}

sees_who_uses_a_loop_device() {
    truncate -s 64M under.img
    loop=$(loop_device under.img)
    mkfs.ext4 -q "$loop"
    mkdir place
    mount "$loop" place 2>/dev/null || skip "this machine mounts no ext4"
    (cd place && pwd) >>"$scratch/mounts"
    expect 0 "$stria" drives "$loop" --json
    json out '[(x["use"], x["what"].endswith("/place")) for x in d["drives"][0]["users"]]' "[('mount', True)]"
    expect 1 "$stria" doctor "$loop"
    says "^serious: $loop \\(in-use"
}

sees_a_member_device() {
    truncate -s 64M under.img
    loop=$(loop_device under.img)
    printf '[array]\nname = rig\n[drive.only]\npath = %s\n' "$loop" >array.ini
    expect 0 "$stria" init array.ini
    expect 0 "$stria" drives "$loop"
    says 'array rig \(drive only, 1 of 1\)'
    examined "$stria" doctor "$loop" --json
    json out '[x["check"] for x in d["findings"] if x["check"] == "in-use"]' '[]'
}

sees_this_machine() {
    expect 0 "$stria" drives
    expect 0 "$stria" drives --json
    json out 'all(x["size_bytes"] > 0 and x["node"] == x["path"][5:] for x in d["drives"])' True
    examined "$stria" doctor --json
    json out 'd["host"]["kernel"]' "$(uname -r)"
    json out 'd["host"]["cpus"]' "$(getconf _NPROCESSORS_ONLN)"
    json out 'd["verdict"] == "serious"' "$([ $got -eq 1 ] && echo True || echo False)"
}

it "a signal ends them while they wait" ended_while_they_wait
it "a machine's drives are listed with links, health and users" lists_a_machine
it "every drive has the same keys in JSON, whatever it is" keys_are_stable
it "the doctor's exit status tells whether a finding is serious" tells_by_its_status
it "an array of devices is examined as a whole, a missing drive being a finding" examines_an_array_of_devices
it "what is no drive or no array is refused in one sentence" refuses_what_is_wrong
it "files are seen before and after init, and none is made" sees_files_before_and_after_init
it "a file in memory is seen as one, with its room" sees_a_file_in_memory
it "a loop device is told plainly, and holds the file beneath" sees_loop_devices
it "who uses a loop device is told" sees_who_uses_a_loop_device
it "a drive of an array is known by its superblock" sees_a_member_device
it "this machine is seen, whatever it has" sees_this_machine
finish
