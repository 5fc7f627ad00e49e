#!/bin/sh
# tools/demo.sh [FOLDER]: installs what the build needs, builds, and shows what Stria is for.
#
# Four fake drives behave like published measurements of real SSDs, scaled down to what any machine holds. A
# synthetic sensor sends more than any single one of them takes. One drive fills its fast cache and falls off
# its cliff: raid0 goes down with it and drops data, adaptive does not. Both recordings are then verified.
#
# FOLDER (a new one under /var/tmp by default, removed at the end) needs 6 GB of free space. The picture, the
# page and the reports stay in build/demo.
set -eu
cd "$(dirname "$0")/.."
source=$PWD

sensor_rate=200MB/s
seconds=14

sh packaging/install.sh build demo
echo "Building (log in build/demo/build.log) ..."
mkdir -p build/demo
{ cmake --preset release -DSTRIA_TESTS=OFF -B build/demo/release && cmake --build build/demo/release; } >build/demo/build.log 2>&1 || {
    tail -n 40 build/demo/build.log
    exit 1
}
stria=$source/build/demo/release/tools/stria
results=$source/build/demo

folder=${1-}
if [ -z "$folder" ]; then
    folder=$(mktemp -d "${TMPDIR:-/var/tmp}/stria-demo.XXXXXX")
    trap 'rm -rf "$folder"' EXIT
    trap 'exit 130' INT TERM HUP
else
    mkdir -p "$folder"
fi
free_kib=$(df --output=avail -k "$folder" | tail -n 1)
if [ "$free_kib" -lt 6000000 ]; then
    echo "$folder has $((free_kib / 1024)) MiB of free space, the demo needs 6 GB: name another folder, sh tools/demo.sh FOLDER" >&2
    exit 2
fi

# What is published of each model, at a twentieth of its speed and a thousandth of its size.
cat >"$folder/array.ini" <<INI
[array]
name   = demo
policy = adaptive
buffer = 128MiB

[drive.pro]
path    = pro.img
size    = 1400MiB
profile = samsung-980-pro
capacity_scale = 0.001
rate_scale     = 0.05

[drive.budget]
path    = budget.img
size    = 1400MiB
profile = samsung-980
capacity_scale = 0.001
rate_scale     = 0.05

[drive.steady]
path    = steady.img
size    = 1400MiB
profile = samsung-sm961
capacity_scale = 0.001
rate_scale     = 0.05

[drive.big]
path    = big.img
size    = 1400MiB
profile = starblaze-s1200itt2
capacity_scale = 0.001
rate_scale     = 0.05
INI

# run STATUSES COMMAND...: an exit status that is none of these ends the demo.
run() {
    allowed=$1
    shift
    status=0
    "$@" || status=$?
    case " $allowed " in
    *" $status "*) ;;
    *)
        echo "tools/demo.sh: exit status $status of: $*" >&2
        exit 1
        ;;
    esac
}

cd "$folder"
for policy in raid0 adaptive; do
    echo
    echo "== A sensor of $sensor_rate for $seconds s onto four drives, policy $policy"
    sed "s/^policy = .*/policy = $policy/" array.ini >"$policy.ini"
    rm -f ./*.img
    run 0 "$stria" init "$policy.ini"
    # 1: the data are not whole, which is what the demo shows of raid0.
    run "0 1" "$stria" record "$policy.ini" --name flight --input synthetic --rate "$sensor_rate" --duration "${seconds}s" \
        --on-overrun drop --report "$results/$policy.json"
    echo
    echo "== Verifying it: every byte that was stored"
    run "0 1" "$stria" verify "$policy.ini" flight
    run "0 1" "$stria" verify "$policy.ini" flight --json >"$results/$policy-verify.json"
done

echo
python3 "$source/tools/demo.py" "$results"
"$stria" report "$results/raid0.json" "$results/adaptive.json" -o "$results/report.html"
echo "Both over one another, to be opened in a browser: $results/report.html"
