#!/bin/sh
# symbols.sh undefined ARCHIVE: the archive needs nothing from outside but the four memory functions.
# symbols.sh exported LIBRARY HEADER...: the shared library shows exactly the functions that the headers declare.
set -eu

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

undefined() {
    nm --defined-only --extern-only --format=posix "$1" | awk 'NF > 2 { print $1 }' | sort -u >"$scratch/defined"
    nm --undefined-only --format=posix "$1" | awk 'NF > 1 { print $1 }' | sort -u >"$scratch/wanted"
    [ -s "$scratch/defined" ] || { echo "$1 defines no symbol at all"; exit 1; }
    printf '%s\n' memcmp memcpy memmove memset >>"$scratch/defined"
    sort -u -o "$scratch/defined" "$scratch/defined"
    comm -23 "$scratch/wanted" "$scratch/defined" >"$scratch/foreign"
    if [ -s "$scratch/foreign" ]; then
        echo "the freestanding core calls what only an operating system has:"
        nm --undefined-only --print-file-name --format=posix "$1" | grep -w -F -f "$scratch/foreign"
        exit 1
    fi
}

exported() {
    library=$1
    shift
    nm --dynamic --defined-only --format=posix "$library" | awk '$2 ~ /[TDBRVW]/ { print $1 }' | sort -u >"$scratch/shown"
    # Declarations only: comments go first, then every name that opens a parameter list.
    cat "$@" | tr '\n' ' ' | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' | grep -o 'stria_[a-z0-9_]* *(' | tr -d ' (' |
        sort -u >"$scratch/declared"
    [ -s "$scratch/declared" ] || { echo "no function is declared in $*"; exit 1; }
    if ! diff "$scratch/declared" "$scratch/shown" >"$scratch/difference"; then
        echo "declared in $* (<) against exported by $library (>):"
        cat "$scratch/difference"
        exit 1
    fi
}

case "${1-}" in
undefined) undefined "$2" ;;
exported)
    shift
    exported "$@"
    ;;
*)
    echo "usage: symbols.sh undefined ARCHIVE | exported LIBRARY HEADER..." >&2
    exit 2
    ;;
esac
