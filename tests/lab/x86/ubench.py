#!/usr/bin/env python3
"""Runs the loops of a study of PEBS on a Xeon Gold 6126 on an emulated Skylake that delays records by as many
instructions, and prints the shares of samples by load beside those of the study's recordings, or of its table of counts
where there is no recording. docs/lab.md has the table and says where they differ. Nothing is judged.

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

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests/lab"), str(ROOT / "tests/ubench")]

import programs  # noqa: E402
from machine import SKIPPED, Cpu, Parser, boot  # noqa: E402

SPELLING, PERIOD = "mem_inst_retired.all_loads:upp", 13973
ITERATIONS = 10_000_000  # 5,000 samples of seven loads
# The study's programs call both functions with an array and its length; their own code is not in the table.
CALL = f"mov $array, %edi\nmov ${ITERATIONS}, %esi\ncall {{}}\n"
DRIVER = ('.section .driver, "ax"\n.globl _start\n_start:\n' + CALL.format("f1") + CALL.format("f2") +
          f"mov $60, %eax\nxor %edi, %edi\nsyscall\n.lcomm array, {4 * ITERATIONS}\n")


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


class Loop:
    """The loads of a function's loop, by their number."""

    def __init__(self, rows, end: int, nops: int):
        target = int(re.match(r"jb +([0-9a-f]+) ", rows[end].instruction)[1], 16)
        rows = [row for row in rows[:end + 1] if row.address >= target]
        loads = [index for index, row in enumerate(rows[:-1]) if is_load(row.instruction)]
        self.load_at = {rows[index].address: load for load, index in enumerate(loads)}
        self.load_at[rows[-1].address] = len(loads) - 1  # the jump, which is fused with the load before it
        # NOPs follow every instruction but the jump.
        self.places, self.length = [index * (nops + 1) for index in loads], (len(rows) - 1) * (nops + 1) + 1

    def predicted(self, load: int, shadow: int) -> int:
        """The next load that is recorded after this one."""
        load = (load + PERIOD) % len(self.places)
        passed = 0
        while passed <= shadow:
            following = (load + 1) % len(self.places)
            passed += (self.places[following] - self.places[load]) % self.length
            load = following
        return load


def loops_of(rows, nops: int) -> dict[str, Loop]:
    return {row.function: Loop(rows, end, nops) for end, row in enumerate(rows) if row.instruction.startswith("jb ")}


def samples_of(skidscan: Path, recording: Path, program: str) -> list[int]:
    """Addresses in the program, which is not relocated, in the order of time."""
    done = subprocess.run([skidscan, "samples", recording, "--columns", "ip,dso"], capture_output=True, text=True,
                          check=True)
    lines = [line.split("\t") for line in done.stdout.splitlines()[1:]]
    return [int(ip, 16) for ip, dso in lines if Path(dso).name == program]


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
    missing = [tool for tool in ("as", "ld") if not shutil.which(tool)]
    if missing or not recordings or not table.is_file():
        print(f"skipped: no {missing[0]}; binutils has it" if missing else
              f"skipped: no ubench.*.data in {arguments.recordings}, or no {table}")
        return SKIPPED
    variants = {name: rows for (name, spelling), rows in programs.read_table(table).items()
                if spelling == SPELLING}
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
    shadow = Cpu.of(arguments.cpu).fault("pebs-shadow")
    print("| loop, instructions | recorded | samples | at each load, in order | predicted |\n" + "| --- " * 5 + "|")
    for name, rows in variants.items():
        nops = int(re.sub(r"\D", "", name) or 0)
        xeon = samples_of(skidscan, recordings[name], name) if name in recordings else None
        samples = {"Xeon": xeon or [row.address for row in rows for _ in range(row.samples)],
                   "emulated": samples_of(skidscan, results / f"{name}.data", name)}
        for function, loop in loops_of(rows, nops).items():
            for where, addresses in samples.items():
                loads = [loop.load_at[address] for address in addresses if address in loop.load_at]
                counts = Counter(loads)
                shares = " ".join(f"{counts[load] / len(loads):.0%}" for load in range(len(loop.places)))
                right = sum(loop.predicted(a, shadow) == b for a, b in zip(loads, loads[1:])) / (len(loads) - 1)
                predicted = f"{right:.0%}" if where != "Xeon" or xeon else ""  # the table has no order
                print(f"| {name} {function}, {loop.length} | {where} | {len(loads)} | {shares} | {predicted} |")
    return 0


if __name__ == "__main__":
    sys.exit(main())
