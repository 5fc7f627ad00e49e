# Sourced by scenarios whose guest is also the host that has the drives: the kernel's own NVMe target, set up as
# docs/scale-out.md has an administrator do it.
nvmet=/sys/kernel/config/nvmet
prefix=nqn.2014-08.org.example

# add_namespace NAME NUMBER DEVICE
add_namespace() {
    mkdir "$nvmet/subsystems/$prefix:$1/namespaces/$2"
    echo "$3" >"$nvmet/subsystems/$prefix:$1/namespaces/$2/device_path"
    echo 1 >"$nvmet/subsystems/$prefix:$1/namespaces/$2/enable"
}

# offer NAME [DEVICE]: a subsystem, whose namespace 1 is the device.
offer() {
    mkdir "$nvmet/subsystems/$prefix:$1"
    echo 1 >"$nvmet/subsystems/$prefix:$1/attr_allow_any_host"
    echo "STRIA-$1" >"$nvmet/subsystems/$prefix:$1/attr_serial"
    [ -z "${2-}" ] || add_namespace "$1" 1 "$2"
}

# open_port NUMBER FAMILY ADDRESS
open_port() {
    mkdir "$nvmet/ports/$1"
    echo tcp >"$nvmet/ports/$1/addr_trtype"
    echo "$2" >"$nvmet/ports/$1/addr_adrfam"
    echo "$3" >"$nvmet/ports/$1/addr_traddr"
    echo 4420 >"$nvmet/ports/$1/addr_trsvcid"
}

# show NAME [PORT]
show() {
    ln -s "$nvmet/subsystems/$prefix:$1" "$nvmet/ports/${2-1}/subsystems/$prefix:$1"
}

# hide NAME [PORT]
hide() {
    rm "$nvmet/ports/${2-1}/subsystems/$prefix:$1"
}
