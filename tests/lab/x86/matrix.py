#!/usr/bin/env python3
"""Records events on emulated CPUs and compares each sample with the emulator's truth log, then the
conclusions of skidscan (report, audit, correct) with what follows from the log. docs/lab.md describes it.

A row is one recording, or one that the kernel has to refuse. A difference is a sample that is missing, too
many, or at another address than the log requires:
- at level 0 the interrupted address; with PEBS at level 1 the IP of the record, at levels 2 and 3 its
  eventing IP; with IBS the IP of the op;
- an event of user mode alone may have 0 instead of an address of the kernel, which Linux 7.3 writes
  (perf_instruction_pointer() in kernel/events/core.c).
Also a difference is a number of samples that 'perf script' of the guest's perf does not list.
exit status: 0 no difference and all conclusions right, 1 otherwise, 77 skipped, 64 wrong usage
"""

import argparse
import json
import re
import shlex
import shutil
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import Cpu, Parser, Truth, boot, truths  # noqa: E402
from run import compiler, preparation  # noqa: E402
from verdict import verdict_of  # noqa: E402

LEVELS = ("none", "p", "pp", "ppp")


@dataclass(frozen=True)
class Event:
    code: str
    options: str  # of record: trigger, period, iterations
    levels: tuple = LEVELS
    precise: bool = True  # by the event file of the CPU: otherwise there is no constraint
    corrected: bool = True  # `correct` can move level 1 back
    refused: tuple = ()  # levels that the kernel refuses for this event on this CPU
    nops: str = "150"  # of the runway, if the options name none; empty: as record chooses


# Periods from 32, because the kernel refuses shorter ones on Nehalem and Haswell. One less than a prime,
# because PEBS samples each (period + 1)th event.
LOOP = "--triggers 1 -c 36 --iterations 150000"
LOADS, STORES = Event("r81d0:u", f"--trigger load {LOOP}"), Event("r82d0:u", f"--trigger store {LOOP}")
TAKEN, CALLS = f"--trigger branch-taken {LOOP}", f"--trigger call {LOOP}"
CYCLES = Event("cycles:P", "--trigger load -F 4000 -g --iterations 400000", levels=("P",), precise=False)
RETIRED = "--trigger load -c 10006 --iterations 300000"
KERNEL = Event("r1c0", "--trigger load -c 50020 --iterations 400000", precise=False)
LATENCY = Event("cpu/mem-loads,ldlat=30/u", "--trigger load-dram -c 36 --iterations 150000 --working-set 16MiB",
                levels=LEVELS[1:])
SEVERAL = Event("r81d0:u", "--trigger load --triggers 8 --nops 600 -c 36 --iterations 20000", levels=("none", "p", "pp"))

SANDY_BRIDGE = {
    "loads": LOADS,
    "stores": STORES,
    "locked": Event("r21d0:u", f"--trigger lock-rmw {LOOP}"),
    "taken": Event("r20c4:u", TAKEN),
    "not-taken": Event("r10c4:u", f"--trigger branch-not-taken {LOOP}", precise=False),
    "calls": Event("r2c4:u", CALLS),
    # The trigger returns to the next instruction without a call, which no control flow graph contains.
    "returns": Event("r8c4:u", f"--trigger ret {LOOP}", corrected=False),
    "mispredicted": Event("r1c5:u", f"--trigger branch-mispredict --triggers 1 -c 36 --iterations 320000"),
    "prec-dist": Event("r1c0:u", RETIRED, precise=False),
    "latency": LATENCY,
    "cycles": CYCLES,
    "branch-stack": Event("r20c4:u", f"-b {TAKEN}"),
    "several": SEVERAL,
    "kernel": KERNEL,
}
ICE_LAKE = SANDY_BRIDGE | {
    "not-taken": Event("r10c4:u", f"--trigger branch-not-taken {LOOP}"),
    "mispredicted": Event("r11c5:u", f"--trigger branch-mispredict --triggers 1 -c 36 --iterations 320000"),
    "prec-dist": Event("r100:u", RETIRED, precise=False),
}
# Precise distribution (level 3) takes periods from 128, and samples the event that overflows, one in `period`. The
# kernel (6.1) gives it to general counter 0 alone, on which mem-loads and PREC_DIST cannot be.
SAPPHIRE_RAPIDS = {
    name: replace(event, options=re.sub(r"-c 36 --iterations (\d+)",
                                        lambda found: f"-c 130 --iterations {int(found[1]) * 4}", event.options))
    for name, event in ICE_LAKE.items()}
SAPPHIRE_RAPIDS |= {name: replace(SAPPHIRE_RAPIDS[name], refused=("ppp",))
                    for name in ("latency", "prec-dist", "kernel")}
# Of MEM_INST_RETIRED the kernel's table of PEBS events has only LATENCY_ABOVE_THRESHOLD.
NEHALEM = {
    "loads": Event("r10b:u", f"--trigger load {LOOP}", refused=LEVELS[1:]),
    "stores": Event("r20b:u", f"--trigger store {LOOP}", refused=LEVELS[1:]),
    "conditional": Event("r1c4:u", f"--trigger branch-not-taken {LOOP}"),
    "calls": Event("r2c4:u", CALLS),
    "retired": Event("r1c0:u", RETIRED, precise=False),
    "cycles": CYCLES,
    "branch-stack": Event("r2c4:u", f"-b {CALLS}"),
    "kernel": KERNEL,
}
MILAN = {
    "ibs": Event("ibs_op/cnt_ctl=1/", "--per-cpu --trigger load -c 50000 --iterations 400000"),
    "ibs-calls": Event("ibs_op/cnt_ctl=1/", "--per-cpu --trigger call --triggers 8 -c 20000 --iterations 400000",
                       levels=("p",), precise=False, nops="160"),
    "retired": Event("rc0:u", RETIRED, levels=("none",), precise=False),
    "taken": Event("rc4:u", TAKEN, levels=("none",)),
    "mispredicted": Event("rc3:u", f"--trigger branch-mispredict {LOOP}", levels=("none",)),
}
EVENTS = {"nehalem": NEHALEM, "sandybridge": SANDY_BRIDGE, "haswell": SANDY_BRIDGE, "skylake": SANDY_BRIDGE,
          "icelake": ICE_LAKE, "sapphirerapids": SAPPHIRE_RAPIDS, "milan": MILAN}
FAULTS = {
    "pebs-late-every": (1, 10, 100),
    "pebs-ip-skid": (1, 3, 8),
    "pebs-drop-every": (2, 3, 10),
    "pebs-shadow": (10, 40, 200),
    "pmi-skid": (0, 50, 200),
    "pmi-spread": (1, 2, 64),
    "pebs-pmi-skid": (10, 100, 1000),
}
LONGEST_INSTRUCTION = 15  # bytes
KERNEL_BASE = 1 << 63  # Addresses of x86-64 Linux from here on are the kernel's.


@dataclass
class Job:
    """One boot."""

    cpu: Cpu
    events: dict[str, Event]
    append: str = ""  # to the kernel's command line
    without_pebs: bool = False

    @property
    def name(self) -> str:
        return f"{self.cpu.name} {self.append}".strip()


@dataclass
class Row:
    event: str
    level: str
    samples: int = 0
    differences: int = 0
    expected: str = ""
    seen: str = ""
    wrong: list[str] = field(default_factory=list)  # conclusions


def once(samples: list, repeated: int) -> list:
    """Without the second copies of blocks that perf wrote twice, of so many samples in all."""
    at = 1
    while repeated and at < len(samples):
        length = next((n for n in range(min(at, repeated), 0, -1) if samples[at - n:at] == samples[at:at + n]), 0)
        del samples[at:at + length]
        repeated -= length
        at += not length
    return samples


def events_of(cpu: Cpu) -> dict[str, Event]:
    name = cpu.name.split(",")[0]
    if name in EVENTS:
        return EVENTS[name]
    return MILAN if cpu.qemu.startswith(("EPYC", "Opteron")) else SANDY_BRIDGE


def jobs_of(arguments) -> list[Job]:
    def chosen(cpu: Cpu, names) -> dict[str, Event]:
        known = events_of(cpu)
        unknown = set(names) - set(known)
        if unknown:
            sys.exit(f"{cpu.name} has no event {sorted(unknown)[0]}; expected {', '.join(known)}")
        return {name: known[name] for name in names} if names else known

    if arguments.cpu:
        return [Job(Cpu.of(text), chosen(Cpu.of(text), arguments.event), arguments.append)
                for text in arguments.cpu]
    if arguments.subset == "quick":
        return [Job(Cpu.of("skylake"), chosen(Cpu.of("skylake"), ["loads", "taken"]))]
    loads = {"loads": LOADS}
    if arguments.subset == "few":
        return [Job(Cpu.of(name), chosen(Cpu.of(name), events))
                for name, events in (("skylake", ["loads", "branch-stack"]), ("milan", ["ibs", "ibs-calls"]))]
    if arguments.subset == "part":
        # Continuous integration records the events of "few" with a newer kernel.
        names = {"sandybridge": ["loads", "taken"], "icelake": ["loads", "prec-dist"],
                 "skylake": [name for name in SANDY_BRIDGE if name not in ("loads", "branch-stack")]}
        return [*(Job(Cpu.of(name), chosen(Cpu.of(name), events)) for name, events in names.items()),
                *(Job(Cpu.of(f"skylake,{fault}"), loads)
                  for fault in ("pebs-late-every=10", "pebs-ip-skid=3"))]
    sound = [Job(Cpu.of(name), chosen(Cpu.of(name), arguments.event)) for name in Cpu.names("x86_64")]
    # A long runway for the longest skid of a fault.
    long = {"loads": Event(LOADS.code, f"{LOADS.options} --nops 600")}
    broken = [Job(Cpu.of(f"skylake,{fault}={strength}"), long)
              for fault, strengths in FAULTS.items() for strength in strengths]
    broken += [Job(Cpu.of(f"milan,pebs-late-every={strength}"),
                   {name: MILAN[name] for name in ("ibs", "ibs-calls")})
               for strength in FAULTS["pebs-late-every"]]
    without = [Job(Cpu.of("skylake,pebs-fmt=0"), loads, without_pebs=True),
               Job(Cpu.of("skylake"), loads, "clearcpuid=dts", without_pebs=True)]
    return sound + broken + without


class Session:
    """The recordings of one boot."""

    def __init__(self, job: Job, skidscan: Path, directory: Path, options, cached: bool, suite=""):
        self.job, self.skidscan, self.directory = job, skidscan, directory
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        commands = ["cat /sys/bus/event_source/devices/cpu/caps/max_precise >/results/max_precise || true",
                    "cat /sys/bus/event_source/devices/cpu/caps/branches >/results/branches || true"]
        for name, event in job.events.items():
            levels = [] if event.levels == ("P",) else ["-p", ",".join(event.levels)]
            nops = ["--nops", event.nops] if event.nops and "--nops" not in event.options else []
            command = ["skidscan", "record", "-q", "-e", event.code, *levels, *nops, *event.options.split(),
                       "-o", f"/results/{name}.run"]
            # Where every level is refused, as some rows expect, the exit status is 1.
            commands.append(f"{shlex.join(command)} || true")
        # One line each.
        commands.append("cd /results; for f in *.run/*.data; do [ ! -f $f ] || "
                        "echo $f $(perf script -F time -i $f 2>/dev/null | wc -l); done >listed")
        commands.append("/usr/bin/perf record -e dummy -o /tmp/end true")  # ends the log of the last recording
        self.results = boot(job.cpu, directory, preparation(skidscan) + "\n".join(commands) + "\n",
                            [skidscan, *compiler()], append=job.append, options=options,
                            cached=cached, suite=suite)
        self.truths = truths(directory)
        self.listed = {file: int(count) for file, count in
                       (line.split() for line in (self.results / "listed").read_text().splitlines())}

    def run_skidscan(self, *arguments) -> str:
        done = subprocess.run([self.skidscan, *map(str, arguments)], capture_output=True, text=True,
                              check=False)
        if done.returncode not in (0, 2):
            sys.exit(f"skidscan {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def json(self, *arguments) -> dict:
        return json.loads(self.run_skidscan(*arguments, "--format", "json"))

    def samples(self, path) -> list[tuple[int, int, bool]]:
        """Time, address, EXACT_IP of each, in the order of the buffer."""
        lines = self.run_skidscan("samples", path, "--columns", "time,ip,exact").splitlines()[1:]
        return [(int(t), int(ip, 16), exact == "1") for t, ip, exact in (each.split("\t") for each in lines)]

    def number(self, name: str) -> int:
        text = (self.results / name).read_text().strip()
        return int(text) if text else 0

    def refused(self, name: str, event: Event, level: str) -> bool:
        """Must the kernel refuse this?"""
        if event.code.startswith("ibs_op/"):
            return False
        highest = 0 if self.job.without_pebs else self.number("max_precise")
        if level in event.refused or level != "P" and LEVELS.index(level) > highest:
            return True
        return "-b" in event.options.split() and not self.number("branches")

    def rows(self):
        for name, event in self.job.events.items():
            run = self.results / f"{name}.run"
            report, audit = {}, {}
            if list(run.glob("*.data")):
                report = {Path(each["file"]).name: each for each in self.json("report", run)["measurements"]}
                audit = {Path(each["file"]).name: each["events"][0]
                         for each in self.json("audit", run)["recordings"]}
            for level in event.levels:
                files = sorted(run.glob(f"*.{level}.data"))
                row = Row(name, level)
                if self.refused(name, event, level):
                    row.expected, row.seen = "refused", "recorded" if files else "refused"
                    if files:
                        row.wrong.append("the kernel had to refuse it")
                elif not files:
                    row.expected, row.seen = "recorded", "refused"
                    row.wrong.append("no recording")
                else:
                    self.check(row, files[0], event, report[files[0].name], audit[files[0].name], run)
                yield row

    def check(self, row: Row, path: Path, event: Event, report: dict, audit: dict, run: Path):
        truth = self.truths.get(path, Truth())
        is_ibs = event.code.startswith("ibs_op/")
        repeated = self.json("inspect", path)["recordings"][0]["repeated"]
        all_samples = self.samples(path)
        samples = once(list(all_samples), repeated["samples"] if repeated else 0)
        if is_ibs:  # each sample has its own time, so that a single one that perf wrote twice is known, too
            samples = [sample for before, sample in zip([None, *samples], samples) if sample != before]
        user_only = "u" in re.split("[:/]", event.code)[-1]
        level = report["precise"]["recorded"]
        exact = bool(truth.records)
        wanted = truth.records if exact else truth.interrupts
        key = "eventing" if exact and (level != 1 or is_ibs) else "ip"
        # Format 1 has no eventing IP. The kernel finds the cause by the LBR, or reports the IP without EXACT_IP.
        # It takes the instruction before the IP, also if that is an iteration of a REP, which is its own cause.
        fixed = ["eventing" if is_exact else "ip" for _, _, is_exact in samples]
        old = self.job.cpu.qemu.startswith(("Nehalem", "Westmere", "SandyBridge", "IvyBridge"))
        keys = fixed if old and key == "eventing" else [key] * len(samples)
        row.samples = len(samples)
        repeats = len(all_samples) - len(samples)
        row.differences = abs(len(samples) - len(wanted)) + sum(
            ip != record[key] and not (keys is fixed and record["ip"] == record["cause"] and
                                       0 < record["ip"] - ip <= LONGEST_INSTRUCTION)
            and not (ip == 0 and user_only and record[key] >= KERNEL_BASE)
            for (_, ip, _), record, key in zip(samples, wanted, keys))
        row.differences += abs(len(all_samples) - self.listed[path.relative_to(self.results).as_posix()])
        if keys.count("ip") and key == "eventing":
            row.seen = f", {keys.count('ip')} not found by the LBR"
        if repeated:
            row.seen += f", {repeated['samples']} written twice by perf"
        if not samples:
            row.wrong.append("no samples")
        triggers = {int(each["address"], 16) for each in report["triggers"] or [report["trigger"]]}
        of_trigger = [record for record in wanted if exact and record["cause"] in triggers]
        others = len(wanted) - len(of_trigger)
        displaced = sum(record["eventing"] != record["cause"] for record in of_trigger)
        if exact and key == "ip":
            displaced = len(of_trigger) if self.job.cpu.fault("pebs-ip-skid") else 0

        # The verdict. The constraint of level 1 is the instruction executed next, of the others the cause.
        verdict = report["contract"]["verdict"]
        row.expected = "not judged"
        if exact and event.precise:
            row.expected = verdict_of(len(of_trigger) - displaced, len(of_trigger))
        row.seen = verdict + row.seen
        if verdict != row.expected:
            row.wrong.append(f"verdict: {report['contract'].get('evidence', '')}")

        # The report's samples at the trigger.
        hits = sum(ip in triggers for _, ip, _ in all_samples)
        if report["samples"]["hit"] != hits:
            row.wrong.append(f"report has {report['samples']['hit']} hits of {hits}")
        # The skid: instructions from the one that overflowed the counter to the interrupted address. Where that was
        # not a trigger (a load of the timer's handler, say), the report counts from the last trigger before the address.
        if level == 0 and event.precise and not is_ibs:
            logged = Counter(each["insn"] - each["ovf_insn"] + 1 for each in wanted if each["cause"] in triggers)
            shown = Counter({each["lo"]: each["count"] for each in report["histogram"]["bins"] if each["count"]})
            unshown = sum(report["samples"][name] for name in ("kernel", "other_user", "other_trigger"))
            elsewhere = len(wanted) - logged.total()
            if (shown - logged).total() > elsewhere + repeats or (logged - shown).total() > unshown:
                row.wrong.append(f"skids of the report {dict(shown - logged)}, of the log {dict(logged - shown)}")
        # What cannot be: a NOP of the runway has no event.
        if audit["judged"] and event.precise and not is_ibs:
            if not displaced <= audit["impossible"] <= displaced + others + repeats:
                row.wrong.append(f"audit: {audit['impossible']} impossible samples of {displaced}")
        if is_ibs:
            self.check_ibs(row, all_samples, wanted, displaced, audit["ibs_record"])
        branches = audit["branch_records"]
        if branches and branches.get("impossible"):
            row.wrong.append(f"audit: {branches['impossible']} impossible branch records")
        if exact and level == 1 and event.precise and row.event != "several" and not is_ibs:
            self.correct(row, path, event, wanted, run, repeats)

    def check_ibs(self, row: Row, samples, wanted, displaced: int, found: dict):
        """A record is of the operation that was tagged, also where its RIP is of the next instruction, which may be
        able to do the same. The trigger's next instruction is a NOP."""
        of_user = sum(exact and ip < KERNEL_BASE for _, ip, exact in samples)
        late = sum(record["eventing"] != record["cause"] for record in wanted) + len(samples) - row.samples
        row.seen += f", {found['contradicted']} of {found['judged']} records contradicted"
        if found["samples"] != of_user or found["without"]:
            row.wrong.append(f"audit: {found['samples']} IBS records of {of_user}, {found['without']} not read")
        if not found["judged"] or not displaced <= found["contradicted"] <= late:
            row.wrong.append(f"audit: {found['contradicted']} of {found['judged']} IBS records contradicted, of "
                             f"{displaced} to {late}")

    def correct(self, row: Row, path: Path, event: Event, wanted, run: Path, repeats: int):
        """Each sample of level 1 back at its cause, by the skid that the run measured; perf wrote so many twice."""
        corrected = self.directory / "corrected.data"
        target, = run.glob("target.*")
        command = ["correct", path, "--skid", run, "--binary", target]
        found, = self.json(*command)["recordings"][0]["events"]
        row.seen += f", {found['verdict']}"
        if found["verdict"] == "refused":
            if event.corrected and row.expected == "kept":
                row.wrong.append(f"correct: {found['reason']}")
            return
        self.run_skidscan(*command, "-o", corrected)
        left = found["samples"] - found["moved"] - found["in_place"]
        away = sum(ip != record["cause"] for (_, ip, _), record in zip(once(self.samples(corrected), repeats), wanted))
        if away > left:
            row.wrong.append(f"correct: {away - left} samples moved to an instruction that is not their cause")
        row.seen += f" {found['samples'] - away}"


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0],
                                     formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog=f"CPUs: {', '.join(Cpu.names('x86_64'))}")
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_argument("options", nargs="*", help="of QEMU, after --: -- -smp 2")
    parser.add_argument("--subset", choices=("quick", "few", "part", "all"), default="all",
                        help="quick: one CPU, within a minute; few: PEBS, LBR and IBS, within two; part: what few "
                        "has not, within five; all (default)")
    parser.add_argument("--cpu", action="append", default=[], metavar="NAME[,PROPERTY=VALUE...]",
                        help="this CPU or any of QEMU's models, with properties; may be repeated")
    parser.add_argument("--event", action="append", default=[], metavar="NAME",
                        help="only this event of --cpu; may be repeated")
    parser.add_argument("--append", default="", metavar="WORDS", help="to the kernel's command line")
    parser.add_suite()
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    skidscan, directory = arguments.skidscan.resolve(), arguments.directory.resolve()
    for text in arguments.cpu:
        Cpu.of(text).require()
    jobs, began = jobs_of(arguments), time.monotonic()
    total, wrong = Row("", ""), 0
    rows = 0
    form = "{:32} {:13} {:5} {:>7} {:>11}  {:10} {}"
    print(form.format("CPU", "event", "level", "samples", "differences", "expected", "seen"))
    for number, job in enumerate(jobs):
        session = Session(job, skidscan, directory / str(number), arguments.options, arguments.cached,
                          arguments.suite)
        for row in session.rows():
            print(form.format(job.name, row.event, row.level, row.samples, row.differences, row.expected,
                              row.seen), flush=True)
            for each in row.wrong:
                print(f"    WRONG: {each}", flush=True)
            rows += 1
            wrong += bool(row.wrong)
            total.samples += row.samples
            total.differences += row.differences
    print(f"{rows} rows, {total.samples} samples, {total.differences} differences, {wrong} rows with a wrong "
          f"conclusion, {time.monotonic() - began:.0f} s")
    return 1 if wrong or total.differences else 0


if __name__ == "__main__":
    sys.exit(main())
