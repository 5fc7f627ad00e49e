#!/bin/sh
# Every header compiles alone, and the public one also as C++.
set -eu
. "$(dirname "$0")/lib.sh"
libraries=$(pkg-config --cflags liburing inih libxxhash json-c blkid criterion)
headers=$(some_files '*.h')
failed=0
for header in $headers; do
    # shellcheck disable=SC2086
    printf '#include "%s"\n' "$header" |
        gcc -std=gnu17 -Wall -Wextra -Wstrict-prototypes -Werror -fsyntax-only -I. -Iinclude $libraries -x c - || {
        echo "$header does not compile alone"
        failed=1
    }
done
if [ -f include/stria.h ]; then
    printf '#include "stria.h"\n' | clang -Wall -Wextra -Werror -fsyntax-only -I. -Iinclude -x c++ - || failed=1
fi
exit $failed
