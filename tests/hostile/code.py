#!/usr/bin/env python3
"""Runs commands on recordings of code that makes the work on it grow, each within limits of processor time and
memory: one pattern repeated for megabytes, one address that everything branches to, symbols that overlap. Fails
if a command is stopped by a limit or ends with a status that it does not document.
usage: code.py SKIDSCAN [--cases NAME,...] [--commands NAME,...] [--cpu SECONDS] [--memory MIB] [--keep DIRECTORY]
"""

import argparse
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

from program import AARCH64, BUILD_ID, CODE, MIB, MOST_SECONDS, TEXT, X86, Program, measure, write_records

DATUM = 0x10000000     # watched by the breakpoint, in no file
PROCESS = 7
EXACT = 1 << 14

# --- recordings --------------------------------------------------------------------------------------------


REGISTERS = 0xFF00FF  # PERF_REG_X86_AX to SP, R8 to R15
DATA = 0x123456  # the address that no instruction accesses, if it has one


def attribute(kind, config, level, breakpoint_address=0, registers=0):
    has_maps = 1 << 8 | 1 << 23
    fields = 7 | (1 << 3 | 1 << 18 if registers else 0)  # IP, TID, TIME; ADDR, REGS_INTR
    return struct.pack("<IIQQQQQIIQQ24xQ", kind, 128, config, 10007, fields, 0, has_maps | level << 15, 0,
                       3 if breakpoint_address else 0, breakpoint_address, 8 if breakpoint_address else 0,
                       registers).ljust(128, b"\0")


def mapping(path, size):
    """That the program was mapped where it is linked, with its build-id."""
    name = str(path).encode() + b"\0"
    name += bytes(-len(name) % 8)
    body = struct.pack("<iiQQQ", PROCESS, PROCESS, CODE - TEXT, TEXT + size, 0) + bytes([20, 0, 0, 0]) + BUILD_ID
    body += struct.pack("<II", 5, 2) + name
    return struct.pack("<IHH", 10, 2 | EXACT, 8 + len(body)) + body


def recording(path, event, addresses, mapped, machine):
    """Samples of one event, at runtime addresses. event: (attribute, misc, what else a sample has)."""
    attr, misc, more = event
    pack = struct.Struct("<IHHQiiQ").pack
    data = [mapped]
    data += [pack(9, misc, 32 + len(more), address, PROCESS, PROCESS, 1000 + i) + more
             for i, address in enumerate(addresses)]
    arch, cpuid = ("x86_64", "GenuineIntel,6,94,3") if machine == X86 else ("aarch64", "0x00000000410fd0c0")
    write_records(path, attr, b"".join(data), {4: "synthetic", 5: "skidscan synth", 6: arch, 9: cpuid})


LOADS = 0x81D0  # MEM_INST_RETIRED.ALL_LOADS
EVENTS = {"precise": (attribute(4, LOADS, 2), 2 | EXACT, b""), "constant": (attribute(4, LOADS, 1), 2, b""),
          "breakpoint": (attribute(5, 0, 0, DATUM), 2, b""),
          "addresses": (attribute(4, LOADS, 2, registers=REGISTERS), 2 | EXACT,
                        struct.pack("<QQ16Q", DATA, 2, *(i << 32 for i in range(16))))}

# --- code --------------------------------------------------------------------------------------------------


def repeated(pattern, size):
    return pattern * (size // len(pattern))


def every(step, size, count=None):
    places = range(0, size, step)
    return places if count is None else random.Random(1).sample(places, min(count, len(places)))


def jumps_to_one(size, opcode=b"\xe9"):
    length = len(opcode) + 4
    return b"".join(opcode + struct.pack("<i", -at - length) for at in range(0, size - length, length))


def calls_between(functions, calls):
    """Functions that each call the next ones, and return."""
    size = 5 * calls + 1
    code = bytearray()
    for i in range(functions):
        for j in range(calls):
            target = (i + j + 1) % functions
            code += b"\xe8" + struct.pack("<i", target * size - (i * size + 5 * j + 5))
        code += b"\xc3"
    return bytes(code), [(i * size, size) for i in range(functions)]


def overlapping_branches(size):
    """Conditional jumps, each into the displacement of the next one."""
    return repeated(b"\x0f\x84\x02\x00\x00\x00", size)


def copies(paths, loads, after):
    """Loads that overwrite their own register, each before instructions that are sampled. So many paths lead to each,
    which copied another register to it, with different constants."""
    code, places = bytearray(), []
    for _ in range(loads):
        for i in range(paths):
            code += b"\x48\x8d\xbb" + struct.pack("<i", 16 * i)  # lea disp(%rbx), %rdi
            code += b"\xe9" + struct.pack("<i", 12 * (paths - i - 1))
        code += b"\x48\x8b\x3f"  # mov (%rdi), %rdi
        places += range(len(code) - 3, len(code) + after)
        code += b"\x90" * after
    return Case(code, [(0, len(code))], places)


def words(*values):
    return struct.pack(f"<{len(values)}I", *values)


class Case:
    def __init__(self, code, symbols, places, machine=X86):
        self.code, self.symbols, self.places, self.machine = code, symbols, places, machine


LOAD = b"\x48\x8b\x07"                      # mov (%rdi), %rax
TABLE_JUMP = b"\xff\x24\xc5\x00\x10\x40\x00"  # jmp *0x401000(,%rax,8)


def whole(code, step, count=None, machine=X86):
    return Case(code, [(0, len(code))], every(step, len(code), count), machine)


def cases():
    calls, callers = calls_between(2000, 200)
    returns = repeated(b"\xc3", 64 * 1024)
    nops = repeated(b"\x90", 4 * MIB)
    return {
        "jumps": lambda: whole(repeated(b"\xff\xe0", 32 * 1024), 2, 512),
        "nops": lambda: whole(repeated(b"\x90", MIB), 1, 21_000),
        "loads": lambda: whole(repeated(LOAD, MIB), 3),
        "overlaps": lambda: Case(nops, [(64 * i, 4 * MIB - 64 * i) for i in range(2000)],
                                 every(64, 128_000)),
        "one_target": lambda: Case(jumps_to_one(33 * MIB), [(0, 33 * MIB)], every(5, 33 * MIB, 2000)),
        "one_target_small": lambda: whole(jumps_to_one(3 * MIB), 5, 20_000),
        "long_nops": lambda: whole(repeated(b"\x66" * 8 + b"\x90", 4 * MIB), 9),
        "aarch64_nops": lambda: whole(repeated(words(0xD503201F), 4 * MIB), 4, machine=AARCH64),
        "aarch64_branches": lambda: whole(repeated(words(0xD61F0000, 0xF9400000), MIB), 4, machine=AARCH64),
        "table_jumps": lambda: whole(repeated(TABLE_JUMP + LOAD, MIB), 1, 50_000),
        "many_table_jumps": lambda: whole(repeated(TABLE_JUMP, 4 * MIB), 7),
        "giant_symbol": lambda: whole(repeated(LOAD, 64 * MIB), 3, 100_000),
        "zero_sizes": lambda: Case(repeated(LOAD, 4 * MIB), [(3 * i, 0) for i in range(200_000)],
                                   every(3, 900_000)),
        "calls": lambda: Case(calls, callers, every(5, len(calls), 100_000)),
        "returns": lambda: Case(returns + repeated(b"\xe8" + struct.pack("<i", -5), 5) +
                                b"".join(b"\xe8" + struct.pack("<i", -len(returns) - 5 * i - 10)
                                         for i in range(50_000)),
                                [(0, len(returns)), (len(returns), 250_005)],
                                [0] + [len(returns) + 5 * i for i in range(50_000)]),
        "prefixes": lambda: whole(repeated(b"\x66", MIB), 1, 100_000),
        "every_byte": lambda: whole(random.Random(2).randbytes(MIB), 1),
        "stripped": lambda: Case(repeated(LOAD + b"\x75\x01\x90", 16 * MIB), [], every(3, 16 * MIB, 100_000)),
        "copies": lambda: copies(31, 2000, 14),
        "inside": lambda: whole(overlapping_branches(MIB), 6),
        "backward": lambda: whole(repeated(LOAD + b"\x75\xfb", 4 * MIB), 5),
        "same_place": lambda: Case(nops, [(0, 4 * MIB - i) for i in range(2000)], every(1, 4 * MIB, 20_000)),
        "staircase": lambda: Case(repeated(LOAD, 4 * MIB), [(3 * i, 4 * MIB - 3 * i) for i in range(100_000)],
                                  every(3, 300_000)),
    }


# --- runs --------------------------------------------------------------------------------------------------

COMMANDS = [("audit", "precise", ["audit"]), ("audit p", "constant", ["audit"]),
            ("audit mem", "breakpoint", ["audit"]),
            *[(f"correct {by}", "breakpoint", ["correct", "--by", by])
              for by in ("function", "block", "instruction", "line")],
            ("correct p", "constant", ["correct", "--skid", "skid.run", "--by", "function"]),
            ("annotate", "precise", ["annotate", "--function", "f0"]),
            ("audit addresses", "addresses", ["audit"])]


def write(name, case, directory):
    program = Program(case.code, case.machine)
    program.names = {f"f{i}": (CODE + offset, size) for i, (offset, size) in enumerate(case.symbols)}
    program.add_build_id()
    program.write(directory / f"{name}.elf")
    mapped = mapping(directory / f"{name}.elf", len(case.code))
    addresses = [CODE + place for place in case.places]
    for kind, event in EVENTS.items():
        recording(directory / f"{name}.{kind}.data", event, addresses, mapped, case.machine)


def run(command, directory, cpu, memory):
    """Returns what is wrong, the processor time in seconds and the peak in MiB."""
    with open(directory / "out", "wb") as out, open(directory / "err", "wb") as err:
        seconds, peak, code = measure(command, cpu, memory, cwd=directory, stdout=out, stderr=err)
    wrong = "" if code in (0, 4, 5) else f"status {code}: {(directory / 'err').read_text()[-300:]}"
    return wrong, seconds, peak


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skidscan", type=os.path.abspath)
    parser.add_argument("--cases", default="")
    parser.add_argument("--cpu", type=int, default=MOST_SECONDS)
    parser.add_argument("--memory", type=int, default=768)
    parser.add_argument("--keep")
    parser.add_argument("--commands", default="")
    options = parser.parse_args()
    every_case = cases()
    names = options.cases.split(",") if options.cases else list(every_case)
    labels = options.commands.split(",") if options.commands else [label for label, _, _ in COMMANDS]
    bad = 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(options.keep or temporary)
        directory.mkdir(exist_ok=True)
        subprocess.run([options.skidscan, "synth", "--like", "pebs-sound", "--all-levels", "--force", "-o", "skid.run"],
                       cwd=directory, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        for name in names:
            case = every_case[name]()
            write(name, case, directory)
            for label, kind, command in COMMANDS:
                if label not in labels or (label == "annotate" and not case.symbols):
                    continue
                arguments = [options.skidscan, *command, "-i", f"{name}.{kind}.data"]
                wrong, seconds, peak = run(arguments, directory, options.cpu, options.memory)
                bad += bool(wrong)
                print(f"{name:18} {label:20} {seconds:6.1f} s {peak:6.0f} MiB  {wrong}", flush=True)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
