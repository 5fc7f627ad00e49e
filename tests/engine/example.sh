#!/bin/sh
# The example program returns what it was given, byte by byte. STRIA and CAPTURE name the two programs.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT INT TERM
cd "$folder"
cat >rig.ini <<INI
[array]
name = rig
chunk = 64KiB
buffer = 2MiB
[drive.a]
path = a.img
size = 16MiB
[drive.b]
path = b.img
size = 16MiB
INI
"$STRIA" init rig.ini >/dev/null
for bytes in 0 1 65536 5000001; do
    head -c $bytes /dev/urandom >in
    "$CAPTURE" rig.ini "of-$bytes" <in >out
    cmp in out
done
if "$CAPTURE" rig.ini of-1 <in >out 2>error; then
    echo "a name that is taken was accepted"
    exit 1
fi
grep -q of-1 error
