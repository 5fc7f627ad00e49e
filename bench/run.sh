#!/bin/sh
# bench/run.sh [NAME...]: measures what we claim about speed, every claim as a ratio of two things measured in turns
# in the same run. Without names all of them; "bench/run.sh list" says which there are. Run as root: it makes
# loop devices of scratch files in memory, and removes them again.
#   STRIA_BENCH_BUILD    the build to measure            (build/release, made if it is not there)
#   STRIA_BENCH_MEMORY   a folder on a tmpfs             (/dev/shm), 4 GiB are used there
#   STRIA_BENCH_DISK     a folder on a disk              (/var/tmp), 2 GiB are used there
#   STRIA_BENCH_ROUNDS   turns of each, the median counts (5)
set -eu
cd "$(dirname "$0")/.."
if [ -z "${STRIA_BENCH_BUILD-}" ]; then
    STRIA_BENCH_BUILD=build/release
    [ -f $STRIA_BENCH_BUILD/build.ninja ] || cmake --preset release >/dev/null
    cmake --build $STRIA_BENCH_BUILD --target stria stria_benches >/dev/null
fi
export STRIA_BENCH_BUILD
for tool in fio losetup python3; do
    command -v $tool >/dev/null || { echo "bench/run.sh: needs $tool: run packaging/install.sh" >&2; exit 3; }
done
exec python3 bench/run.py "$@"
