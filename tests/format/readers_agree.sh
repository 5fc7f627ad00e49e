#!/bin/sh
# readers_agree.sh MAKE_IMAGE SEED: what core says of the images it made is what read_image.py reads from them.
set -eu
here=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$1" "$scratch" "$2" >"$scratch/core"
# Something is damaged and missing on purpose: status 1. In any order, and with every payload checked.
status=0
python3 -B "$here/read_image.py" --verify "$scratch/drive2.img" "$scratch/drive0.img" "$scratch/drive1.img" \
    >"$scratch/python" || status=$?
[ $status -eq 1 ] || { echo "read_image.py ended with status $status"; exit 1; }
diff "$scratch/core" "$scratch/python" || { echo "core (<) and read_image.py (>) differ"; exit 1; }
for word in stored gap lost missing recovered complete; do
    grep -q -w $word "$scratch/core" || { echo "the images have nothing $word"; exit 1; }
done

# One flipped bit of payload is found: position 0 of drive 1 holds a chunk of the first recording.
data_offset=$(python3 -c "
import struct, sys
print(struct.unpack_from('<Q', open(sys.argv[1], 'rb').read(70000), 65536 + 152)[0])" "$scratch/drive1.img")
python3 -c "
import sys
with open(sys.argv[1], 'r+b') as image:
    image.seek(int(sys.argv[2]) + 100)
    byte = image.read(1)[0]
    image.seek(-1, 1)
    image.write(bytes([byte ^ 8]))" "$scratch/drive1.img" "$data_offset"
python3 -B "$here/read_image.py" --verify "$scratch"/drive?.img >"$scratch/flipped" || true
[ "$(grep -c CORRUPT "$scratch/flipped")" -eq 1 ] || { echo "a flipped bit was not found"; exit 1; }
