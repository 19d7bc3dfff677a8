#!/usr/bin/env python3
"""Runs ctest, then lists the tests that passed at the second try and the reasons of those that were skipped.
usage: run-tests.py BUILD [OPTION OF CTEST...]
Ends with the line "N passed, N failed, N skipped", and with the exit status of ctest.
"""

import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ElementTree


def reason_in(output):
    """Why a program of GoogleTest or a script was skipped: what it printed last."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for line in reversed(lines):
        if line.startswith("skipped: "):
            return line.removeprefix("skipped: ")
    for before, line in zip(lines, lines[1:]):
        if re.search(r": Skipped$", before):
            return line
    return "no reason was printed"


def outcomes_of_shard(path):
    """(name, outcome, reason of the skip) of each test of one process of the unit tests."""
    for case in ElementTree.parse(path).iter("testcase"):
        name = f"{case.get('classname')}.{case.get('name')}"
        skipped = case.find("skipped")
        if case.find("failure") is not None:
            yield name, "failed", ""
        elif skipped is not None:
            lines = skipped.get("message", "").split("\n")
            yield name, "skipped", lines[-1].strip() or "no reason was printed"
        elif case.get("status") == "run":
            yield name, "passed", ""


def outcomes(build, report):
    """(test of ctest, name, outcome, reason of the skip) of each test, those in shards one by one."""
    for case in ElementTree.parse(report).iter("testcase"):
        name, status = case.get("name"), case.get("status")
        shard = build / "tests" / f"{name}.xml"
        if name.startswith("UnitTests.") and shard.exists():
            each = list(outcomes_of_shard(shard))
            for test, outcome, reason in each:
                yield name, test, outcome, reason
            # It crashed, or was stopped after its time.
            if status == "fail" and all(outcome != "failed" for _, outcome, _ in each):
                yield name, name, "failed", ""
        elif status in ("notrun", "disabled"):
            yield name, name, "skipped", reason_in(case.findtext("system-out", ""))
        else:
            yield name, name, "failed" if status == "fail" else "passed", ""


def main():
    build, options = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2:]
    for old in (build / "tests").glob("UnitTests.*.xml"):
        old.unlink()
    failed_once = []
    with tempfile.TemporaryDirectory() as directory:
        report = os.path.join(directory, "report.xml")
        command = ["ctest", "--test-dir", build, "--output-junit", report, "--no-tests=error", *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as ctest:
            for line in ctest.stdout:
                print(line, end="", flush=True)
                failed = re.match(r" *\d+/\d+ Test +#\d+: (\S+) .*\*\*\*(?!Skipped|Not Run)", line)
                if failed and failed[1] not in failed_once:
                    failed_once.append(failed[1])
        found = list(outcomes(build, report)) if os.path.exists(report) else []
    for _, name, outcome, _ in found:
        if outcome == "failed":
            print(f"failed: {name}")
    failed = {test for test, _, outcome, _ in found if outcome == "failed"}
    for test in failed_once:
        if test not in failed:
            print(f"passed at the second try: {test}")
    reasons = collections.Counter(reason for _, _, outcome, reason in found if outcome == "skipped")
    if reasons:
        print("skipped, by reason:")
    for reason, tests in reasons.most_common():
        print(f"{tests:6}  {reason}")
    count = collections.Counter(outcome for _, _, outcome, _ in found)
    print(f"{count['passed']} passed, {count['failed']} failed, {count['skipped']} skipped", flush=True)
    sys.exit(ctest.returncode)


if __name__ == "__main__":
    main()
