"""What is measured on: scratch files in memory or on a disk, and loop devices of them; all gone at the end."""

import atexit
import os
import shutil
import signal
import subprocess
import sys
import tempfile

_folders = []
_loops = []
_BLOCK = bytes(1 << 20)


def clean_up():
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


def loops(count, mib):
    """Loop devices with blocks of 4 KiB on files in memory."""
    made = []
    for path in files("MEMORY", count, mib):
        loop = subprocess.run(["losetup", "--find", "--show", "--sector-size", "4096", path], check=True, text=True,
                              stdout=subprocess.PIPE).stdout.strip()
        _loops.append(loop)
        made.append(loop)
    return made
