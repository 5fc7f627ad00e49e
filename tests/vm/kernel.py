"""The guest's kernel and first file system, made of Debian packages and kept under build/vm.

The kernel is what linux-image-amd64 depends on today, downloaded but not installed. The initramfs has busybox and
the modules that reach the host's files over 9p; all other modules are loaded from the unpacked package by modprobe.
"""

import fcntl
import gzip
import pathlib
import re
import shutil
import subprocess

FIRST_MODULES = ["virtio_pci", "virtio_console", "9pnet_virtio", "9p"]

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/sbin:/usr/bin:/usr/sbin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
while read -r module; do insmod "/modules/$module"; done </modules/order
options=trans=virtio,version=9p2000.L,msize=512000
mount -t 9p -o "ro,$options,cache=loose" host /host || poweroff -f
mkdir -p /dev/shm /dev/pts
mount -t tmpfs shm /dev/shm
mount -t devpts pts /dev/pts
for folder in proc sys dev; do mount --rbind "/$folder" "/host/$folder"; done
mkdir /share /source
mount -t 9p -o "$options,cache=none" share /share || poweroff -f
. /share/environment
# The source may lie below a folder that is memory here.
mount --bind "/host$source" /source
for folder in tmp run var/tmp mnt; do mount -t tmpfs "$folder" "/host/$folder"; done
mkdir /host/run/share /host/run/lock
mount --move /share /host/run/share
[ -d "/host$source" ] || { mkdir -p "/host$source" && mount --bind /source "/host$source"; }
ip link set lo up
echo >/host/run/share/begun
PATH=/usr/sbin:/usr/bin:/sbin:/bin chroot /host /bin/busybox sh "$scenario"
echo $? >/host/run/share/status
dmesg >/host/run/share/dmesg
sync
poweroff -f
"""


def run(*command, **options):
    return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE, timeout=300, **options).stdout


class Kernel:
    """image and initramfs are files, tree the unpacked package for modprobe -d, release what uname -r will say."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder).resolve()
        self.folder.mkdir(parents=True, exist_ok=True)
        self.package, self.version = newest_package()
        # Scenarios run side by side; the first makes what all of them use.
        with open(self.folder / "lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.make()

    def make(self):
        self.tree = self.folder / f"{self.package}_{self.version.replace(':', '_')}"
        if not (self.tree / "complete").exists():
            self.unpack()
        self.image = next((self.tree / "boot").glob("vmlinuz-*"))
        self.release = self.image.name[len("vmlinuz-"):]
        self.initramfs = self.tree / "initramfs.gz"
        ours = pathlib.Path(__file__).stat().st_mtime
        if not self.initramfs.exists() or self.initramfs.stat().st_mtime < ours:
            self.build_initramfs()

    def unpack(self):
        shutil.rmtree(self.tree, ignore_errors=True)
        download = self.folder / "download"
        shutil.rmtree(download, ignore_errors=True)
        download.mkdir(parents=True)
        fetch = ["apt-get", "-q", "-o", "APT::Sandbox::User=root", "-o", "Acquire::Retries=3", "download", self.package]
        if subprocess.run(fetch, cwd=download, stdout=subprocess.DEVNULL, timeout=300).returncode != 0:
            run("apt-get", "-q", "-o", "DPkg::Lock::Timeout=300", "update")
            run(*fetch, cwd=download)
        archive = next(download.glob("*.deb"))
        run("dpkg-deb", "-x", str(archive), str(self.tree))
        shutil.rmtree(download)
        # A merged /usr is what kmod expects of a root folder; a package lies in /lib or in /usr/lib.
        if not (self.tree / "lib").exists():
            (self.tree / "lib").symlink_to("usr/lib")
        release = next((self.tree / "lib/modules").iterdir()).name
        run("depmod", "-b", str(self.tree), release)
        (self.tree / "complete").touch()

    def modules_of(self, name):
        lines = run("modprobe", "-d", str(self.tree), "-S", self.release, "--show-depends", name).splitlines()
        return [pathlib.Path(line.split()[1]) for line in lines if line.startswith("insmod ")]

    def build_initramfs(self):
        root = self.folder / f"initramfs.{self.release}"
        shutil.rmtree(root, ignore_errors=True)
        for name in ["bin", "sbin", "dev", "proc", "sys", "host", "modules"]:
            (root / name).mkdir(parents=True)
        shutil.copy("/bin/busybox", root / "bin/busybox")
        order = []
        for name in FIRST_MODULES:
            for module in self.modules_of(name):
                if module.name not in order:
                    order.append(module.name)
                    shutil.copy(module, root / "modules" / module.name)
        (root / "modules/order").write_text("".join(name + "\n" for name in order))
        (root / "init").write_text(INIT)
        (root / "init").chmod(0o755)
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        archive = subprocess.run(["cpio", "-o", "-H", "newc", "--quiet", "-R", "0:0"], cwd=root, check=True,
                                 input=names.encode(), stdout=subprocess.PIPE, timeout=60).stdout
        self.initramfs.write_bytes(gzip.compress(archive, 1))
        shutil.rmtree(root)


def newest_package():
    """Name and version of the kernel package that Debian's linux-image-amd64 stands for."""
    depends = re.search(r"Depends: (linux-image-\S+)", run("apt-cache", "depends", "linux-image-amd64"))
    if not depends:
        raise SystemExit("apt-cache knows no linux-image-amd64: run apt-get update")
    name = depends.group(1)
    return name, re.search(r"Candidate: (\S+)", run("apt-cache", "policy", name)).group(1)
