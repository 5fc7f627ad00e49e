#!/bin/sh
# Every C file is laid out as .clang-format says.
set -eu
. "$(dirname "$0")/lib.sh"
files=$(some_files '*.c' '*.h')
# shellcheck disable=SC2086 # one word a file is what is meant
clang-format --dry-run -Werror $files
