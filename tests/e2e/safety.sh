#!/bin/sh
# Nothing that is in use, or that the array is made of, is overwritten; whatever the descriptors and limits are.
. "$(dirname "$0")/lib.sh"

small() {
    array adaptive 2 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 2MB --name one
}

# init --erase of drives on which somebody records changes none of them.
erase_in_use() {
    small
    "$stria" record array.ini --input synthetic --rate 1MB/s --duration 3s --name live >record.out 2>&1 &
    recorder=$!
    sleep 1
    expect 2 "$stria" init array.ini --erase drive0.img --erase drive1.img
    complains 'drive0.img is in use'
    wait $recorder
    expect 0 "$stria" verify array.ini
    says 'one .*ok'
    says 'live .*ok'
}

# One drive in use spares the others.
erase_beside_one_in_use() {
    small
    cp drive0.img before
    flock -x drive1.img sleep 3 &
    sleep 0.5
    expect 2 "$stria" init array.ini --erase drive0.img --erase drive1.img
    complains 'drive1.img is in use'
    same before drive0.img
    expect 0 "$stria" verify array.ini
}

closed_descriptors() {
    small
    "$stria" record array.ini --input synthetic --rate 300KB/s --duration 6s --name quiet >&- 2>&- || true
    expect 0 "$stria" verify array.ini
    for drive in drive0.img drive1.img; do
        [ "$(head -c 4096 $drive | tr -d '\0' | wc -c)" -eq 0 ] || fail "something was written to the start of $drive"
    done
    printf 12345678 >eight
    expect 0 "$stria" record array.ini --input eight --name eight
    got=0
    "$stria" export array.ini eight >&- 2>err || got=$?
    [ $got -eq 3 ] || fail "export to a closed descriptor ended with $got"
    got=0
    timeout 20 "$stria" record array.ini --input - --name closed <&- 2>err || got=$?
    [ $got -ne 0 ] && [ $got -ne 124 ] || fail "recording from a closed descriptor ended with $got"
}

# What is written through a symbolic link lies where it points, as for every other program.
# refuses_and_keeps FILE COMMAND...: nothing that is read is replaced, by whatever name.
refuses_and_keeps() {
    kept=$1
    shift
    cp "$kept" kept
    expect 2 "$@"
    complains_once
    complains 'name another file'
    same kept "$kept"
}

inputs_are_kept() {
    small
    noise data.bin 3000000
    ln data.bin data-too
    ln -s data.bin data-link
    "$stria" record array.ini --name two --input data.bin --report run.json >/dev/null
    for path in data.bin ./data.bin data-too data-link; do
        refuses_and_keeps data.bin "$stria" record array.ini --name no --input data.bin --report $path
        refuses_and_keeps data.bin sh -c "'$stria' record array.ini --name no --report $path <data.bin"
    done
    refuses_and_keeps data.bin sh -c "'$stria' record array.ini --name no --input data.bin --report - >>data.bin"
    refuses_and_keeps array.ini sh -c "'$stria' export array.ini one >>array.ini"
    refuses_and_keeps drive0.img sh -c "'$stria' export array.ini one -o /dev/fd/5 5>>drive0.img"
    expect 0 "$stria" ls array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['one', 'two']"
    for path in run.json ./run.json "$PWD/run.json"; do
        refuses_and_keeps run.json "$stria" report run.json -o "$path"
        refuses_and_keeps run.json "$stria" fake fit run.json -o "$path"
    done
    printf '10GB, 2.4GB/s\n20GB, 1GB/s\n' >points.csv
    expect 0 "$stria" fake fit points.csv -o model.ini
    refuses_and_keeps points.csv "$stria" fake fit points.csv -o ./points.csv
    sed 's#^size = .*#&\nprofile = ./model.ini\ncapacity_scale = 0.01#; s#drive\([01]\).img#fake\1.img#' array.ini >fakes.ini
    expect 0 "$stria" init fakes.ini
    refuses_and_keeps model.ini "$stria" record fakes.ini --input synthetic --size 1MB --report model.ini
    printf '[array]\nname = x\n[drive.a]\npath = new.img\nsize = 24MiB\n' >alone.ini
    for path in alone.ini ./alone.ini; do
        refuses_and_keeps alone.ini "$stria" bench paced alone.ini --rest 0s -o $path
        refuses_and_keeps alone.ini "$stria" bench fill alone.ini --raw --rest 0s --save-profile $path
    done
    refuses_and_keeps model.ini "$stria" bench fill new.img --size 1MiB --profile ./model.ini --rest 0s --save-profile model.ini
    refuses_and_keeps model.ini "$stria" bench fill new.img --size 1MiB --profile ./model.ini --rest 0s -o model.ini
    expect 2 "$stria" bench fill new.img --size 1MiB --rest 0s --save-profile both -o both
    complains 'cannot both write both'
    [ ! -e both ] && [ ! -e new.img ] || fail "something was made"
}

# What a shell opened for appending is appended to.
descriptors_are_written_as_they_are() {
    small
    "$stria" export array.ini one >wanted
    { echo HEADER && cat wanted; } >appended
    for path in - /dev/stdout /dev/fd/1 /dev/fd/3 /proc/self/fd/3; do
        echo HEADER >log
        "$stria" export array.ini one -o $path >>log 3>&1
        same appended log
    done
    ln -s /dev/fd/3 link
    echo HEADER >log
    "$stria" export array.ini one -o link 3>>log
    same appended log
    for path in /dev/stdout /dev/fd/3; do
        echo HEADER >log
        "$stria" record array.ini --input synthetic --size 1KB --report $path 2>err >>log 3>&1
        [ "$(head -n 1 log)" = HEADER ] || fail "the report replaced what was there: $(head -c 200 log)"
        tail -n +2 log >rest
        [ $path = /dev/fd/3 ] || json rest 'd["schema"]' stria.record/1
        grep -q stria.record/1 rest
    done
    expect 2 "$stria" record array.ini --input synthetic --size 1KB --report /dev/fd/9
    complains '/dev/fd/9 cannot be written'
    expect 3 "$stria" export array.ini one -o /dev/fd/9
    complains 'cannot write /dev/fd/9'
    [ -z "$(find . -name '*.part*' -o -name '*.tmp*')" ] || fail "a part was left"
}

# The reader never reads; a pipe holds 64 KiB.
unread_pipes() {
    small
    cat >unread.py <<'PYTHON'
import fcntl, os, signal, subprocess, sys, termios, array, time
kind, signal_name, status, *command = sys.argv[1:]
r, w = os.pipe()
os.set_blocking(w, kind == "waits")
size = fcntl.fcntl(w, 1032)
run = subprocess.Popen(command, stdout=w, stderr=subprocess.PIPE)
inside = array.array("i", [0])
while inside[0] < size:
    time.sleep(0.01)
    fcntl.ioctl(r, termios.FIONREAD, inside)
time.sleep(0.1)
run.send_signal(getattr(signal, signal_name))
said = run.communicate(timeout=30)[1].decode()
assert run.returncode == int(status), (run.returncode, said)
assert f"after {size} bytes: ended by a signal" in said or "export" not in command, said
assert os.get_blocking(w) == (kind == "waits")
PYTHON
    for signal in SIGTERM SIGINT; do
        for kind in waits never-waits; do
            expect 0 python3 unread.py $kind $signal 3 "$stria" export array.ini one
        done
    done
    mkfifo fifo
    background "$stria" export array.ini one -o fifo
    sleep 0.3
    kill $process
    status=0
    wait $process || status=$?
    [ $status -eq 3 ] || fail "exit status $status while nobody opened the FIFO: $(cat err)"
}

slow_reader_of_a_pipe_that_never_waits() {
    small
    "$stria" export array.ini one >wanted
    expect 0 python3 - "$stria" <<'PYTHON'
import os, subprocess, sys, time
r, w = os.pipe()
os.set_blocking(w, False)
run = subprocess.Popen([sys.argv[1], "export", "array.ini", "one"], stdout=w)
os.close(w)
time.sleep(0.2)
got = b""
while True:
    more = os.read(r, 10000)
    if not more:
        break
    got += more
assert run.wait() == 0
assert got == open("wanted", "rb").read()
PYTHON
}

through_links() {
    small
    mkdir elsewhere
    echo old >elsewhere/there
    for name in there new; do
        ln -s elsewhere/$name link-$name
        expect 0 "$stria" export array.ini one -o link-$name
        [ -L link-$name ] || fail "the link to $name was replaced"
        "$stria" check-synthetic elsewhere/$name || fail "elsewhere/$name is not the recording"
        rm -f elsewhere/$name
        expect 0 "$stria" record array.ini --input synthetic --size 1KB --name "r$name" --report link-$name
        [ -L link-$name ] || fail "the link to $name was replaced"
        json elsewhere/$name 'd["schema"]' stria.record/1
    done
    ln -s nowhere/at-all link-nowhere
    ln -s link-self link-self
    for name in nowhere self; do
        expect 2 "$stria" export array.ini one -o link-$name
        complains_once
        complains "link-$name"
        expect 2 "$stria" record array.ini --input synthetic --size 1KB --name no --report link-$name
        complains_once
        complains "link-$name"
    done
    [ -z "$(find . -name '*.part*' -o -name '*.tmp*')" ] || fail "a part was left"
}

report_over_the_array() {
    small
    cp array.ini ini
    ln -s drive0.img link
    for path in drive0.img ./link array.ini; do
        expect 2 "$stria" record array.ini --input synthetic --size 1MB --name two --report "$path"
        complains 'name another file'
        expect 2 "$stria" export array.ini one -o "$path"
    done
    same ini array.ini
    expect 0 "$stria" verify array.ini
}

cut_short() {
    small
    timeout -s KILL 1 "$stria" record array.ini --input synthetic --rate 5MB/s --name cut >record.out 2>&1 || true
    expect 0 "$stria" verify array.ini cut
    says 'cut .*ok, cut short'
    expect 0 "$stria" export array.ini cut -o output
    complains 'was cut short'
}

file_size_limit() {
    small
    (
        ulimit -f 1
        got=0
        "$stria" export array.ini one -o output 2>err || got=$?
        [ $got -eq 3 ] || exit 1
    ) || fail "export past the file size limit did not end with status 3"
    [ ! -e output ] || fail "a part was left under the name of the whole"
    [ -z "$(find . -name 'output.part*')" ] || fail "a part was left"
}

# A limit between the sizes of two drives: the larger one is full where the limit is, and the rest goes to the other.
limit_cuts_off_one_drive() {
    array "$1" 2 64MiB
    sed -i '0,/size = 64MiB/s//size = 48MiB/' array.ini
    expect 0 "$stria" init array.ini
    noise input "$2"
    # 512-byte blocks: 56 MiB.
    (ulimit -f 114688 && exec "$stria" record array.ini --name a --input input --report report.json) >out 2>err ||
        fail "it ended with $?: $(cat err)"
    complains 'drive1.img: this process may write only the first 58720256 bytes of it'
    json report.json '[x["lost"] for x in d["drives"]]' '[False, False]'
    [ "$(tail -c $((8 << 20)) drive1.img | head -c $(((8 << 20) - 262144)) | tr -d '\000' | wc -c)" -eq 0 ] ||
        fail "something was written past the limit"
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini a -o output
    same input output
    # What is left is less than the array has room for without the limit.
    status=0
    (ulimit -f 114688 && exec "$stria" record array.ini --name b --input input) >out 2>err || status=$?
    [ $status -eq 1 ] || fail "it ended with $status: $(cat err)"
    complains 'the array is full'
    expect 0 "$stria" rm array.ini b
    expect 0 "$stria" record array.ini --name c --input synthetic --size 10MB
}

# An array must not be recorded onto itself, under whatever name.
own_drive_as_input() {
    small
    ln -s drive0.img link
    for input in drive0.img link "$PWD/drive1.img"; do
        expect 2 "$stria" record array.ini --name self --input "$input"
        complains_once
        complains "shares bytes with the array's drive drive"
    done
    expect 2 "$stria" record array.ini --name self <drive0.img
    complains "standard input shares bytes with the array's drive drive0.img"
    expect 0 "$stria" ls array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['one']"
}

own_loop_device_as_input() {
    small
    device=$(loop_device drive0.img) || exit $?
    expect 2 "$stria" record array.ini --name self --input "$device"
    complains "$device shares bytes with the array's drive drive0.img"
    sed "s#^path = drive0.img#path = $device#; /^size/d" array.ini >loop.ini
    expect 2 "$stria" record loop.ini --name self --input drive0.img
    complains "drive0.img shares bytes with the array's drive $device"
    expect 2 "$stria" export loop.ini one -o drive0.img
    complains 'name another file'
}

# limit_told LIMIT PATTERN COMMAND...: each limit is told in words that name it, with status 3, or 2 if that is its sense.
# LeakSanitizer, where Stria is built with it, would need more than these limits leave.
limit_told() {
    limit=$1
    pattern=$2
    shift 2
    got=0
    # shellcheck disable=SC2086 # the option and its value
    (ulimit $limit && exec env "ASAN_OPTIONS=${ASAN_OPTIONS-}:detect_leaks=0" "$stria" "$@") >out 2>err || got=$?
    [ $got -eq 2 ] || [ $got -eq 3 ] || fail "ulimit $limit: $* ended with $got: $(cat err)"
    complains "$pattern"
}

limits() {
    small
    for files in 5 6 7; do
        limit_told "-n $files" 'ulimit -n' record array.ini --input synthetic --size 1MB --name two
    done
    # A drive that this process cannot open is not one that is missing: no half of an array is recorded to or judged.
    for files in 8 9 10 11 12 13 14 16; do
        for command in 'verify array.ini' "record array.ini --input synthetic --size 200KB --name with-$files"; do
            got=0
            # shellcheck disable=SC2086,SC3045 # words; dash has it
            (ulimit -n $files && exec "$stria" $command) >out 2>err || got=$?
            [ $got -eq 0 ] && [ ! -s err ] && continue
            [ $got -eq 3 ] || fail "ulimit -n $files: $command ended with $got: $(cat err)"
            complains_once
            complains 'ulimit -n'
        done
        "$stria" rm array.ini with-$files 2>err || :
    done
    limit_told '-f 10' 'ulimit -f' record array.ini --input synthetic --size 1MB --name two
    complains 'drive0.img has 25165824 bytes, and this process may write only the first'
    expect 0 "$stria" ls array.ini --json
    json out '[x["name"] for x in d["recordings"]]' "['one']"
}

# Whatever is too little for: a sentence, never a crash.
little_memory() {
    small
    for kilobytes in 30000 40000 44000 48000 52000 56000 60000 70000 90000; do
        for command in "record array.ini --input synthetic --size 1MB --name m$kilobytes --report report.json" 'ls array.ini --json' \
            'verify array.ini --json' 'export array.ini one -o output'; do
            got=0
            # shellcheck disable=SC2086,SC3045 # words; dash has it
            (ulimit -v $kilobytes && exec "$stria" $command) >out 2>err || got=$?
            case $got in
            0) ;;
            127) skip "the program does not even load" ;;
            *)
                [ $got -le 3 ] || fail "$command with $kilobytes KiB ended with $got: $(cat err)"
                complains 'memory|ulimit|not among the drives'
                ;;
            esac
        done
    done
    expect 0 "$stria" verify array.ini
}

nothing_behind_a_device() {
    small
    : >empty
    device=$(loop_device empty) || exit $?
    printf '[array]\nname = x\n[drive.a]\npath = %s\n' "$device" >loop.ini
    for command in init ls 'record --input synthetic'; do
        # shellcheck disable=SC2086 # words
        expect 3 "$stria" $command loop.ini
        complains_once
        complains "$device .*nothing behind"
    done
}

# Not a mistake of whoever gave the command.
damaged_everywhere() {
    small
    python3 - "$1" <<'PYTHON'
import sys
for path in ("drive0.img", "drive1.img"):
    data = bytearray(open(path, "rb").read())
    at = data.find(sys.argv[1].encode())
    while at >= 0:
        data[at + 40] ^= 1
        at = data.find(sys.argv[1].encode(), at + 1)
    open(path, "wb").write(data)
PYTHON
    for command in 'ls array.ini' 'verify array.ini' 'export array.ini one -o output' 'record array.ini --input synthetic --size 1MB'; do
        # shellcheck disable=SC2086 # words
        expect 1 "$stria" $command
        complains 'damaged'
    done
}

faulty_everywhere() {
    small
    sed "s/^path = .*/&\nfault = $1/; s/^buffer.*/&\nwrite_deadline = 500ms/" array.ini >faulty.ini
    expect 3 "$stria" record faulty.ini --name two --input synthetic --rate 5MB/s --size 20MB
    complains "$2"
    expect 0 "$stria" verify array.ini one
}

terminal_closed() {
    small
    "$stria" record array.ini --input synthetic --rate 5MB/s --name hup --report r.json >record.out 2>&1 &
    recorder=$!
    sleep 1
    kill -HUP $recorder
    wait $recorder
    expect 0 "$stria" ls array.ini
    says 'hup .*complete'
}

# stopped COMMAND...: runs it, and stops it for longer than its deadlines in the middle.
stopped() {
    got=0
    "$stria" "$@" >out 2>err &
    process=$!
    echo $process >>"$scratch/processes"
    sleep 0.5
    kill -STOP $process || fail "$* had ended before it could be stopped: $(cat err)"
    sleep 2.5
    kill -CONT $process
    wait $process || got=$?
}

# Its own absence is not held against the drives: their answers have been there for long.
process_stopped() {
    array adaptive 3 512MiB 'write_deadline = 1s' 'read_deadline = 1s'
    expect 0 "$stria" init array.ini
    stopped record array.ini --input synthetic --rate 60MB/s --duration 3s --name stopped --report report.json
    [ $got -eq 0 ] || fail "record that was stopped ended with $got: $(cat err)"
    json report.json 'd["recording"]["dropped_bytes"]' 0
    json report.json 'any(x["lost"] for x in d["drives"])' False
    for drive in 0 1 2; do sed -i "s/^path = drive$drive.img/&\nfault = read:stall=150ms/" array.ini; done
    stopped verify array.ini
    [ $got -eq 0 ] || fail "verify that was stopped ended with $got: $(cat out err)"
    stopped export array.ini stopped -o output
    [ $got -eq 0 ] || fail "export that was stopped ended with $got: $(cat err)"
}

raid0_without_one() {
    array raid0 3 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    mv drive1.img away.img
    noise input 3000000
    expect 1 "$stria" record array.ini --name degraded --input input
    mv away.img drive1.img
    expect 0 "$stria" export array.ini degraded -o output
    same input output
}

it "records under raid0 while a drive is away" raid0_without_one
it "changes no drive when one that shall be erased is being recorded onto" erase_in_use
# erased_while_read INI DRIVE DRIVE: init --erase of drives that somebody reads changes none of them; a second reader is
# welcome meanwhile, and a recorder.
erased_while_read() {
    cp "$2" before0
    cp "$3" before1
    mkfifo pipe
    "$stria" export "$1" one >pipe 2>export.err &
    exporter=$!
    echo $exporter >>"$scratch/processes"
    exec 9<pipe
    # What it has written and nobody read keeps it there.
    until_true 20 sh -c 'head -c 4096 <&9 | grep -q .'
    expect 2 "$stria" init "$1" --erase "$2" --erase "$3"
    complains "$2 is in use"
    same before0 "$2"
    same before1 "$3"
    expect 0 "$stria" verify "$1"
    expect 0 "$stria" record "$1" --input synthetic --size 1MB --name two
    exec 9<&-
    wait $exporter || :
    expect 0 "$stria" init "$1" --erase "$2" --erase "$3"
}

erase_while_read() {
    small
    erased_while_read array.ini drive0.img drive1.img
}

# A block device has no lock of flock(2) that a reader could hold beside a recorder: another lock keeps init away there.
erase_devices_while_read() {
    small
    first=$(loop_device drive0.img) || exit $?
    second=$(loop_device drive1.img 4096) || exit $?
    sed "s#^path = drive0.img#path = $first#; s#^path = drive1.img#path = $second#; /^size/d" array.ini >loop.ini
    expect 0 "$stria" init loop.ini --erase "$first" --erase "$second"
    expect 0 "$stria" record loop.ini --input synthetic --size 2MB --name one
    erased_while_read loop.ini "$first" "$second"
}

it "changes no drive when one that shall be erased is being read" erase_while_read
it "changes no block device when one that shall be erased is being read" erase_devices_while_read
it "changes no drive when another is in use" erase_beside_one_in_use
it "writes nothing into drives when standard descriptors are closed" closed_descriptors
it "refuses a report or an export over the array's drives and its INI file" report_over_the_array
it "replaces nothing that it reads, by whatever name" inputs_are_kept
it "writes an open descriptor as it is" descriptors_are_written_as_they_are
it "a signal ends an export that nobody reads" unread_pipes
it "waits for the reader of a pipe that does not wait" slow_reader_of_a_pipe_that_never_waits
it "writes through symbolic links and leaves them" through_links
it "says that a recording was cut short when it is verified or exported" cut_short
it "tells of a file size limit and leaves no part behind" file_size_limit
it "leaves out what a file size limit cuts off of one drive" limit_cuts_off_one_drive adaptive 90000000
it "leaves out what a file size limit cuts off of one drive, raid0" limit_cuts_off_one_drive raid0 80000000
it "does not record an array's own drive onto it" own_drive_as_input
it "does not record an array's own drive onto it through a loop device" own_loop_device_as_input
it "loses no drive when it is stopped for longer than its deadlines" process_stopped
it "names the limit that is too low" limits
it "ends with a sentence when there is little memory" little_memory
it "tells of a device with nothing behind it" nothing_behind_a_device
it "a damaged superblock is no mistake of usage" damaged_everywhere STRIASB1
it "a damaged catalogue is no mistake of usage" damaged_everywhere SCA1
it "drives that cannot be read are no mistake of usage" faulty_everywhere 'read@0-200000:eio' 'cannot be read'
it "drives that are lost early are no mistake of usage" faulty_everywhere 'any,after=50ms:lost' 'timed out|no drive'
it "drives that are lost at the first write are no mistake of usage" faulty_everywhere 'write:gone' 'no drive'
it "ends a recording properly when the terminal is closed" terminal_closed
finish
