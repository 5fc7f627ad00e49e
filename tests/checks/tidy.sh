#!/bin/sh
# tidy.sh [FILE...]: clang-tidy finds nothing, with the checks of .clang-tidy.
set -eu
. "$(dirname "$0")/lib.sh"
build=build/clang
[ -f $build/compile_commands.json ] || cmake --preset clang >/dev/null
if [ $# -gt 0 ]; then
    files=$*
else
    # Only what is compiled: bare-metal programs and the like have commands of their own.
    files=$(some_files '*.c' | while read -r file; do
        ! grep -q "/$file\"" $build/compile_commands.json || echo "$file"
    done)
fi
# shellcheck disable=SC2086 # one word a file is what is meant
printf '%s\n' $files | xargs -P "$(nproc)" -n 1 clang-tidy -p $build --quiet --warnings-as-errors='*' 2>/dev/null
