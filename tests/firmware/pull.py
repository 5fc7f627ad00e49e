"""pull.py SOCKET SLOT LOG TEXT: waits for QEMU to connect to the socket (-qtest unix:SOCKET) and for the text to appear in the
log, and takes the power from a slot of the machine virt, as a hand does that pulls a drive. QEMU's own device_del is of no
use: it asks the guest first. SLOT is the device number of a root port on bus 0."""

import pathlib
import socket
import sys
import time

ECAM, FIRST_CAPABILITY, EXPRESS, SLOT_CONTROL = 0x4010000000, 0x34, 0x10, 0x18
LAMP_AND_POWER_OFF = 0x700
WAIT_SECONDS = 60


class Machine:
    """Its memory, by the protocol of QEMU's own tests."""

    def __init__(self, connection):
        self.file = connection.makefile("rw")

    def call(self, text):
        self.file.write(text + "\n")
        self.file.flush()
        for line in self.file:
            words = line.split()
            if words and words[0] != "IRQ":
                return words
        raise SystemExit("QEMU has ended")

    def read(self, size, address):
        return int(self.call(f"read{size} {address:#x}")[1], 16)


def pull(machine, slot):
    port = ECAM + (slot << 15)
    at = machine.read("b", port + FIRST_CAPABILITY)
    while machine.read("b", port + at) != EXPRESS:
        at = machine.read("b", port + at + 1)
    control = port + at + SLOT_CONTROL
    machine.call(f"writew {control:#x} {machine.read('w', control) | LAMP_AND_POWER_OFF:#x}")


def main():
    path, slot, log, text = sys.argv[1:]
    listener = socket.socket(socket.AF_UNIX)
    listener.settimeout(WAIT_SECONDS)
    listener.bind(path)
    listener.listen(1)
    connection, _ = listener.accept()
    end = time.monotonic() + WAIT_SECONDS
    while text not in pathlib.Path(log).read_text(errors="replace"):
        if time.monotonic() > end:
            raise SystemExit(f"'{text}' does not appear in {log}")
        time.sleep(0.05)
    time.sleep(0.5)  # for some of it to be written
    pull(Machine(connection), int(slot))


main()
