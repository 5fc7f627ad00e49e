"""QEMU's machine protocol, as far as the tests need it."""

import json
import socket
import time


class Qmp:
    def __init__(self, path, seconds=20):
        self.socket = connect(path, seconds)
        self.file = self.socket.makefile("rw")
        self.events = []
        self.receive()
        self.command({"execute": "qmp_capabilities"})

    def receive(self):
        line = self.file.readline()
        if not line:
            raise ConnectionError("QEMU has closed its control socket")
        return json.loads(line)

    def command(self, command):
        """Returns the answer as QEMU gave it: {"return": …} or {"error": …}."""
        self.file.write(json.dumps(command) + "\n")
        self.file.flush()
        while True:
            answer = self.receive()
            if "event" not in answer:
                return answer
            self.events.append(answer)

    def wait_for(self, event, seconds, **data):
        """Waits for an event with that data; True when it came."""
        until = time.monotonic() + seconds
        while True:
            for seen in self.events:
                if seen["event"] == event and data.items() <= seen.get("data", {}).items():
                    self.events.remove(seen)
                    return True
            left = until - time.monotonic()
            if left <= 0:
                return False
            self.socket.settimeout(left)
            try:
                answer = self.receive()
            except TimeoutError:
                return False
            finally:
                self.socket.settimeout(None)
            self.events.append(answer)


def connect(path, seconds):
    """A connection to a UNIX socket that QEMU is about to make."""
    until = time.monotonic() + seconds
    while True:
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            link.connect(str(path))
            return link
        except OSError:
            link.close()
            if time.monotonic() > until:
                raise
            time.sleep(0.05)
