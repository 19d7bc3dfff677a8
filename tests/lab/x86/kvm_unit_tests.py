#!/usr/bin/env python3
"""Runs the PMU tests of kvm-unit-tests on emulated CPUs: an outside check. docs/lab.md describes it.

exit status: 0 if each test ended and nothing failed but what EXPECTED names, 1 otherwise, 77 skipped,
64 wrong usage
"""

import lzma
import re
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

from machine import Cpu, Parser, tool

# With -icount, time and cycles of the emulated machine both follow instructions.
TESTS = ("pmu", "pmu_lbr", "pmu_pebs")
# Test, CPU and check, as patterns, and why it fails.
EXPECTED: list[tuple[str, str, str, str]] = []


def reason(test: str, cpu: Cpu, check: str) -> str:
    for *patterns, why in EXPECTED:
        if all(map(re.fullmatch, patterns, (test, cpu.name, check))):
            return why
    return ""


def run(test: str, cpu: Cpu, image: Path, limit: int) -> tuple[list[str], bool]:
    """What the test printed, and whether it came to its end. The machine does not: it has no device for that."""
    firmware = tool("guest/packages.sh", "x86_64") + "/firmware/root/usr/share"
    command = [tool("qemu/build.sh"), "-L", f"{firmware}/seabios", "-L", f"{firmware}/qemu", "-M", "pc",
               "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-m", "512", "-cpu", f"{cpu.qemu},pmu=on,-hypervisor,check=off",
               "-nodefaults", "-display", "none", "-monitor", "none", "-no-reboot", "-serial", "stdio",
               "-kernel", image]
    lines = []
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
                          errors="replace") as qemu:
        timer = threading.Timer(limit, qemu.kill)
        timer.start()
        for line in qemu.stdout:
            lines.append(line.rstrip())
            if line.startswith("SUMMARY"):
                break
        timer.cancel()
        qemu.kill()
    return lines, bool(lines) and lines[-1].startswith("SUMMARY")


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=f"CPUs: {', '.join(Cpu.names())}")
    parser.add_argument("images", type=Path, help="directory with TEST.flat or TEST.flat.xz")
    parser.add_argument("--cpu", action="append", default=[], metavar="NAME[,PROPERTY=VALUE...]",
                        help="may be repeated (default: skylake, icelake)")
    parser.add_argument("--test", action="append", choices=TESTS, help="may be repeated (default: all)")
    parser.add_argument("--limit", type=int, default=1800, metavar="SECONDS", help="for each test (%(default)s)")
    arguments = parser.parse_args()
    wrong = 0
    for cpu in map(Cpu.of, arguments.cpu or ["skylake", "icelake"]):
        cpu.require()
        for test in arguments.test or TESTS:
            packed = arguments.images / f"{test}.flat.xz"
            content = lzma.open(packed) if packed.exists() else open(arguments.images / f"{test}.flat", "rb")
            with content, tempfile.NamedTemporaryFile() as image:
                image.write(content.read())
                image.flush()
                lines, ended = run(test, cpu, Path(image.name), arguments.limit)
            # A line with limits precedes the failure of a count.
            checks = [line.partition(": ")[::2] for line in lines if re.match(r"(PASS|FAIL|SKIP): (?!\d+ <=)", line)]
            failed = [check for result, check in checks if result == "FAIL"]
            print(f"{cpu.name} {test}: {sum(result == 'PASS' for result, _ in checks)} passed, {len(failed)} failed, "
                  f"{sum(result == 'SKIP' for result, _ in checks)} skipped{'' if ended else ', not ended'}")
            for result, check in checks:
                why = reason(test, cpu, check) if result == "FAIL" else ""
                print(f"  {result}: {check}{f' (expected: {why})' if why else ''}")
                wrong += result == "FAIL" and not why
            wrong += not ended
            sys.stdout.flush()
    print(f"{wrong} unexpected")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
