"""Reads logs of writes in the format of dm-log-writes, which QEMU's blklogwrites writes too.

A log begins with a sector that says how many entries there are and how large a sector is. Each entry is a sector with
four words (first sector, sectors, flags, bytes of a mark's text), and after it the sectors that were written. In the kernel,
Documentation/admin-guide/device-mapper/log-writes.rst and drivers/md/dm-log-writes.c have it.
"""

import struct

MAGIC = 0x6A736677736872
FLUSH, FUA, DISCARD, MARK = 1, 2, 4, 8


class Entry:
    """offset and length in bytes on the drive that was logged; data_offset in the log."""

    def __init__(self, header, sector_bytes, at):
        sector, sectors, self.flags, self.text_bytes = struct.unpack("<QQQQ", header[:32])
        self.offset, self.length = sector * sector_bytes, sectors * sector_bytes
        self.data_offset = at + sector_bytes
        stored = 0 if self.flags & DISCARD else self.length
        if self.flags & MARK:
            stored = -(-self.text_bytes // sector_bytes) * sector_bytes
        self.end = self.data_offset + stored


def sector_bytes_of(log, base=0):
    log.seek(base)
    magic, version, count, sector_bytes = struct.unpack("<QQQI", log.read(28))
    if magic != MAGIC or version != 1:
        raise ValueError("no log of writes")
    return sector_bytes, count


def entries(log, base=0):
    """The entries of a log that begins at a byte of a file."""
    sector_bytes, count = sector_bytes_of(log, base)
    at = base + sector_bytes
    for _ in range(count):
        log.seek(at)
        entry = Entry(log.read(32), sector_bytes, at)
        yield entry
        at = entry.end


def ordered(order, logs, slices):
    """Entries of several logs that lie in slices of one file, in the order in which they were written: pairs of the
    slice's index and the entry. order is the log of writes to that file; slices are pairs of offset and bytes.

    Entries of one log may be written in another order than they lie in, where what they tell of was in flight at once."""
    written = {}
    for number, outer in enumerate(entries(order)):
        if outer.flags & (DISCARD | MARK) == 0 and outer.length > 0:
            written.setdefault(outer.offset, number)
    found = []
    for index, (offset, _) in enumerate(slices):
        sector_bytes, _ = sector_bytes_of(logs, offset)
        at = offset + sector_bytes
        while at in written:
            logs.seek(at)
            entry = Entry(logs.read(32), sector_bytes, at)
            found.append((written[at], index, entry))
            at = entry.end
    found.sort(key=lambda each: each[0])
    return [(index, entry) for _, index, entry in found]
