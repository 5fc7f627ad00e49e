#!/bin/sh
# make.sh FOLDER STRIA: makes the arrays that later versions must be able to read, in a folder that does not
# exist yet. Run once for a format version.
set -eu
folder=$1
stria=$(realpath "$2")
mkdir "$folder"
folder=$(realpath "$folder")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Text that packs well: lines of numbers, from FIRST on, BYTES long.
text() {
    seq "$1" 9999999 | head -c "$2"
}

# begin NAME POLICY SIZE...: an empty array in an empty folder.
begin() {
    mkdir "$scratch/$1"
    cd "$scratch/$1"
    printf '[array]\nname = %s\npolicy = %s\nchunk = 64KiB\nbuffer = 1MiB\ncommit_interval = 20ms\n' "$1" "$2" >array.ini
    shift 2
    for size in "$@"; do
        printf '[drive.d%s]\npath = d%s.img\nsize = %s\n' "$#" "$#" "$size" >>array.ini
        shift
    done
    "$stria" init array.ini >/dev/null
}

# finish NAME: notes what is true of each recording, and packs the folder.
finish() {
    cd "$scratch/$1"
    "$stria" ls array.ini --json >ls.json
    python3 -c 'import json; [print(r["name"]) for r in json.load(open("ls.json"))["recordings"]]' | while read -r name; do
        exported=0
        "$stria" export array.ini "$name" -o export.bin 2>/dev/null || exported=$?
        verified=0
        "$stria" verify array.ini "$name" >/dev/null 2>&1 || verified=$?
        echo "$name $exported $(sha256sum <export.bin | cut -d' ' -f1) $verified"
        rm -f export.bin
    done >expected
    rm ls.json
    tar -C "$scratch" --sort=name --owner=0 --group=0 --numeric-owner -cJf "$folder/$1.tar.xz" "$1"
}

# Unequal drives; a recording with a short end, one removed, one in the extents it left.
begin adaptive adaptive 2MiB 3MiB 2MiB
text 1 1000000 | "$stria" record array.ini --name first >/dev/null
text 500000 800000 | "$stria" record array.ini --name removed >/dev/null
text 900000 300000 | "$stria" record array.ini --name last >/dev/null
"$stria" rm array.ini removed >/dev/null
text 1234567 700000 | "$stria" record array.ini --name reuse >/dev/null
finish adaptive

begin raid0 raid0 2MiB 2MiB
text 1 1500000 | "$stria" record array.ini --name rows >/dev/null
finish raid0

# A recorder killed in the middle.
begin killed adaptive 2MiB 2MiB
(
    text 1 700000
    sleep 5
) | "$stria" record array.ini --name cut >/dev/null 2>&1 &
sleep 1
pkill -9 -f "record array.ini --name cut" || true
wait || true
finish killed

# A drive that dies while recording: what it had not committed is lost and named.
begin lost adaptive 2MiB 2MiB 2MiB
sed -i 's|^path = d2.img|&\nfault = write#12:gone|' array.ini
text 1 1500000 | "$stria" record array.ini --name degraded >/dev/null 2>&1 || true
sed -i '/^fault/d' array.ini
finish lost
