#!/bin/sh
# No source file outgrows a head: 700 lines at most.
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
exit $failed
