#!/bin/sh
# run.sh PROGRAM CORPUS FOUND SECONDS: one target under libFuzzer for so long, an hour with STRIA_TEST_LONG. It begins with the
# corpus; further inputs worth keeping, and those that break it, stay in the folder FOUND.
set -eu
[ -z "${STRIA_TEST_LONG-}" ] || set -- "$1" "$2" "$3" 3600
mkdir -p "$3/inputs"
exec "$1" -max_total_time="$4" -rss_limit_mb=2048 -malloc_limit_mb=1024 -timeout=60 -report_slow_units=60 -print_final_stats=1 \
    -artifact_prefix="$3/" "$3/inputs" "$2"
