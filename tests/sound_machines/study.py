#!/usr/bin/env python3
"""What report says of synthetic machines that are sound, or that have one fault.

usage: study.py SKIDSCAN [--machine NAME]... [--trigger KIND]... [--fault NAME] [--samples N]
                [--seed N] [--close N] [--period N] [--keep DIR]

--close: number of triggers of the target with triggers close together; --period: of events that not
every instruction causes.

Prints a table: machine, trigger, event, level, verdict or "refused", hit ratio, whether samples are
distributed evenly (of several triggers by their shares; "required" at a level 3 with PDist), WRONG,
evidence or reason, warnings. Exit status 1: a sound machine
came out as broken, a fault was not found, or report, audit and compare disagree on a recording. Breakpoints ignore a level and are broken at level 2
on every x86 machine (docs/method.md).
"""

import argparse
import json
import math
import os
import struct
import subprocess
import sys
import tempfile

from machines import (CYCLES, EINVAL, EOPNOTSUPP, EVENTS_PER_ITERATION, INSTRUCTIONS, LOAD,
                      OF_ALL_INSTRUCTIONS, TAGGED, TAKEN, machines)

FAULTS = {
    "late": "levels 2 and 3 are one instruction late",
    "constant": "level 1 is five instructions late",
    "spread": "EXACT_IP is set, and the addresses are those of interrupts",
    "dropped": "a guest's records are dropped: precise levels are taken, and give no samples",
    "address": "the data address of precise samples is of something else",
    "source": "the data source of precise samples is of the other operation, in one of two records",
    "shadowed": "level 3 is distinct, and has the shadow of level 2",
}
GAPS = [0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024]
# Instructions that retire between overflow and arming: fewer than a few hundred cycles take.
SHADOW = {"lowest": 1, "highest": 300}
INTERRUPT = {"kind": "normal_cycles", "mean": 60, "stddev": 15, "cycles_per_nop": 0.25,
             "retire_group": 4}
ON_TIME = {"kind": "constant", "offset": 0}
LATE = {"kind": "constant", "offset": 1}
CLOSE = "close"  # the target with triggers close together


def precise_level(machine, event, level, options, close):
    """A level that the hardware gives meaning to."""
    fault = options.fault
    model = {"offsets": {"kind": "constant", "offset": machine.level_1} if level == 1 else ON_TIME}
    distinct = level == 3 and event in machine.distinct
    if event in machine.not_known:
        model["elsewhere"] = {"iteration": 0.5}
    if machine.exact_ip == "rewound" and level >= 2:
        model |= {"hits": 0.97, "offsets": LATE}  # the rest was not led back
    if fault == "late" and level >= 2:
        # Without EXACT_IP the kernel itself would say that they are late.
        model |= {"hits": 0, "offsets": LATE, "exact_ip": 1}
    if fault == "constant" and level == 1:
        model["offsets"] = {"kind": "constant", "offset": 5}
    if fault == "spread":
        model |= {"hits": 0, "offsets": INTERRUPT, "exact_ip": 1}
    if event in OF_ALL_INSTRUCTIONS or machine.samples_operations:
        # The load of DRAM takes some hundred cycles of an iteration.
        model["elsewhere"] = {"iteration": 0.8 if event == CYCLES else 1}
    elif close and (not distinct or fault == "shadowed"):
        model["shadow"] = SHADOW
    elif close:
        model["distance"] = period_of(machine, event, options)  # PDist
    if event == TAKEN:
        model["other_triggers"] = 0.5
    if event in machine.data:
        model["address"] = {"elsewhere": 1} if fault == "address" else 1
    if fault == "dropped":
        model["samples"] = 0
    return model


def period_of(machine, event, options):
    # Neither it nor, with PEBS, the next number resonates with 13 triggers; nor do 1012 and 1013
    # with the instructions of an iteration.
    return 1012 if event == INSTRUCTIONS else options.period or machine.period


def tagged(options):
    """Of all operations; those of the trigger have the address of its data."""
    model = {"level": 0, "samples": 4 * options.samples, "elsewhere": {"iteration": 0.5},
             "hits": 1, "offsets": ON_TIME, "address": 1, "exact_ip": 1}
    return model | ({"hits": 0, "offsets": LATE} if options.fault == "late" else {})


def level_of(machine, event, level, options, close):
    name = f"{machine.pmu} {event}"
    if level > machine.highest:
        return {"level": level, "refused": EOPNOTSUPP.format(name)}
    if level > 0 and event in machine.refused:
        return {"level": level, "refused": EINVAL.format(name)}
    # Half of the taken branches are back-edges, which are not judged.
    model = {"level": level, "samples": options.samples * (2 if event == TAKEN else 1)}
    if level == 0:
        model["offsets"] = INTERRUPT
        if event in OF_ALL_INSTRUCTIONS:
            model["elsewhere"] = {"iteration": 1}
        if event == TAKEN:
            model["other_triggers"] = 0.5
    else:
        model |= precise_level(machine, event, level, options, close)
    # Recorded with -d; where the record has no address it is 0.
    return {"address": 0} | model


def model_of(machine, trigger, options):
    close = trigger == CLOSE
    events = []
    for event, code in machine.events.items():
        if machine.trigger_of(event) != trigger and not (close and event == LOAD):
            continue
        name = f"{machine.pmu}/config={code:#x}/" if len(machine.pmus) > 1 else f"r{code:x}"
        if event == TAGGED:
            events.append({"event": "ibs_op//", "type": machine.pmus["ibs_op"], "config": "0x0",
                           "period": machine.period, "levels": [tagged(options)]})
            continue
        levels = [level for level in machine.levels if level >= 2 or not close]
        events.append({"event": name, "type": machine.pmus[machine.pmu], "config": hex(code),
                       "period": period_of(machine, event, options),
                       "events_per_iteration": options.close if close
                       else EVENTS_PER_ITERATION.get(event, 1),
                       "levels": [level_of(machine, event, level, options, close)
                                  for level in levels]})
    if trigger == "load":
        levels = [{"level": level, "samples": options.samples, "address": 1,
                   "offsets": LATE if machine.arch == "x86_64" else ON_TIME} for level in (0, 2)]
        events.append({"event": "access", "period": 7, "levels": levels})
    described = {"vendor": machine.vendor, "model_name": f"a model of {machine.name}",
                 "model": machine.model, "stepping": machine.stepping, "kernel": machine.kernel,
                 "exact_ip": machine.exact_ip,
                 "core_pmus": [{"name": name, "type": number, "max_precise": machine.highest}
                               for name, number in machine.pmus.items()]}
    if machine.family is not None:
        described["family"] = machine.family
    if machine.hypervisor:
        described["hypervisor"] = machine.hypervisor
    return {"schema": "skidscan.model/1", "name": f"{machine.name}-{trigger}", "seed": options.seed,
            "machine": described, "events": events}


def swap_operations(path):
    """Makes every second load of a recording's data sources a store, and the reverse."""
    with open(path, "rb") as file:
        data = bytearray(file.read())
    at, size = struct.unpack_from("<QQ", data, 40)  # of the records
    end, swapped, load, store = at + size, False, 2, 4
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        at += length
        if kind != 9:  # PERF_RECORD_SAMPLE, which ends with the data source
            continue
        source, = struct.unpack_from("<Q", data, at - 8)
        if source & (load | store) and (swapped := not swapped):
            struct.pack_into("<Q", data, at - 8, source ^ (load | store))
    with open(path, "wb") as file:
        file.write(data)


class Study:
    def __init__(self, options, directory):
        self.options = options
        self.directory = directory

    def run(self, *arguments):
        # Status 2: recordings of a run are missing, those that were refused.
        done = subprocess.run([self.options.skidscan, *map(str, arguments)], cwd=self.directory,
                              capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2):
            sys.exit(f"{' '.join(map(str, arguments))}: {done.stderr}")
        return done

    def target(self, arch, trigger):
        """The path of a target, which all machines of an architecture have in common."""
        path = f"target.{arch}.{trigger}"
        if not os.path.exists(os.path.join(self.directory, path)):
            some = GAPS[:self.options.close - 1] if trigger == CLOSE else []
            gaps = ["--gaps", ",".join(map(str, some))] if some else []
            kind = "load" if trigger == CLOSE else trigger
            # With an odd number of instructions neither a period nor the number after it resonates.
            nops = [] if trigger == CLOSE else ["--nops", "5001"]
            self.run("target", "--arch", arch, "--trigger", kind, *gaps, *nops, "-o", path)
        return path

    def rows(self, machine):
        """What the kernel refuses and what report says of the rest, of all targets."""
        triggers = list(dict.fromkeys(map(machine.trigger_of, machine.events)))
        if LOAD in machine.events and machine.highest in machine.levels:
            triggers.append(CLOSE)
        triggers = [one for one in triggers if one in (self.options.trigger or triggers)]
        found = []
        for trigger in triggers:
            name = f"{machine.name}.{trigger}"
            path = os.path.join(self.directory, name)
            with open(path + ".json", "w", encoding="utf-8") as file:
                json.dump(model_of(machine, trigger, self.options), file, indent=1)
            self.run("synth", "--all-levels", "--force", "-q", "--target",
                     self.target(machine.arch, trigger), "-o", name + ".run", name + ".json")
            with open(path + ".run/run.json", encoding="utf-8") as file:
                planned = json.load(file)["measurements"]
            if self.options.fault == "source":
                for one in planned:
                    if one["state"] == "finished":
                        swap_operations(os.path.join(path + ".run", one["file"]))
            report = self.run("report", "--format", "json", name + ".run")
            found += [refused(machine, trigger, one)
                      for one in planned if one["state"] == "refused"]
            audit = self.run("audit", "--format", "json", name + ".run")
            audited = {one["file"]: one["events"][0]
                       for one in json.loads(audit.stdout)["recordings"] if one["events"]}
            comparison = self.run("compare", "--format", "json", name + ".run", name + ".run")
            compared = {one["file"]: cell
                        for row in json.loads(comparison.stdout)["rows"] for cell in row["cells"]
                        for one in cell["measurements"]}
            found += [judged(machine, trigger, one, audited.get(one["file"]),
                             compared[one["file"]])
                      for one in json.loads(report.stdout)["measurements"]]
        return found


def event_of(machine, config):
    return next(event for event, code in machine.events.items() if code == config)


def refused(machine, trigger, planned):
    """A row of the table."""
    name = planned["event"].rstrip("/")
    config = int(name.rpartition("=")[2] if "=" in name else name[1:], 16)
    return {"machine": machine.name, "trigger": trigger, "event": event_of(machine, config),
            "level": planned["level"], "verdict": "refused", "hits": None, "samples": 0,
            "even": None, "required": False, "delay": False, "contradicts": False, "evidence": planned["reason"], "warnings": []}


def counts_impossible_hits(measurement, audited):
    """Whether samples that audit calls impossible are exact hits of report."""
    hits = measurement["precise"]["exact_ip_hits"]
    trigger = measurement["trigger"]
    if audited is None or hits == 0 or trigger is None:
        return False
    if any(one["address"] == trigger["address"] and one["verdict"] == "never"
           for one in audited["instructions"]):
        return True
    source = audited["data_source"]
    exact = measurement["precise"]["exact_ip_samples"]
    return source is not None and hits + source["contradicted"] > exact


def compares_others(measurement, cell):
    """Whether compare takes other hits than the verdict on a level with skid 0 judges."""
    contract = measurement["contract"]
    if contract["verdict"] == "not judged" or measurement["basis"]["ignores_level"]:
        return False
    if contract["level"] < 2 and measurement["basis"]["judgeable"] == "yes":
        return False
    share = contract["share"]
    return cell["judged_samples"] != share["total"] or (
        share["total"] > 0 and cell["hit_ratio"]["value"] != share["value"])


def contradicts(measurement, audited, compared):
    """Whether audit or compare says the opposite of what report says of one recording."""
    if counts_impossible_hits(measurement, audited) or compares_others(measurement, compared):
        return True
    verdict, level = measurement["contract"]["verdict"], measurement["precise"]["recorded"]
    if audited is None or level < 1 or measurement["event"]["type"] == 5:
        return False  # report judges whether a breakpoint has that level, audit where it traps
    if measurement["basis"]["judgeable"] != "yes":
        return audited["impossible"] > 0
    if verdict not in ("kept", "broken") or audited["judged"] == 0:
        return False
    if verdict == "broken" and audited["data_source"] and audited["data_source"]["contradicted"] > 0:
        return False
    impossible = audited["impossible_share"]
    return impossible["low"] > 0.001 if verdict == "kept" else impossible["high"] < 0.001


def judged(machine, trigger, measurement, audited, compared):
    """A row of the table."""
    contract = measurement["contract"]
    bias, evenness = measurement["bias"], measurement["evenness"]
    hits, event = measurement["hit_ratio"], measurement["event"]
    is_breakpoint = event["type"] == 5
    return {"machine": machine.name, "trigger": trigger,
            "event": "access" if is_breakpoint else event_of(machine, int(event["config"], 16)),
            "level": measurement["precise"]["recorded"], "verdict": contract["verdict"],
            "hits": None if hits is None else hits["value"],
            "samples": measurement["samples"]["read"],
            "even": evenness["verdict"] if evenness else None if bias is None
            else "uneven" if bias["p"] < 1e-6 else "even",
            "required": evenness is not None and evenness["promised"],
            "delay": measurement["delay"] is not None,
            "contradicts": contradicts(measurement, audited, compared),
            "evidence": contract["evidence"], "warnings": measurement["warnings"]}


def is_meant(machine, row, options):
    """Whether the fault shows in that measurement."""
    event, level, fault = row["event"], row["level"], options.fault
    if event == TAGGED:
        return fault in ("late", "source")
    if event == "access" or level < 1 or row["verdict"] == "refused" or event in machine.not_known:
        return False
    if fault == "dropped":
        return True
    if fault == "constant" and level != 1:
        return False
    if event in OF_ALL_INSTRUCTIONS or machine.samples_operations:
        return False
    if fault == "address":
        return event in machine.data
    if fault == "source":  # of samples with EXACT_IP
        return event in machine.data and level >= 2
    if fault == "shadowed":
        # Where the period resonates, sound machines are uneven as well.
        resonates = math.gcd(period_of(machine, event, options), options.close) > 1
        return row["trigger"] == CLOSE and level == 3 and event in machine.distinct and not resonates
    return level >= 2 or fault == "constant"


def is_found(row, fault):
    if fault in ("late", "spread", "constant", "source"):
        return row["verdict"] == "broken"
    if fault == "dropped":
        return row["verdict"] != "kept" and row["samples"] == 0
    if fault == "address":
        return row["verdict"] == "broken" or any("address" in text for text in row["warnings"])
    return is_broken(row) and row["verdict"] == "kept"


def is_broken(row):
    """Whether the contract is broken, or the even distribution that PDist requires is missing."""
    return row["verdict"] == "broken" or (row["required"] and row["even"] == "uneven")


def main():
    known = machines()
    parser = argparse.ArgumentParser()
    parser.add_argument("skidscan", type=os.path.abspath)
    parser.add_argument("--machine", action="append", choices=known)
    parser.add_argument("--trigger", action="append")
    parser.add_argument("--fault", choices=FAULTS)
    parser.add_argument("--samples", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--close", type=int, default=len(GAPS) + 1)
    parser.add_argument("--period", type=int)
    parser.add_argument("--keep", type=os.path.abspath)
    options = parser.parse_args()
    wrong = 0
    with tempfile.TemporaryDirectory() as temporary:
        directory = options.keep or temporary
        os.makedirs(directory, exist_ok=True)
        study = Study(options, directory)
        for name in options.machine or known:
            machine = known[name]
            for row in study.rows(machine):
                if options.fault is None:
                    without_delay = row["level"] == 3 and row["event"] in machine.distinct
                    is_wrong = (is_broken(row) and row["event"] != "access"
                                or row["delay"] and without_delay)
                else:
                    is_wrong = (is_meant(machine, row, options)
                                and not is_found(row, options.fault))
                known_not = row["event"] in machine.not_known and row["level"] > 0
                is_wrong = (is_wrong or row["contradicts"]
                            or known_not and row["verdict"] in ("kept", "broken"))
                wrong += is_wrong
                hits = "-" if row["hits"] is None else f"{row['hits']:.4f}"
                even = (row["even"] or "-") + (", required" if row["required"] else "")
                print("\t".join([name, row["trigger"], row["event"], str(row["level"]),
                                 row["verdict"], hits, even, "WRONG" if is_wrong else "",
                                 row["evidence"], *row["warnings"]]), flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
