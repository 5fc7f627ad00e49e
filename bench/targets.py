"""What is measured on: scratch files in memory or on a disk, and loop devices of them; all gone at the end."""

import atexit
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time

_folders = []
_loops = []
_groups = []
_BLOCK = bytes(1 << 20)


def clean_up():
    for group in _groups:
        os.rmdir(group)
    _groups.clear()
    for loop in _loops:
        subprocess.run(["losetup", "-d", loop], check=False)
    _loops.clear()
    for folder in _folders:
        shutil.rmtree(folder, ignore_errors=True)
    _folders.clear()


atexit.register(clean_up)
for _number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(_number, lambda *_: sys.exit(130))


def folder(where, mib):
    """A scratch folder; where is MEMORY or DISK, mib what will be put into it."""
    parent = os.environ.get("STRIA_BENCH_" + where, {"MEMORY": "/dev/shm", "DISK": "/var/tmp"}[where])
    free = shutil.disk_usage(parent).free >> 20
    if free < mib:
        sys.exit(f"bench/run.sh: {parent} has {free} MiB free, {mib} are needed: name another folder in STRIA_BENCH_{where}")
    _folders.append(tempfile.mkdtemp(prefix="stria-bench.", dir=parent))
    return _folders[-1]


def files(where, count, mib):
    """Files whose every block has been written."""
    home = folder(where, count * mib)
    paths = [os.path.join(home, f"drive{index}") for index in range(count)]
    for path in paths:
        with open(path, "wb") as file:
            for _ in range(mib):
                file.write(_BLOCK)
            file.flush()
            os.fsync(file.fileno())
    return paths


def loops(count, mib, direct=False):
    """Loop devices with blocks of 4 KiB on files in memory; direct ones hand transfers to their file without a copy of theirs."""
    made = []
    for path in files("MEMORY", count, mib):
        loop = subprocess.run(["losetup", "--find", "--show", "--sector-size", "4096",
                               f"--direct-io={'on' if direct else 'off'}", path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        _loops.append(loop)
        made.append(loop)
    return made


def _copy_for_ever(parent):
    os.sched_setscheduler(0, os.SCHED_IDLE, os.sched_param(0))
    source = memoryview(bytearray(64 << 20))
    target = memoryview(bytearray(64 << 20))
    while os.getppid() == parent:
        target[:] = source


@contextlib.contextmanager
def full_processors():
    """No processor is idle and no cache stays warm: each copies memory whenever it has nothing else to do."""
    parent = os.getpid()
    copiers = []
    try:
        for _ in range(os.cpu_count()):
            copiers.append(os.fork())
            if copiers[-1] == 0:
                try:
                    _copy_for_ever(parent)
                finally:
                    os._exit(1)
        time.sleep(0.5)  # their memory is there by then
        yield
    finally:
        for copier in copiers:
            os.kill(copier, signal.SIGKILL)
            os.waitpid(copier, 0)


def held_to(device, bytes_per_s):
    """Words to put before a command, which is then let write to the device at this rate: by the kernel's control groups."""
    with open(f"/sys/block/{os.path.basename(device)}/dev") as file:
        number = file.read().strip()
    old = os.path.isdir("/sys/fs/cgroup/blkio")
    group = os.path.join("/sys/fs/cgroup/blkio" if old else "/sys/fs/cgroup", f"stria-bench-{os.getpid()}")
    try:
        if not old:
            with open("/sys/fs/cgroup/cgroup.subtree_control", "w") as file:
                file.write("+io")
        os.mkdir(group)
        _groups.append(group)
        with open(os.path.join(group, "blkio.throttle.write_bps_device" if old else "io.max"), "w") as file:
            file.write(f"{number} {bytes_per_s}" if old else f"{number} wbps={bytes_per_s}")
    except OSError as error:
        sys.exit(f"bench/run.sh: this machine holds no device to a rate: {error}")
    return ["sh", "-c", f'echo $$ >{group}/cgroup.procs; exec "$@"', "sh"]
