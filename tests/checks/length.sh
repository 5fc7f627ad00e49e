#!/bin/sh
# No source file outgrows a head: 700 lines at most; the example program is forty, as stria.h says.
set -eu
. "$(dirname "$0")/lib.sh"
files=$(some_files '*.c' '*.h' '*.sh' '*.py')
failed=0
for file in $files; do
    lines=$(wc -l <"$file")
    if [ "$lines" -gt 700 ]; then
        echo "$file has $lines lines, more than 700: split it along a noun"
        failed=1
    fi
done
lines=$(wc -l <examples/capture.c)
if [ "$lines" -gt 40 ]; then
    echo "examples/capture.c has $lines lines, more than 40: it is what a newcomer reads first"
    failed=1
fi
exit $failed
