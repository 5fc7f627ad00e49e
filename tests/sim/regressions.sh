#!/bin/sh
# regressions.sh STRIA_SIM FILE: runs every scenario that the file lists, all of them, and fails if one does.
set -u
simulator=$1
failed=0
count=0
while IFS='|' read -r options why; do
    case $options in '#'* | '') continue ;; esac
    count=$((count + 1))
    # shellcheck disable=SC2086 # options of the simulator
    "$simulator" $options >/dev/null && continue
    failed=$((failed + 1))
    echo "failed again: stria-sim $options:$why"
    # shellcheck disable=SC2086
    "$simulator" $options
done <"$2"
echo "$count scenarios, $failed failed"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
