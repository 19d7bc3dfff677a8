#!/usr/bin/env python3
"""Records loops of several loads on an emulated Skylake and holds what the report says of their evenness against
arithmetic: where the events from one sample to the next share a factor with those of an iteration, evenness is
not judged; elsewhere samples are even. Where records are delayed after the overflow, the report has to find the
delay if triggers are closer than that. docs/lab.md describes the emulation.

exit status: 0 no difference, 1 otherwise, 77 skipped, 64 wrong usage
"""

import json
import math
import os
import sys
from pathlib import Path

from machine import Cpu, Parser
from matrix import Event, Job, Session

TRIGGERS, PERIODS = (2, 3, 4, 7, 8), (12, 13, 36, 37, 1008, 1009, 10006, 10007)
RESONATES = "the period resonates with the loop"
# Periods, triggers and NOPs as `kit` chooses them.
CODES = {"loads": "r81d0:u", "stores": "r82d0:u", "taken": "r20c4:u", "calls": "r2c4:u", "returns": "r8c4:u",
         "mispredicted": "r1c5:u", "prec-dist": "r1c0:u", "cycles": "cycles:u"}
DEFAULTS = {name: Event(code, "--for skl --iterations 300000", nops="") for name, code in CODES.items()}
# NOPs between loads: some closer than the delay, and none.
SHADOW = 40
GAPS = {"close": ("5,10,100", "0,1,2,4,8,16,32,64,128", "10,10,10,10,10,10"), "far": ("60,80,100", "50,50")}
RATES = ("-c 1008", "-c 1012", "-F 20000")


def loops() -> dict[str, Event]:
    events = {}
    for triggers in TRIGGERS:
        # Longer than the skid at level 0, so that a sample is after the trigger that caused it.
        gaps = ",".join(["24"] * (triggers - 1))
        for period in PERIODS:
            samples = 4000 if period < 100 else 2000 if period < 10000 else 600
            events[f"{triggers}x{period}"] = Event(
                "r81d0:u", f"--trigger load --nops 30 --gaps {gaps} -c {period} "
                f"--iterations {samples * period // triggers}", levels=("none", "pp"))
    return events


def delayed() -> dict[str, Event]:
    return {f"{where}:{gaps.replace(',', '+')}:{rate.replace(' ', '')}": Event(
        "r81d0:u", f"--trigger load --nops 200 --gaps {gaps} {rate} --iterations {5000000 // (gaps.count(',') + 2)}",
        levels=("pp",)) for where, all_gaps in GAPS.items() for gaps in all_gaps for rate in RATES}


def measured(session: Session):
    """Name, level and measurement of each recording, and those that are missing as None."""
    for name, event in session.job.events.items():
        run = session.results / f"{name}.run"
        found = {each["precise"]["recorded"]: each for each in session.json("report", run)["measurements"]}
        for level in event.levels:
            yield name, level, found.get(("none", "p", "pp", "ppp").index(level))


def judge_loop(name: str, level: str, found: dict) -> tuple[str, list[str]]:
    triggers, period = map(int, name.split("x"))
    distance = period + (level == "pp")
    common = math.gcd(distance, triggers)
    said = RESONATES in json.dumps(found)
    wrong = [] if said == (common > 1) else [f"a common factor of {common}"]
    counts = [each["samples"] for each in found["triggers"]]
    reached = sum(count > 5 for count in counts)
    if reached != triggers // common:
        wrong.append(f"samples of {reached} triggers; by arithmetic {triggers // common}")
    if found["bias"] and (said or found["bias"]["p"] < 0.01) or not (found["bias"] or said):
        wrong.append(f"bias: {found['bias']}")
    events = found["events_per_iteration"]["measured"]
    if abs(events - triggers) > 0.01 * triggers:
        wrong.append(f"{events:.4g} events per iteration")
    return f"one in {distance}, factor {common}: " + ("resonates" if said else "even"), wrong


def judge_default(_name: str, _level: str, found: dict) -> tuple[str, list[str]]:
    said = RESONATES in json.dumps(found)
    return f"period {found['period']['requested']}", ["resonates"] * said


def judge_delay(name: str, _level: str, found: dict) -> tuple[str, list[str]]:
    shadow, delay = found["shadow"], found["delay"]
    length = shadow and shadow["instructions"]
    text = f"shadow {length['low']} to {length['high']}" if length else f"no shadow, p {shadow['p']:.2g}"
    text += f"; delay {delay['low']} to {delay['high']}, {delay['predicted']:.0%}" if delay else "; no delay"
    counts = [each["samples"] for each in found["triggers"]]
    return text + f" {counts}", []


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0])
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    os.environ.setdefault("LIMIT", "3600")  # seconds of a boot
    form, rows, samples, differences = "{:32} {:5} {:>7}  {}", 0, 0, 0
    print(form.format("loop, period", "level", "samples", "seen"))
    for part, cpu, events, judge in (("loops", "skylake,pebs-shadow=0", loops(), judge_loop),
                                     ("defaults", "skylake", DEFAULTS, judge_default),
                                     ("delayed", f"skylake,pebs-shadow={SHADOW}", delayed(), judge_delay)):
        session = Session(Job(Cpu.of(cpu), events), arguments.skidscan.resolve(),
                          arguments.directory.resolve() / part, (), arguments.cached)
        for name, level, found in measured(session):
            read = found["samples"]["read"] if found else 0
            seen, wrong = judge(name, level, found) if read else ("nothing", ["no samples"])
            print(form.format(name, level, read, seen), *(f"\n    WRONG: {each}" for each in wrong), flush=True)
            rows, samples, differences = rows + 1, samples + read, differences + bool(wrong)
    print(f"{rows} rows, {samples} samples, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
