"""Every claim about speed, measured. Called by bench/run.sh."""

import json
import os
import re
import resource
import shlex
import statistics
import subprocess
import sys
import time

import targets

BUILD = os.environ.get("STRIA_BENCH_BUILD", "build/release")
ROUNDS = int(os.environ.get("STRIA_BENCH_ROUNDS", "5"))
MIB = 1 << 20
misses = []


def run(*command, **options):
    done = subprocess.run([str(word) for word in command], text=True, stdout=subprocess.PIPE, **options)
    if done.returncode:
        sys.exit(f"bench/run.sh: {' '.join(map(str, command))} ended with status {done.returncode}")
    return done.stdout


def tool(name):
    return os.path.join(BUILD, "bench", "stria_bench_" + name)


def stria(*arguments, **options):
    return run(os.path.join(BUILD, "tools", "stria"), *arguments, **options)


def tell(what, values, target, at_most=False, form="{:.2f}"):
    """One claim: the median of all turns, their range, and the target."""
    median = statistics.median(values)
    good = median <= target if at_most else median >= target
    bound = "at most" if at_most else "at least"
    print(f"  {what:<62} {form.format(median):>8}  ({form.format(min(values))} to {form.format(max(values))}; {bound} "
          f"{form.format(target)}){'' if good else '  MISSED'}", flush=True)
    if not good:
        misses.append(what)


def children_cpu_s():
    use = resource.getrusage(resource.RUSAGE_CHILDREN)
    return use.ru_utime + use.ru_stime


def rates(text):
    rate, cost = re.search(r"([\d.]+) GB/s +([\d.]+) CPU s/GB", text).groups()
    return float(rate), float(cost)


def fio(paths, *extra, rw="write", block=MIB, size=None):
    """GB/s and processor seconds for each GB of one fio job for each path, from the start of their transfers on."""
    command = ["fio", "--output-format=json", "--ioengine=io_uring", "--direct=1", f"--rw={rw}", f"--bs={block}",
               "--iodepth=8", "--fixedbufs", "--registerfiles", "--allow_file_create=0", *extra]
    if size:
        command.append(f"--size={size}")
    for path in paths:
        command += [f"--name={os.path.basename(path)}", f"--filename={path}"]
    home = targets.folder("MEMORY", 1)  # where fio leaves what it knows of its checksums
    jobs = json.loads(run(*command, cwd=home))["jobs"]
    bytes_moved = sum(job[rw]["io_bytes"] for job in jobs)
    slowest_s = max(job[rw]["runtime"] for job in jobs) / 1e3
    cpu_s = sum((job["usr_cpu"] + job["sys_cpu"]) / 100 * job["job_runtime"] / 1e3 for job in jobs)
    return bytes_moved / slowest_s / 1e9, cpu_s / bytes_moved * 1e9


def record(paths, *extra, size):
    text = run(tool("record"), *extra, "--size", size, *paths)
    if " 0 bytes dropped" not in text:
        sys.exit(f"bench/run.sh: the recording is not whole: {text}")
    return rates(text)


def ceiling():
    """null drives: core, pump and XXH3 with no media, beside XXH3 alone over cold memory"""
    text = run(tool("ceiling"), ROUNDS)
    ratio, = re.search(r"ratio.*\) +([\d.]+)", text).groups()
    chunks, = re.search(r"(\d+) chunks/s", text).groups()
    tell("recording with hashing / XXH3 alone", [float(ratio)], 0.8)
    tell("chunks/s without hashing, one thread", [int(chunks)], 200000, form="{:.0f}")


def uring():
    """four loop devices on tmpfs, 1 MiB, depth 8, beside fio with one job for each"""
    paths = targets.loops(4, 900)
    size = 4 * 850 * MIB
    fio(paths)
    plain, summed, bare, hashed, hash_alone = [], [], [], [], []
    for turn in range(ROUNDS):
        plain.append(fio(paths))
        bare.append(record(paths, "--unhashed", size=size))
        hashed.append(record(paths, size=size))
        hash_alone.append(rates(run(tool("ceiling"), "--hash")))
        if turn % 2 == 0:
            summed.append(fio(paths, "--verify=xxhash", "--do_verify=0", size=300 * MIB)[0])
    print(f"  GB/s: fio {statistics.median(p[0] for p in plain):.2f}, with checksums {statistics.median(summed):.2f}; stria "
          f"unhashed {statistics.median(b[0] for b in bare):.2f}, hashed {statistics.median(h[0] for h in hashed):.2f}")
    print(f"  CPU s/GB: fio {statistics.median(p[1] for p in plain):.4f}; stria unhashed "
          f"{statistics.median(b[1] for b in bare):.4f}, hashed {statistics.median(h[1] for h in hashed):.4f}; XXH3 alone "
          f"{statistics.median(x[1] for x in hash_alone):.4f} (the loop devices' own threads count for nobody)")
    tell("throughput unhashed / fio", [b[0] / p[0] for b, p in zip(bare, plain)], 0.97)
    tell("CPU s/GB unhashed / fio", [b[1] / p[1] for b, p in zip(bare, plain)], 1.1, at_most=True)
    tell("throughput hashed / fio", [h[0] / p[0] for h, p in zip(hashed, plain)], 0.75)
    tell("throughput hashed / fio verify=xxhash", [h[0] / s for h, s in zip(hashed[::2], summed)], 4)
    tell("CPU s/GB hashed / (fio + 1.2 XXH3 alone)",
         [h[1] / (p[1] + 1.2 * x[1]) for h, p, x in zip(hashed, plain, hash_alone)], 1, at_most=True)


def disk():
    """a fully allocated file on the disk, with hashing, beside plain fio"""
    paths = targets.files("DISK", 1, 6100)
    fio(paths)
    plain, hashed = [], []
    for _ in range(ROUNDS):
        plain.append(fio(paths, size=6000 * MIB)[0])
        hashed.append(record(paths, size=6000 * MIB)[0])
    print(f"  GB/s: fio {statistics.median(plain):.2f}, stria {statistics.median(hashed):.2f}")
    tell("throughput hashed / fio", [h / p for h, p in zip(hashed, plain)], 0.98)


def sweep():
    """1, 2, 4, 8 drives and chunks of 64 KiB to 16 MiB, unhashed: a chunk costs no more on more drives"""
    counts = (1, 2, 4, 8)
    paths = targets.loops(counts[-1], 1350)

    def costs(chunk):
        """(GB/s, us of CPU a chunk) for each count of drives."""
        found = {}
        for count in counts:
            rate, cost = record(paths[:count], "--unhashed", "--chunk", chunk, "--buffer", 512 * MIB, size=count * 1300 * MIB)
            found[count] = rate, cost * chunk / 1e3
        return found

    for chunk in (64 << 10, 256 << 10, MIB, 4 * MIB, 16 * MIB):
        alone, full = [], []
        for _ in range(ROUNDS):
            alone.append(costs(chunk))
            with targets.full_processors():
                full.append(costs(chunk))
        for count in counts:
            rate, cost = (statistics.median(turn[count][which] for turn in alone) for which in (0, 1))
            beside = statistics.median(turn[count][1] for turn in full)
            print(f"  {chunk >> 10:>6} KiB, {count} drives: {rate:6.2f} GB/s, {cost:7.1f} us of CPU a chunk, {beside:7.1f} with "
                  f"full processors", flush=True)
        # One drive leaves a processor idle, from two on the loop devices' copying fills both: like is compared with like.
        tell(f"CPU a chunk on 8 drives / on 2, {chunk >> 10} KiB", [turn[8][1] / turn[2][1] for turn in alone], 1.25, at_most=True)
        tell(f"CPU a chunk on 8 drives / on 1, {chunk >> 10} KiB, full processors", [turn[8][1] / turn[1][1] for turn in full],
             1.25, at_most=True)
        unlike = statistics.median(turn[8][1] / turn[1][1] for turn in alone)
        print(f"  on 8 drives / on 1, which leaves a processor idle: {unlike:.2f}", flush=True)


PROFILE = """[drive]
model = flat
capacity_gb = 100
[link]
rate_gb_per_s = 8
[write.table]
until_gb = 100
rate_mb_per_s = {}
[read]
rate_gb_per_s = 8
"""


def fake_rate(home, name, policy, drives, seconds):
    """MB/s of a recording onto fake drives, given by their rates."""
    ini = os.path.join(home, name + ".ini")
    with open(ini, "w") as file:
        file.write(f"[array]\nname = {name}\npolicy = {policy}\nchunk = 256KiB\ndepth = 4\nbuffer = 16MiB\n")
        for index, rate in enumerate(drives):
            with open(os.path.join(home, f"{rate}.ini"), "w") as profile:
                profile.write(PROFILE.format(rate))
            file.write(f"[drive.d{index}]\npath = {name}{index}.img\nsize = {int(rate * seconds * 1.2) + 40}MiB\n"
                       f"profile = {home}/{rate}.ini\n")
    stria("init", ini)
    report = os.path.join(home, name + ".json")
    size = int((min(drives) * len(drives) if policy == "raid0" else sum(drives)) * seconds) * 1000000
    stria("record", ini, "--input", "synthetic", "--size", size, "--report", report, stderr=subprocess.DEVNULL)
    with open(report) as file:
        found = json.load(file)
    for index in range(len(drives)):
        os.unlink(os.path.join(home, f"{name}{index}.img"))
    return found["aggregate"]["mean_bytes_per_s"] / 1e6


def adaptive():
    """fake drives, one of four at a tenth of the others' rate; raid0 beside it"""
    home = targets.folder("MEMORY", 2500)
    ratios, plain = [], []
    for turn in range(max(1, ROUNDS // 2)):
        alone = [fake_rate(home, f"fast{turn}", "adaptive", [120], 3), fake_rate(home, f"slow{turn}", "adaptive", [12], 3)]
        together = 3 * alone[0] + alone[1]
        ratios.append(fake_rate(home, f"adaptive{turn}", "adaptive", [120, 120, 12, 120], 4) / together)
        plain.append(fake_rate(home, f"raid0{turn}", "raid0", [120, 120, 12, 120], 4) / together)
    tell("adaptive / the drives' own rates together", ratios, 0.95)
    print(f"  raid0 beside it: {statistics.median(plain):.2f}")


def verify():
    """four loop devices on tmpfs: verifying a full array, beside fio's sequential read"""
    paths = targets.loops(4, 1750)
    record(paths, size=4 * 1700 * MIB)
    plain, ours = [], []
    for _ in range(ROUNDS):
        plain.append(fio(paths, rw="read", size=1700 * MIB))
        ours.append(rates(run(tool("verify"), *paths)))
    print(f"  GB/s: fio {statistics.median(p[0] for p in plain):.2f}, stria {statistics.median(o[0] for o in ours):.2f}")
    tell("verify / fio read", [o[0] / p[0] for o, p in zip(ours, plain)], 0.9)


def array_of(paths, buffer="64MiB"):
    home = targets.folder("MEMORY", 1)
    ini = os.path.join(home, "array.ini")
    with open(ini, "w") as file:
        file.write(f"[array]\nname = bench\nbuffer = {buffer}\n")
        for index, path in enumerate(paths):
            file.write(f"[drive.d{index}]\npath = {path}\n")
    return ini


def make_array(ini, paths):
    allowed = [word for path in paths for word in ("--erase", path)]
    stria("init", ini, *allowed)


def stdin():
    """a pipe into stria record on four loop devices, beside the same pipe into /dev/null"""
    paths = targets.loops(4, 900)
    ini = array_of(paths)
    report = ini + ".json"
    size = 4 * 850 * MIB
    ratios, into_null = [], []
    for _ in range(ROUNDS):
        start = time.monotonic()
        run("sh", "-c", f"dd if=/dev/zero bs=1M count={size // MIB} status=none | cat >/dev/null")
        null_s = time.monotonic() - start
        make_array(ini, paths)
        run("sh", "-c", f"dd if=/dev/zero bs=1M count={size // MIB} status=none | {BUILD}/tools/stria record {ini} --input - --name a --report {report} "
            "2>/dev/null")
        with open(report) as file:
            took_s = json.load(file)["recording"]["duration_ns"] / 1e9
        ratios.append(null_s / took_s)
        into_null.append(size / null_s / 1e9)
    print(f"  GB/s into /dev/null: {statistics.median(into_null):.2f}")
    tell("the pipe into stria record / into /dev/null", ratios, 0.9)


def memory():
    """the largest resident size of stria record, beside its buffer and ledgers"""
    paths = targets.loops(4, 450)
    ini = array_of(paths)
    make_array(ini, paths)
    process = subprocess.Popen([f"{BUILD}/tools/stria", "record", ini, "--input", "synthetic", "--size", "1GiB"],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        sys.exit("bench/run.sh: stria record failed")
    ledgers = 4 * 450 * 64 / MIB
    tell("MiB resident beyond the buffer of 64 MiB and the ledgers", [usage.ru_maxrss / 1024 - 64 - ledgers], 48, at_most=True,
         form="{:.1f}")


def ls():
    """stria ls on an array whose ledgers describe 2 TB, after a crash"""
    home = targets.folder("MEMORY", 600)
    paths = [os.path.join(home, f"drive{index}") for index in range(4)]
    run(tool("ledgers"), *paths)
    ini = array_of(paths)
    times, cpu = [], []
    for _ in range(ROUNDS):
        start, before = time.monotonic(), children_cpu_s()
        listed = stria("ls", ini, "--json", stderr=subprocess.DEVNULL)
        times.append(time.monotonic() - start)
        cpu.append(children_cpu_s() - before)
    described = json.loads(listed)["recordings"][0]["bytes"]
    if described < 1.99e12:
        sys.exit(f"bench/run.sh: the ledgers describe {described} bytes only")
    print(f"  processor seconds for ls: {statistics.median(cpu):.2f}")
    tell("seconds for ls", times, 1, at_most=True)


def begin():
    """how long a recording takes to begin: on an array with 1000 recordings, beside one with 1"""
    paths = targets.files("MEMORY", 4, 264)
    few, many = re.search(r"([\d.]+) ms .* ([\d.]+) ms", run(tool("begin"), *paths)).groups()
    print(f"  {few} ms with 1 recording, {many} ms with 1000")
    tell("beginning among 1000 recordings / among 1", [float(many) / float(few)], 1.2, at_most=True)


def like_fio(path, within):
    """MB/s by stria bench, and by the command of fio that it prints for the same. Blocks of 128 KiB, which need no more pieces
    than a device takes at once: Linux counts a transfer that it takes apart twice against a limit."""
    same = ["bench", "size", path, "--size", 256 * MIB, "--block", 128 << 10]
    command = os.path.join(BUILD, "tools", "stria")
    measured = json.loads(run(*within, command, *same, "--erase", path, "--repeats", 1, "--rest", 0, "-o", "-",
                              stderr=subprocess.DEVNULL))
    words = shlex.split(stria(*same, "--like-fio").splitlines()[-1])
    job = json.loads(run(*within, *words))["jobs"][0]["write"]
    if job["io_bytes"] != measured["rounds"][0]["bytes"]:
        sys.exit(f"bench/run.sh: fio wrote {job['io_bytes']} bytes, stria bench {measured['rounds'][0]['bytes']}")
    return measured["rounds"][0]["mean_bytes_per_s"] / 1e6, job["bw_bytes"] / 1e6


def agree():
    """stria bench beside the command of fio that --like-fio prints, on a loop device that the kernel holds to 100 MB/s"""
    path, = targets.loops(1, 330, direct=True)
    within = targets.held_to(path, 100000000)
    pairs = [like_fio(path, within) for _ in range(ROUNDS)]
    print(f"  MB/s: stria bench {statistics.median(ours for ours, _ in pairs):.1f}, "
          f"fio {statistics.median(theirs for _, theirs in pairs):.1f}")
    ratios = [ours / theirs for ours, theirs in pairs]
    tell("stria bench / fio", ratios, 0.97, form="{:.3f}")
    tell("stria bench / fio", ratios, 1.03, at_most=True, form="{:.3f}")


CLAIMS = [ceiling, uring, disk, agree, sweep, adaptive, verify, stdin, memory, ls, begin]


def main(names):
    known = {claim.__name__: claim for claim in CLAIMS}
    if names == ["list"]:
        for name, claim in known.items():
            print(f"{name:<10} {claim.__doc__}")
        return 0
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"bench/run.sh: there is no {unknown[0]}: the names are {' '.join(known)}", file=sys.stderr)
        return 2
    for name in names or known:
        print(f"{name}: {known[name].__doc__}\n  repeat with: sh bench/run.sh {name}   (load {os.getloadavg()[0]:.1f} on "
              f"{os.cpu_count()} processors)", flush=True)
        known[name]()
        targets.clean_up()
    print(f"{len(misses)} missed" + "".join(f"\n  {what}" for what in misses))
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
