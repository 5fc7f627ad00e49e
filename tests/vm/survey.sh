#!/bin/sh
# What drives and doctor say of real NVMe controllers, beside nvme-cli's word.
#: drive a size=64M
#: drive b size=64M logical_block_size=4096 mdts=4
#: modules nvme
#: limit 600
. "$(dirname "$0")/lib.sh"

# critical_warning DRIVE BITS: as the controller's SMART log has it from now on.
critical_warning() {
    host "{\"execute\": \"qom-set\", \"arguments\": {\"path\": \"/machine/peripheral/$1\",
        \"property\": \"smart_critical_warning\", \"value\": $2}}"
}

as_nvme_cli() {
    expect 0 "$stria" drives "$(by_id a)" "$(by_id b)" --json
    cp out drives.json
    for drive in a b; do
        /usr/sbin/nvme id-ctrl "$(device_of $drive)" --output-format=json >$drive.id
        /usr/sbin/nvme smart-log "$(device_of $drive)" --output-format=json >$drive.smart
    done
    python3 - <<'PYTHON'
import json
drives = json.load(open("drives.json"))["drives"]
for drive, name in zip(drives, "ab"):
    identity, smart = json.load(open(f"{name}.id")), json.load(open(f"{name}.smart"))
    assert drive["transport"] == "nvme", drive
    assert drive["serial"] == identity["sn"].strip() == f"STRIA-{name}", (drive, identity)
    assert drive["model"] == identity["mn"].strip(), (drive, identity)
    assert drive["firmware"] == identity["fr"].strip(), (drive, identity)
    assert abs(drive["temperature_c"] - (smart["temperature"] - 273)) <= 1, (drive, smart)
    assert drive["percentage_used"] == smart["percent_used"], (drive, smart)
    assert drive["power_on_hours"] == int(smart["power_on_hours"]), (drive, smart)
    assert drive["media_errors"] == int(smart["media_errors"]), (drive, smart)
    assert drive["critical_warning"] == smart["critical_warning"] == 0, (drive, smart)
    assert drive["size_bytes"] == 64 << 20 and drive["array"] is None, drive
assert [drive["lba_bytes"] for drive in drives] == [512, 4096], drives
PYTHON
}

link_of_the_port() {
    expect 0 "$stria" drives "$(device_of a)" --json
    folder=$(controller_of a)/device
    json out '(d["drives"][0]["link"]["gts"], d["drives"][0]["link"]["width"])' \
        "($(sed 's/ GT.*//' "$folder/current_link_speed"), $(cat "$folder/current_link_width"))"
}

warned() {
    array_of adaptive "a b"
    expect 0 "$stria" init array.ini
    "$stria" doctor array.ini >healthy || [ $? -eq 1 ]
    critical_warning b 8
    expect 1 "$stria" doctor array.ini
    says 'STRIA-b|nvme1|by-id|[^a-z]b[^a-z]'
    cp out warned
    expect 0 "$stria" drives "$(device_of b)" --json
    json out 'd["drives"][0]["critical_warning"]' 8
    cmp healthy warned && fail "a critical warning changes nothing in what doctor says"
    critical_warning b 0
    "$stria" doctor array.ini >again || [ $? -eq 1 ]
    cmp healthy again
}

knows_its_array() {
    expect 0 "$stria" drives "$(device_of a)" --json
    json out 'd["drives"][0]["array"] is not None' True
}

it "tells identity and health as nvme-cli does" as_nvme_cli
it "tells the link as the kernel does" link_of_the_port
it "warns of a drive whose SMART log does, and no longer when that has ended" warned
it "tells which array a drive belongs to" knows_its_array
finish
