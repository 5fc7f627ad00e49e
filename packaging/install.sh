#!/bin/sh
# packaging/install.sh GROUP...: installs the Debian packages of these groups of packages.txt, if any is missing.
set -eu

list=$(dirname "$0")/packages.txt

packages_of() {
    awk -v group="[$1]" '
        { sub(/#.*/, ""); gsub(/[ \t]/, "") }
        /^\[/ { inside = ($0 == group); found = found || inside; next }
        inside && length
        END { if (!found) exit 1 }' "$list"
}

installed() {
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]
}

fail() {
    echo "packaging/install.sh: $*" >&2
    exit 1
}

[ $# -gt 0 ] || fail "name at least one group of $list, such as: build"
command -v dpkg-query >/dev/null || fail "this system has no dpkg: install what $list names by its own means"

missing=
for group in "$@"; do
    packages=$(packages_of "$group") || fail "$list has no group [$group]"
    for package in $packages; do
        case " $missing " in *" $package "*) continue ;; esac
        installed "$package" || missing="$missing $package"
    done
done
[ -n "$missing" ] || exit 0

if [ "$(id -u)" -eq 0 ]; then
    as_root="env"
elif command -v sudo >/dev/null; then
    as_root="sudo env"
else
    fail "packages are missing and only root can install them: run as root, apt-get install$missing"
fi

echo "Installing$missing"
apt="$as_root DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=500 -o Acquire::Retries=3"
$apt update >/dev/null || echo "packaging/install.sh: apt-get update failed; trying with the lists there are" >&2
# shellcheck disable=SC2086 # one word a package is what is meant
$apt install -y --no-install-recommends $missing >/dev/null || fail "apt-get could not install$missing"
