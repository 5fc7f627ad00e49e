#!/bin/sh
# tests/run.sh [--quick] [--long] [--only SUITE]...: installs what the tests need, builds, and runs all of them.
#   --quick   one build (debug) and the fast checks
#   --long    also what takes long: more kills, more seeds, every scenario in both builds, an hour for each fuzz target
#   --only    one suite by name, may be repeated: checks freestanding debug release e2e firmware vm package clang
#             fuzz asan-ubsan tsan
# Logs stay in build/logs. The last line tells how many tests passed, failed and were skipped; a suite that ran
# none has failed. Every step has a limit of time.
set -u
cd "$(dirname "$0")/.." || exit 1

# Two lanes, side by side: the left computes, and much of the right waits for a sensor's pace. Guests come last: they leave
# half of a processor idle and their clocks wait for none, so beside them runs what can make do with what is left.
left="release debug asan-ubsan"
right="freestanding clang firmware e2e package tsan"
last=vm
beside="checks fuzz"
chosen=
quick=
long=OFF
while [ $# -gt 0 ]; do
    case $1 in
    --quick) quick=1 ;;
    --long)
        long=ON
        export STRIA_TEST_LONG=1
        ;;
    --only)
        shift
        case " $left $right $last $beside " in
        *" ${1-} "*) chosen="$chosen $1" ;;
        *)
            echo "tests/run.sh: --only ${1-}: the suites are $left $right $last $beside" >&2
            exit 2
            ;;
        esac
        ;;
    *)
        sed -n '2,6s/^# *//p' "$0" >&2
        exit 2
        ;;
    esac
    shift
done
if [ -z "$chosen" ]; then
    # The sanitizers' build is a debug build too.
    chosen="release asan-ubsan $right $last $beside"
    [ -z "$quick" ] || chosen="checks freestanding debug"
fi
case " $chosen " in
*" $last "*) ;;
*)
    right="$beside $right"
    beside=
    ;;
esac

jobs=$(nproc)
logs=build/logs
running=
polite=
mkdir -p $logs

# add SUITE SECONDS PASSED FAILED SKIPPED: counts, and tells of one suite.
add() {
    if [ $(($3 + $4 + $5)) -eq 0 ]; then
        echo "  failed: $1 ran no test"
        set -- "$1" "$2" 0 1 0
    fi
    echo "$3 $4 $5" >"$logs/$1.counts"
    verdict=ok
    [ "$4" -eq 0 ] || verdict=FAILED
    printf '%-14s %-7s %5d tests, %d failed, %d skipped, %d s\n' "$1" $verdict $(($3 + $4 + $5)) "$4" "$5" "$2"
}

# step LOG SECONDS COMMAND...: runs it bounded, its output in the log, whose end is shown if it fails.
step() {
    log=$logs/$1.log
    bound=$2
    shift 2
    # shellcheck disable=SC2086 # a command and its options
    $polite timeout --kill-after=10 "$bound" "$@" >"$log" 2>&1 </dev/null &
    running=$!
    wait $running && return 0
    status=$?
    [ $status -ne 77 ] || return 77
    [ $status -ne 124 ] || echo "  took longer than $bound s: $*"
    tail -n 60 "$log" | sed 's/^/  | /'
    return 1
}

# build PRESET: one lane waits while the other does it.
build() {
    lock=$logs/$1.lock
    step "$1-configure" 1500 flock "$lock" cmake --preset "$1" -DSTRIA_WERROR=ON "-DSTRIA_LONG=$long" &&
        step "$1-build" 1500 flock "$lock" cmake --build --preset "$1" -j "$jobs" -- --quiet
}

# ctest_suite SUITE PRESET SECONDS CTEST_OPTION...: builds the preset and runs some of its tests.
ctest_suite() {
    suite=$1
    preset=$2
    limit=$3
    shift 3
    started=$(date +%s)
    if ! build "$preset"; then
        echo "  failed: the build $preset"
        add "$suite" $(($(date +%s) - started)) 0 1 0
        return
    fi
    junit=$PWD/$logs/$suite.xml
    rm -f "$junit"
    mkdir -p "build/$preset/tap"
    step "$suite" "$limit" ctest --test-dir "build/$preset" --output-on-failure -j "$jobs" --output-junit "$junit" "$@"
    ended=$?
    if [ ! -s "$junit" ]; then
        echo "  failed: $suite left no results"
        add "$suite" $(($(date +%s) - started)) 0 1 0
        return
    fi
    counts=$(python3 tests/count.py "$junit" "build/$preset/tap")
    # shellcheck disable=SC2086 # three numbers
    set -- $counts
    [ "$ended" -eq 0 ] || [ "${2-0}" -ne 0 ] || set -- "${1-0}" 1 "${3-0}"
    add "$suite" $(($(date +%s) - started)) "${1-0}" "${2-0}" "${3-0}"
}

# check_suite SUITE SECONDS SCRIPT...: each script is one test; status 77 skips it.
check_suite() {
    suite=$1
    limit=$2
    shift 2
    started=$(date +%s)
    good=0
    bad=0
    left=0
    for script in "$@"; do
        name=$(basename "$script")
        case $script in
        *.py) runner=python3 ;;
        *) runner="sh" ;;
        esac
        step "$suite-${name%.*}" "$limit" $runner "$script"
        case $? in
        0) good=$((good + 1)) ;;
        77) left=$((left + 1)) ;;
        *)
            bad=$((bad + 1))
            echo "  failed: $runner $script"
            ;;
        esac
    done
    add "$suite" $(($(date +%s) - started)) $good $bad $left
}

run_suite() {
    case $1 in
    checks)
        scripts=
        for script in tests/checks/*.sh tests/checks/*.py; do
            case $script in
            */lib.sh | */symbols.sh) ;;
            */tidy.sh) [ -n "$quick" ] || scripts="$scripts $script" ;;
            *) scripts="$scripts $script" ;;
            esac
        done
        # shellcheck disable=SC2086
        check_suite checks 1800 $scripts
        ;;
    freestanding) ctest_suite freestanding freestanding 60 ;;
    debug) ctest_suite debug debug 600 -LE 'e2e|firmware|vm' ;;
    release) ctest_suite release release 1500 -LE 'e2e|firmware|vm' ;;
    clang) ctest_suite clang clang 900 -L "threads|regression" ;;
    e2e) ctest_suite e2e release 1500 -L "${STRIA_TEST_LONG:+e2e|}optimised" ;;
    firmware)
        if build firmware; then
            ctest_suite firmware release 1200 -L firmware
        else
            echo "  failed: the build firmware"
            add firmware 0 0 1 0
        fi
        ;;
    vm)
        if sh packaging/install.sh vm; then
            ctest_suite vm release 3000 -L vm
        else
            echo "  skipped: vm, for QEMU and what its guest is made of cannot be installed here"
            add vm 0 0 0 1
        fi
        ;;
    fuzz)
        limit=600
        [ -z "${STRIA_TEST_LONG-}" ] || limit=30000
        # Each for its time by the clock, all of them side by side.
        ctest_suite fuzz fuzz $limit -L fuzz -j 7
        ;;
    asan-ubsan) ctest_suite asan-ubsan asan-ubsan 3600 -LE 'firmware|vm' ;;
    tsan) ctest_suite tsan tsan 1200 -L threads ;;
    package)
        build release || echo "  failed: the build release"
        check_suite package 300 tests/package/*.sh tests/package/*.py
        ;;
    esac
}

# lane SUITE...: those of them that are chosen, one after the other; each tells when it is over.
lane() {
    trap 'kill $running 2>/dev/null; exit 143' TERM
    for suite in "$@"; do
        case " $chosen " in *" $suite "*) ;; *) continue ;; esac
        times >"$logs/$suite.times"
        run_suite "$suite" >"$logs/$suite.out" 2>&1
        times >>"$logs/$suite.times"
        # What the children took, by minutes and seconds, in user and system mode.
        used=$(awk -F '[ms ]+' '!(NR % 2) { used = $1 * 60 + $2 + $3 * 60 + $4 - used } END { print int(used) }' "$logs/$suite.times")
        sed "\$s/\$/, $used s of processors/" "$logs/$suite.out"
    done
}

if ! sh packaging/install.sh build demo test package firmware; then
    printf '  failed: the packages that the tests need are not there\n\n0 passed, 1 failed, 0 skipped\n'
    exit 1
fi
rm -f build/*/tap/*
for suite in $chosen; do rm -f "$logs/$suite.counts"; done
# shellcheck disable=SC2086 # one word a suite
lane $left &
lanes=$!
# shellcheck disable=SC2086
lane $right &
lanes="$lanes $!"
trap 'kill $lanes 2>/dev/null; wait; exit 130' INT TERM
# shellcheck disable=SC2086
wait $lanes
lane $last &
lanes=$!
# shellcheck disable=SC2086
(
    polite="nice -n 19"
    lane $beside
) &
lanes="$lanes $!"
# shellcheck disable=SC2086
wait $lanes

passed=0
failed=0
skipped=0
for suite in $chosen; do
    counts=$(cat "$logs/$suite.counts" 2>/dev/null) || {
        echo "  failed: $suite ended before it had counted"
        counts="0 1 0"
    }
    # shellcheck disable=SC2086 # three numbers
    set -- $counts
    passed=$((passed + $1))
    failed=$((failed + $2))
    skipped=$((skipped + $3))
done
echo
echo "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ] && [ "$passed" -gt 0 ]
