#!/usr/bin/env python3
"""read_image.py [--verify] [--export NAME] IMAGE...

Reads a Stria array from images of its drives (or the drives themselves), in any order, some of them absent.
Written from docs/format.md alone and sharing no code with Stria, to show that the page is enough and that
Stria keeps to it. Prints what the array holds, one fact a line; --verify checks every payload against its
hash as well; --export writes one recording to standard output, zeros for what is not stored.

Exit status: 0, 1 when something is damaged or missing, 2 when the images cannot be read as an array.
"""

import argparse
import os
import struct
import sys

from xxh3 import xxh3_64 as H

PAGE = 4096
CAUSES = {0: "none", 1: "buffer", 2: "source", 3: "drive", 4: "full"}
POLICIES = {1: "raid0", 2: "adaptive"}
HEAD, BEGUN, ENDED, REMOVED, LOST, REACHED = 1, 2, 3, 4, 5, 6


class Refused(Exception):
    pass


def text(field):
    return field.split(b"\0")[0].decode("utf-8", "backslashreplace")


class Drive:
    def __init__(self, path):
        self.path = path
        self.file = open(path, "rb")
        self.size = self.file.seek(0, os.SEEK_END)
        offset_b = (self.size - 65536 - PAGE) // 65536 * 65536
        copies = [s for s in map(self.superblock, (65536, offset_b)) if s]
        if not copies:
            raise Refused(f"{path}: no valid superblock")
        first, last = copies[0], copies[-1]
        key = "generation" if first["array_uuid"] == last["array_uuid"] else "created_unix_ns"
        self.super = last if last[key] > first[key] else first
        self.__dict__.update(self.super)

    def read(self, offset, size):
        self.file.seek(offset)
        return self.file.read(size)

    def superblock(self, offset):
        page = self.read(offset, PAGE)
        if len(page) < PAGE or page[:8] != b"STRIASB1" or H(page[:4088]) != struct.unpack_from("<Q", page, 4088)[0]:
            return None
        version, compat, ro_compat, incompat = struct.unpack_from("<I4xQQQ", page, 8)
        if version > 1 or incompat:
            raise Refused(f"{self.path}: version {version}, incompatible features {incompat:#x}")
        names = ("drive_index drive_count chunk_bytes block_bytes drive_bytes super_offset_a super_offset_b "
                 "checkpoint_offset catalogue_offset catalogue_bytes ledger_offset ledger_bytes data_offset "
                 "extent_count ledger_generation policy generation created_unix_ns").split()
        found = dict(zip(names, struct.unpack_from("<IIIIQQQQQQQQQQIIQQ", page, 72)))
        found.update(array_uuid=page[40:56], array_name=text(page[192:256]), drive_name=text(page[256:320]))
        regions = [("super_offset_a", PAGE), ("checkpoint_offset", 2 * PAGE),
                   ("catalogue_offset", found["catalogue_bytes"]), ("ledger_offset", found["ledger_bytes"]),
                   ("data_offset", found["extent_count"] * found["chunk_bytes"]), ("super_offset_b", PAGE)]
        end = 65536
        for name, size in regions:
            if found[name] < end or found[name] % PAGE:
                return None
            end = found[name] + size
        return found if end + 65536 <= found["drive_bytes"] else None

    def place(self, number):
        return H(self.array_uuid + struct.pack("<IQ", self.drive_index, number))

    def ledger(self):
        """Yields (position, entry) for valid entries; counts the damaged."""
        self.damaged = 0
        image = self.read(self.ledger_offset, self.ledger_bytes)
        for position in range(self.extent_count):
            raw = image[position * 64 : position * 64 + 64]
            if not any(raw):
                continue
            if raw[:4] != b"SLE1" or H(raw[:56], self.place(position)) != struct.unpack_from("<Q", raw, 56)[0]:
                self.damaged += 1
                continue
            names = "stream gap_cause gap_drive recording sequence stream_offset length generation captured digest"
            entry = dict(zip(names.split(), struct.unpack_from("<HBBQQQIIQQ", raw, 4)))
            if entry["generation"] == self.ledger_generation:
                yield position, entry

    def checkpoint(self):
        best = None
        for page in range(2):
            raw = self.read(self.checkpoint_offset + page * PAGE, 128)
            if raw[:8] != b"STRIACP1" or H(raw[:120], self.place((1 << 63) + page)) != struct.unpack_from("<Q", raw, 120)[0]:
                continue
            names = "stream generation serial recording watermark watermark_sequence length stored dropped wall_ns"
            found = dict(zip(names.split(), struct.unpack_from("<HxxIQQQQQQQQ", raw, 8)))
            if found["generation"] == self.ledger_generation and (not best or found["serial"] > best["serial"]):
                best = found
        return best

    def catalogue(self):
        """The newest log of this drive: (epoch, {ordinal: entry})."""
        best = None
        half_bytes = self.catalogue_bytes // 2
        for half in range(2):
            image = self.read(self.catalogue_offset + half * half_bytes, half_bytes)
            epoch, _, version, entries_max = struct.unpack_from("<QQII", image, 32)
            seed = H(self.array_uuid + struct.pack("<Q", epoch))
            head = log_entry(image, 0, seed)
            if not head or head["kind"] != HEAD or epoch % 2 != half or (best and best[0] > epoch):
                continue
            if version > 1:
                raise Refused(f"{self.path}: catalogue of version {version}")
            found = ((i, log_entry(image, i, seed)) for i in range(1, min(entries_max, half_bytes // 128)))
            best = epoch, {i: e for i, e in found if e}
        return best


def log_entry(image, ordinal, seed):
    raw = image[ordinal * 128 : ordinal * 128 + 128]
    if raw[:4] != b"SCA1" or struct.unpack_from("<Q", raw, 24)[0] != ordinal:
        return None
    if H(raw[:120], seed) != struct.unpack_from("<Q", raw, 120)[0]:
        return None
    kind, recording, wall_ns = struct.unpack_from("<IQQ", raw, 4)
    entry = {"kind": kind, "recording": recording, "wall_ns": wall_ns, "body": raw[32:120]}
    if kind == BEGUN:
        entry["name"] = text(raw[32:96])
        entry["policy"], entry["chunk_bytes"], entry["base_row"] = struct.unpack_from("<IIQ", raw, 96)
    elif kind == ENDED:
        names = "length stored dropped sequence_count duration_ns flags gap_cause gap_drive"
        entry.update(zip(names.split(), struct.unpack_from("<QQQQQIBB", raw, 32)))
    elif kind == LOST:
        entry["cause"], entry["drive"], base = struct.unpack_from("<IIQ", raw, 32)
        entry["sequences"] = [base + i for i in range(512) if raw[48 + i // 8] >> i % 8 & 1]
    elif kind == REACHED:
        entry["watermark"], entry["watermark_sequence"] = struct.unpack_from("<QQ", raw, 32)
    return entry


def merged_catalogue(drives):
    logs = sorted((log for log in (d.catalogue() for d in drives) if log), key=lambda log: -log[0])
    if not logs:
        raise Refused("no drive has a readable catalogue")
    result = []
    for _, entries in logs:
        result += [entries[i] for i in sorted(entries) if entries[i] not in result]
    return result


class Recording:
    def __init__(self, begun):
        self.id = begun["recording"]
        self.begun = begun
        self.ended = None
        self.reached = []  # what checkpoints said once
        self.lost = {}  # sequence: (cause, drive)
        self.extents = {}  # sequence: [(drive, position, entry)]

    def settle(self, checkpoints):
        """Sets length and sequence_count, and drops extents that are no part of the recording."""
        chunk = self.begun["chunk_bytes"]
        if self.ended:
            self.length, self.sequence_count = self.ended["length"], self.ended["sequence_count"]
        else:
            mine = [c for c in checkpoints if c["recording"] == self.id] + self.reached
            best = max(mine, key=lambda c: c["watermark"], default={"watermark": 0, "watermark_sequence": 0})
            self.length, self.sequence_count = best["watermark"], best["watermark_sequence"]
            while self.sequence_count in self.extents or self.sequence_count in self.lost:
                for _, _, entry in self.extents.get(self.sequence_count, []):
                    self.length = max(self.length, entry["stream_offset"] + entry["length"])
                self.sequence_count += 1
        self.chunk_count = -(-self.length // chunk)
        self.sequence_count = min(self.sequence_count, self.chunk_count)
        self.extents = {s: e for s, e in sorted(self.extents.items()) if s < self.sequence_count}

    def runs(self):
        """Yields (first chunk, count, state, details) over the whole stream."""
        chunk_bytes = self.begun["chunk_bytes"]
        chunk = sequence = 0
        for next_sequence, places in self.extents.items():
            entry = places[0][2]
            target = entry["stream_offset"] // chunk_bytes
            yield from self.hole(chunk, target, sequence, next_sequence, (entry["gap_cause"], entry["gap_drive"]))
            yield target, 1, "stored", places
            chunk, sequence = target + 1, next_sequence + 1
        end = (self.ended["gap_cause"], self.ended["gap_drive"]) if self.ended else (0, 255)
        yield from self.hole(chunk, self.chunk_count, sequence, self.sequence_count, end)

    def hole(self, chunk, chunk_end, sequence, sequence_end, gap):
        sealed = [self.lost.get(s) for s in range(sequence, sequence_end)]
        if chunk == chunk_end:
            return
        if not sealed:
            yield chunk, chunk_end - chunk, "gap", gap
        elif len(sealed) < chunk_end - chunk:
            yield chunk, chunk_end - chunk, "lost" if all(sealed) else "missing", sealed[0] if all(sealed) else None
        else:
            first = 0
            for i in range(1, len(sealed) + 1):
                if i == len(sealed) or sealed[i] != sealed[first]:
                    yield chunk + first, i - first, "lost" if sealed[first] else "missing", sealed[first]
                    first = i


def open_array(paths):
    drives = sorted((Drive(path) for path in paths), key=lambda d: d.drive_index)
    if len({d.array_uuid for d in drives}) != 1 or len({d.drive_index for d in drives}) != len(drives):
        raise Refused("the images are not drives of one array")
    return drives


def recordings_of(drives):
    found = {}
    for entry in merged_catalogue(drives):
        recording = found.get(entry["recording"])
        if entry["kind"] == BEGUN and not recording:
            found[entry["recording"]] = Recording(entry)
        elif recording and entry["kind"] == ENDED:
            recording.ended = entry
        elif recording and entry["kind"] == LOST:
            for sequence in entry["sequences"]:
                recording.lost.setdefault(sequence, (entry["cause"], entry["drive"]))
        elif recording and entry["kind"] == REACHED:
            recording.reached.append(entry)
        elif entry["kind"] == REMOVED:
            found.pop(entry["recording"], None)
    for drive in drives:
        for position, entry in drive.ledger():
            recording = found.get(entry["recording"])
            if recording and recording.begun["chunk_bytes"] == drive.chunk_bytes and entry["stream"] == 0:
                places = recording.extents.setdefault(entry["sequence"], [])
                places.append((drive, position, entry))
    checkpoints = [c for c in (d.checkpoint() for d in drives) if c]
    for recording in found.values():
        recording.settle(checkpoints)
    return [found[i] for i in sorted(found)]


def payload(place):
    drive, position, entry = place
    data = drive.read(drive.data_offset + position * drive.chunk_bytes, entry["length"])
    seed = H(struct.pack("<QQ", entry["recording"], entry["sequence"]))
    return data if H(data, seed) == entry["digest"] else None


def blame(cause_and_drive):
    cause, drive = cause_and_drive
    return f"{CAUSES.get(cause, 'unknown')} {'-' if drive == 255 else drive}"


def show(recording, verify):
    """Prints the recording; true when it is whole."""
    begun = recording.begun
    whole = recording.ended is not None
    print(f"recording {recording.id} {POLICIES.get(begun['policy'], 'unknown')} "
          f"{'complete' if recording.ended else 'recovered'} {recording.length} bytes "
          f"{recording.sequence_count} chunks sealed: {begun['name']}")
    for chunk, count, state, details in recording.runs():
        if state == "stored":
            places = " ".join(f"{drive.drive_index}:{position}" for drive, position, _ in details)
            bad = verify and not any(payload(place) is not None for place in details)
            print(f"  {chunk} stored {details[0][2]['sequence']} at {places}{' CORRUPT' if bad else ''}")
            whole = whole and not bad
        else:
            print(f"  {chunk} {state} {count}{' ' + blame(details) if details else ''}")
            whole = False
    return whole


def export(recording, out):
    chunk_bytes = recording.begun["chunk_bytes"]
    whole = True
    for chunk, count, state, details in recording.runs():
        size = min(recording.length, (chunk + count) * chunk_bytes) - chunk * chunk_bytes
        data = next((d for d in map(payload, details) if d is not None), None) if state == "stored" else None
        whole = whole and data is not None
        out.write(data if data is not None else bytes(size))
    return whole


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--verify", action="store_true")
    parser.add_argument("--export", metavar="NAME")
    parser.add_argument("images", nargs="+", metavar="IMAGE")
    options = parser.parse_args()
    try:
        drives = open_array(options.images)
        recordings = recordings_of(drives)
        if options.export is not None:
            named = [r for r in recordings if r.begun["name"] == options.export]
            if not named:
                raise Refused(f"no recording {options.export}")
            return 0 if export(named[-1], sys.stdout.buffer) else 1
    except (Refused, OSError) as problem:
        print(f"read_image.py: {problem}", file=sys.stderr)
        return 2
    first = drives[0]
    print(f"array {first.array_uuid.hex()} {first.array_name}: {len(drives)} of {first.drive_count} drives, "
          f"chunks of {first.chunk_bytes}, {sum(d.damaged for d in drives)} ledger entries damaged")
    whole = [show(recording, options.verify) for recording in recordings]
    return 0 if all(whole) and not any(d.damaged for d in drives) else 1


if __name__ == "__main__":
    sys.exit(main())
