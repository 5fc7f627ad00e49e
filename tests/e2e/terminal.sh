#!/bin/sh
# What is seen on a terminal: the live block of a recording, and how far a verification is.
. "$(dirname "$0")/lib.sh"

export TERM=xterm
terminal=$source_folder/tests/e2e/terminal.py

recorded() {
    array adaptive 2 64MiB
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --name r --input synthetic --size 8MB
}

# seen NUMBER PATTERN: that line of the screen.
seen() {
    sed -n "$1p" screen | grep -q -E -e "$2" || fail "line $1 is not $2: $(cat screen)"
}

# One block is left, whatever was drawn before: a line for the stream, one for each drive, one for the buffer.
live_block() {
    array adaptive 2 64MiB
    expect 0 "$stria" init array.ini
    expect 0 python3 "$terminal" "$1" 3 "$stria" record array.ini --name r --input synthetic --rate 4MB/s --report report.json
    [ "$(grep -c . screen)" -eq 4 ] || fail "no block of four lines: $(cat screen)"
    seen 1 '^[0-9.]+ m?s  in '
    seen 2 '^  d0 +\['
    seen 3 '^  d1 +\['
    seen 4 '^  buffer +\[\.+\] 0 %'
    says "recording 'r'"
    json report.json 'd["recording"]["dropped_bytes"]' 0
    [ "$1" -lt 80 ] || stored_is_told
}

# The last block is of the end.
stored_is_told() {
    python3 - <<'PYTHON'
import json, re
stored = json.load(open("report.json"))["recording"]["bytes"]
told = re.search(r"stored ([0-9.]+) (k|M|)B", open("screen").read())
told_bytes = float(told[1]) * {"": 1, "k": 1e3, "M": 1e6}[told[2]]
assert stored > 0 and abs(told_bytes - stored) < 0.06 * stored, (told[0], stored)
PYTHON
}

dumb_terminal() {
    array adaptive 2 64MiB
    expect 0 "$stria" init array.ini
    expect 0 env TERM=dumb python3 "$terminal" 100 0 "$stria" record array.ini --name r --input synthetic --rate 4MB/s --duration 500ms
    ! grep -q "$(printf '\033')" raw || fail "a dumb terminal is drawn on: $(cat raw)"
}

# Each extent takes a while to read, so that the line changes; then it is gone.
verifying() {
    recorded
    sed 's/^size = .*/&\nfault = read:stall=150ms/' array.ini >slow.ini
    expect 0 python3 "$terminal" 100 0 "$stria" verify slow.ini
    [ "$(grep -o 'verified [0-9]* %' raw | sort -u | wc -l)" -ge 2 ] || fail "no progress: $(cat raw)"
    grep -q 'verified 0 %, .* 0 damaged' raw || fail "no first line: $(cat raw)"
    ! grep -q verified screen || fail "something is left: $(cat screen)"
    says '^  r .* ok$'
}

it "a recording is one block that is drawn anew" live_block 100
it "no line of the block is longer than a narrow terminal" live_block 40
it "a dumb terminal gets lines" dumb_terminal
it "how far a verification is stands on one line, which is gone at the end" verifying
finish
