#!/bin/sh
# Includes cross the walls between the folders only where walls.txt has a door.
set -eu
. "$(dirname "$0")/lib.sh"
files=$(some_files '*.c' '*.h')
# shellcheck disable=SC2086
grep -n -E '^[[:space:]]*#[[:space:]]*include' $files |
    awk -v walls=tests/checks/walls.txt '
        function allowed(place, target,    i) {
            for (i = 1; i <= doors[place]; i++)
                if (target == door[place, i] || (door[place, i] ~ /\/$/ && index(target, door[place, i]) == 1) ||
                    (door[place, i] == "<*>" && target ~ /^</))
                    return 1
            return 0
        }
        BEGIN {
            while ((getline line < walls) > 0) {
                sub(/#.*/, "", line)
                count = split(line, word, " ")
                if (count == 0)
                    continue
                place = word[1]
                sub(/:$/, "", place)
                known[place] = 1
                for (i = 2; i <= count; i++)
                    door[place, ++doors[place]] = word[i]
            }
        }
        {
            split($0, part, ":")
            file = part[1]
            match($0, /[<"][^>"]*[>"]/)
            target = substr($0, RSTART, RLENGTH)
            gsub(/"/, "", target)
            folder = file
            sub(/\/.*/, "", folder)
            if (!(folder in known)) {
                print file ": tests/checks/walls.txt does not know the folder " folder
                failed = 1
            } else if (!allowed(folder, target) && !allowed(file, target)) {
                print file ":" part[2] ": must not include " target
                failed = 1
            }
            seen++
        }
        END { exit failed || !seen }'
