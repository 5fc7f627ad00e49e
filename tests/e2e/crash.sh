#!/bin/sh
# What was reported durable survives being killed, at any moment.
. "$(dirname "$0")/lib.sh"

# For each policy, on files and on loop devices: 52 in all.
kills=13
[ -z "${STRIA_SANITIZED-}" ] || kills=2
[ -z "${STRIA_TEST_LONG-}" ] || kills=100

# length_of NAME: what ls says of it, nothing if it does not know it.
length_of() {
    "$stria" ls array.ini --json | python3 -c '
import json, sys
print(next((r["bytes"] for r in json.load(sys.stdin)["recordings"] if r["name"] == sys.argv[1]), ""))' "$1"
}

# array_on PLACE POLICY: three drives of 96 MiB, and the array made.
array_on() {
    array "$2" 3 96MiB 'commit_interval = 20ms'
    if [ "$1" = loops ]; then
        for drive in 0 1 2; do
            truncate -s 96MiB drive$drive.img
            loop=$(loop_device drive$drive.img) || skip "this machine gives no loop device"
            sed -i -e "s,^path = drive$drive.img,path = $loop," array.ini
        done
        sed -i -e '/^size/d' array.ini
    fi
    expect 0 "$stria" init array.ini
}

killed_anywhere() {
    place=$1
    policy=$2
    array_on "$place" "$policy"
    noise input 24000000
    turn=0
    seen=0
    while [ $turn -lt $kills ]; do
        turn=$((turn + 1))
        mkfifo fifo
        moment=$(python3 -c 'import random; print(random.uniform(0.01, 0.4))')
        # The stream is alive through every moment at which it may be killed, however slow the machine is.
        python3 - fifo <<'PYTHON' &
import sys, time
data = open("input", "rb").read()
try:
    with open(sys.argv[1], "wb", buffering=0) as pipe:
        for at in range(0, len(data), 500000):
            pipe.write(data[at:at + 500000])
            if at == 2000000:
                open("fed", "w").close()
            time.sleep(0.03)
        time.sleep(60)
except BrokenPipeError:
    pass
PYTHON
        feeder=$!
        background "$stria" record array.ini --name "take$turn" --input fifo
        # Every other one is killed while it begins, the rest while they record.
        [ $((turn % 2)) -eq 0 ] || until_true 20 [ -e fed ]
        sleep "$moment"
        kill -9 $process 2>/dev/null || :
        ended=0
        wait $process || ended=$?
        # 128 and the signal: it was still alive.
        [ $ended -ne 137 ] || echo "$policy $place" >>"$scratch/kills"
        # It may still wait for a recorder that was killed before it opened the FIFO.
        kill $feeder 2>/dev/null || :
        wait $feeder || :
        rm -f fifo fed
        expect 0 "$stria" ls array.ini --json
        length=$(length_of "take$turn")
        [ -n "$length" ] || continue
        seen=$((seen + 1))
        expect 0 "$stria" verify array.ini "take$turn"
        expect 0 "$stria" export array.ini "take$turn" -o output
        [ "$(stat -c %s output)" -eq "$length" ] || fail "take$turn: ls says $length bytes, exported are $(stat -c %s output)"
        head -c "$length" input | cmp - output
        expect 0 "$stria" rm array.ini "take$turn"
        rm output
    done
    [ $seen -ge $((kills / 2)) ] || fail "only $seen of $kills recordings were there after the kill"
    expect 0 "$stria" record array.ini --name last --input input
    expect 0 "$stria" export array.ini last -o output
    same input output
}

durable_before_the_kill() {
    array adaptive 3 96MiB 'commit_interval = 50ms'
    expect 0 "$stria" init array.ini
    background "$stria" record array.ini --name a --input synthetic --rate 20MB/s
    sleep 2
    kill -9 $process
    wait $process || :
    length=$(length_of a)
    # Two seconds at 20 MB/s, less the start and a few commit intervals.
    [ "${length:-0}" -gt 20000000 ] || fail "only ${length:-0} bytes survived two seconds at 20 MB/s"
    expect 0 "$stria" ls array.ini --json
    json out 'd["recordings"][0]["complete"]' False
    expect 0 "$stria" verify array.ini
}

others_stay() {
    array adaptive 3 96MiB
    expect 0 "$stria" init array.ini
    noise input 9000000
    expect 0 "$stria" record array.ini --name before --input input
    background "$stria" record array.ini --name killed --input synthetic --rate 30MB/s
    sleep 0.5
    kill -9 $process
    wait $process || :
    expect 0 "$stria" record array.ini --name after --input input
    expect 0 "$stria" verify array.ini
    for name in before after; do
        expect 0 "$stria" export array.ini $name -o output
        same input output
    done
}

# What was found of a recording that was killed is written down before the next one begins, and is not called whole.
closed_after_the_kill() {
    array "$1" 3 96MiB 'commit_interval = 50ms'
    expect 0 "$stria" init array.ini
    background "$stria" record array.ini --name killed --input synthetic --rate 30MB/s
    sleep 2
    kill -9 $process
    wait $process || :
    length=$(length_of killed)
    [ "${length:-0}" -gt 0 ] || fail "nothing of the recording is there"
    noise input 3000000
    expect 0 "$stria" record array.ini --name after --input input
    expect 0 python3 "$source_folder/tests/format/read_image.py" drive0.img drive1.img drive2.img
    says "^recording 1 $1 complete $length bytes"
    expect 0 "$stria" ls array.ini --json
    json out '[(x["name"], x["complete"]) for x in d["recordings"]]' "[('killed', False), ('after', True)]"
    [ "$(length_of killed)" = "$length" ] || fail "killed has $(length_of killed) bytes, and had $length"
    expect 0 "$stria" ls array.ini
    says 'killed .*cut short'
    says 'after .*complete'
    expect 0 "$stria" verify array.ini
}

kills_counted() {
    sort "$scratch/kills" | uniq -c
    if grep -q loops "$scratch/kills"; then
        [ "$(wc -l <"$scratch/kills")" -ge $((4 * kills - 2)) ] || fail "fewer were alive when they were killed"
    else
        skip "no loop devices: only $(wc -l <"$scratch/kills") killed, on files"
    fi
}

touch "$scratch/kills"
for policy in adaptive raid0; do
    for place in files loops; do
        it "killed at random moments, every byte that ls tells of is there, $policy on $place" killed_anywhere $place $policy
    done
done
it "$(wc -l <"$scratch/kills") recorders were killed while they were alive, as many as there should be" kills_counted
it "what is lost by a kill is a few commit intervals" durable_before_the_kill
it "recordings before and after a kill stay whole" others_stay
it "what was found of a killed recording is its end, adaptive" closed_after_the_kill adaptive
it "what was found of a killed recording is its end, raid0" closed_after_the_kill raid0
finish
