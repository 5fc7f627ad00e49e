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

names_the_option() {
    array adaptive 2 32MiB
    expect 0 "$stria" init array.ini
    for wrong in --nmae --rate= ; do
        expect 2 "$stria" record array.ini "$wrong"
        complains_once
        complains "$(echo "$wrong" | sed 's/^--//; s/=$//')"
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

it "--help shows every command, and each its own" helps
it "--version shows a version" tells_version
it "a command that does not exist is named, with the one that was meant" needs_a_command
it "a wrong option or value is named in one sentence, and nothing is recorded" names_the_option
it "a missing array.ini is named" needs_an_array
it "every problem of array.ini is told at once, with its line" tells_all_problems
it "an array that was never made is told, and not made by accident" not_an_array_yet
finish
