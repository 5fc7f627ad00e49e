#!/bin/sh
# Arrays written by released versions stay readable: listed, verified and exported as on the day they were made.
. "$(dirname "$0")/lib.sh"

# reads VERSION/NAME
reads() {
    tar -xJf "$source_folder/tests/data/$1.tar.xz" --strip-components=1
    expect 0 "$stria" ls array.ini --json
    python3 -c 'import json; [print(r["name"]) for r in json.load(open("out"))["recordings"]]' >listed
    cut -d' ' -f1 expected >wanted
    same listed wanted
    while read -r name exported digest verified; do
        expect "$exported" "$stria" export array.ini "$name" -o export.bin
        [ "$(sha256sum <export.bin | cut -d' ' -f1)" = "$digest" ] || fail "$name is not what it was"
        rm export.bin
        expect "$verified" "$stria" verify array.ini "$name"
    done <expected
}

# An old array takes new recordings, and what it held stays as it was.
grows() {
    tar -xJf "$source_folder/tests/data/$1.tar.xz" --strip-components=1
    noise input 300000
    expect 0 "$stria" record array.ini --name new --input input
    expect 0 "$stria" export array.ini new -o output
    same input output
    rm output
    while read -r name exported digest _; do
        expect "$exported" "$stria" export array.ini "$name" -o export.bin
        [ "$(sha256sum <export.bin | cut -d' ' -f1)" = "$digest" ] || fail "$name is not what it was"
        rm export.bin
    done <expected
}

for image in "$source_folder"/tests/data/*/*.tar.xz; do
    name=${image#"$source_folder/tests/data/"}
    name=${name%.tar.xz}
    it "reads $name" reads "$name"
    it "records onto $name" grows "$name"
done
finish
