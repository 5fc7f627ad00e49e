#!/bin/sh
# Records while every write and flush is logged, and what the recorder promises with them; power_cut.py then cuts the power
# at many moments.
#: drive a size=20M log=yes
#: drive b size=20M log=yes logical_block_size=4096
#: drive c size=24M log=yes
#: drive m size=1M log=yes
#: modules nvme
#: after power_cut.py
. "$(dirname "$0")/lib.sh"

marked() {
    array_of "$1" "a b c" 'chunk = 64KiB' 'commit_interval = 10ms'
    sed -i 's/^buffer = .*/buffer = 4MiB/' array.ini
    expect 0 "$stria" init array.ini
    noise $share/input 8765432
    expect 0 "$(dirname "$stria")/../tests/vm/vm_marked_record" array.ini $share/input "$(device_of m)" first second
    expect 0 "$stria" verify array.ini
    cp array.ini $share/array.ini
}

it "promises while it records" marked adaptive
finish
