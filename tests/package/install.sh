#!/bin/sh
# "cmake --install" lays down all that the manual promises, and a program builds against what it laid down.
set -eu
cd "$(dirname "$0")/../.."
[ -x build/release/tools/stria ] || { echo "build/release/tools/stria is not built"; exit 1; }
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
prefix=$scratch/usr

cmake --install build/release --prefix "$prefix" >/dev/null
library=$(dirname "$(find "$prefix/lib" -name libstria.a)")
for file in bin/stria include/stria/stria.h share/man/man1/stria.1 share/man/man5/array.ini.5 share/man/man5/stria-profile.5 \
    share/bash-completion/completions/stria share/zsh/vendor-completions/_stria share/stria/profiles/samsung-980.ini; do
    [ -s "$prefix/$file" ] || { echo "$file is not installed"; exit 1; }
done

# The library as a stranger uses it: only what was installed, found by pkg-config.
PKG_CONFIG_PATH=$library/pkgconfig
PKG_CONFIG_SYSROOT_DIR=
export PKG_CONFIG_PATH PKG_CONFIG_SYSROOT_DIR
cat >"$scratch/main.c" <<'C'
#include <stria.h>

#include <stdio.h>

int main(void)
{
    struct stria_array *array = NULL;
    struct stria_trouble trouble;
    int code = stria_array_open("no-such.ini", false, &array, &trouble);
    printf("%s: %s\n", stria_code_text(code), trouble.sentence);
    return code < 0 && !array ? 0 : 1;
}
C
# shellcheck disable=SC2046 # options are words
gcc -std=gnu17 -Wall -Wextra -Werror "$scratch/main.c" -o "$scratch/shared" $(pkg-config --cflags --libs libstria)
LD_LIBRARY_PATH=$library "$scratch/shared"
# shellcheck disable=SC2046
gcc -std=gnu17 "$scratch/main.c" -o "$scratch/static" $(pkg-config --cflags libstria) "$library/libstria.a" \
    $(pkg-config --static --libs $(pkg-config --print-requires-private libstria)) -pthread -lm
"$scratch/static"
LD_LIBRARY_PATH='' "$prefix/bin/stria" --version
