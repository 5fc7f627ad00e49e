#!/bin/sh
# run.py with something in QEMU's place: a guest that does not come to its scenario is booted once more, one that fails in
# it is not.
. "$(dirname "$0")/../e2e/lib.sh"
run_py=$(cd "$(dirname "$0")" && pwd)/run.py
name=boot_twice_probe

# guest BOOT...: what the first boot does, the second, …: panics, fails or passes.
guest() {
    mkdir bin
    echo "$*" >boots
    cat >bin/qemu-system-x86_64 <<END
#!/bin/sh
[ "\$1" != --version ] || { echo "QEMU emulator version 0.0"; exit; }
share=\$(echo "\$*" | sed 's/.*local,path=\([^,]*\),mount_tag=share.*/\1/')
read -r now later <"$PWD/boots"
echo "\$later" >"$PWD/boots"
echo booted >>"$PWD/count"
[ \$now != panics ] || exit 0
echo >"\$share/begun"
echo nothing >"\$share/dmesg"
[ \$now != fails ] || exit 0
printf 'ok 1 - all is well\n1..1\n' >"\$share/tap"
echo 0 >"\$share/status"
END
    chmod +x bin/qemu-system-x86_64
    printf '#!/bin/sh\n#: limit 20\n' >$name.sh
    PATH=$PWD/bin:$PATH
}

boots() {
    [ "$(wc -l <count)" -eq "$1" ] || fail "it was booted $(wc -l <count) times"
}

# shellcheck disable=SC2154 # set by lib.sh
run_it() {
    expect "$1" env STRIA="$stria" STRIA_TAP= python3 "$run_py" $name.sh
}

panics_once() {
    guest panics passes
    run_it 0
    boots 2
    says 'booted once more'
    says '^ok 1 - all is well'
}

panics_always() {
    guest panics panics passes
    run_it 1
    boots 2
    says 'not ok .*went down before its scenario began|before its scenario began'
}

fails_inside() {
    guest fails passes
    run_it 1
    boots 1
    says 'before its scenario ended'
}

command -v qemu-system-x86_64 >/dev/null || exit 77
it "boots a guest once more that panics before its scenario" panics_once
it "gives up when that panics too" panics_always
it "never runs a scenario twice" fails_inside
finish
