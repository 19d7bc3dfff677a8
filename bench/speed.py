#!/usr/bin/env python3
"""speed.py BUILD_DIRECTORY [--rounds N] [--only KIND,...] [--directory DIR] [--scale X] [--with-perf]

Speed and memory of `skidscan report` on long recordings, measured in paired rounds: each time is
divided by that of bench/bare_walk on the same file in the same round, and the median over the
rounds is printed beside its target. bench/README.md explains the lines.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

# Samples of each kind. uniform: 32 bytes each; many: 40; system: 48; mixed: 296 on average; branches: 424.
SAMPLES = {"uniform": 21_000_000, "many": 20_000_000, "system": 13_000_000,
           "mixed": 1_140_000, "branches": 800_000}
KINDS = ["uniform", "many", "system", "mixed", "branches", "zstd", "empty"]
BENCH = pathlib.Path(__file__).resolve().parent


class Run:
    """One run of a program (or of a pipeline's shell), without its standard output."""

    def __init__(self, command, keep_output=False):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            begin = time.monotonic()
            process = subprocess.Popen(command, stdout=out if keep_output else subprocess.DEVNULL,
                                       stderr=err)
            _, status, usage = os.wait4(process.pid, 0)
            self.seconds = time.monotonic() - begin
            self.peak = usage.ru_maxrss / 1024  # MiB
            process.returncode = os.waitstatus_to_exitcode(status)
            self.status = process.returncode
            out.seek(0)
            self.out = out.read()
            err.seek(0)
            self.err = err.read().decode(errors="replace").strip()

    def or_exit(self, expected=0):
        if self.status != expected:
            sys.exit(f"exit status {self.status}: {self.err}")
        return self


def call(*command):
    Run([str(part) for part in command]).or_exit()


def record_template(directory):
    """A short recording of the classic program, at the highest clock rate that the kernel permits."""
    program = directory / "classic"
    source = BENCH.parent / "tests" / "support" / "classic.c"
    template = directory / "template.data"
    if not template.exists():
        call(os.environ.get("CC", "cc"), "-O1", "-o", program, source)
        call("perf", "record", "-q", "-N", "-m", "16M", "-e", "cpu-clock", "-c", 10000,
             "-o", template, "--", program)
    return template, program


def record_compile(directory):
    """A recording of all processes while a compiler and its driver are run over and over."""
    template = directory / "template-system.data"
    if not template.exists():
        source = BENCH.parent / "tests" / "support" / "classic.c"
        compiler = os.environ.get("CC", "cc")
        call("perf", "record", "-q", "-N", "-a", "-m", "16M", "-e", "cpu-clock", "-c", 100_000,
             "-o", template, "--", "sh", "-c",
             f'for i in $(seq 60); do {compiler} -O2 -pipe -o "$2" "$1"; done', "sh", source,
             directory / "compiled")
    return template


def make_recordings(build, directory, kinds, scale):
    """Makes missing recordings; returns the number of samples of each kind."""
    make = build / "bench" / "make_recordings"
    counts = {kind: int(count * scale) for kind, count in SAMPLES.items()}
    counts["zstd"], counts["empty"] = counts["uniform"], 0
    template, program = record_template(directory)
    for kind in ["uniform", *kinds]:
        final = directory / f"{kind}.data"
        if final.exists():
            continue
        print(f"making {final.name} ...", file=sys.stderr)
        new = directory / "new"
        if kind == "zstd":
            call(make, "zstd", directory / "uniform.data", new, directory / "stream.zst")
        elif kind == "empty":
            # A clock of ten seconds around a program of milliseconds.
            call("perf", "record", "-q", "-N", "-e", "cpu-clock", "-c", 10_000_000_000,
                 "-o", new, "--", "true")
        elif kind == "system":
            call(make, kind, record_compile(directory), counts[kind], new)
        else:
            extra = [program] if kind == "many" else []
            call(make, kind, template, counts[kind], new, *extra)
        new.rename(final)
    os.sync()
    return counts


def report_command(build, directory, kind):
    command = [str(build / "skidscan"), "report", str(directory / f"{kind}.data")]
    if kind not in ("empty", "system"):
        command += ["--hit", "memreader", "--runway", "noprunway"]
    return command + ["--format", "json"]


def expected_status(kind):
    """The exit status of `report`: 1 where there is no sample."""
    return 1 if kind == "empty" else 0


def warm_and_check(build, directory, kind, count):
    """Reads the file into the page cache; returns why it cannot be measured, or None."""
    for name in [f"{kind}.data", *(["stream.zst"] if kind == "zstd" else [])]:
        with open(directory / name, "rb") as file:
            while file.read(1 << 20):
                pass
    first = Run(report_command(build, directory, kind), keep_output=True)
    if first.status != expected_status(kind):
        return f"exit status {first.status}: {first.err.splitlines()[-1] if first.err else ''}"
    read = sum(m["samples"]["read"] for m in json.loads(first.out)["measurements"])
    return None if read == count else f"read {read} samples of {count}"


class Measured:
    """The rounds of one kind: runs of skidscan, and the yardstick of each in seconds."""

    def __init__(self):
        self.runs, self.yardsticks, self.bytes = [], [], 1

    def ratio(self):
        return statistics.median(r.seconds / y for r, y in zip(self.runs, self.yardsticks))

    def seconds(self):
        return statistics.median(run.seconds for run in self.runs)

    def peak(self):
        return max(run.peak for run in self.runs)


def measure(build, directory, kinds, rounds):
    walk = str(build / "bench" / "bare_walk")
    measured = {kind: Measured() for kind in kinds}
    for _ in range(rounds):
        for kind in kinds:
            file = "uniform" if kind == "zstd" else kind
            yardstick = Run([walk, str(directory / f"{file}.data")]).or_exit().seconds
            if kind == "zstd":
                yardstick += Run(["zstd", "-qdc", str(directory / "stream.zst")]).or_exit().seconds
            measured[kind].yardsticks.append(yardstick)
            measured[kind].runs.append(Run(report_command(build, directory, kind)).or_exit(expected_status(kind)))
    for kind in kinds:
        measured[kind].bytes = (directory / f"{kind}.data").stat().st_size
    return measured


def print_line(name, value, target, peak, peak_target, floor):
    """A peak at the floor is that of this script, of which the program is a fork before its exec."""
    memory = f"{'<= ' if peak <= floor else ''}{peak:.1f} MiB"
    print(f"{name:34} {value:>12} {target:>12}   {memory:>14} {peak_target:>12}")


def print_results(measured, floor):
    print(f"{'':34} {'measured':>12} {'target':>12}   {'peak':>14} {'target':>12}")
    targets = {"uniform": ("<= 2.0 x", "< 32 MiB"), "many": ("<= 2.3 x", "<= 64 MiB"),
               "system": ("<= 6.0 x", "<= 48 MiB"),
               "zstd": ("<= 1.3 x", "")}
    for kind, result in measured.items():
        target, peak_target = targets.get(kind, ("", ""))
        if kind == "empty":
            print_line("empty: time", f"{result.seconds() * 1000:.1f} ms", "< 15 ms",
                       result.peak(), peak_target, floor)
            continue
        walk = "bare walk + zstd -dc" if kind == "zstd" else "bare walk"
        print_line(f"{kind} / {walk}", f"{result.ratio():.2f} x", target, result.peak(),
                   peak_target, floor)
        if kind in ("mixed", "branches") and "uniform" in measured:
            uniform = measured["uniform"]
            per_byte = statistics.median(
                (run.seconds / result.bytes) / (other.seconds / uniform.bytes)
                for run, other in zip(result.runs, uniform.runs))
            print_line(f"{kind} / uniform, per byte", f"{per_byte:.2f} x", "<= 1.0 x",
                       result.peak(), "", floor)
    print()
    for kind, result in measured.items():
        walk = statistics.median(result.yardsticks)
        print(f"{kind}: {result.bytes / 2**20:.0f} MiB in {result.seconds():.3f} s; "
              f"yardstick {walk:.3f} s")


def compare_with_perf(build, directory, kinds, rounds):
    uniform, system = (str(directory / f"{kind}.data") for kind in ("uniform", "system"))
    count = "/noprunway/ { skid++ } /memreader/ { hit++ } END { print hit, skid }"
    report = report_command(build, directory, "uniform")
    comparisons = {  # name: command of skidscan, command of perf
        "uniform: perf report --stdio": (report, ["perf", "report", "--stdio", "-i", uniform]),
        "uniform: perf script | awk": (
            report, ["sh", "-c", 'perf script -F ip,sym -i "$1" | awk "$2"', "sh", uniform, count]),
    }
    if "system" in kinds:
        comparisons["system: samples, perf script"] = (
            [str(build / "skidscan"), "samples", system,
             "--columns", "time,pid,event,ip,sym,symoff,dso"],
            ["perf", "script", "-i", system, "-F", "pid,time,event,ip,sym,symoff,dso"])
    print("\ncompared with perf (its time, and the peak of its largest process)")
    for name, (our_command, their_command) in comparisons.items():
        ratios, peaks, seconds = [], [], []
        for _ in range(rounds):
            ours = Run(our_command).or_exit()
            theirs = Run(their_command).or_exit()
            ratios.append(theirs.seconds / ours.seconds)
            seconds.append(theirs.seconds)
            peaks.append(theirs.peak)
        print(f"{name:34} {statistics.median(ratios):10.1f} x   {statistics.median(seconds):8.1f} s"
              f"   {max(peaks):8.1f} MiB")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path, help="a configured build directory")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--only", default=",".join(KINDS), help="kinds, separated by commas")
    parser.add_argument("--directory", type=pathlib.Path,
                        help="keep the recordings there, and use existing ones")
    parser.add_argument("--scale", type=float, default=1.0, help="share of the samples to make")
    parser.add_argument("--with-perf", action="store_true", help="also perf report and perf script")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    kinds = arguments.only.split(",")
    if unknown := [kind for kind in kinds if kind not in KINDS]:
        parser.error(f"--only: {unknown[0]} is unknown; expected {', '.join(KINDS)}")
    for program in ["perf", "zstd"]:
        if not shutil.which(program):
            sys.exit(f"{program}: not found; install the package "
                     f"{'linux-perf' if program == 'perf' else program}")
    call("cmake", "--build", build, "--target", "bench_programs")

    with tempfile.TemporaryDirectory(prefix="skidscan-bench-") as temporary:
        directory = (arguments.directory or pathlib.Path(temporary)).resolve()
        directory.mkdir(parents=True, exist_ok=True)
        counts = make_recordings(build, directory, kinds, arguments.scale)
        sound = []
        for kind in kinds:
            problem = warm_and_check(build, directory, kind, counts[kind])
            if problem is None:
                sound.append(kind)
            else:
                print(f"{kind}: not measured: {problem}")
        measured = measure(build, directory, sound, arguments.rounds)
        floor = Run(["true"]).peak
        print(f"medians of {arguments.rounds} paired rounds; peak: the largest of all rounds\n")
        print_results(measured, floor)
        if arguments.with_perf:
            compare_with_perf(build, directory, sound, arguments.rounds)


main()
