#!/usr/bin/env python3
"""Holds what the report says of loops with several loads, recorded on an emulated Skylake and Sapphire Rapids, against
arithmetic. Where the events from one sample to the next share a factor with those of an iteration, evenness is not judged;
elsewhere samples are even. Where records are delayed and loads are closer than that, the delay is found.

exit status: 0 no difference, 1 otherwise, 77 skipped, 64 wrong usage
"""

import json
import math
import os
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import Cpu, Parser  # noqa: E402
from matrix import LEVELS, Event, Job, Session  # noqa: E402

TRIGGERS, PERIODS = (2, 3, 4, 7, 8), (12, 13, 36, 37, 1008, 1009, 10006, 10007)
# Periods and triggers as `record` chooses them, and NOPs where it makes the loop suit the period.
DEFAULTS = {code: Event(code, "--iterations 300000")
            for code in ("r81d0:u", "r82d0:u", "r20c4:u", "r2c4:u", "r8c4:u", "r1c5:u")}
DEFAULTS |= {code: Event(code, "--iterations 30000", nops="") for code in ("r1c0:u", "cycles:u")}
# NOPs between loads: some closer than the delay, and none.
SHADOW = 40
GAPS = {"close": ("5,10,100", "0,1,2,4,8,16,32,64,128", "10,10,10,10,10,10"), "far": ("60,80,100", "50,50")}
RATES = ("-c1008", "-c1012", "-F20000")
# Delays, each with the rulers below at several periods, with --delay, and with an event of every instruction. The
# longest distance of --delay is 106. Then the kernel's events are counted too. In the last boot records are lost
# without a trace, so that a fixed period can show another delay.
SHADOWS = (("0", ":u"), ("10", ":u"), ("43", ":u"), ("100", ":u"), ("500", ":u"), ("43", ""),
           ("43,pebs-drop-every=7", ":u"))
RULER = 106
DISTANCES = {2: (30,), 7: (2, 6, 12, 16, 10, 4), 11: (2, 6, 18, 30, 10, 28, 14, 20, 12, 4)}
GRID_PERIODS = (101, 1009, 10007, 13973)
# Precise distribution: each (period)th load is sampled, at once; and where one record in ten is late.
PDIST_TRIGGERS, PDIST_PERIODS = (5, 7, 13), (1000, 1001, 1009)
RESONATES = "the period resonates with the loop"


def loops(all_triggers=TRIGGERS, periods=PERIODS, levels=("none", "pp")) -> dict[str, Event]:
    events = {}
    for triggers in all_triggers:
        # Longer than the skid at level 0, so that a sample is after the trigger that caused it.
        gaps = ",".join(["24"] * (triggers - 1))
        for period in periods:
            samples = 4000 if period < 100 or "ppp" in levels else 1500 if period < 10000 else 400
            events[f"{triggers}x{period}"] = Event(
                "r81d0:u", f"--trigger load --nops 30 --gaps {gaps} -c {period} "
                f"--iterations {samples * period // triggers}", levels=levels)
    return events


def delayed() -> dict[str, Event]:
    options = "--trigger load --nops 200 --iterations 600000 --gaps"
    return {f"{where}:{gaps.replace(',', '+')}:{rate}": Event("r81d0:u", f"{options} {gaps} {rate}", levels=("pp",))
            for where, all_gaps in GAPS.items() for gaps in all_gaps for rate in RATES}


def grid(user: str, with_periods: bool) -> dict[str, Event]:
    precise, nops = ("p", "pp"), 600  # a loop longer than the longest delay
    events = {"ruler": Event(f"r81d0{user}", "--delay -c 1009 --iterations 20000", levels=precise, nops=""),
              "each": Event(f"r0c0{user}", f"--trigger load -c 10007 --iterations 50000 --nops {nops}",
                            levels=precise),
              "prec-dist": Event(f"r1c0{user}", f"--trigger load -c 10007 --iterations 50000 --nops {nops}",
                                 levels=(*precise, "ppp"))}
    for triggers, distances in DISTANCES.items() if with_periods else ():
        gaps = ",".join(str(distance - 1) for distance in distances)
        for period in GRID_PERIODS:
            events[f"{triggers}x{period}"] = Event(
                f"r81d0{user}", f"--trigger load --nops {nops} --gaps {gaps} -c {period} "
                f"--iterations {300 * period // triggers}", levels=precise)
    return events


def judge_loop(name: str, level: str, found: dict):
    triggers, period = map(int, name.split("x"))
    distance = period + (level == "pp")
    common = math.gcd(distance, triggers)
    said, bias = RESONATES in json.dumps(found), found["bias"]
    wrong = [f"a common factor of {common}"] if said != (common > 1) else []
    reached = sum(each["samples"] > 5 for each in found["triggers"])
    if reached < triggers // common:
        wrong.append(f"samples of {reached} triggers")
    if bool(bias) == said or bias and bias["p"] < 0.01:
        wrong.append(f"bias: {bias}")
    if abs(found["events_per_iteration"]["measured"] - triggers) > 0.01 * triggers:
        wrong.append(f"{found['events_per_iteration']['measured']:.4g} events per iteration")
    return f"one in {distance}, factor {common}: {'resonates' if said else 'even'}", wrong


def judge_pdist(verdict: str):
    def judge(name: str, level: str, found: dict):
        seen, wrong = judge_loop(name, level, found) if verdict == "kept" else (name, [])
        said = found["contract"]["verdict"]
        return f"{seen}, {said}", [*wrong, *["a delay"] * bool(found["delay"]), *[f"not {verdict}"] * (said != verdict)]
    return judge


def judge_default(_name: str, _level: str, found: dict):
    return f"period {found['period']['requested']}", ["resonates"] * (RESONATES in json.dumps(found))


def cycles(gaps: list[int], period: int) -> list[set[int]]:
    """Loads that samples can be locked to: the counter restarts at a record and overflows `period` loads later; the
    first load more than SHADOW instructions after that is recorded."""
    distances, found = [*(gap + 1 for gap in gaps), 10 * SHADOW], []
    for load in range(len(distances)):
        path = []
        while load not in path:
            path.append(load)
            load, passed = (load + period) % len(distances), 0
            while passed <= SHADOW:
                passed, load = passed + distances[load], (load + 1) % len(distances)
        found.append(set(path[path.index(load):]))
    return found


def judge_delay(name: str, _level: str, found: dict):
    where, gaps, rate = name.split(":")
    low, high = (found["delay"][end] for end in ("low", "high")) if found["delay"] else (0, 0)
    wrong = [] if not low or low <= SHADOW + 1 <= high else [f"not {SHADOW + 1}"]
    counts = [each["samples"] for each in found["triggers"]]
    reached = {load for load, count in enumerate(counts) if count > 5}
    is_found = low > 1
    # A frequency varies the period, so that no place of an overflow is known.
    if rate.startswith("-c"):
        if reached not in cycles([int(gap) for gap in gaps.split("+")], int(rate[2:])):
            wrong.append("samples are not where a delay puts them")
        # Nothing can be known where all samples are at one load.
        if is_found != (where == "close" and len(reached) > 1):
            wrong.append("found" if is_found else "not found")
    return (f"delay {low} to {high}" if low else "no delay") + f" {counts}", wrong


def judge_grid(shadow: int):
    def judge(name: str, level: str, found: dict):
        expected = 1 if name == "prec-dist" else shadow + 1
        if not found["delay"]:
            is_lost = name == "each" or name == "prec-dist" or name == "ruler" and expected <= RULER
            return "no delay", ["not found"] * is_lost
        low, high = found["delay"]["low"], found["delay"]["high"]
        is_wrong = not low <= expected <= high or low < high and name in ("each", "prec-dist")
        return f"delay {low} to {high}", [f"not {expected}"] * is_wrong
    return judge


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0])
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_argument("--part", metavar="REGEX", help="loops, defaults, delayed, pdist-VERDICT, or shadow-N (default: all)")
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    os.environ.setdefault("LIMIT", "3600")  # seconds of a boot
    form, rows, samples, differences = "{:35} {:5} {:>7}  {}", 0, 0, 0
    print(form.format("loads and period, or gaps", "level", "samples", "seen"))
    parts = [("loops", "skylake,pebs-shadow=0", loops(), judge_loop), ("defaults", "skylake", DEFAULTS, judge_default),
             ("delayed", f"skylake,pebs-shadow={SHADOW}", delayed(), judge_delay)]
    for fault, verdict in (("", "kept"), (",pebs-late-every=10", "broken")):
        parts.append((f"pdist-{verdict}", f"sapphirerapids,pebs-shadow=43{fault}",
                      loops(PDIST_TRIGGERS, PDIST_PERIODS, ("ppp",)), judge_pdist(verdict)))
    for properties, user in SHADOWS:
        drops, shadow = "drop" in properties, int(properties.split(",")[0])
        parts.append((f"shadow-{shadow}" + "-drops" * drops + "-kernel" * (not user),
                      f"skylake,pebs-shadow={properties}", grid(user, not drops), judge_grid(shadow)))
    for part, cpu, events, judge in parts:
        if arguments.part and not re.fullmatch(arguments.part, part):
            continue
        print(f"{part}:")
        session = Session(Job(Cpu.of(cpu), events), arguments.skidscan.resolve(),
                          arguments.directory.resolve() / part, (), arguments.cached)
        for name, event in events.items():
            report = session.json("report", session.results / f"{name}.run")["measurements"]
            by_level = {each["precise"]["recorded"]: each for each in report}
            for level in event.levels:
                found = by_level.get(LEVELS.index(level))
                read = found["samples"]["read"] if found else 0
                seen, wrong = judge(name, level, found) if read else ("nothing", ["no samples"])
                print(form.format(name, level, read, seen), *(f"\n    WRONG: {each}" for each in wrong), flush=True)
                rows, samples, differences = rows + 1, samples + read, differences + bool(wrong)
    print(f"{rows} rows, {samples} samples, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
