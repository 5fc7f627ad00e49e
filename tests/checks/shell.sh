#!/bin/sh
# Shell scripts parse in the shell that runs them, and shellcheck finds nothing.
set -eu
. "$(dirname "$0")/lib.sh"
scripts=$(some_files '*.sh')
failed=0
for script in $scripts .ci/run; do
    sh -n "$script" || failed=1
done
# Behaviours are functions called by name, which shellcheck takes for unreachable.
printf '%s\n' $scripts .ci/run | xargs -P "$(nproc)" -n 4 \
    shellcheck --external-sources --source-path=SCRIPTDIR --shell=sh --severity=warning --exclude=SC2317 || failed=1
if [ -f completions/stria.bash ]; then
    bash -n completions/stria.bash || failed=1
    shellcheck --shell=bash completions/stria.bash || failed=1
    zsh -n completions/_stria || failed=1
fi
exit $failed
