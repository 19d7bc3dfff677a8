#!/usr/bin/env python3
"""Compares a run with 'perf script' of the perf that recorded it: what 'record' printed, what report
reads, and the samples that this perf lists must be the same numbers.
usage: check.py SKIDSCAN PERF RUN PRINTED
  PRINTED  a file with the output of 'record'
"""
import json
import re
import subprocess
import sys

skidscan, perf, run, printed = sys.argv[1:]


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


numbers = {}  # of the last line on each measurement: "2/4 faults:pp: 1,021 samples in 0.5 s"
with open(printed, encoding="utf-8") as file:
    for line in file:
        if found := re.match(r"\d+/\d+ (\S+): ([\d,]+) samples(?! of)", line):
            numbers[found[1]] = int(found[2].replace(",", ""))
measurements = json.loads(output(skidscan, "report", "--format", "json", run))["measurements"]
wrong = []
for measurement in measurements:
    file = measurement["file"]
    event = re.sub(r"\.none$", "", re.sub(r"^.*/|\.data$", "", file)).replace(".", ":")
    # Without --check-ip all samples of a recording are of one event.
    listed = output(perf, "script", "-F", "ip", "-i", file).count("\n")
    if not numbers.get(event) == measurement["samples"]["read"] == listed or listed == 0:
        wrong.append(f"{event}: printed {numbers.get(event)}, report {measurement['samples']['read']}, "
                     f"perf script {listed}")
if not measurements or len(numbers) != len(measurements):
    wrong.append(f"{len(numbers)} measurements printed, {len(measurements)} in the report")
print(" ".join(f"{event} {number}" for event, number in numbers.items()))
if wrong:
    sys.exit("\n".join(wrong))
