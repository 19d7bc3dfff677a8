"""Compares the lab's recordings (made by run.sh) with the predictions of prediction.py.

usage: checks.py SKIDSCAN DIR [unittest's options]
"""

import json
import subprocess
import sys
import unittest
from collections import Counter
from functools import cache
from itertools import islice
from pathlib import Path

from prediction import Loop, breakdown, noticed_overflows, offsets, overflows, places, skids

SKIDSCAN, DIRECTORY = Path(sys.argv[1]), Path(sys.argv[2])
RESULTS = DIRECTORY / "results"
CYCLES, GROUP = RESULTS / "cycles.run", RESULTS / "group.data"
GUEST, HOST = RESULTS / "breakpoints.run", DIRECTORY / "host.run"  # both of breakpoints
LEVELS = {"none": 0, "p": 1, "pp": 2, "ppp": 3}

PERIOD = 10007  # of cycles:u, and of instructions in the group
INTERRUPT_PERIOD = 997  # of cycles in the group
ITERATIONS = 8000  # of the target, for cycles:u
GROUP_ITERATIONS = 16000
CLASSES = ("hit", "skid", "before", "censored", "loop")  # classes of the breakdown within the loop
REQUIRED = 0.999
CORTEX_A57 = 0xD07  # part number in MIDR_EL1


def skidscan(*arguments) -> str:
    command = [SKIDSCAN, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{' '.join(map(str, command))}: {done.returncode}\n{done.stderr}")
    return done.stdout


@cache
def report(path) -> list[dict]:
    """By the program that recorded it, of a run of the guest."""
    there = RESULTS / f"{path.name}.report"
    text = there.read_text() if there.exists() else skidscan("report", path, "--format", "json")
    return json.loads(text)["measurements"]


def measurement(path, requested: str) -> dict:
    found = [each for each in report(path) if each["event"]["requested"] == requested]
    assert len(found) == 1, f"{path}: {len(found)} measurements of {requested}"
    return found[0]


@cache
def guest_loop() -> Loop:
    target = CYCLES / "target.load"
    return Loop.of(json.loads(skidscan("target", "--read", target, "--format", "json")))


@cache
def sampled_addresses(path) -> dict[str, list[int]]:
    """Addresses of the samples by event, sorted by time. The values of the group in a sample of instructions are
    printed as samples, too: cycles that were counted since the values before, at the time of that sample."""
    lines = skidscan("samples", path, "--columns", "time,event,ip").splitlines()
    samples = sorted((int(time), event, int(ip, 16))
                     for time, event, ip in (line.split("\t") for line in lines[1:]))
    of_instructions = {time for time, event, _ in samples if event.startswith("instructions")}
    samples = [each for each in samples if not (each[1].startswith("cycles") and each[0] in of_instructions)]
    events = {event for _, event, _ in samples}
    return {event: [ip for _, of, ip in samples if of == event] for event in events}


def offsets_of(found: dict) -> Counter:
    """Samples by offset, from a report's histogram with bins of one instruction."""
    histogram = found["histogram"]
    assert histogram["bin_width"] == 1 and histogram["underflow"] == histogram["overflow"] == 0
    return Counter({each["lo"]: each["count"] for each in histogram["bins"]})


def not_in_common(predicted: Counter, counted: Counter) -> int:
    """Samples that would have to be added to either distribution to get the other."""
    return max((predicted - counted).total(), (counted - predicted).total())


def fitted_entry(loop: Loop, period: int, address: int) -> int:
    """Instructions between enabling and the loop, from the first sample only."""
    place = loop.place_of(address)
    assert place is not None, f"the first sample is outside the loop, at {address:#x}"
    return loop.entry_of(place, period)


def sampled_places(loop: Loop, addresses: list[int]) -> list[int]:
    """Of the samples in the loop. The prediction does not cover code before and after it."""
    return [place for place in map(loop.place_of, addresses) if place is not None]


def cycles_at(level: str) -> dict:
    return measurement(CYCLES, "cycles:u" + ("" if level == "none" else level))


def sampled_at(level: str) -> list[int]:
    addresses, = sampled_addresses(CYCLES / Path(cycles_at(level)["file"]).name).values()
    return addresses


class CyclesAtEveryLevel(unittest.TestCase):
    """cycles:u interrupts at once: each sample is at the instruction after the overflow."""

    def test_each_sample_is_at_the_predicted_place(self):
        # One constant comes from the first sample of the first level; everything else is predicted.
        loop = guest_loop()
        entry = fitted_entry(loop, PERIOD, sampled_at("none")[0])
        predicted = places(loop, overflows(PERIOD), entry, ITERATIONS)
        self.assertGreater(len(set(predicted)), 1000)
        for level in LEVELS:
            with self.subTest(level=level):
                self.assertEqual(sampled_places(loop, sampled_at(level)), predicted)

    def test_the_report_has_the_predicted_counts(self):
        loop = guest_loop()
        entry = fitted_entry(loop, PERIOD, sampled_at("none")[0])
        predicted = places(loop, overflows(PERIOD), entry, ITERATIONS)
        for level in LEVELS:
            with self.subTest(level=level):
                found, addresses = cycles_at(level), sampled_at(level)
                classes = {name: found["samples"][name] for name in CLASSES}
                self.assertEqual(classes, {name: breakdown(loop, predicted)[name] for name in CLASSES})
                self.assertEqual(offsets_of(found), offsets(loop, predicted))
                self.assertEqual(found["samples"]["read"], len(addresses))

    def test_a_level_is_accepted_and_certifies_nothing(self):
        for level, number in LEVELS.items():
            with self.subTest(level=level):
                found = cycles_at(level)
                self.assertEqual(found["precise"]["recorded"], number)
                self.assertEqual(found["precise"]["exact_ip_samples"], 0)
                self.assertEqual(found["contract"]["verdict"], "not judged")
                self.assertFalse(found["event"]["swapped"])


class KnownSkid(unittest.TestCase):
    """The group of instructions and cycles: qemu notices an overflow of the first at the next of the second.

    qemu also checks all counters when the kernel is entered, for example at a timer tick (250 a second).
    So nearly every skid is the predicted one, and none is longer.
    """

    def setUp(self):
        self.loop = guest_loop()
        by_event = {event.split("/")[0]: addresses
                    for event, addresses in sampled_addresses(GROUP).items()}
        self.assertEqual(set(by_event), {"instructions", "cycles"})
        self.sampled = {event: sampled_places(self.loop, addresses)
                        for event, addresses in by_event.items()}
        # The only constant, from the first sample of cycles; none comes from instructions.
        entry = fitted_entry(self.loop, INTERRUPT_PERIOD, by_event["cycles"][0])

        def predicted(executed):
            return places(self.loop, executed, entry, GROUP_ITERATIONS)

        self.overflows = predicted(overflows(PERIOD))
        self.predicted = {"cycles": predicted(overflows(INTERRUPT_PERIOD)),
                          "instructions": predicted(noticed_overflows(PERIOD, INTERRUPT_PERIOD))}

    def skids_to(self, noticed: list[int]) -> list[int]:
        return [(place - overflow) % self.loop.length
                for overflow, place in zip(self.overflows, noticed)]

    def test_cycles_interrupt_where_predicted(self):
        self.assertEqual(self.sampled["cycles"], self.predicted["cycles"])

    def test_the_skids_of_instructions_are_as_predicted(self):
        sampled, predicted = self.sampled["instructions"], self.predicted["instructions"]
        self.assertEqual(len(sampled), len(predicted))
        same = sum(map(int.__eq__, sampled, predicted))
        print(f"{same} of {len(predicted)} skids are as predicted")
        self.assertGreaterEqual(same, REQUIRED * len(predicted))
        longest = self.skids_to(predicted)
        for k, (skid, at_most) in enumerate(zip(self.skids_to(sampled), longest), start=1):
            self.assertLessEqual(skid, at_most, f"sample {k}")

    def test_the_predicted_skids_have_all_lengths(self):
        predicted = self.skids_to(self.predicted["instructions"])
        self.assertEqual(predicted, list(islice(skids(PERIOD, INTERRUPT_PERIOD), len(predicted))))
        self.assertEqual(set(predicted), set(range(INTERRUPT_PERIOD)))

    def test_the_report_shows_the_predicted_distribution(self):
        measurements = {each["event"]["recorded"].split("/")[0]: each for each in report(GROUP)}
        self.assertEqual(set(measurements), set(self.predicted))
        for event, found in measurements.items():
            predicted = self.predicted[event]
            allowed = (1 - REQUIRED) * len(predicted)
            with self.subTest(event=event):
                classes = Counter({name: found["samples"][name] for name in CLASSES})
                self.assertLessEqual(not_in_common(breakdown(self.loop, predicted), classes), allowed)
                self.assertLessEqual(
                    not_in_common(offsets(self.loop, predicted), offsets_of(found)), allowed)


    def test_the_skid_in_events_is_as_predicted(self):
        """From the values of the counters, where the places above come from the sampled addresses."""
        for found in report(GROUP):
            period = PERIOD if found["event"]["recorded"].startswith("instr") else INTERRUPT_PERIOD
            counts = Counter(dict(found["basis"]["skid_in_events"]["counts"]))
            predicted = Counter(islice(skids(period, INTERRUPT_PERIOD), counts.total()))
            with self.subTest(event=found["event"]["recorded"]):
                self.assertEqual(counts.total(), found["samples"]["read"])
                self.assertLessEqual(not_in_common(predicted, counts),
                                     (1 - REQUIRED) * counts.total())
                self.assertEqual(found["skid"]["events"]["max"], max(predicted))


class Breakpoints(unittest.TestCase):
    """On aarch64 a watchpoint traps before the access, on x86-64 after it."""

    def need_host(self):
        if not HOST.exists():
            self.skipTest("no breakpoint fires on this machine")
        here = measurement(HOST, "access:pp")
        if here["cpu"]["arch"] != "x86_64":
            self.skipTest(f"this machine is {here['cpu']['arch']}, the architecture of the guest")
        return here

    def test_in_the_guest_all_samples_are_on_the_trigger(self):
        for event in ("access:p", "access:pp", "execute:p", "execute:pp"):
            with self.subTest(event=event):
                found = measurement(GUEST, event)
                self.assertGreaterEqual(found["samples"]["read"], 5000)
                self.assertEqual(found["samples"]["hit"], found["samples"]["read"])
                self.assertEqual(found["contract"]["verdict"], "not judged")
                self.assertEqual(found["basis"]["known_offset"], 0)
                self.assertIsNone(found["contract"]["certified"])

    def test_on_the_host_all_samples_are_one_later(self):
        here = self.need_host()
        self.assertEqual(here["skid"]["instructions"]["mode"], 1)
        self.assertEqual(here["basis"]["known_offset"], 1)
        self.assertEqual(here["contract"]["verdict"], "not judged")

    def test_the_audit_finds_each_sample_possible(self):
        self.need_host()
        audits = {GUEST: (RESULTS / "breakpoints.run.audit").read_text(),
                  HOST: skidscan("audit", HOST, "--format", "json")}
        for run, text in audits.items():
            for recording in json.loads(text)["recordings"]:
                event, = recording["events"]
                with self.subTest(run=run.name, event=event["requested"]):
                    self.assertEqual(event["judged"], event["samples"])
                    self.assertEqual(event["impossible"], 0)

    def test_the_comparison_shows_only_that_difference(self):
        self.need_host()
        comparison = json.loads((DIRECTORY / "compare.json").read_text())
        self.assertEqual([side["cpu"]["arch"] for side in comparison["sides"]],
                         ["aarch64", "x86_64"])
        found = {}
        for row in comparison["rows"]:
            there, here = row["cells"]
            self.assertEqual(there["outcome"], "baseline")
            found[row["event"], row["level"]] = (here["outcome"], here["contract_broke"],
                                                 there["skid"]["p50"]["value"],
                                                 here["skid"]["p50"]["value"])
        # What ignores levels breaks no contract.
        self.assertEqual(found, {("access", 1): ("worse", False, 0, 1),
                                 ("access", 2): ("worse", False, 0, 1),
                                 ("execute", 1): ("no difference shown", False, 0, 0),
                                 ("execute", 2): ("no difference shown", False, 0, 0)})


class Corrections(unittest.TestCase):
    """No skid of the guest is a constant that could be taken out: not of its PMU, and watchpoints have none."""

    def corrected(self, path):
        recordings = json.loads(skidscan("correct", path, "--skid", CYCLES, "--format", "json"))
        return [event for one in recordings["recordings"] for event in one["events"]]

    def test_cycles_are_refused_at_every_level(self):
        events = self.corrected(CYCLES)
        self.assertEqual([event["level"] for event in events], list(LEVELS.values()))
        for event in events:
            self.assertEqual(event["verdict"], "refused")
            self.assertIn("every instruction takes cycles", event["reason"])

    def test_the_known_but_varying_skid_of_the_group_is_refused(self):
        reasons = {event["event"].split("/")[0]: event["reason"] for event in self.corrected(GROUP)
                   if event["verdict"] == "refused"}
        self.assertEqual(set(reasons), {"instructions", "cycles"})
        self.assertIn("ignores the precise level of an Arm core PMU", reasons["instructions"])

    def test_breakpoints_have_nothing_to_correct(self):
        for event in self.corrected(GUEST):
            self.assertEqual(event["verdict"], "nothing_to_correct")
            self.assertEqual(event["in_place"], event["samples"])


class TheGuest(unittest.TestCase):
    """The machine as its files describe it."""

    def test_its_cpu_and_kernel_are_in_the_report(self):
        for run in (CYCLES, GUEST):
            found = report(run)[0]
            self.assertEqual(found["cpu"]["arch"], "aarch64")
            self.assertEqual(found["cpu"]["model"], CORTEX_A57)
            self.assertTrue(found["cpu"]["emulated"])
            self.assertIsNone(found["cpu"]["hypervisor"])
            release = (RESULTS / "release").read_text().strip()
            self.assertEqual(found["kernel"], release)

    def test_doctor_finds_its_pmu(self):
        found = json.loads((RESULTS / "doctor.json").read_text())
        self.assertEqual(found["cpu"]["core_name"], "Cortex-A57 r1p0")
        self.assertEqual([pmu["name"] for pmu in found["pmus"] if pmu["core"]], ["armv8_pmuv3"])
        # The kernel's PMU driver takes every level and ignores it.
        levels = [[answer["acceptance"] for answer in event["answers"]]
                  for event in found["events"] if event["name"] == "CPU_CYCLES"]
        self.assertEqual(levels, [["accepted", "ignored", "ignored", "ignored"]])
        self.assertEqual(found["problems"], [])

    def test_no_measurement_was_refused_and_no_sample_lost(self):
        for run, measurements in ((CYCLES, 4), (GUEST, 4)):
            self.assertEqual(len(report(run)), measurements)
            for found in report(run):
                self.assertEqual((found["lost_records"], found["lost_samples"],
                                  found["throttled"]), (0, 0, 0))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:], verbosity=2)
