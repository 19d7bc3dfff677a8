#!/usr/bin/env python3
"""Time and memory of compare, report and merge against the number of runs.

usage: bench/many_runs.py BUILD [--runs 125,250,500,1000] [--rounds N] [--directory DIR]

Makes synthetic runs (skidscan synth --all-levels, with different seeds), and measures whole processes: user
and system time and peak memory as counted by the kernel (wait4). Prints the time per run relative to
that of the smallest number of runs.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

MODELS = ("pebs-sound", "vm-broken", "no-pebs", "pebs-shadow")


def usage_of(command, environment=None):
    """(user + system seconds, wall seconds, peak MiB) of a command; its output is dropped."""
    import time

    begin = time.monotonic()
    with open(os.devnull, "wb") as null:
        child = subprocess.Popen(command, stdout=null, stderr=null, env=environment)
        _, status, usage = os.wait4(child.pid, 0)
    wall = time.monotonic() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{command[:3]}…: exit status {child.returncode}")
    return usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024


def make_runs(skidscan, directory, count):
    """Runs of several models, so that sides differ; existing ones are used again."""
    runs = []
    for number in range(count):
        run = directory / f"node{number:04}.run"
        runs.append(str(run))
        if run.exists():
            continue
        model = MODELS[number % len(MODELS)]
        command = [skidscan, "synth", "--all-levels", "--like", model, "--seed", str(number + 1)]
        command += ["-o", str(run)]
        if number >= len(MODELS):
            # Use the target of the model's first run; building it takes most of the time.
            command += ["--target", str(*pathlib.Path(runs[number % len(MODELS)]).glob("target.*"))]
        subprocess.run(
            command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return runs


def make_reports(skidscan, runs):
    reports = []
    for run in runs:
        report = run[: -len(".run")] + ".json"
        reports.append(report)
        if os.path.exists(report):
            continue
        with open(report + ".part", "wb") as out:
            subprocess.run([skidscan, "report", "--format", "json", run], check=True, stdout=out)
        os.rename(report + ".part", report)
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--runs", default="125,250,500,1000")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--directory", type=pathlib.Path)
    options = parser.parse_args()
    skidscan = str((options.build / "skidscan").resolve())
    sizes = sorted(int(size) for size in options.runs.split(","))
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.directory or pathlib.Path(temporary)
        directory.mkdir(parents=True, exist_ok=True)
        runs = make_runs(skidscan, directory, sizes[-1])
        commands = {
            "compare of runs": ["compare"],
            "compare, by machine": ["compare", "--by", "machine"],
            "compare, JSON": ["compare", "--format", "json"],
            "compare, CSV": ["compare", "--format", "csv"],
            "report, JSON": ["report", "--format", "json"],
            "report, text": ["report"],
            "merge --as-repeats": ["merge", "--as-repeats"],
            "compare of reports": ["compare"],
        }
        print(f"{'':20}  {'runs':>5}  {'s, user+sys':>11}  {'wall':>7}  {'MiB':>6}"
              f"  {'time / run':>10}  {'MiB / run':>9}")
        for name, command in commands.items():
            inputs = make_reports(skidscan, runs) if name == "compare of reports" else runs
            first = None
            for size in sizes:
                rounds = [usage_of([skidscan] + command + inputs[:size])
                          for _ in range(options.rounds)]
                cpu, wall, memory = (statistics.median(column) for column in zip(*rounds))
                first = first or (cpu / size, memory / size)
                print(f"{name:20}  {size:5}  {cpu:11.2f}  {wall:7.2f}  {memory:6.0f}"
                      f"  {cpu / size / first[0]:10.2f}  {memory / size / first[1]:9.2f}", flush=True)
        if len(os.sched_getaffinity(0)) > 1:
            cpu = min(os.sched_getaffinity(0))
            one = statistics.median(
                usage_of(["taskset", "-c", str(cpu), skidscan, "report"] + runs)[1]
                for _ in range(options.rounds))
            all_of_them = statistics.median(
                usage_of([skidscan, "report"] + runs)[1] for _ in range(options.rounds))
            print(f"report of {sizes[-1]} runs: one core against "
                  f"{len(os.sched_getaffinity(0))}: {one / all_of_them:.2f}")


if __name__ == "__main__":
    main()
