# Sourced by the checks: they run in the source tree's root, and look at the files that belong to the project.
cd "$(dirname "$0")/../.." || exit 1

# project_files PATTERN...: those that git knows or would add; in a tree without git, all but what is built.
project_files() {
    if git rev-parse --is-inside-work-tree >/dev/null 2>&1; then
        git ls-files --cached --others --exclude-standard -- "$@" | while read -r file; do
            [ ! -f "$file" ] || echo "$file"
        done
    else
        for pattern in "$@"; do
            find . -path ./build -prune -o -path ./.git -prune -o -type f -name "${pattern##*/}" -print
        done | sed 's:^\./::' | sort -u
    fi
}

# some_files PATTERN...: the same, but none at all is a failure: a check that looks at nothing proves nothing.
some_files() {
    found=$(project_files "$@")
    if [ -z "$found" ]; then
        echo "no file is named like: $*" >&2
        exit 1
    fi
    echo "$found"
}
