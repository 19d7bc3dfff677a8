#!/usr/bin/env python3
"""Runs the PMU tests of kvm-unit-tests on emulated CPUs: an outside check. docs/lab.md describes it.

exit status: 0 if each test ended and nothing failed but what EXPECTED names, 1 otherwise, 77 skipped, 64 wrong usage
"""

import lzma
import re
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import Cpu, Parser, tool  # noqa: E402

TESTS = ("pmu", "pmu_lbr", "pmu_pebs")
# Patterns of test, CPU and check, and why it fails.
EXPECTED: list[tuple[str, str, str, str]] = []
# A check's line, but not the one with the limits of a count that precedes a failure.
CHECK = re.compile(r"(PASS|FAIL|SKIP): (?!\d+ <= )(.*)")


def run(image: Path, cpu: Cpu, limit: int) -> list[str]:
    """What the test prints. At its end the machine is ended, which has no device for that."""
    firmware = tool("guest/packages.sh", "x86_64") + "/firmware/contents/usr/share"
    # With -icount the clock follows instructions, as cycles do: the test compares them.
    command = [tool("qemu/build.sh"), "-L", f"{firmware}/seabios", "-L", f"{firmware}/qemu", "-M", "pc",
               "-accel", "tcg,thread=single", "-icount", "shift=0,sleep=off", "-m", "512",
               "-cpu", f"{cpu.qemu},pmu=on,-hypervisor,check=off", "-nodefaults", "-display", "none",
               "-monitor", "none", "-no-reboot", "-serial", "stdio", "-kernel", image]
    lines = [""]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True) as qemu:
        timer = threading.Timer(limit, qemu.kill)
        timer.start()
        while not lines[-1].startswith("SUMMARY") and (line := qemu.stdout.readline()):
            lines.append(line.rstrip())
        timer.cancel()
        qemu.kill()
    return lines


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0], epilog=f"CPUs: {', '.join(Cpu.names('x86_64'))}")
    parser.add_argument("images", type=Path, help="directory with TEST.flat or TEST.flat.xz")
    parser.add_argument("--cpu", action="append", metavar="NAME[,PROPERTY=VALUE...]",
                        help="may be repeated (default: skylake, icelake)")
    parser.add_argument("--test", action="append", choices=TESTS, help="may be repeated (default: all)")
    parser.add_argument("--limit", type=int, default=1800, metavar="SECONDS", help="per test (%(default)s)")
    arguments = parser.parse_args()
    unexpected = 0
    for cpu in map(Cpu.of, arguments.cpu or ["skylake", "icelake"]):
        cpu.require()
        total = Counter()
        for test in arguments.test or TESTS:
            packed = arguments.images / f"{test}.flat.xz"
            with tempfile.NamedTemporaryFile() as image:
                image.write(lzma.decompress(packed.read_bytes()) if packed.exists() else
                            packed.with_suffix("").read_bytes())
                image.flush()
                lines = run(Path(image.name), cpu, arguments.limit)
            ended = lines[-1].startswith("SUMMARY")
            unexpected += not ended
            count = Counter()
            for result, check in (found.groups() for found in map(CHECK.match, lines) if found):
                why = next((why for *patterns, why in EXPECTED if result == "FAIL" and
                            all(map(re.fullmatch, patterns, (test, cpu.name, check)))), "")
                unexpected += result == "FAIL" and not why
                count[result] += 1
                print(f"{cpu.name} {test} {result}: {check}{f' (expected: {why})' if why else ''}")
            print(f"{cpu.name} {test}: {dict(count)}{'' if ended else ', did not end'}", flush=True)
            total += count
        print(f"{cpu.name}: {dict(total)}")
    print(f"{unexpected} unexpected")
    return 1 if unexpected else 0


if __name__ == "__main__":
    sys.exit(main())
