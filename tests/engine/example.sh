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

# ends STATUS WHY: the last command's status, which is in $got, is this one.
ends() {
    [ "$got" -eq "$1" ] || {
        echo "it ended with $got, not with $1, $2"
        exit 1
    }
}
got=0
"$CAPTURE" rig.ini unread <in >/dev/full || got=$?
ends 1 "when what it reads back cannot be written"
got=0
"$CAPTURE" rig.ini folder <. >out || got=$?
ends 1 "when its input cannot be read"
head -c 50000000 /dev/zero >in
got=0
"$CAPTURE" rig.ini large <in >out || got=$?
ends 1 "when the array is too small for its input"

# A descriptor that is closed does not become a drive's: neither is a drive read as the input nor written as the output.
rm a.img b.img
"$STRIA" init rig.ini >/dev/null
got=0
"$CAPTURE" rig.ini no-input <&- >out || got=$?
ends 1 "when its input is closed"
[ ! -s out ] || {
    echo "a drive was read as the input"
    exit 1
}
echo quiet | "$CAPTURE" rig.ini no-output >&- && exit 1
"$CAPTURE" rig.ini no-input </dev/null 2>&- >&- || :
"$STRIA" verify rig.ini >/dev/null
