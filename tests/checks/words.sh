#!/bin/sh
# No note to self in what is finished, no path of somebody's machine, no stray blanks, nothing told twice in the changelog.
set -eu
. "$(dirname "$0")/lib.sh"
files=$(some_files '*.c' '*.h' '*.sh' '*.py' '*.md' '*.txt' '*.cmake' '*.ini' '*.json' '*.1' '*.5' '*.bash' '*.in' |
    grep -v '^tests/checks/words\.sh$')
failed=0
refuse() {
    # shellcheck disable=SC2086
    if grep -n -E "$1" $files; then
        echo "the lines above $2"
        failed=1
    fi
}
refuse '\b(TODO|FIXME|XXX|HACK)\b' 'leave something undone: do it, or file an issue'
refuse '(^|[^[:alnum:]_.~-])/(work|home|root|Users|tmp/[a-z]+_jobs)/' 'name a path of one machine'
refuse '[[:blank:]]$' 'end in a blank'
refuse '^(<<<<<<<|>>>>>>>)' 'are left of a merge'
# Git may join two lists by leaving both.
doubled=$(grep '^- ' CHANGELOG.md | sort | uniq -d)
if [ -n "$doubled" ]; then
    echo "$doubled"
    echo "the lines above stand twice in CHANGELOG.md"
    failed=1
fi
exit $failed
