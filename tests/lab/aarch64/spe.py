#!/usr/bin/env python3
"""Records SPE on an emulated Neoverse N1, compares each record with the emulator's truth log, then the
conclusions of skidscan (report, audit) with what follows from the log. docs/lab.md describes it.

A difference is a sample that is missing, too many, or differs from the log: in its address and mode, the
operation, its events, data address, branch target, latencies, or the time since the first sample. Also a
difference is a number of samples that 'perf script' of the guest's perf does not list.
exit status: 0 no difference and all conclusions right, 1 otherwise, 77 skipped, 64 wrong usage
"""

import json
import shlex
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from machine import SKIPPED, Cpu, Parser, Truth, boot, tool, truths  # noqa: E402
from verdict import verdict_of  # noqa: E402

CPU = "neoverse-n1"
TICK = 16  # ns of the emulated system counter
EVENTS = ("EXCEPTION-GEN", "RETIRED", "L1D-ACCESS", "L1D-REFILL", "TLB-ACCESS", "TLB-REFILL", "NOT-TAKEN",
          "MISPRED", "LLC-ACCESS", "LLC-REFILL")
LOGGED = ("cause", "eventing", "ip", "el", "op", "events", "dla", "address", "lat", "issue", "xlat")
COLUMNS = "time,mode,ip,addr,weight,spe_op,spe_events,spe_target,spe_issue,spe_xlat"


@dataclass(frozen=True)
class Event:
    terms: str  # of arm_spe_0/.../
    period: int
    program: str  # key of programs()
    modifiers: str = "u"


# Jitter keeps the samples of a loop from being those of a few of its instructions.
ROWS = {
    "loads": Event("load_filter=1", 256, "load"),
    "stores": Event("store_filter=1,pa_enable=1", 256, "store"),
    "branches": Event("branch_filter=1", 512, "operations"),
    "accesses": Event("load_filter=1,store_filter=1,pct_enable=1", 512, "operations"),
    "operations": Event("", 1024, "operations"),
    "few": Event("", 57344, "operations"),
    "kernel": Event("", 4096, "operations", ""),
    "latency": Event("load_filter=1,store_filter=1,min_latency=10", 512, "gzip"),
    "refills": Event("event_filter=0x8", 512, "gzip"),
    "mispredicted": Event("event_filter=0x80", 512, "gzip"),
    "sort": Event("", 2048, "sort"),
}
# Properties of the CPU, and the rows that are recorded with them.
CPUS = {
    CPU: list(ROWS),
    f"{CPU},spe-late-every=1": ["loads", "operations"],
    f"{CPU},spe-late-every=10": ["loads", "stores", "branches", "operations", "sort"],
    f"{CPU},spe-late-every=100": ["loads", "operations"],
    f"{CPU},spe-address-every=1": ["loads", "accesses"],
    f"{CPU},spe-address-every=10": ["loads", "accesses"],
    f"{CPU},spe-in-flight=2000": ["loads", "operations"],
}
QUICK = {CPU: ["loads", "operations"], f"{CPU},spe-late-every=10": ["loads", "operations"]}


def programs(skidscan: Path, directory: Path) -> dict[str, list]:
    """Command lines by name; their programs are in the directory, except busybox."""
    compiler = shutil.which("aarch64-linux-gnu-gcc")
    if not compiler:
        print("skipped: aarch64-linux-gnu-gcc is missing; scripts/install-dependencies.sh package installs it")
        sys.exit(SKIPPED)
    for kind in ("load", "store"):
        subprocess.run([skidscan, "target", "-q", "--arch", "aarch64", "--trigger", kind, "--nops", "20",
                        "--lead-in", "20", "-o", directory / kind], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([compiler, "-nostdlib", "-static", "-Wl,--build-id,-z,max-page-size=4096", "-o",
                    directory / "operations", HERE / "operations.S"], check=True)
    busybox = Path(tool("guest/packages.sh", "aarch64")) / "guest/contents/usr/bin/busybox"
    return {
        "load": [directory / "load", "--iterations", "1000000"],
        "store": [directory / "store", "--iterations", "1000000"],
        "operations": [directory / "operations"],
        "gzip": [busybox, "gzip", "-c", busybox],
        "sort": [busybox, "sh", "-c", f"'{busybox}' strings '{busybox}' | '{busybox}' sort"],
    }


def operation(code: int) -> str:
    """perf's words for class and payload of an operation packet."""
    kind, bits = code >> 8, code & 0xff
    if kind == 0:
        return "OTHER COND-SELECT" if bits & 1 else "OTHER INSN-OTHER"
    if kind == 2:
        return "B" + " COND" * (bits & 1) + " IND" * (bits >> 1 & 1)
    words = "ST" if bits & 1 else "LD"
    if bits & 2:
        return words + "".join(f" {word}" for bit, word in ((4, "AT"), (8, "EXCL"), (16, "AR")) if bits & bit)
    return words + {0: " GP-REG", 4: " SIMD-FP", 16: " UNSPEC-REG"}[bits & ~1]


def expected(record: dict, first: int) -> list[str]:
    """The columns of the sample that a line of the log requires."""
    kind = record["op"] >> 8
    events = "|".join(word for bit, word in enumerate(EVENTS) if record["events"] >> bit & 1)
    jumps = kind == 2 and not record["events"] & 1 << EVENTS.index("NOT-TAKEN")
    return [str((record["ts"] - first) * TICK), "kernel" if record["el"] else "user", f"{record['eventing']:x}",
            f"{record['address']:x}", str(record["lat"]), operation(record["op"]), events,
            f"{record['ip']:x}" if jumps else "", str(record["issue"]), str(record["xlat"]) if kind == 1 else ""]


class Session:
    """The recordings of one boot."""

    def __init__(self, cpu: str, rows: list[str], skidscan: Path, directory: Path, cached: bool, suite: str):
        self.cpu, self.skidscan = Cpu.of(cpu), skidscan
        shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(parents=True)
        commands = programs(skidscan, directory)
        lines = []
        for row in rows:
            event = ROWS[row]
            terms = ",".join(filter(None, [event.terms, "ts_enable=1,jitter=1"]))
            lines.append(shlex.join(["/usr/bin/perf", "record", "-q", "--no-bpf-event", "-e",
                                     f"arm_spe_0/{terms}/{event.modifiers}", "-c", str(event.period), "-o",
                                     f"/results/{row}.data", "--", *map(str, commands[event.program])]) +
                         " >/dev/null")
        lines.append("cd /results; for f in *.data; do echo $f "
                     "$(perf script --itrace=i1i -F ip -i $f 2>/dev/null | wc -l); done >listed")
        lines.append("/usr/bin/perf record -e dummy -o /tmp/end true")  # ends the log of the last recording
        files = [directory / name for name in ("load", "store", "operations")]
        files.append(commands["gzip"][0])
        self.results = boot(self.cpu, directory, "\n".join(lines) + "\n", files, cached=cached, suite=suite)
        self.truths = truths(directory)
        (directory / "truth.log").unlink()
        self.listed = dict(line.split() for line in (self.results / "listed").read_text().splitlines())

    def run(self, *arguments) -> str:
        done = subprocess.run([self.skidscan, *map(str, arguments)], capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2):
            sys.exit(f"skidscan {' '.join(map(str, arguments))}: {done.stderr.strip()}")
        return done.stdout

    def check(self, row: str) -> tuple[int, int, str, list[str]]:
        """Samples, differences, what was seen, wrong conclusions."""
        path, event = self.results / f"{row}.data", ROWS[row]
        truth = self.truths.get(path, Truth())
        samples = [line.split("\t") for line in self.run("samples", path, "--columns", COLUMNS).splitlines()[1:]]
        if not samples or not truth.records:
            return len(samples), len(truth.records), "", ["no samples"]
        path.with_suffix(".tsv").write_text("".join(
            "\t".join(map(hex, (record[key] for key in LOGGED))) + "\n" for record in truth.records))
        began, first = int(samples[0][0]), truth.records[0]["ts"]
        differences = abs(len(samples) - len(truth.records)) + sum(
            [str(int(sample[0]) - began), *sample[1:]] != expected(record, first)
            for sample, record in zip(samples, truth.records))
        differences += abs(len(samples) - int(self.listed[path.name]))
        wrong = []
        if bool(truth.lost) != bool(self.cpu.fault("spe-in-flight")):
            wrong.append(f"{truth.lost} operations have no record")
        late = [record["eventing"] != record["cause"] for record in truth.records]
        seen, displaced = "", sum(late) // 3
        if event.program in ("load", "store"):
            verdict, displaced = self.check_report(path, truth, wrong)
            seen = f", {verdict}"
        seen = self.check_audit(path, event, truth, displaced, wrong) + seen
        return len(samples), differences, f"{sum(late)} late, {seen}", wrong

    def check_audit(self, path: Path, event: Event, truth: Truth, displaced: int, wrong: list[str]) -> str:
        """A record is of the operation that was sampled. The instruction to which a late one moved may be able to do
        the same; at least `displaced` are not. Of wrong data addresses, those of literals are known."""
        audit = json.loads(self.run("audit", path, "--format", "json"))
        found = audit["recordings"][0]["events"][0]["spe_record"]
        of_user = [record for record in truth.records if not record["el"]]
        late = sum(record["eventing"] != record["cause"] for record in of_user)
        moved = sum(record["address"] != record["dla"] for record in of_user)
        if found["samples"] != len(of_user) or found["without"] or not found["judged"]:
            wrong.append(f"audit: {found['samples']} SPE records of {len(of_user)}, {found['judged']} judged")
        literals = moved if event.program == "operations" else 0
        if not displaced <= found["contradicted"] <= late + literals or literals and not found["contradicted"]:
            wrong.append(f"audit: {found['contradicted']} of {found['judged']} SPE records contradicted, of "
                         f"{displaced} to {late + literals}")
        return f"{found['contradicted']} of {found['judged']} records contradicted"

    def check_report(self, path: Path, truth: Truth, wrong: list[str]) -> tuple[str, int]:
        """Samples with an address in the trigger's data have to be at the trigger. Returns the verdict, and how many
        samples of the trigger are at the NOP that follows it."""
        found = json.loads(self.run("report", path, "--format", "json"))["measurements"][0]
        trigger = int(found["trigger"]["address"], 16)
        own = [record for record in truth.records if record["cause"] == trigger]
        judged = [record for record in own if record["address"] == record["dla"]]
        right = sum(record["eventing"] == trigger for record in judged)
        verdict = found["contract"]["verdict"]
        if verdict != verdict_of(right, len(judged)):
            wrong.append(f"verdict: {verdict}, {right} of {len(judged)} at the trigger; "
                         f"{found['contract'].get('evidence', '')}")
        hits = sum(record["eventing"] == trigger for record in truth.records)
        if found["samples"]["hit"] != hits:
            wrong.append(f"report has {found['samples']['hit']} hits of {hits}")
        return verdict, sum(record["eventing"] != trigger for record in own)


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_argument("--subset", choices=("quick", "all"), default="all",
                        help="quick: sound and late, within a minute; all (default)")
    parser.add_argument("--cpu", metavar="CPU[,PROPERTY=VALUE...]", help=f"this one, such as {CPU},spe-late-every=3")
    parser.add_argument("--event", action="append", default=[], choices=list(ROWS), help="of --cpu; may be repeated")
    parser.add_suite()
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    skidscan, directory = arguments.skidscan.resolve(), arguments.directory.resolve()
    cpus = QUICK if arguments.subset == "quick" else CPUS
    if arguments.cpu:
        cpus = {arguments.cpu: arguments.event or list(ROWS)}
    began = time.monotonic()
    totals = [0, 0, 0, 0]  # rows, samples, differences, rows with a wrong conclusion
    form = "{:32} {:13} {:>7} {:>11}  {}"
    print(form.format("CPU", "event", "samples", "differences", "seen"))
    for number, (cpu, rows) in enumerate(cpus.items()):
        session = Session(cpu, rows, skidscan, directory / str(number), arguments.cached, arguments.suite)
        for row in rows:
            samples, differences, seen, wrong = session.check(row)
            print(form.format(cpu, row, samples, differences, seen), flush=True)
            for each in wrong:
                print(f"    WRONG: {each}", flush=True)
            totals = [total + more for total, more in zip(totals, (1, samples, differences, bool(wrong)))]
    print(f"{totals[0]} rows, {totals[1]} samples, {totals[2]} differences, {totals[3]} rows with a wrong conclusion, "
          f"{time.monotonic() - began:.0f} s")
    return 1 if totals[2] or totals[3] else 0


if __name__ == "__main__":
    sys.exit(main())
