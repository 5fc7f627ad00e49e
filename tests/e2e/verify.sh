#!/bin/sh
# Damage on the media is found, told with its place, and never exported as if it were data.
. "$(dirname "$0")/lib.sh"

# The data area of drive0.img begins at $data, the chunk at stream offset $stream lies at $at in file $drive.
made() {
    array raid0 4 32MiB
    expect 0 "$stria" init array.ini
    noise input $((20 << 20))
    expect 0 "$stria" record array.ini --name take --input input
    expect 0 "$stria" ls array.ini --json
    data=$(python3 -c 'import json; print(json.load(open("out"))["drives"][0]["data_offset_bytes"])')
    # Row 2 of drive 1 is chunk 9.
    at=$((data + (2 << 20)))
    stream=$((9 << 20))
    tail -c +$((stream + 1)) input | head -c 1048576 >chunk
    tail -c +$((at + 1)) drive1.img | head -c 1048576 | cmp - chunk || fail "chunk 9 is not where raid0 has it"
}

overwrite() {
    dd if="$1" of="$2" bs=4096 seek=$(($3 / 4096)) conv=notrunc status=none
}

one_bit() {
    made
    python3 - $((at + 77777)) <<'PYTHON'
import sys
with open("drive1.img", "r+b") as drive:
    drive.seek(int(sys.argv[1]))
    byte = drive.read(1)[0]
    drive.seek(int(sys.argv[1]))
    drive.write(bytes([byte ^ 4]))
PYTHON
    expect 1 "$stria" verify array.ini
    cat out err >all
    grep -q take all || fail "the recording is not named: $(cat all)"
    grep -q $stream all || fail "the stream offset $stream is not told: $(cat all)"
    grep -q -E 'drive1\.img|\bd1\b' all || fail "the drive is not named: $(cat all)"
    grep -q $at all || fail "the drive offset $at is not told: $(cat all)"
    grep -q corrupt all || fail "not told as corrupt: $(cat all)"
    expect 1 "$stria" verify array.ini --json
    json out 'd["verdict"]' damaged
    json out 'd["recordings"][0]["corrupt"]' 1
    json out 'd["recordings"][0]["ok"]' 19
    json out 'd["recordings"][0]["extents"]' 20
    expect 1 "$stria" export array.ini take -o output
    head -c $stream input >wanted
    head -c 1048576 /dev/zero >>wanted
    tail -c +$((stream + 1048577)) input >>wanted
    same wanted output
}

swapped() {
    made
    other=$((data + (3 << 20)))
    tail -c +$((other + 1)) drive1.img | head -c 1048576 >chunk2
    overwrite chunk2 drive1.img $at
    overwrite chunk drive1.img $other
    expect 1 "$stria" verify array.ini --json
    json out 'd["recordings"][0]["ok"]' 18
    json out 'd["recordings"][0]["misplaced"] + d["recordings"][0]["corrupt"]' 2
    expect 1 "$stria" export array.ini take -o output
}

lost_entries() {
    made
    # Everything before the data area but the superblock's page.
    head -c $((data - 131072)) /dev/zero >zeroes
    overwrite zeroes drive1.img 131072
    expect 1 "$stria" verify array.ini --json
    json out 'd["verdict"]' damaged
    json out 'd["recordings"][0]["missing"]' 5
    expect 1 "$stria" export array.ini take -o output
}

# one_superblock OFFSET HOW: the other copy is used, the loss is told, and mended by whoever may write.
one_superblock() {
    made
    cp drive1.img kept
    noise page 4096
    [ "$2" = noise ] || head -c 4096 /dev/zero >page
    overwrite page drive1.img "$1"
    cp drive1.img damaged
    for command in 'ls array.ini' 'verify array.ini' 'export array.ini take -o output'; do
        # shellcheck disable=SC2086 # words
        expect 0 "$stria" $command
        complains "drive1.img: .*superblock at offset $1 is damaged"
        complains_once
    done
    same input output
    same damaged drive1.img
    expect 0 "$stria" record array.ini --name more --input input
    complains "drive1.img: .*superblock at offset $1 was damaged"
    tail -c +$(($1 + 1)) drive1.img | head -c 4096 >mended
    tail -c +$(($1 + 1)) kept | head -c 4096 | cmp - mended
    expect 0 "$stria" ls array.ini
    [ ! -s err ] || fail "still told: $(cat err)"
}

# What this process may not write says nothing of the drive, and whoever may write it mends it.
superblock_past_the_limit() {
    array adaptive 2 64MiB
    sed -i '0,/size = 64MiB/s//size = 48MiB/' array.ini
    expect 0 "$stria" init array.ini
    last=$((((64 << 20) - 65536 - 4096) / 65536 * 65536))
    cp drive1.img kept
    noise page 4096
    overwrite page drive1.img $last
    # 512-byte blocks: 56 MiB.
    (ulimit -f 114688 && exec "$stria" record array.ini --name one --input synthetic --size 1MB) >out 2>err ||
        fail "it ended with $?: $(cat err)"
    complains "drive1.img: .*superblock at offset $last is damaged: .* lies past what this process may write"
    if grep -q 'replace the drive' err; then fail "the drive is blamed: $(cat err)"; fi
    expect 0 "$stria" record array.ini --name two --input synthetic --size 1MB
    complains "drive1.img: .*superblock at offset $last was damaged"
    tail -c +$((last + 1)) drive1.img | head -c 4096 >mended
    tail -c +$((last + 1)) kept | head -c 4096 | cmp - mended
}

# A file or a device that has grown is what it was, and its second superblock where it was.
grown() {
    made
    cp drive1.img before
    head -c $((16 << 20)) /dev/zero >>drive1.img
    for command in 'ls array.ini' 'verify array.ini' 'export array.ini take -o output'; do
        # shellcheck disable=SC2086 # words
        expect 0 "$stria" $command
        [ ! -s err ] || fail "it is told: $(cat err)"
    done
    same input output
    expect 0 "$stria" record array.ini --name more --input input
    [ "$(tail -c $((16 << 20)) drive1.img | tr -d '\000' | wc -c)" -eq 0 ] || fail "written behind the old end"
    second=$((((32 << 20) - 65536 - 4096) / 65536 * 65536))
    noise page 4096
    overwrite page drive1.img $second
    expect 0 "$stria" ls array.ini
    complains "drive1.img: .*superblock at offset $second is damaged"
    # With the first one damaged the second is found only where the drive has its old length back.
    printf 'x' | dd of=before bs=1 seek=65700 conv=notrunc status=none
    { cat before; head -c $((16 << 20)) /dev/zero; } >drive1.img
    expect 0 "$stria" ls array.ini
    complains 'drive1.img .*both copies .*give it its old length back'
    truncate -s 32M drive1.img
    expect 0 "$stria" ls array.ini
    complains "drive1.img: .*superblock at offset 65536 is damaged"
}

noise_everywhere() {
    made
    turn=0
    while [ $turn -lt 10 ]; do
        turn=$((turn + 1))
        cp drive1.img drive
        noise page 4096
        overwrite page drive1.img $((4096 * $(python3 -c "import random; print(random.randrange(16, $data // 4096))")))
        status=0
        "$stria" verify array.ini >out 2>err || status=$?
        [ $status -le 1 ] || fail "exit status $status: $(cat err)"
        status=0
        "$stria" export array.ini take -o output >out 2>err || status=$?
        [ $status -le 1 ] || fail "exit status $status: $(cat err)"
        [ $status -ne 0 ] || same input output
        mv drive drive1.img
    done
}

# A drive that cannot read an extent is named by export as it is by verify, and as unreadable.
one_bad_block() {
    made
    sed "s/^path = drive1.img/&\nfault = read@$at-$((at + 1048576)):eio/" array.ini >faulty.ini
    expect 1 "$stria" verify faulty.ini
    says "offset $stream: .* unreadable, on drive d1 \\(drive1.img\\) at offset $at: "
    expect 1 "$stria" export faulty.ini take -o output
    complains "offset $stream: .* unreadable, on drive d1 \\(drive1.img\\) at offset $at: "
    expect 1 "$stria" export faulty.ini take -o part --offset $((stream + 4096)) --length 8192
    complains "offset $((stream + 4096)): .* unreadable, on drive d1 .* at offset $((at + 4096)): "
    head -c 8192 /dev/zero | cmp - part
}

# word_for NAME WORD: export says it as verify does, of the extent at $at.
word_for() {
    expect 1 "$stria" verify array.ini
    says "offset $stream: .* $1, on drive d1 \\(drive1.img\\) at offset $at"
    expect 1 "$stria" export array.ini take -o output
    complains "offset $stream: .* $1, on drive d1 \\(drive1.img\\) at offset $at"
}

words() {
    made
    cp drive1.img kept
    noise page 4096
    overwrite page drive1.img $at
    word_for corrupt
    head -c 1048576 /dev/zero >zeroes
    overwrite zeroes drive1.img $at
    word_for stale
    # Chunk 8 is in the same row on drive 0.
    tail -c +$(((8 << 20) + 1)) input | head -c 1048576 >other
    overwrite other drive1.img $at
    word_for misplaced
    complains "what belongs to take at stream offset $((8 << 20)) lies there"
    cp kept drive1.img
    mv drive1.img away
    expect 1 "$stria" verify array.ini
    says "offset $stream: .* missing, on drive d1 \\(drive1.img\\)"
    expect 1 "$stria" export array.ini take -o output
    complains "offset $stream: .* missing, .*on drive d1 \\(drive1.img\\)"
}

# A drive of four is away under raid0: every fourth chunk is missing, and no two of them adjoin.
many_stretches() {
    array raid0 4 32MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    noise input $((20 << 20))
    expect 0 "$stria" record array.ini --name take --input input
    mv drive1.img away
    expect 1 "$stria" verify array.ini
    [ "$(grep -c ': at stream offset' out)" -eq 32 ] || fail "not 32 lines of stretches: $(cat out)"
    says '^and 48 more such stretches, 3\.1 MB \(3\.0 MiB\) in all: --json lists every extent'
    expect 1 "$stria" verify array.ini --json
    json out 'len(d["findings"])' 80
    json out '(d["findings_unlisted"], d["gaps_unlisted"])' '(0, 0)'
    json out '[f["offset_bytes"] for f in d["findings"]] == [(4 * n + 1) << 16 for n in range(80)]' True
    expect 1 "$stria" export array.ini take -o output
    [ "$(grep -c ': left as a hole' err)" -eq 32 ] || fail "not 32 lines of holes: $(cat err)"
    complains '48 more stretches, 3\.1 MB \(3\.0 MiB\) in all, were left as holes'
}

# All of the only drive's payload is overwritten: as many corrupt extents as chunks, in one stretch.
one_stretch() {
    array adaptive 1 32MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    noise input $((10 << 20))
    expect 0 "$stria" record array.ini --name take --input input
    expect 0 "$stria" ls array.ini --json
    data=$(python3 -c 'import json; print(json.load(open("out"))["drives"][0]["data_offset_bytes"])')
    noise noise $((20 << 20))
    overwrite noise drive0.img "$data"
    expect 1 "$stria" verify array.ini --json
    json out 'len(d["findings"])' 160
    stretch='at stream offset 0: 10\.5 MB \(10\.0 MiB\) corrupt, on drive d0 \(drive0.img\).* at offset '
    expect 1 "$stria" verify array.ini
    says "$stretch"
    [ "$(grep -c ': at stream offset' out)" -eq 1 ] || fail "not one stretch: $(cat out)"
    expect 1 "$stria" export array.ini take -o output
    complains "$stretch"
    complains_once
}

it "many damaged stretches are some lines and a number, and each of them with --json" many_stretches
it "damage that adjoins is one line" one_stretch
it "an extent that cannot be read is told with its drive, and as unreadable" one_bad_block
it "export says corrupt, stale, misplaced and missing where verify does" words
it "one flipped bit is found, and told with recording, offsets and drive" one_bit
it "chunks that changed places are found" swapped
it "extents without their ledger entries are missing" lost_entries
it "one copy of the superblock is enough, the lost first one is told and mended" one_superblock 65536 noise
it "one copy of the superblock is enough, the lost last one is told and mended" one_superblock $((((32 << 20) - 65536 - 4096) / 65536 * 65536)) zeroes
it "a lost copy of the superblock past a limit of the process does not blame the drive" superblock_past_the_limit
it "a drive that has grown is the drive it was" grown
it "noise in the metadata never crashes, and never passes for data" noise_everywhere
finish
