"""What a scenario's guest is made of, and QEMU's command line for it.

A scenario is a shell script run inside the guest. Its comments that begin with "#:" describe the machine:

    #: drive NAME [size=256M] [PROPERTY=VALUE]...   an NVMe controller with one namespace, backed by an image
    #: modules NAME...    kernel modules to load before the scenario starts ("nvme" is what most want)
    #: kernel ARGUMENT... added to the kernel's command line; module parameters as MODULE.NAME=VALUE
    #: memory MEGABYTES   1024 unless told
    #: cpus NUMBER        1 unless told: without KVM, more of them cost more than they give
    #: limit SECONDS      the guest is ended after so long; 180 unless told
    #: iommu              an Intel IOMMU, one group per controller, for VFIO
    #: qemu ARGUMENT...   added to QEMU's command line
    #: allow PATTERN      a line of the kernel's log that looks like a fault and is none here
    #: after SCRIPT.py    run on the host when the guest is gone; see run.py

Every controller sits behind a PCIe root port of its own, so that it can be unplugged. Of a drive's properties
these are ours, all others are QEMU's for "nvme" (logical_block_size, mdts, max_ioqpairs, serial, …):

    size=SIZE            of the image; grows only as it is written
    throttle=BYTES       bytes a second of writing; 0: none yet, but lib.sh's throttle can set it later
    error=SECTOR         writes of this sector of 512 bytes fail, always
    log=yes              every write and flush is logged beside the image (blklogwrites), in the order of all such drives
    plug=no              made, but not plugged in: lib.sh's plug does it
"""

import json
import os
import pathlib
import re
import subprocess

OURS = {"size", "throttle", "error", "log", "plug"}
ACCELERATOR = "kvm" if os.access("/dev/kvm", os.W_OK) else "tcg,thread=multi"
# On a busy host the kernel measures the processor's own clock wrongly, by as much as a factor of seven, finds that its timers
# do not work, and takes waiting for the host for a lockup.
CLOCKS = ["tsc=unstable", "clocksource=hpet", "no_timer_check", "nowatchdog"]
UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}


def bytes_of(text):
    number, unit = re.fullmatch(r"(\d+)([KMG]?)", text).groups()
    return int(number) * UNITS[unit]


class Drive:
    def __init__(self, words):
        self.name = words[0]
        values = dict(word.split("=", 1) for word in words[1:])
        self.bytes = bytes_of(values.get("size", "256M"))
        self.throttle = values.get("throttle")
        self.error = values.get("error")
        self.log = values.get("log") == "yes"
        self.plugged = values.get("plug") != "no"
        self.properties = {key: value for key, value in values.items() if key not in OURS}
        self.properties.setdefault("serial", f"STRIA-{self.name}")
        if "logical_block_size" in self.properties:
            self.properties.setdefault("physical_block_size", self.properties["logical_block_size"])


class Scenario:
    def __init__(self, path):
        self.path = pathlib.Path(path).resolve()
        self.name = self.path.stem
        self.drives, self.modules, self.arguments, self.qemu, self.allowed = [], [], [], [], []
        self.memory, self.cpus, self.limit, self.iommu, self.after = 1024, 1, 180, False, None
        for line in re.findall(r"^#: (.*)$", self.path.read_text(), flags=re.M):
            self.take(*line.split())

    def take(self, key, *words):
        if key == "drive":
            self.drives.append(Drive(words))
        elif key == "modules":
            self.modules += words
        elif key == "kernel":
            self.arguments += words
        elif key == "qemu":
            self.qemu += words
        elif key == "memory":
            self.memory = int(words[0])
        elif key == "cpus":
            self.cpus = int(words[0])
        elif key == "limit":
            self.limit = int(words[0])
        elif key == "iommu":
            self.iommu = True
        elif key == "allow":
            self.allowed.append(" ".join(words))
        elif key == "after":
            self.after = self.path.parent / words[0]
        else:
            raise SystemExit(f"{self.path}: '#: {key}' means nothing; tests/vm/machine.py lists what does")


def node(kind, name, **options):
    return ["-blockdev", json.dumps({"driver": kind, "node-name": name, **options})]


class Machine:
    """A guest for a scenario, its files in a folder."""

    def __init__(self, scenario, kernel, folder):
        self.scenario, self.kernel, self.folder = scenario, kernel, pathlib.Path(folder)
        self.share = self.folder / "share"
        self.share.mkdir(parents=True)
        self.daemon = []  # a command to run beside QEMU, if there is any

    def image(self, name):
        return self.folder / f"{name}.img"

    def make_image(self, name, size):
        with open(self.image(name), "wb") as file:
            file.truncate(size)
        return ["-blockdev", json.dumps({"driver": "raw", "node-name": name, "discard": "unmap", "file": {
            "driver": "file", "filename": str(self.image(name)), "discard": "unmap", "locking": "off"}})]

    def logs(self):
        """One log a drive, all of them slices of one image whose own log tells the order between drives. They are served
        by a process of their own, since the nodes of one QEMU do not let each other write to one image."""
        logged = [drive for drive in self.scenario.drives if drive.log]
        if not logged:
            return []
        sizes = [drive.bytes * 4 + (64 << 20) for drive in logged]
        daemon = self.make_image("logs", sum(sizes)) + self.make_image("order", 2 * sum(sizes))
        daemon += node("blklogwrites", "logs-ordered", file="logs", log="order", **{"log-super-update-interval": 1})
        daemon += ["-nbd-server", f"addr.type=unix,addr.path={self.folder}/nbd"]
        layout, arguments = [], []
        for drive, size in zip(logged, sizes):
            name, offset = f"{drive.name}-log", sum(other["bytes"] for other in layout)
            layout.append({"drive": drive.name, "offset": offset, "bytes": size})
            daemon += node("raw", name, file="logs-ordered", offset=offset, size=size)
            daemon += ["-export", f"type=nbd,id={name},node-name={name},name={name},writable=on"]
            arguments += node("nbd", name, server={"type": "unix", "path": f"{self.folder}/nbd"}, export=name)
        (self.folder / "logs.json").write_text(json.dumps(layout))
        self.daemon = ["qemu-storage-daemon"] + [f"-{word}" if re.match("-[a-z]", word) else word for word in daemon]
        return arguments

    def drive_arguments(self, drive, number):
        arguments = self.make_image(drive.name, drive.bytes)
        top = drive.name
        if drive.error is not None:
            rule = {"event": "none", "iotype": "write", "errno": 5, "sector": int(drive.error), "once": False}
            arguments += node("blkdebug", f"{drive.name}-error", image=top, **{"inject-error": [rule]})
            top = f"{drive.name}-error"
        if drive.log:
            arguments += node("blklogwrites", f"{drive.name}-logged", file=top, log=f"{drive.name}-log",
                              **{"log-sector-size": 512})
            top = f"{drive.name}-logged"
        if drive.throttle is not None:
            group = f"throttle-{drive.name}"
            arguments += ["-object", json.dumps({"qom-type": "throttle-group", "id": group,
                                                 "limits": {"bps-write": int(drive.throttle)}})]
            arguments += node("throttle", f"{drive.name}-throttled", file=top, **{"throttle-group": group})
            top = f"{drive.name}-throttled"
        port = f"port-{drive.name}"
        arguments += ["-device", f"pcie-root-port,id={port},chassis={number + 1},slot={number + 1}"]
        device = {"driver": "nvme", "id": drive.name, "drive": top, "bus": port}
        text = ",".join(f"{key}={value}" for key, value in {**device, **drive.properties}.items())
        self.devices[drive.name] = {**device, **drive.properties}
        return arguments + (["-device", text] if drive.plugged else [])

    def environment(self, stria):
        values = {"scenario": str(self.scenario.path), "STRIA": str(stria), "STRIA_TAP": "/run/share/tap", "STRIA_TRACE": "1",
                  "source": str(pathlib.Path(__file__).resolve().parents[2]),
                  "VM_KERNEL_TREE": str(self.kernel.tree), "VM_MODULES": " ".join(self.scenario.modules),
                  "TMPDIR": "/tmp", "LANG": "C.UTF-8", "HOME": "/tmp"}
        for name in ("STRIA_TEST_LONG", "VM_FILTER"):
            if os.environ.get(name):
                values[name] = os.environ[name]
        (self.share / "environment").write_text("".join(f"export {key}='{value}'\n" for key, value in values.items()))

    def command(self):
        self.devices = {}
        scenario = self.scenario
        words = ["console=ttyS0", "panic=-1", "mitigations=off"] + CLOCKS + scenario.arguments
        machine = ["-machine", "q35"]
        if scenario.iommu:
            machine = ["-machine", "q35,kernel-irqchip=split",
                       "-device", "intel-iommu,intremap=on,caching-mode=on"]
            words += ["intel_iommu=on", "iommu=nopt"]
        command = ["qemu-system-x86_64", *machine, "-accel", ACCELERATOR]
        command += ["-cpu", "max", "-smp", str(scenario.cpus), "-m", str(scenario.memory), "-nodefaults", "-no-reboot"]
        command += ["-display", "none", "-kernel", str(self.kernel.image), "-initrd", str(self.kernel.initramfs)]
        command += ["-append", " ".join(words), "-serial", f"file:{self.folder}/console"]
        command += ["-qmp", f"unix:{self.folder}/qmp,server=on,wait=off"]
        command += ["-virtfs", f"local,path={self.share},mount_tag=share,security_model=none"]
        command += ["-virtfs", "local,path=/,mount_tag=host,security_model=none,readonly=on,multidevs=remap"]
        command += ["-device", "virtio-serial-pci", "-chardev",
                    f"socket,id=calls,path={self.folder}/calls,server=on,wait=off",
                    "-device", "virtserialport,chardev=calls,name=calls"]
        command += self.logs()
        for number, drive in enumerate(scenario.drives):
            command += self.drive_arguments(drive, number)
        return command + scenario.qemu


def qemu_version():
    text = subprocess.run(["qemu-system-x86_64", "--version"], check=True, text=True, stdout=subprocess.PIPE,
                          timeout=60).stdout
    return re.search(r"version (.*)", text).group(1)
