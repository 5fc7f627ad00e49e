#!/bin/sh
# tidy.sh [FILE...]: clang-tidy finds nothing, with the checks of .clang-tidy.
#
# Nine tenths of its time is the analyser's, which follows paths through a function. With STRIA_TEST_LONG, and for files
# that are named, it has all the time it asks for; else a quarter of the steps in the product, and the tests, which
# the sanitizers see run, go without it.
set -eu
. "$(dirname "$0")/lib.sh"
build=build/clang
[ -f $build/compile_commands.json ] || cmake --preset clang >/dev/null

# tidy FILES OPTION...: over the files on standard input, so many in one call.
tidy() {
    each=$1
    shift
    xargs -P "$(nproc)" -n "$each" clang-tidy -p $build --quiet --warnings-as-errors='*' "$@" 2>/dev/null
}

if [ $# -gt 0 ]; then
    printf '%s\n' "$@" | tidy 1
    exit
fi
# Only what is compiled: bare-metal programs and the like have commands of their own.
files=$(some_files '*.c' | while read -r file; do
    ! grep -q "/$file\"" $build/compile_commands.json || echo "$file"
done)
if [ -n "${STRIA_TEST_LONG-}" ]; then
    echo "$files" | tidy 1
    exit
fi
# Each call begins by reading all its checks, so it gets several files; but given several, clang 14 says of each
# va_list that it is not set. The analyser's own figure of steps is 225,000.
echo "$files" | grep -v '^tests/' |
    tidy 8 --checks=-clang-analyzer-valist.Uninitialized --extra-arg=-Xclang --extra-arg=-analyzer-config \
        --extra-arg=-Xclang --extra-arg=max-nodes=50000
echo "$files" | grep '^tests/' | tidy 8 '--checks=-clang-analyzer-*'
