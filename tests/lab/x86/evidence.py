#!/usr/bin/env python3
"""Holds what audit and correct say of samples with data addresses and registers against the log of the emulated PMU:
loads and stores of 4 programs of our own and 4 of Debian, at all precise levels, sound and late.

A row has the samples, those that are decided, those contradicted by audit and those that are late by the log, and
the distances that were found. Wrong is a row that accuses more samples than the log has; a sample of level p that
correct moved (with the skid of the example, where the CPU is the same) and that is not at its cause then, or a recording
that it refuses; a CPU of which less than 90% are decided (a load through the register that it loads is decided only
where its value follows from others); and late records whose distance, up to 5, is found for less than 97% of those
located.
exit status: 0 nothing is wrong, 1 otherwise, 77 skipped, 64 wrong usage
"""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import Cpu, Parser, boot, truths  # noqa: E402

REGISTERS = "ax,bx,cx,dx,si,di,bp,sp,flags,r8,r9,r10,r11,r12,r13,r14,r15"
# Of Sandy Bridge only these events have data addresses.
EVENTS = {"snb": {"loads": "cpu/event=0xcd,umask=0x1,ldlat=3/", "stores": "cpu/event=0xcd,umask=0x2/"},
          "": {"loads": "r81d0:", "stores": "r82d0:"}}
LEVELS = ("p", "pp", "ppp")
SKID = Path(__file__).resolve().parents[3] / "examples/emulated-skylake.run"
MEASURED = ("skylake", "loads", "p")  # what the example has measured
SOUND = ("sandybridge", "haswell", "skylake", "icelake", "sapphirerapids")
FAULTS = ("pebs-late-every=10", "pebs-late-every=1", "pebs-ip-skid=1", "pebs-ip-skid=3", "pebs-ip-skid=10")
FARTHEST, LEAST_DECIDED, LEAST_LOCATED = 5, 0.90, 0.97


def programs(directory: Path) -> tuple[dict[str, list[str]], list[Path]]:
    """Commands by name, and the files that they need."""
    built, lines = directory / "programs", directory / "lines"
    subprocess.run(["cc", "-O2", "-g", "-static", "-o", built, Path(__file__).with_name("programs.c")], check=True)
    lines.write_text("".join(f"{i * 7919 % 10007} {i * i % 997} line {i}\n" for i in range(3000)))
    commands = {name: [str(built), name] for name in ("list", "table", "strings", "tree")}
    of_debian = {"sort": ["sort", str(lines)], "gzip": ["gzip", "-c", str(lines)], "xz": ["xz", "-1", "-c", str(lines)],
                 "perl": ["perl", "-e", 'my %h; $h{"k$_"} = $_ x 3 for 1..2000; print scalar(sort keys %h)']}
    files = [built, lines]
    for name, command in of_debian.items():
        found = shutil.which(name)
        if found is None:
            sys.exit(f"{name} is missing")
        files.append(Path(os.path.realpath(found)))
        commands[name] = [str(files[-1]), *command[1:]]
    return commands, files


class Sums(Counter):
    def share(self, part: str, whole: str) -> float:
        return self[part] / self[whole] if self[whole] else 1.0


def check(cpu: Cpu, level: str, found: dict, truth, sums: Sums) -> tuple[str, list[str]]:
    """What a row prints, and what is wrong with it."""
    skid, late = cpu.fault("pebs-ip-skid"), cpu.fault("pebs-late-every")
    records = truth.records
    # With ip-skid each record is late, also where the same instruction came again in the meantime.
    wrong = len(records) if skid else sum(record["eventing"] != record["cause"] for record in records)
    if level == "p" and late:
        wrong = 0  # the eventing IP alone is late
    true_distance = skid + (level == "p") or 1
    decided, contradicted = found["judged"], found["contradicted"]
    distances = {each["instructions"]: each["samples"] for each in found["distances"]}
    located = sum(distances.values())
    sums.update({"samples": found["samples"], "decided": decided, "contradicted": contradicted, "wrong": wrong,
                 "located": located, "located right": distances.get(true_distance, 0)})
    faults = [f"{contradicted - wrong} false alarms"] * (contradicted > wrong)
    shown = " ".join(f"{distance}:{samples}" for distance, samples in
                     sorted(distances.items(), key=lambda each: -each[1])[:3])
    return (f"{found['samples']:7} {decided:7} {contradicted:7} {wrong:7}  {shown or '-'} "
            f"({found['several']} several, {found['not_found']} not found)"), faults


def addresses_of(skidscan: Path, path: Path) -> list[int]:
    done = subprocess.run([skidscan, "samples", path, "--columns", "ip"], capture_output=True, text=True, check=True)
    return [int(line, 16) for line in done.stdout.split()[1:]]


def skid_with(kernel: str, directory: Path) -> Path:
    """The example as if the kernel of the guest had recorded it: the skid is that of the emulator."""
    skid = directory / "skid.run"
    if not skid.exists():
        shutil.copytree(SKID, skid)
        run = json.loads((skid / "run.json").read_text())
        run["machine"]["kernel"] = kernel
        (skid / "run.json").write_text(json.dumps(run))
    return skid


def check_corrected(skidscan: Path, path: Path, skid: Path, truth, sums: Sums) -> list[str]:
    """What is wrong with the samples that correct moved."""
    corrected = path.with_suffix(".corrected")
    done = subprocess.run([skidscan, "correct", path, "--skid", skid, "-o", corrected], capture_output=True, text=True,
                          check=False)
    if done.returncode != 0:
        return [f"not corrected: {done.stderr.strip() or done.stdout}"]
    before, after = addresses_of(skidscan, path), addresses_of(skidscan, corrected)
    corrected.unlink()
    if len(before) != len(truth.records):
        return [f"{len(before)} samples of {len(truth.records)} records"]
    moved = [(address, record["cause"])
             for ip, address, record in zip(before, after, truth.records) if ip != address]
    misplaced = sum(address != cause for address, cause in moved)
    sums.update({"corrected": len(before), "moved": len(moved)})
    return [f"{misplaced} of {len(moved)} moved samples are not at their cause"] * (misplaced > 0)


def run(cpu: Cpu, skidscan: Path, directory: Path, period: int) -> list[str]:
    shutil.rmtree(directory, ignore_errors=True)
    directory.mkdir(parents=True)
    commands, files = programs(directory)
    lines = []
    events = EVENTS.get(cpu.like, EVENTS[""])
    for name, command in commands.items():
        for event, code in events.items():
            for level in LEVELS:
                lines.append(f"perf record -q -N -d --intr-regs={REGISTERS} -e {code}u{level} -c {period} "
                             f"-o /results/{name}.{event}.{level}.data -- {shlex.join(command)} >/dev/null || true")
    lines.append("/usr/bin/perf record -e dummy -o /tmp/end true")  # ends the log of the last recording
    results = boot(cpu, directory, "\n".join(lines) + "\n", files)
    found = truths(directory)
    sums, wrong = Sums(), []
    for name in commands:
        for event in events:
            for level in LEVELS:
                path = results / f"{name}.{event}.{level}.data"
                row = f"{cpu.name:28} {name:8} {event:7} {level:3}"
                if not path.exists() or path.stat().st_size == 0:
                    print(f"{row} refused", flush=True)
                    continue
                done = subprocess.run([skidscan, "audit", path, "--format", "json"], capture_output=True, text=True,
                                      check=True)
                audited = json.loads(done.stdout)["recordings"][0]
                of_event = audited["events"][0]
                if of_event["data_address"] is None:
                    print(f"{row} no data addresses", flush=True)
                    continue
                text, faults = check(cpu, level, of_event["data_address"], found[path], sums)
                if (cpu.name, event, level) == MEASURED:
                    skid = skid_with(audited["kernel"], directory)
                    faults += check_corrected(skidscan, path, skid, found[path], sums)
                print(f"{row} {text}", *(f"\n    WRONG: {fault}" for fault in faults), flush=True)
                wrong += faults
    skid = cpu.fault("pebs-ip-skid")
    decided, located = sums.share("decided", "samples"), sums.share("located right", "located")
    if decided < LEAST_DECIDED:
        wrong.append(f"{decided:.1%} are decided")
    if skid and skid <= FARTHEST and located < LEAST_LOCATED:
        wrong.append(f"{located:.1%} of the located samples have the distance {skid}")
    if sums["corrected"]:
        print(f"{cpu.name}: correct moved {sums['moved']} of {sums['corrected']} samples of level p", flush=True)
    print(f"{cpu.name}: {sums['samples']} samples, {decided:.1%} decided, {sums['contradicted']} contradicted, "
          f"{sums['wrong']} late by the log, {sums['located']} located, {located:.1%} of them right"
          f"{''.join(chr(10) + '    WRONG: ' + each for each in wrong)}", flush=True)
    return wrong


def main() -> int:
    parser = Parser(description=__doc__.splitlines()[0])
    parser.add_argument("skidscan", type=Path)
    parser.add_argument("directory", type=Path)
    parser.add_argument("--cpu", action="append", help="one that the file 'cpus' has, with properties; "
                        f"default: {', '.join(SOUND)}, and skylake with faults")
    parser.add_argument("--period", type=int, default=1009)
    options = parser.parse_args()
    names = options.cpu or [*SOUND, *(f"skylake,{fault}" for fault in FAULTS)]
    cpus = [Cpu.of(name) for name in names]
    for cpu in cpus:
        cpu.require()
    print(f"{'CPU':28} {'program':8} {'event':7} lvl {'samples':>7} {'decided':>7} {'contra.':>7} {'log':>7}  "
          "distances")
    wrong = []
    for cpu in cpus:
        directory = options.directory.absolute() / cpu.name.replace(",", "+")
        wrong += run(cpu, options.skidscan.absolute(), directory, options.period)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
