"""terminal.py COLUMNS REDRAWS COMMAND...: runs it with standard error on a terminal of its own, and ends it by SIGINT once that was
drawn anew so often (0: never). What went there is in the file raw; what is left to see, line by line, in the file screen."""

import fcntl
import os
import pty
import re
import signal
import struct
import subprocess
import sys
import termios

columns, redraws, command = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]


def shown(raw):
    """What a terminal makes of it. Sequences that are not known here, and lines that are too long for it, are failures."""
    lines, row, column = [""], 0, 0
    for piece in re.findall(r"\x1b\[\d*[A-Z]|\r|\n|[^\x1b\r\n]+|\x1b", raw):
        if piece == "\r":
            column = 0
        elif piece == "\n":
            row += 1
            lines += [""] * (row + 1 - len(lines))
        elif re.fullmatch(r"\x1b\[\d+A", piece):
            row -= int(piece[2:-1])
            assert row >= 0, "drawn above the first line"
        elif piece == "\x1b[J":
            del lines[row + 1:]
            lines[row] = lines[row][:column]
        elif piece == "\x1b[K":
            lines[row] = lines[row][:column]
        else:
            assert not piece.startswith("\x1b"), f"unknown: {piece!r}"
            line = lines[row].ljust(column)
            lines[row] = line[:column] + piece + line[column + len(piece):]
            column += len(piece)
            assert column <= columns, f"a line of {column} characters: {lines[row]}"
    return lines


ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
run = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=theirs)
os.close(theirs)
raw, ended = b"", redraws == 0
while True:
    try:
        more = os.read(ours, 65536)
    except OSError:  # how a terminal tells that nobody has it any more
        break
    if not more:
        break
    raw += more
    if not ended and raw.count(b"\x1b[J") >= redraws:
        ended = True
        run.send_signal(signal.SIGINT)
open("raw", "wb").write(raw)
open("screen", "w").write("\n".join(shown(raw.decode())))
sys.exit(run.wait())
