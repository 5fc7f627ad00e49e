#!/bin/sh
# What a person types wrong, and what asks for help.
. "$(dirname "$0")/lib.sh"

helps() {
    expect 0 "$stria" --help
    for command in init record ls verify export rm; do
        says "\\b$command\\b"
    done
    for command in init record ls verify export rm; do
        expect 0 "$stria" "$command" --help
        says "stria $command"
    done
}

tells_version() {
    expect 0 "$stria" --version
    says '[0-9]+\.[0-9]+\.[0-9]+'
}

needs_a_command() {
    expect 2 "$stria"
    expect 2 "$stria" recrod
    complains_once
    complains 'recrod'
    complains 'record'
}

# These drives never say that something is written: the recording stays, or is gone.
a_signal_ends_a_removal() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    sed 's/^size = .*/&\nfault = write:lost/' array.ini >stuck.ini
    for signal in INT TERM HUP; do
        expect 0 "$stria" record array.ini --input synthetic --size 1MB --name take-$signal
        expect 124 timeout -k 20 -s $signal 1 "$stria" rm stuck.ini take-$signal
        expect 0 "$stria" verify array.ini
    done
}

names_the_option() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    for wrong in --nmae --rate= ; do
        expect 2 "$stria" record array.ini "$wrong"
        complains_once
        complains "$(echo "$wrong" | sed 's/^--//; s/=$//')"
    done
    for line in '--json=yes array.ini' 'array.ini --json=yes' 'array.ini --js=yes'; do
        # shellcheck disable=SC2086 # words
        expect 2 "$stria" ls $line
        complains_once
        complains "'--js(on)?=yes': this option takes no value: write --js(on)?$"
    done
    expect 2 "$stria" record array.ini --input synthetic --rate 2GBs
    complains_once
    complains '2GBs'
    expect 2 "$stria" record array.ini --input synthetic --size 1Mib
    complains '1Mib'
    expect 2 "$stria" record array.ini --input synthetic --duration soon
    complains 'soon'
    expect 2 "$stria" record array.ini --input synthetic --on-overrun explode
    complains 'explode'
    expect 2 "$stria" record array.ini --name
    complains 'name'
    expect 0 "$stria" ls array.ini --json
    json out 'len(d["recordings"])' 0
}

empty_words() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    for option in name input report rate; do
        expect 2 "$stria" record array.ini "--$option="
        complains_once
        complains "--$option is empty"
    done
    expect 2 "$stria" export array.ini a -o ''
    complains_once
    complains '--output is empty'
    expect 2 "$stria" export array.ini ''
    complains_once
    expect 2 "$stria" ls ''
    complains_once
    complains 'ARRAY'
}

said_twice() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    for option in '--name a --name b' '--name a --name a' '--size 1MB --size=1MB' '--on-overrun drop --on-overrun stop'; do
        # shellcheck disable=SC2086 # words
        expect 2 "$stria" record array.ini --input synthetic $option
        complains_once
        complains 'stands twice'
    done
    expect 0 "$stria" ls array.ini --json --json
    json out 'len(d["recordings"])' 0
}

not_an_ini() {
    mkfifo fifo
    mkdir folder
    for what in fifo folder; do
        expect 2 timeout 20 "$stria" ls $what
        complains_once
        complains "$what is .*name the array's INI file"
    done
}

too_long() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 1MB --name a
    name=$(printf 'x%.0s' $(seq 300))
    path=$(printf 'x/%.0s' $(seq 3000))
    for long in "$name" "$path"; do
        for command in "ls $long" "record array.ini --input $long" "export array.ini a -o $long" \
            "record array.ini --input synthetic --size 1MB --name b --report $long"; do
            # shellcheck disable=SC2086 # words
            expect 2 "$stria" $command
            complains_once
            complains 'the path is too long: a name has at most 255 bytes'
        done
    done
    expect 0 "$stria" ls array.ini --json
    json out 'len(d["recordings"])' 1
}

needs_an_array() {
    for command in init 'record --input synthetic' ls verify; do
        # shellcheck disable=SC2086 # the command and its option
        expect 2 "$stria" $command
        complains 'ARRAY'
        # shellcheck disable=SC2086
        expect 2 "$stria" $command nowhere.ini
        complains_once
        complains 'nowhere\.ini'
    done
    expect 2 "$stria" export nowhere.ini name
    complains 'nowhere\.ini'
    expect 2 "$stria" rm nowhere.ini name
    complains 'nowhere\.ini'
}

tells_all_problems() {
    cat >array.ini <<'INI'
[array]
chunk = 3MiB
polcy = raid0
[drive.a]
size = 1GiB
INI
    expect 2 "$stria" init array.ini
    complains 'array\.ini:2.*3MiB'
    complains 'array\.ini:3.*polcy'
    complains 'path'
    [ ! -e a.img ]
}

not_an_array_yet() {
    array adaptive 2 32MiB
    expect 2 "$stria" ls array.ini
    complains 'init'
    [ ! -e drive0.img ] || fail "ls made a file"
    expect 2 "$stria" record array.ini --input synthetic --size 1MiB
    complains 'init'
    [ ! -e drive0.img ] || fail "record made a file"
}

# What could not be told is neither a good verdict nor a bad one.
verdict_cannot_be_told() {
    array adaptive 2 24MiB 'chunk = 64KiB'
    expect 0 "$stria" init array.ini
    expect 0 "$stria" record array.ini --input synthetic --size 1MB --name one
    for damage in none 'd1 is away'; do
        [ "$damage" = none ] || mv drive1.img away.img
        for command in 'ls array.ini' 'verify array.ini' 'verify array.ini --json' '--version'; do
            got=0
            # shellcheck disable=SC2086 # words
            "$stria" $command >/dev/full 2>err || got=$?
            [ $got -eq 3 ] || fail "$command ended with $got when standard output is full and damage is $damage"
            complains 'cannot write (to )?standard output'
        done
    done
}

# told STATUS SHOWN COMMAND...: what it says has the word in it as it may be shown.
told() {
    wanted=$1
    shown=$2
    shift 2
    expect "$wanted" "$stria" "$@"
    cat out err >both
    grep -q -F -e "$shown" both || fail "it does not show $shown: $(cat -v both)"
}

# Whatever bytes a word, a path or a file's name has, a terminal gets none that would make it do something.
odd_bytes() {
    word=$(printf 'a\033[2J\233\377b')
    path=$(printf 'a\233\377b.img')
    array adaptive 1 32MiB
    told 2 'a?[2J??b' "$word"
    told 2 'a?[2J??b' ls "--$word" array.ini
    told 2 'a?[2J??b' ls "$word"
    told 2 'a?[2J??b' record array.ini --on-overrun "$word"
    told 2 'a?[2J??b' record array.ini --name "$word"
    sed -i "s/^path = .*/path = $path/" array.ini
    told 0 'a??b.img' init array.ini
    told 0 'a??b.img' ls array.ini
    told 2 'a?[2J??b' export array.ini "$word"
    told 0 'a??b.img' drives "$path"
    for command in ls verify; do
        expect 0 "$stria" $command array.ini --json
        python3 -c 'import json; json.load(open("out", encoding="utf-8"))' || fail "$command: $(cat -v out)"
    done
    expect 0 "$stria" drives "$path" --json
    python3 -c 'import json; json.load(open("out", encoding="utf-8"))' || fail "drives: $(cat -v out)"
    rm "$path"
    told 2 'a??b.img' ls array.ini
}

out_of_range() {
    array adaptive 1 32MiB
    expect 2 "$stria" record array.ini --input synthetic --seed 18446744073709551616
    complains "--seed: '18446744073709551616' is too large for a number: write at most 18446744073709551615"
    expect 2 "$stria" record array.ini --size 99999999TiB
    complains "--size: '99999999TiB' is too large for a size: write at most 16777215TiB"
}

# What waits for its input for ever, if nothing ends it.
a_signal_ends_it() {
    mkfifo nothing
    sleep 60 >nothing &
    for signal in INT TERM HUP; do
        expect 124 timeout -k 20 -s $signal 0.3 "$stria" check-synthetic nothing
        expect 124 timeout -k 20 -s $signal 0.3 "$stria" report --csv nothing
        expect 124 timeout -k 20 -s $signal 0.3 "$stria" report --csv - <nothing
    done
    kill $!
}

it "a signal ends a command that leaves nothing half done" a_signal_ends_it
it "a signal ends a removal that waits for a drive" a_signal_ends_a_removal
it "odd bytes are shown as question marks" odd_bytes
it "what is out of range is told with the range" out_of_range
it "--help shows every command, and each its own" helps
it "--version shows a version" tells_version
it "a command that does not exist is named, with the one that was meant" needs_a_command
it "a wrong option or value is named in one sentence, and nothing is recorded" names_the_option
it "an empty value or word is told, and nothing is recorded" empty_words
it "an option that is given twice is refused" said_twice
it "a FIFO or a folder is not waited for as an INI file" not_an_ini
it "a path that is too long is told, with its end" too_long
it "a missing array.ini is named" needs_an_array
it "every problem of array.ini is told at once, with its line" tells_all_problems
it "an array that was never made is told, and not made by accident" not_an_array_yet
it "a verdict that cannot be written is not a verdict" verdict_cannot_be_told
finish
