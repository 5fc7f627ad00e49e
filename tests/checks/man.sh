#!/bin/sh
# The man pages are clean mdoc.
set -eu
. "$(dirname "$0")/lib.sh"
pages=$(some_files 'man/*.[1-9]')
failed=0
for page in $pages; do
    mandoc -Tlint -Wwarning "$page" || failed=1
done
exit $failed
