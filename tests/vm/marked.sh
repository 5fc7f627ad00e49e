# Sourced by scenarios that record while every write and flush is logged, and what the recorder promises with them.

# marked POLICY
# shellcheck disable=SC2154 # share and stria are set by lib.sh
marked() {
    array_of "$1" "a b c" 'chunk = 64KiB' 'commit_interval = 10ms'
    sed -i 's/^buffer = .*/buffer = 4MiB/' array.ini
    expect 0 "$stria" init array.ini
    noise $share/input 8765432
    expect 0 "$(dirname "$stria")/../tests/vm/vm_marked_record" array.ini $share/input "$(device_of m)" first second
    expect 0 "$stria" verify array.ini
    cp array.ini $share/array.ini
}
