#!/usr/bin/env python3
"""Runs the loops of a study of PEBS on a Xeon Gold 6126 on an emulated Skylake that delays records by as many
instructions, and prints the shares of samples by load beside those of the study's recordings. docs/lab.md has the
table and says where they differ. Nothing is judged.

exit status: 0 printed, 1 something failed, 77 skipped, 64 wrong usage
"""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from machine import HERE, SKIPPED, Cpu, Parser, boot

ROOT = HERE.parents[2]
sys.path.insert(0, str(ROOT / "tests/ubench"))
import programs  # noqa: E402  its directory is known by now

SPELLING, PERIOD = "mem_inst_retired.all_loads:upp", 13973
ITERATIONS = 10_000_000  # 5,000 samples of seven loads
# The study's programs call both functions with an array and its length; their own code is not in the table.
CALL = f"mov $array, %edi\nmov ${ITERATIONS}, %esi\ncall {{}}\n"
DRIVER = ('.section .driver, "ax"\n.globl _start\n_start:\n' + CALL.format("f1") + CALL.format("f2") +
          f"mov $60, %eax\nxor %edi, %edi\nsyscall\n.lcomm array, {4 * ITERATIONS}\n")


def skip(reason: str):
    print(f"skipped: {reason}")
    sys.exit(SKIPPED)


def build(rows, program: Path) -> None:
    source, unlinked = program.with_suffix(".s"), program.with_suffix(".o")
    source.write_text(programs.assembly(rows) + DRIVER)
    subprocess.run(["as", "--64", "-o", unlinked, source], check=True)
    subprocess.run(["ld", "-m", "elf_x86_64", "-z", "noseparate-code", f"-Ttext={rows[0].address:#x}", "-o", program,
                    unlinked], check=True)


def is_load(text: str) -> bool:
    """Of an instruction of these loops, in AT&T spelling: does it read memory?"""
    name, *operands = text.split(maxsplit=1)
    stores = name.startswith("mov") and operands[0].endswith(")")
    return "(" in text and not name.startswith("lea") and not stores


def loads_of(rows) -> dict[str, list[list[int]]]:
    """By function the loads of its loop: addresses, with that of a branch which is fused with the load before it."""
    found = {}
    for index, row in enumerate(rows):
        back = re.match(r"jb +([0-9a-f]+) ", row.instruction)
        if not back:
            continue
        loop = [one for one in rows[:index] if one.function == row.function and one.address >= int(back[1], 16)]
        found[row.function] = [[one.address] for one in loop if is_load(one.instruction)]
        found[row.function][-1].append(row.address)
    return found


def samples_of(skidscan: Path, recording: Path, program: str) -> Counter:
    """By address, of the program. It is not relocated."""
    done = subprocess.run([skidscan, "samples", recording, "--columns", "ip,dso"], capture_output=True, text=True,
                          check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    return Counter(int(ip, 16) for ip, dso in lines if Path(dso).name == program)


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0])
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_argument("recordings", type=Path, nargs="?", default=ROOT.parent / "shared/recordings",
                        help="directory of the study's (default: shared/recordings beside the checkout)")
    parser.add_argument("--cpu", default="skylake,pebs-shadow=43", metavar="NAME[,PROPERTY=VALUE...]",
                        help="default: %(default)s")
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    skidscan, directory = arguments.skidscan.resolve(), arguments.directory.resolve()
    recordings = {path.name.split(".")[1]: path for path in sorted(arguments.recordings.glob("ubench.*.data"))}
    table = arguments.recordings / "../reference/ubench-6126.tsv"
    if not recordings or not table.is_file():
        skip(f"no recordings ubench.*.data in {arguments.recordings}, or no {table}")
    for tool in ("as", "ld"):
        if not shutil.which(tool):
            skip(f"no {tool}; binutils has it")
    variants = {name: rows for (name, spelling), rows in programs.read_table(table).items()
                if spelling == SPELLING and name in recordings}
    shutil.rmtree(directory / "programs", ignore_errors=True)
    (directory / "programs").mkdir(parents=True)
    commands = ""
    for name, rows in variants.items():
        program = directory / "programs" / name
        build(rows, program)
        commands += (f"perf record -q -e cpu/event=0xd0,umask=0x81/upp -c {PERIOD} -o /results/{name}.data "
                     f"{shlex.quote(str(program))}\n")
    os.environ.setdefault("LIMIT", "3600")  # seconds of a boot
    results = boot(Cpu.of(arguments.cpu), directory, commands, [directory / "programs"], cached=arguments.cached)
    print("| loop | recorded | samples | of its loads, in their order |\n| --- | --- | --- | --- |")
    for name, rows in variants.items():
        counts = {"Xeon": samples_of(skidscan, recordings[name], name),
                  "emulated": samples_of(skidscan, results / f"{name}.data", name)}
        for function, loads in loads_of(rows).items():
            shares = {}
            for where, found in counts.items():
                of_loads = [sum(found[address] for address in load) for load in loads]
                shares[where] = [count / sum(of_loads) for count in of_loads]
                print(f"| {name} {function} | {where} | {sum(of_loads)} | "
                      f"{' '.join(f'{share:.0%}' for share in shares[where])} |")
            apart = sum(abs(a - b) for a, b in zip(*shares.values())) / 2
            print(f"| | apart | | {apart:.0%} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
