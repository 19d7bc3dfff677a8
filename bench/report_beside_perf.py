#!/usr/bin/env python3
"""report_beside_perf.py SKIDSCAN [--samples N] [--rounds N] [--recording FILE]

Whole-process time and peak resident memory of `skidscan report` beside `perf report --stdio` and
`perf script` on the same recording, in paired rounds; prints medians and the ratios between them.
The recording is made here: a generated target under its data breakpoint, one sample per access.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time


def run(arguments):
    """Wall seconds and peak MiB of a program whose output is thrown away."""
    begin = time.monotonic()
    with open(os.devnull, "wb") as nowhere:
        process = subprocess.Popen(arguments, stdout=nowhere, stderr=nowhere)
        _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{arguments[0]}: exit status {process.returncode}")
    return time.monotonic() - begin, usage.ru_maxrss / 1024


def make_recording(skidscan, samples, directory):
    target = os.path.join(directory, "target")
    subprocess.run([skidscan, "target", "--trigger", "load", "-o", target], check=True,
                   stdout=subprocess.DEVNULL)
    layout = json.loads(subprocess.run([skidscan, "target", "--read", target, "--format", "json"],
                                       check=True, stdout=subprocess.PIPE).stdout)
    recording = os.path.join(directory, "perf.data")
    subprocess.run(["perf", "record", "-q", "-N", "-o", recording, "-m", "4M", "-c", "1",
                    "-e", f"mem:{layout['layout']['datum']}/8:rw", "--", target,
                    "--iterations", str(samples)], check=True, stdout=subprocess.DEVNULL)
    return recording


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("skidscan")
    parser.add_argument("--samples", type=int, default=2_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--recording", help="an existing recording instead of a new one")
    arguments = parser.parse_args()
    skidscan = os.path.abspath(arguments.skidscan)
    with tempfile.TemporaryDirectory() as directory:
        recording = arguments.recording or make_recording(skidscan, arguments.samples, directory)
        programs = {
            "skidscan report": [skidscan, "report", recording, "--format", "json"],
            "perf report --stdio": ["perf", "report", "--stdio", "-i", recording],
            "perf script -F ip,sym": ["perf", "script", "-F", "ip,sym", "-i", recording],
        }
        times = {name: [] for name in programs}
        memory = {name: [] for name in programs}
        for _ in range(arguments.rounds):
            for name, command in programs.items():
                seconds, peak = run(command)
                times[name].append(seconds)
                memory[name].append(peak)
        size = os.path.getsize(recording) / 2**20
        print(f"recording: {size:.0f} MiB; medians of {arguments.rounds} paired rounds")
        ours = times["skidscan report"]
        for name in programs:
            ratio = statistics.median(t / o for t, o in zip(times[name], ours))
            print(f"{name:22} {statistics.median(times[name]):8.3f} s  x{ratio:6.1f}"
                  f"  {statistics.median(memory[name]):8.1f} MiB peak")


main()
