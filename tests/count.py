"""count.py JUNIT TAP_FOLDER: counts the single tests of one ctest run.

Prints "PASSED FAILED SKIPPED", and the name of every test that failed on standard error. A program that
left TAP is counted test by test; any other is one test. A program that failed without a failing test in its
TAP (killed, timed out, a sanitizer's report) or that ran fewer tests than it planned is a failure more.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree


def count_tap(path):
    passed, failed, skipped, planned = 0, [], 0, None
    for line in path.read_text(errors="replace").splitlines():
        plan = re.match(r"1\.\.(\d+)", line)
        if plan:
            planned = int(plan.group(1))
        elif line.startswith("not ok"):
            failed.append(line[len("not ok"):].lstrip(" -0123456789").split("  (")[0])
        elif line.startswith("ok") and re.search(r"# SKIP\b", line):
            skipped += 1
        elif line.startswith("ok"):
            passed += 1
    seen = passed + len(failed) + skipped
    if planned is None:
        failed.append("ended before it told how many tests it has")
    elif seen != planned:
        failed.append(f"ran {seen} of {planned} tests")
    return passed, failed, skipped


def count_program(case, tap):
    status = case.get("status")
    skip = case.find("skipped")
    if skip is not None and "SKIP" in skip.get("message", ""):
        return 0, [], 1
    if status == "disabled":
        return 0, [], 1
    if tap.is_file():
        passed, failed, skipped = count_tap(tap)
        if status != "run" and not failed:
            failed.append("its single tests passed but the program failed")
        return passed, failed, skipped
    if status == "run":
        return 1, [], 0
    failure = case.find("failure")
    reason = failure.get("message", "") if failure is not None else ""
    return 0, [reason or status], 0


def main():
    junit, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    total_passed = total_failed = total_skipped = 0
    for case in xml.etree.ElementTree.parse(junit).getroot().iter("testcase"):
        name = case.get("name")
        passed, failed, skipped = count_program(case, folder / f"{name}.tap")
        for what in failed:
            print(f"  failed: {name}: {what}", file=sys.stderr)
        total_passed += passed
        total_failed += len(failed)
        total_skipped += skipped
    print(total_passed, total_failed, total_skipped)


main()
