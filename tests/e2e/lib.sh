# Sourced by every scenario file of this folder, which then calls "it" once for each behaviour, and "finish".
#
# STRIA names the command under test. TAP goes to standard output, and to the file STRIA_TAP if that is set.
# With STRIA_TRACE set, a failure shows each command that was run.
# Everything lies in a scratch folder that is removed at the end, with the loop devices, mounts and processes
# that were made by the helpers below.
set -u

stria=${STRIA:?names the stria command to test}
case $stria in /*) ;; *) stria=$PWD/$stria ;; esac
# shellcheck disable=SC2034 # for the scenarios
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
scratch=$(mktemp -d "${TMPDIR:-/var/tmp}/stria-e2e.XXXXXX")
number=0
failures=0
[ -z "${STRIA_TAP-}" ] || : >"$STRIA_TAP"
touch "$scratch/processes" "$scratch/mounts" "$scratch/raids" "$scratch/loops"

# Gives back what the helpers of one behaviour have taken.
release() {
    cd "$scratch" || exit 1
    while read -r process; do kill -9 "$process" 2>/dev/null; done <processes
    sort -r mounts | while read -r place; do umount "$place"; done
    while read -r device; do mdadm --stop "$device" >/dev/null 2>&1; done <raids
    while read -r device; do losetup -d "$device"; done <loops
    truncate -s 0 processes mounts raids loops
}

clean_up() {
    trap - EXIT INT TERM HUP
    release
    cd /
    rm -rf "$scratch"
}
trap clean_up EXIT
trap 'exit 130' INT TERM HUP

tap() {
    echo "$*"
    [ -z "${STRIA_TAP-}" ] || echo "$*" >>"$STRIA_TAP"
}

# it "sentence of behaviour" FUNCTION [ARGUMENT...]: runs the function in an empty folder of its own; the first
# command in it that fails ends it, and with it the behaviour.
it() {
    sentence=$1
    shift
    number=$((number + 1))
    folder=$scratch/$number
    mkdir "$folder"
    (
        cd "$folder" || exit 1
        set -e
        [ -z "${STRIA_TRACE-}" ] || set -x
        "$@"
    ) >"$folder.log" 2>&1 </dev/null
    status=$?
    case $status in
    0) tap "ok $number - $sentence" ;;
    77) tap "ok $number - $sentence # SKIP $(tail -n 1 "$folder.log")" ;;
    *)
        tap "not ok $number - $sentence"
        failures=$((failures + 1))
        tail -n 40 "$folder.log" | sed 's/^/# /'
        ;;
    esac
    release
    rm -rf "$folder"
}

finish() {
    tap "1..$number"
    [ "$failures" -eq 0 ]
    exit
}

# skip "why": inside a behaviour, when this machine cannot show it.
skip() {
    echo "$*" >&2
    exit 77
}

fail() {
    echo "$*" >&2
    exit 1
}

# expect STATUS COMMAND...: its output is in the files out and err, for "says" and "complains".
expect() {
    wanted=$1
    shift
    echo "+ $*"
    got=0
    "$@" >out 2>err || got=$?
    if [ "$got" -ne "$wanted" ]; then
        echo "exit status $got instead of $wanted; it said:"
        head -c 4000 out
        head -c 4000 err
        exit 1
    fi
}

# says PATTERN, complains PATTERN: an extended regular expression in the last output, the last diagnostics.
says() {
    grep -q -E -e "$1" out || fail "standard output lacks: $1, it is: $(head -c 4000 out)"
}

complains() {
    grep -q -E -e "$1" err || fail "standard error lacks: $1, it is: $(head -c 4000 err)"
}

# complains_once: bad input is told in exactly one sentence.
complains_once() {
    [ "$(wc -l <err)" -eq 1 ] || fail "not one line on standard error: $(cat err)"
}

same() {
    cmp "$1" "$2" || fail "$1 differs from $2"
}

# json FILE EXPRESSION WANTED: a Python expression over the document d.
json() {
    value=$(python3 -c 'import json, sys; d = json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$1" "$2") ||
        fail "cannot take $2 of $1: $(head -c 2000 "$1")"
    [ "$value" = "$3" ] || fail "$2 in $1 is $value instead of $3"
}

# noise FILE BYTES: incompressible and never the same.
noise() {
    head -c "$2" /dev/urandom >"$1"
}

# array POLICY DRIVES SIZE [LINE...]: array.ini over files drive0.img …; further lines go into [array].
array() {
    policy=$1
    drives=$2
    size=$3
    shift 3
    {
        printf '[array]\nname = test\npolicy = %s\nbuffer = 16MiB\n' "$policy"
        for line in "$@"; do echo "$line"; done
        drive=0
        while [ "$drive" -lt "$drives" ]; do
            printf '[drive.d%d]\npath = drive%d.img\nsize = %s\n' "$drive" "$drive" "$size"
            drive=$((drive + 1))
        done
    } >array.ini
}

# background COMMAND...: starts it with output in out and err; its process is in $process.
background() {
    "$@" >out 2>err &
    process=$!
    echo $process >>"$scratch/processes"
}

# until_true SECONDS COMMAND...: waits for it to succeed.
until_true() {
    turns=$(($1 * 20))
    shift
    while ! "$@" >/dev/null 2>&1; do
        turns=$((turns - 1))
        [ $turns -gt 0 ] || fail "in vain waited for: $*"
        sleep 0.05
    done
}

needs_root() {
    [ "$(id -u)" -eq 0 ] || skip "needs root"
}

# loop_device FILE [BLOCK_BYTES]: prints the device over this file.
loop_device() {
    needs_root
    loop=$(losetup --find --show --sector-size "${2-512}" "$1" 2>/dev/null) || skip "this machine gives no loop device"
    echo "$loop" >>"$scratch/loops"
    echo "$loop"
}

# mounted_tmpfs FOLDER SIZE: a file system that can be filled.
mounted_tmpfs() {
    needs_root
    mkdir -p "$1"
    mount -t tmpfs -o "size=$2" tmpfs "$1" 2>/dev/null || skip "this machine mounts no tmpfs"
    (cd "$1" && pwd) >>"$scratch/mounts"
}
