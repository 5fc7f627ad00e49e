# Sourced by scenarios that record while every write and flush is logged, and what the recorder promises with them.

# record_marked MARKS: onto the new array of array.ini, with marks on that device.
# shellcheck disable=SC2154 # share and stria are set by lib.sh
record_marked() {
    expect 0 "$stria" init array.ini
    noise $share/input 8765432
    expect 0 "$(dirname "$stria")/../tests/vm/vm_marked_record" array.ini $share/input "$1" first second
    expect 0 "$stria" verify array.ini
    cp array.ini $share/array.ini
}

# marked POLICY: on the drives a, b and c, with marks on the drive m.
marked() {
    array_of "$1" "a b c" 'chunk = 64KiB' 'commit_interval = 10ms'
    sed -i 's/^buffer = .*/buffer = 4MiB/' array.ini
    record_marked "$(device_of m)"
}
