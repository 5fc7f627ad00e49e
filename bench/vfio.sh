#!/bin/sh
# bench/vfio.sh: what polling through VFIO gives for a second of processor time, and what passthrough gives, against the
# kernel's block layer, on the same emulated drive in the same guest, in turns of 512 KiB writes. Claimed: VFIO at least
# 1.5 times as much a second of processor time, passthrough as fast as the block layer. Fails where it is less.
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
import sys

rates = {"block": [], "passthrough": [], "vfio": []}
for line in open("build/vm/vfio_speed/share/speed"):
    name, rate, cost = re.match(r"(\w+) ([\d.]+) MB/s, ([\d.]+) processor seconds", line).groups()
    rates[name].append((float(rate), 1000 / float(cost)))
speed = {name: statistics.median(rate for rate, _ in turns) for name, turns in rates.items()}
work = {name: statistics.median(work for _, work in turns) for name, turns in rates.items()}
for name, turns in rates.items():
    print(f"{name}: {speed[name]:.0f} MB/s ({', '.join(f'{rate:.0f}' for rate, _ in turns)}), "
          f"{work[name]:.0f} MB for each second of processor time ({', '.join(f'{work:.0f}' for _, work in turns)})")
vfio, passthrough = work["vfio"] / work["block"], speed["passthrough"] / speed["block"]
print(f"VFIO polling, a second of processor time: {vfio:.2f} of the block layer (claimed: 1.5)")
print(f"passthrough, throughput: {passthrough:.2f} of the block layer (claimed: 1)")
sys.exit(vfio < 1.5 or passthrough < 1)
PYTHON
