#!/bin/sh
# The keys of array.ini that are numbers, at both ends of what array.ini(5) allows.
. "$(dirname "$0")/lib.sh"

# recorded: made, recorded, read back.
recorded() {
    noise input 3000001
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --name r --input input
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini r -o output
    same input output
}

# array_key SIZE LINE...: in [array], over two files of that size.
array_key() {
    size=$1
    shift
    printf '[array]\n' >array.ini
    for line in "$@"; do echo "$line" >>array.ini; done
    for drive in a b; do printf '[drive.%s]\npath = %s.img\nsize = %s\n' $drive $drive "$size"; done >>array.ini
    recorded
}

# fake_key LINE...: in the section of a fake drive.
fake_key() {
    printf '[array]\nbuffer = 16MiB\n[drive.a]\npath = a.img\nsize = 32MiB\nprofile = samsung-980\n' >array.ini
    for line in "$@"; do echo "$line" >>array.ini; done
    recorded
}

for depth in 1 255 256; do
    it "depth = $depth" array_key 32MiB "depth = $depth" 'buffer = 16MiB'
done
it "chunk = 64KiB and the smallest buffer" array_key 32MiB 'chunk = 64KiB' 'buffer = 256KiB'
it "the deepest queue and the smallest buffer" array_key 32MiB 'chunk = 64KiB' 'buffer = 256KiB' 'depth = 256'
it "chunk = 16MiB" array_key 256MiB 'chunk = 16MiB' 'buffer = 64MiB'
for time in 1ms 60s; do
    it "commit_interval = $time" array_key 32MiB "commit_interval = $time" 'buffer = 16MiB'
done
it "deadlines of 10min" array_key 32MiB 'write_deadline = 10min' 'read_deadline = 10min' 'buffer = 16MiB'
for seed in 0 18446744073709551615; do
    it "fault_seed = $seed" fake_key "fault_seed = $seed" 'fault = write,chance=1/50:again'
done
it "the largest scales of a fake drive" fake_key 'capacity_scale = 1' 'rate_scale = 100'
it "a small scale of a fake drive" fake_key 'capacity_scale = 0.0001' 'rate_scale = 0.05'
finish
