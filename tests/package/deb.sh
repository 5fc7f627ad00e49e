#!/bin/sh
# CPack makes the three Debian packages, with the libraries they need as dependencies.
set -eu
cd "$(dirname "$0")/../.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
(cd build/release && cpack -G DEB -B "$scratch" >"$scratch/log" 2>&1) || {
    cat "$scratch/log"
    exit 1
}

# has PACKAGE FIELD PATTERN
has() {
    for file in "$scratch/$1"_*.deb; do
        value=$(dpkg-deb --field "$file" "$2")
        echo "$value" | grep -q -E -e "$3" || {
            echo "$2 of $1 is \"$value\", without $3"
            exit 1
        }
    done
}
has stria Depends 'liburing2.*'
has stria Depends 'libc6'
has libstria0 Depends 'libblkid1'
has libstria-dev Depends 'libstria0 \(= '
# Whatever pkg-config looks for on behalf of libstria.
for library in $(sed -n 's/^Requires.private: //p' packaging/libstria.pc.in); do
    has libstria-dev Depends "(lib)?${library#lib}-dev"
done
dpkg-deb --contents "$scratch"/stria_*.deb >"$scratch/contents"
for file in usr/bin/stria usr/share/man/man1/stria.1 usr/share/stria/profiles/samsung-980.ini; do
    grep -q " ./$file" "$scratch/contents" || {
        echo "$file is not in the package stria"
        exit 1
    }
done
