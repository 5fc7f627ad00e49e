"""run.py SCENARIO.sh: boots a guest for the scenario, runs it inside, and tells how it went, as TAP.

A guest whose kernel panics or hangs before the scenario begins is booted once more, and that is told; what happens in a
scenario happens once.

STRIA names the command under test; TAP goes to standard output, and to the file STRIA_TAP if that is set. The
run's files stay in build/vm/SCENARIO: console, dmesg, the drives' images (while it failed), record.json with what ran on
what. Status 0: all passed; 1: not; 77: QEMU is not here.

The scenario calls the host over a virtio port, one line of JSON a call (lib.sh has functions for it): a QMP command,
answered as QEMU answers, or {"wait": EVENT, "seconds": N, "data": {…}}, answered {"return": true or false}, or
{"plug": DRIVE}.

A script named by "#: after" is then run on the host as: SCRIPT.py FOLDER STRIA. Each line it prints is TAP as well.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import threading

import machine
import qmp
from kernel import Kernel

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL_FAULTS = re.compile(r"\b(BUG|WARNING|Oops|Call Trace):|DMAR:.*[Ff]ault|Kernel panic|general protection|"
                           r"blocked for more than|page allocation failure")
BOOT_SECONDS = 120  # till the scenario begins; a few where the host has nothing else to do
PACKAGES = ["qemu-system-x86", "busybox-static", "kmod", "nvme-cli", "mdadm", "dmsetup", "libnvme1", "liburing2", "libc6"]


class Calls(threading.Thread):
    """Answers what the scenario asks of the host."""

    def __init__(self, guest):
        super().__init__(daemon=True)
        self.guest = guest

    def answer(self, control, line):
        call = json.loads(line)
        if "wait" in call:
            return {"return": control.wait_for(call["wait"], call.get("seconds", 10), **call.get("data", {}))}
        if "plug" in call:
            call = {"execute": "device_add", "arguments": self.guest.devices[call["plug"]]}
        return control.command(call)

    def run(self):
        try:
            control = qmp.Qmp(self.guest.folder / "qmp")
            port = qmp.connect(self.guest.folder / "calls", 20).makefile("rw")
            for line in port:
                try:
                    answer = self.answer(control, line)
                except (ValueError, KeyError) as problem:
                    answer = {"error": {"desc": f"run.py cannot make sense of {line.strip()}: {problem!r}"}}
                port.write(json.dumps(answer) + "\n")
                port.flush()
        except OSError:
            pass  # QEMU has ended


class Tap:
    """Counts anew: the guest's lines, then ours."""

    def __init__(self):
        self.lines, self.number, self.failed = [], 0, 0

    def result(self, passed, sentence, *details):
        self.number += 1
        self.failed += not passed
        self.lines.append(f"{'ok' if passed else 'not ok'} {self.number} - {sentence}")
        self.lines += [f"# {line}" for detail in details for line in str(detail).splitlines()]

    def take(self, text):
        """Results of another program; True if it ran all that it had planned."""
        seen, planned = 0, None
        for line in text.splitlines():
            result = re.match(r"(not )?ok\b[ \d]*-? ?(.*)", line)
            plan = re.fullmatch(r"1\.\.(\d+)", line)
            if result:
                seen += 1
                self.result(not result.group(1), result.group(2))
            elif plan:
                planned = int(plan.group(1))
            elif line.startswith("#"):
                self.lines.append(line)
        return planned == seen

    def write(self):
        text = "".join(line + "\n" for line in self.lines + [f"1..{self.number}"])
        sys.stdout.write(text)
        if os.environ.get("STRIA_TAP"):
            pathlib.Path(os.environ["STRIA_TAP"]).write_text(text)


def package_version(name):
    shown = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", name], text=True, stdout=subprocess.PIPE,
                           stderr=subprocess.DEVNULL, timeout=60)
    return shown.stdout or None


def record(guest, stria):
    """What ran on what, kept beside the results."""
    version = subprocess.run([stria, "--version"], text=True, stdout=subprocess.PIPE, timeout=60).stdout.strip()
    data = {"scenario": guest.scenario.name, "stria": version, "kernel_release": guest.kernel.release,
            "kernel_package": guest.kernel.package, "kernel_package_version": guest.kernel.version,
            "qemu": machine.qemu_version(), "accelerator": machine.ACCELERATOR,
            "packages": {name: package_version(name) for name in PACKAGES}}
    (guest.folder / "record.json").write_text(json.dumps(data, indent=1) + "\n")
    return (f"# kernel {data['kernel_release']} ({guest.kernel.package} {guest.kernel.version}), QEMU {data['qemu']}, "
            + ", ".join(f"{name} {version}" for name, version in data["packages"].items() if version))


@contextlib.contextmanager
def beside(guest, log):
    """What serves the guest's logs of writes, if it has any."""
    if not guest.daemon:
        yield
        return
    daemon = subprocess.Popen(guest.daemon, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        qmp.connect(guest.folder / "nbd", 20).close()
        yield
    finally:
        daemon.terminate()
        daemon.wait(20)


def has_begun(guest):
    return (guest.share / "begun").exists()


def end_of(qemu, guest):
    """The status with which QEMU ends. A guest that does not come to its scenario has no time for it either."""
    limit = guest.scenario.limit
    try:
        return qemu.wait(min(BOOT_SECONDS, limit))
    except subprocess.TimeoutExpired:
        if not has_begun(guest) or limit <= BOOT_SECONDS:
            raise
    return qemu.wait(limit - BOOT_SECONDS)


def boot(guest):
    """Runs the guest to its end; an empty text, or what went wrong."""
    command = guest.command()
    (guest.folder / "command").write_text("\n".join(command) + "\n")
    with open(guest.folder / "qemu.log", "w") as log, beside(guest, log):
        qemu = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
        try:
            Calls(guest).start()
            status = end_of(qemu, guest)
        except subprocess.TimeoutExpired:
            return (f"the guest took longer than {guest.scenario.limit} s" if has_begun(guest) else
                    f"the guest did not come to its scenario in {BOOT_SECONDS} s")
        finally:
            qemu.kill()
            qemu.wait()
    if status != 0:
        return f"QEMU ended with status {status}: {(guest.folder / 'qemu.log').read_text()[-2000:]}"
    if (guest.share / "status").exists():
        return ""
    return f"the guest went down before its scenario {'ended' if has_begun(guest) else 'began'}"


def tail(path, count):
    return "\n".join(path.read_text(errors="replace").splitlines()[-count:]) if path.exists() else ""


def boot_twice(scenario, kernel, folder, stria, tap):
    """The guest that was run, and what went wrong."""
    for attempt in (1, 2):
        shutil.rmtree(folder, ignore_errors=True)
        guest = machine.Machine(scenario, kernel, folder)
        guest.environment(stria)
        problem = boot(guest)
        if not problem or has_begun(guest) or attempt == 2:
            return guest, problem
        tap.lines.append(f"# {problem}, and was booted once more; its console ended with:")
        tap.lines += ["# " + line for line in tail(folder / "console", 30).splitlines()]


def judge(guest, problem, tap):
    whole = tap.take((guest.share / "tap").read_text(errors="replace") if (guest.share / "tap").exists() else "")
    if problem or not whole:
        tap.result(False, "the guest runs its scenario to the end", problem or "it ended before its last test")
    log = (guest.share / "dmesg").read_text(errors="replace") if (guest.share / "dmesg").exists() else ""
    faults = [line for line in log.splitlines() if KERNEL_FAULTS.search(line)
              and not any(re.search(pattern, line) for pattern in guest.scenario.allowed)]
    tap.result(bool(log) and not faults, "the guest's kernel reports no fault of its own", *faults[:10])


def afterwards(guest, stria, tap):
    done = subprocess.run([sys.executable, guest.scenario.after, guest.folder, stria], text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=600)
    whole = tap.take(done.stdout)
    if done.returncode != 0 or not whole:
        tap.result(False, f"{guest.scenario.after.name} runs to its end", done.stdout[-3000:])


def main():
    scenario = machine.Scenario(sys.argv[1])
    if not shutil.which("qemu-system-x86_64"):
        print("QEMU is not here: sh packaging/install.sh vm", file=sys.stderr)
        return 77
    stria = pathlib.Path(os.environ["STRIA"]).resolve()
    cache = ROOT / "build/vm"
    folder = cache / scenario.name
    tap = Tap()
    guest, problem = boot_twice(scenario, Kernel(cache), folder, stria, tap)
    tap.lines.insert(0, record(guest, stria))
    judge(guest, problem, tap)
    if scenario.after and tap.failed == 0:
        afterwards(guest, stria, tap)
    if tap.failed:
        tap.lines += ["# " + line for line in tail(folder / "console", 100).splitlines()]
    tap.write()
    if tap.failed == 0:
        for image in folder.glob("*.img"):
            image.unlink()
    return 1 if tap.failed else 0


sys.exit(main())
