#!/bin/sh
# symbols.sh undefined ARCHIVE: the archive needs nothing from outside but the four memory functions.
# symbols.sh exported LIBRARY HEADER: the shared library shows exactly the functions that the header declares.
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
    nm --dynamic --defined-only --format=posix "$1" | awk '$2 ~ /[TDBRVW]/ { print $1 }' | sort -u >"$scratch/shown"
    # Declarations only: comments go first, then every name that opens a parameter list.
    tr '\n' ' ' <"$2" | sed 's:/\*[^*]*\*\+\([^/*][^*]*\*\+\)*/::g' | grep -o 'stria_[a-z0-9_]* *(' | tr -d ' (' |
        sort -u >"$scratch/declared"
    [ -s "$scratch/declared" ] || { echo "$2 declares no function"; exit 1; }
    if ! diff "$scratch/declared" "$scratch/shown" >"$scratch/difference"; then
        echo "declared in $2 (<) against exported by $1 (>):"
        cat "$scratch/difference"
        exit 1
    fi
}

case "${1-}" in
undefined) undefined "$2" ;;
exported) exported "$2" "$3" ;;
*)
    echo "usage: symbols.sh undefined ARCHIVE | exported LIBRARY HEADER" >&2
    exit 2
    ;;
esac
