#!/bin/sh
# bench/vfio.sh: what polling through VFIO gives for a second of processor time, against the kernel's block layer, on
# the same emulated drive in the same guest, in turns. Claimed: at least 1.5 times at 512 KiB.
#   STRIA_BENCH_BUILD    the build to measure            (build/release, made if it is not there)
set -eu
cd "$(dirname "$0")/.."
build=${STRIA_BENCH_BUILD-}
if [ -z "$build" ]; then
    build=build/release
    [ -f $build/build.ninja ] || cmake --preset release >/dev/null
    cmake --build $build --target stria stria_bench_drives >/dev/null
fi
STRIA=$build/tools/stria python3 tests/vm/run.py tests/vm/vfio_speed.sh >&2
exec python3 - <<'PYTHON'
import re
import statistics

rates = {"block": [], "vfio": []}
for line in open("build/vm/vfio_speed/share/speed"):
    name, rate, cost = re.match(r"(\w+) ([\d.]+) MB/s, ([\d.]+) processor seconds", line).groups()
    rates[name].append((float(rate), 1000 / float(cost)))
medians = {name: statistics.median(work for _, work in turns) for name, turns in rates.items()}
for name, turns in rates.items():
    print(f"{name}: {statistics.median(rate for rate, _ in turns):.0f} MB/s, "
          f"{medians[name]:.0f} MB for each second of processor time")
print(f"ratio {medians['vfio'] / medians['block']:.2f}")
PYTHON
