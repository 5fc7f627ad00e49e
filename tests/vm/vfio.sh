#!/bin/sh
# Our own driver in user space: drives handed over to VFIO, and back to the kernel's driver to see what is on them.
#: drive a size=128M
#: drive b size=128M logical_block_size=4096 mdts=4
#: drive c size=128M
#: drive e size=128M throttle=0
#: modules nvme vfio-pci
#: iommu
#: limit 1200
. "$(dirname "$0")/lib.sh"

# Addresses are asked for while the kernel has the drives.
for drive in a b c e; do
    device_of $drive >/dev/null
    eval "address_$drive=$(address_of $drive)"
done

vfio_of() {
    eval "echo vfio:\$address_$1"
}

# bind DRIVE DRIVER: vfio-pci or nvme.
bind() {
    address=
    eval "address=\$address_$1"
    if [ -e "/sys/bus/pci/devices/$address/driver" ]; then
        echo "$address" >"/sys/bus/pci/devices/$address/driver/unbind"
    fi
    echo "$2" >"/sys/bus/pci/devices/$address/driver_override"
    echo "$address" >/sys/bus/pci/drivers_probe
    [ "$(basename "$(readlink "/sys/bus/pci/devices/$address/driver")")" = "$2" ]
}

# vfio_array POLICY "DRIVE..." [LINE...]: array.ini over these by VFIO.
vfio_array() {
    policy=$1
    members=$2
    shift 2
    {
        printf '[array]\nname = test\npolicy = %s\nbuffer = 16MiB\n' "$policy"
        for line in "$@"; do echo "$line"; done
        for member in $members; do printf '[drive.%s]\npath = %s\n' "$member" "$(vfio_of "$member")"; done
    } >array.ini
}

refused_then_handed_over() {
    vfio_array adaptive a
    expect 2 "$stria" init array.ini
    complains "bound to the kernel's driver 'nvme'"
    # The commands are taken by their word, but for the modules, which lie elsewhere here.
    sed -n 's/.*`modprobe vfio-pci && \(.*\)`.*/\1/p' err >commands
    [ -s commands ]
    sh -e commands
    expect 0 "$stria" init array.ini
}

round_trip() {
    for drive in a b c; do bind $drive vfio-pci; done
    vfio_array adaptive 'a b c'
    expect 0 "$stria" init array.ini --erase STRIA-a
    noise input 20000001
    expect 0 "$stria" record array.ini --name r --input input --report report.json
    expect 0 "$stria" verify array.ini
    says 'r .*ok'
    expect 0 "$stria" export array.ini r -o output
    same input output
    json report.json 'sorted(drive["serial"] for drive in d["drives"])' "['STRIA-a', 'STRIA-b', 'STRIA-c']"
    json report.json 'all(drive["bytes"] > 0 and drive["errors"] == 0 for drive in d["drives"])' True
    cp input $share/input
}

# What our driver wrote, the kernel's reads.
seen_by_the_kernel() {
    for drive in a b c; do bind $drive nvme; done
    array_of adaptive 'a b c'
    expect 0 "$stria" verify array.ini
    expect 0 "$stria" export array.ini r -o output
    same $share/input output
}

# What the kernel's driver wrote, ours looks at before it overwrites it.
precious_is_refused() {
    /bin/busybox mke2fs -L photos "$(device_of a)"
    printf 'label: gpt\nstart=2048\n' | /sbin/sfdisk --no-tell-kernel -q "$(device_of b)"
    for drive in a b c; do bind $drive vfio-pci; done
    vfio_array adaptive 'a b'
    expect 2 "$stria" init array.ini
    complains "an ext2 file system labelled 'photos'"
    complains 'a partition table \(gpt\)'
    complains 'erase STRIA-a'
    expect 2 "$stria" init array.ini --erase STRIA-a
    complains 'gpt'
    expect 0 "$stria" init array.ini --erase STRIA-a --erase STRIA-b
    bind a nvme
    [ -z "$(/sbin/blkid -p -o value -s LABEL "$(device_of a)")" ]
    bind a vfio-pci
    vfio_array adaptive 'a c'
    expect 2 "$stria" init array.ini
    complains "Stria's array 'test'"
}

# begun NAME: records without an end at a moderate rate, its number in the file process.
begun() {
    "$stria" record array.ini --name "$1" --input synthetic --rate 10MB/s --report report.json >log 2>&1 &
    echo $! >process
    cat process >>"$scratch/processes"
    sleep 6
}

killed() {
    vfio_array adaptive 'a b c' 'commit_interval = 100ms'
    expect 0 "$stria" init array.ini --erase STRIA-a --erase STRIA-b --erase STRIA-c
    for round in 1 2 3; do
        begun "r$round"
        kill -9 "$(cat process)"
        expect 0 "$stria" verify array.ini
        expect 0 "$stria" ls array.ini --json
        json out "[x['bytes'] > 0 for x in d['recordings'] if x['name'] == 'r$round']" '[True]'
    done
}

in_use() {
    vfio_array adaptive 'a b c'
    begun busy
    expect 2 "$stria" ls array.ini
    complains 'in use by another process'
    kill -INT "$(cat process)"
    wait "$(cat process)" || cat log
    expect 0 "$stria" verify array.ini
}

# taken_away COMMAND...: while recording on e and others; the drive is lost, the rest goes on.
taken_away() {
    bind e vfio-pci
    vfio_array adaptive 'a b e' 'commit_interval = 100ms' 'write_deadline = 3s'
    expect 0 "$stria" init array.ini --erase STRIA-a --erase STRIA-b --erase STRIA-e
    begun lossy
    "$@"
    sleep 3
    kill -INT "$(cat process)" || cat log
    status=0
    wait "$(cat process)" || status=$?
    cat log
    [ $status -eq 1 ]
    json report.json '[x["name"] for x in d["drives"] if x["lost"]]' "['e']"
    status=0
    "$stria" verify array.ini >out 2>err || status=$?
    [ $status -le 1 ]
}

it "refuses a drive of the kernel's with the commands that hand it over, which do" refused_then_handed_over
it "records, verifies and exports over controllers of different formats" round_trip
it "the kernel's driver reads what ours has written" seen_by_the_kernel
it "refuses what carries something, and erases it by serial number" precious_is_refused
it "opens drives again at once whose recorder was killed" killed
it "says that another process has the drive" in_use
it "goes on without a drive that is unplugged while it records" taken_away unplug e
finish
