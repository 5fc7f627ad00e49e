"""power_cut.py FOLDER STRIA: cuts the power of the drives that power_cut.sh and the like logged, at many moments.

At a moment, each drive has what it had flushed before, and of the writes since then any subset, some of them torn. The
array is opened by STRIA in every such state; everything that the recorder had promised by that moment must be there and
right. Prints TAP.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys

import write_log

PROMISES_MIN = 5
MARK_MAGIC = 0x6B72616D61697274
NAMES = ["first", "second"]
CUTS = 3000 if os.environ.get("STRIA_TEST_LONG") else 100
TEAR_BYTES = 512


class Drive:
    def __init__(self, folder, name, size):
        self.path = folder / f"cut-{name}.img"
        self.durable = bytearray(size)  # what no power cut can take
        self.pending = []  # (offset, data) written since the last flush
        self.path.write_bytes(self.durable)
        self.file = open(self.path, "r+b", buffering=0)

    def put(self, offset, data):
        self.file.seek(offset)
        self.file.write(data)

    def flush(self):
        for offset, data in self.pending:
            self.durable[offset:offset + len(data)] = data
            self.put(offset, data)
        self.pending = []

    def cut(self, chance):
        """Some of the pending writes arrive, a few of them in part. Returns how many did not arrive whole."""
        lost = 0
        for offset, data in self.pending:
            kept = bytearray(self.durable_or_newer(offset, len(data)))
            for at in range(0, len(data), TEAR_BYTES) if chance.random() < 0.1 else [None]:
                piece = slice(None) if at is None else slice(at, at + TEAR_BYTES)
                if chance.random() < self.keep:
                    kept[piece] = data[piece]
            lost += kept != data
            self.put(offset, kept)
        return lost

    def durable_or_newer(self, offset, length):
        self.file.seek(offset)
        return self.file.read(length)

    def restore(self):
        for offset, data in self.pending:
            self.put(offset, self.durable[offset:offset + len(data)])


class Promises:
    """What the recorder had said: by name, the durable bytes, and whether the recording had ended."""

    def __init__(self):
        self.durable, self.ended = {}, set()

    def take(self, block):
        number, durable, ended, magic = struct.unpack("<QQQQ", block[:32])
        if magic != MARK_MAGIC:
            return
        self.durable[NAMES[number]] = durable
        if ended:
            self.ended.add(NAMES[number])


def run(stria, *arguments):
    return subprocess.run([stria, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)


def check(stria, ini, promises, data):
    """An empty text, or what of the promises is not kept."""
    listed = run(stria, "ls", ini, "--json")
    if listed.returncode != 0:
        return f"ls ends with {listed.returncode}: {listed.stderr.decode()}" if promises.durable else ""
    recordings = {recording["name"]: recording for recording in json.loads(listed.stdout)["recordings"]}
    for name, durable in promises.durable.items():
        if name not in recordings:
            return f"{name} is not there"
        exported = run(stria, "export", ini, name, "-o", "-")
        if exported.returncode != 0:
            return f"export of {name} ends with {exported.returncode}: {exported.stderr.decode()}"
        if len(exported.stdout) < durable:
            return f"{name} has {len(exported.stdout)} bytes, {durable} were promised"
        if exported.stdout != data[:len(exported.stdout)]:
            return f"{name} is not what was recorded"
        if name in promises.ended and not (recordings[name]["complete"] and len(exported.stdout) == len(data)):
            return f"{name} had ended and is not complete"
    return ""


class LoggedByQemu:
    """A log for each drive."""

    def __init__(self, folder):
        self.folder = folder
        self.layout = json.loads((folder / "logs.json").read_text())
        self.names = [part["drive"] for part in self.layout]
        self.logs = open(folder / "logs.img", "rb")

    def image(self, name):
        return (self.folder / f"{name}.img").read_bytes()

    def events(self):
        """Pairs of a drive's name and an entry of the log, in the order in which they were."""
        slices = [(part["offset"], part["bytes"]) for part in self.layout]
        with open(self.folder / "order.img", "rb") as order:
            return [(self.names[index], entry) for index, entry in write_log.ordered(order, self.logs, slices)]

    def flushed_with(self, name):
        return [name]


class LoggedByKernel:
    """One log, by dm-log-writes, of one device of which the drives are slices: it has one cache, so that the flush of
    one flushes all. slices.json has them as [[NAME, OFFSET, BYTES], …]."""

    def __init__(self, folder):
        self.slices = json.loads((folder / "share/slices.json").read_text())
        self.names = [name for name, _, _ in self.slices]
        self.whole = folder / "whole.img"
        self.logs = open(folder / "log.img", "rb")

    def image(self, name):
        offset, size = next((offset, size) for other, offset, size in self.slices if other == name)
        with open(self.whole, "rb") as whole:
            whole.seek(offset)
            return whole.read(size)

    def events(self):
        found = []
        for entry in write_log.entries(self.logs):
            for name, offset, size in self.slices:
                if offset <= entry.offset < offset + size:
                    entry.offset -= offset
                    found.append((name, entry))
                    break
        return found

    def flushed_with(self, name):
        del name
        return self.names


class Experiment:
    def __init__(self, folder, stria):
        self.folder, self.stria = folder, stria
        self.log = (LoggedByKernel if (folder / "share/slices.json").exists() else LoggedByQemu)(folder)
        self.data = (folder / "share/input").read_bytes()
        self.drives = {name: Drive(folder, name, len(self.log.image(name))) for name in self.log.names}
        self.members = [name for name in self.drives if name != "m"]
        self.ini = folder / "cut.ini"
        self.ini.write_text("[array]\nname = test\nbuffer = 16MiB\n" + "".join(
            f"[drive.{name}]\npath = {self.drives[name].path}\n" for name in self.members))
        self.seed = int(os.environ.get("STRIA_SEED") or random.randrange(1 << 32))
        self.chance = random.Random(self.seed)
        self.promises = Promises()
        self.cuts, self.lossy, self.problem, self.promised = 0, 0, "", set()

    def cut(self, number):
        lost = 0
        for name in self.members:
            # Drives that keep nothing, everything, or some of what was not flushed.
            self.drives[name].keep = self.chance.choice([0, 1, 0.5, 0.1, 0.9])
            lost += self.drives[name].cut(self.chance)
        self.cuts += 1
        self.lossy += lost > 0
        self.promised.add(tuple(sorted(self.promises.durable.items())))
        problem = check(self.stria, self.ini, self.promises, self.data)
        if problem:
            self.problem = f"cut {self.cuts} after entry {number}, seed {self.seed}: {problem}"
        for name in self.members:
            self.drives[name].restore()

    def flush(self, name):
        for other in self.log.flushed_with(name):
            self.drives[other].flush()

    def take(self, name, entry):
        drive = self.drives[name]
        if entry.flags & write_log.FLUSH:
            self.flush(name)
        if entry.length == 0 or entry.flags & write_log.MARK:
            return
        if entry.flags & write_log.DISCARD:
            data = bytes(entry.length)
        else:
            self.log.logs.seek(entry.data_offset)
            data = self.log.logs.read(entry.length)
        drive.pending.append((entry.offset, data))
        if name == "m":
            self.promises.take(data)
        elif entry.flags & write_log.FUA:
            drive.flush()

    def run(self):
        events = self.log.events()
        # Not while the array is made: nothing is promised then.
        first = next(at for at, (name, _) in enumerate(events) if name == "m")
        moments = set(self.chance.sample(range(first + 1, len(events)), min(CUTS, len(events) - first - 1)))
        for number, (name, entry) in enumerate(events):
            self.take(name, entry)
            if number in moments:
                self.cut(number)
            if self.problem:
                break
        self.whole_now()
        return len(events)

    def whole_now(self):
        """All that was logged, applied, must be what the drives have: else the logs were not understood."""
        self.unlike = []
        for name in self.members if not self.problem else []:
            self.drives[name].flush()
            if bytes(self.drives[name].durable) != self.log.image(name):
                self.unlike.append(name)


def main():
    experiment = Experiment(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve())
    count = experiment.run()
    print(f"# {count} writes and flushes, {experiment.cuts} cuts, {experiment.lossy} of them with loss, "
          f"{len(experiment.promised)} different promises, seed {experiment.seed}")
    good = not experiment.unlike
    print(f"{'' if good else 'not '}ok 1 - the log of writes tells all that the drives have")
    good = not experiment.problem
    print(f"{'' if good else 'not '}ok 2 - what was promised is there after a power cut, whatever was not flushed")
    if not good:
        print(f"# {experiment.problem}")
    # How many commits a recording has depends on how fast the guest is.
    good = experiment.lossy * 3 > experiment.cuts and len(experiment.promised) >= PROMISES_MIN
    print(f"{'' if good else 'not '}ok 3 - cuts fall where something is promised and something is lost")
    print("1..3")
    for drive in experiment.drives.values():
        drive.file.close()
        if not experiment.problem:
            drive.path.unlink()


main()
