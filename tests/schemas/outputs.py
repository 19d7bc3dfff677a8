"""JSON outputs of skidscan for all schemas, from synthetic recordings, recordings of this machine and
third-party recordings."""

import glob
import json
import os
import shutil
import struct
import subprocess

# Exit statuses with an answer on standard output: done, read in part, only built-in events, a gate.
ANSWERED = (0, 2, 3, 4)
# Lists with an element for each of thousands of offsets, all alike, and how many of them are kept.
OF_OFFSETS = ("bins", "bytes", "drawn", "instructions", "offsets", "places")
MOST_OFFSETS = 10


def shorten(node):
    for key, value in node.items() if isinstance(node, dict) else enumerate(node):
        if key in OF_OFFSETS and isinstance(value, list):
            del value[MOST_OFFSETS:]
        if isinstance(value, (dict, list)):
            shorten(value)


class Outputs:
    """Runs skidscan in a directory of its own; collects (schema, what made it, document)."""

    def __init__(self, skidscan, source, directory):
        self.skidscan = skidscan
        self.source = source  # the checkout
        self.directory = directory
        self.documents = []
        self.left_out = []  # outputs that cannot be made here, and why

    def run(self, *arguments, allowed=ANSWERED, **options):
        done = subprocess.run([self.skidscan, *arguments], cwd=self.directory, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False,
                              errors="surrogateescape", timeout=300, **options)
        if done.returncode not in allowed:
            raise RuntimeError(f"skidscan {' '.join(arguments)}: exit status {done.returncode}: "
                               f"{done.stderr.strip()}")
        return done.stdout

    def take(self, schema, *arguments, **options):
        text = self.run(*arguments, **options)
        if text:
            self.add(schema, " ".join(arguments), json.loads(text))

    def take_lines(self, schema, *arguments, most=2000, **options):
        """A document per line, at most `most`, because they are alike."""
        for line in self.run(*arguments, **options).splitlines()[:most]:
            self.add(schema, " ".join(arguments), json.loads(line))

    def take_file(self, schema, name):
        with open(os.path.join(self.directory, name), encoding="utf-8") as file:
            self.add(schema, name, json.load(file))

    def add(self, schema, made_by, document):
        shorten(document)
        self.documents.append((schema, made_by, document))

    def take_recording(self, recording, allowed=ANSWERED):
        """Outputs of all commands for one recording or run."""
        for command in ("report", "audit", "correct", "annotate"):
            self.take(command, command, recording, "--format", "json", allowed=allowed)

    def of_models(self):
        for path in sorted(glob.glob(os.path.join(self.source, "models", "*.json"))):
            name = os.path.splitext(os.path.basename(path))[0]
            with open(path, encoding="utf-8") as file:
                self.add("model", path, json.load(file))
            self.run("synth", "--like", name, "-o", name + ".data")
            self.take_file("truth", name + ".data.truth.json")
            self.take("inspect", "inspect", name + ".data", "--format", "json")
            self.take_lines("samples", "samples", name + ".data", "--format", "jsonl",
                            "--columns", "time,pid,tid,cpu,attr,event,period,addr,mode,exact,ip,"
                            "sym,symoff,dso,trace", most=50)
            self.take_recording(name + ".data")
            self.run("synth", "--like", name, "--all-levels", "--repeat", "2", "-o", name + ".run")
            self.take_file("run", name + ".run/run.json")
            self.take_file("truth", name + ".run/truth.json")
            self.take_recording(name + ".run")
        self.run("synth", "--like", "pebs-sound", "-z", "--pipe", "-o", "compressed.data")
        self.take("inspect", "inspect", "compressed.data", "--format", "json")
        self.take("report", "merge", "pebs-sound.run", "--pool")
        self.take("compare", "compare", "pebs-sound.run", "vm-broken.run", "--format", "json")
        self.take("compare", "compare", "vm-broken.run", "pebs-sound.run", "no-pebs.run", "--format",
                  "json")
        self.take("compare", "compare", "pebs-sound.data", "pebs-shadow.data", "--format", "json")

    def of_small_models(self):
        """One of each, short enough to be damaged at every place."""
        model = {"schema": "skidscan.model/1", "name": "small", "description": "three samples",
                 "source": "here", "seed": 3,
                 "target": {"arch": "x86_64", "trigger": "load", "nops": 40, "nop_bytes": 1,
                            "lead_in_nops": 20, "access_bytes": 8, "triggers": 2, "gaps": [20]},
                 "machine": {"vendor": "GenuineIntel", "model_name": "a model", "family": 6,
                             "model": 94, "stepping": 3, "microcode": "0x1", "hypervisor": "none",
                             "kernel": "synthetic"},
                 "ticks_per_nop": 0.25, "ticks_per_second": 2e9,
                 "buffers": {"cpus": 1, "round_samples": 100, "finished_round": True},
                 "events": [{"event": "r20d1", "type": "raw", "config": "0x20d1", "period": 11,
                             "recorded": {"event": "r20d1", "type": 4, "config": 8401},
                             "levels": [
                                 {"level": 2, "precise_ip": 2, "samples": 20, "hits": 0.9,
                                  "offsets": {"kind": "constant", "offset": 1},
                                  "elsewhere": {"kernel": 0.1, "loop": 0.1},
                                  "exact_ip": {"hits": 1, "misses": 0.5, "elsewhere": 0},
                                  "triggers": [0.5, 0.5], "lost": 1, "lost_samples": 1,
                                  "throttled": 1},
                                 {"level": 1, "offsets": {"kind": "empirical",
                                                          "counts": [[1, 4], [2, 3, 2]]}}]}]}
        with open(os.path.join(self.directory, "small.json"), "w", encoding="utf-8") as file:
            json.dump(model, file)
        self.add("model", "small.json", model)
        self.run("synth", "small.json", "-o", "small.data")
        self.run("synth", "small.json", "--all-levels", "--repeat", "2", "-o", "small.run")
        self.take_file("run", "small.run/run.json")
        self.take_file("truth", "small.data.truth.json")
        self.take_recording("small.run")
        self.take("inspect", "inspect", "small.run/r20d1.pp.data", "small.data", "--format", "json",
                  allowed=(0, 1, 2))
        self.take("compare", "compare", "small.run", "pebs-sound.run", "--format", "json",
                  allowed=(1,))  # they have no event in common
        self.take("compare", "compare", "small.run", "small.data", "--format", "json")

    def of_audits(self):
        model = {"schema": "skidscan.model/1", "name": "a tenth skids",
                 "machine": {"vendor": "GenuineIntel", "family": 6, "model": 94, "stepping": 3},
                 "target": {"trigger": "load", "triggers": 3},
                 "events": [{"event": event, "period": 1009, "levels": [
                     {"level": 2, "exact_ip": 1, "offsets": {
                         "kind": "empirical", "counts": [[0, 90], [7, 10]]}}]}
                            for event in ("r20d1", "r81d0")]}  # r81d0 is judged by its block, too
        with open(os.path.join(self.directory, "skids.json"), "w", encoding="utf-8") as file:
            json.dump(model, file)
        self.add("model", "skids.json", model)
        self.run("synth", "skids.json", "-o", "placed.data")
        self.take("audit", "audit", "placed.data", "--format", "json", "--all")
        self.take("correct", "correct", "pebs-sound.data", "--skid", "pebs-sound.run", "--format",
                  "json")
        self.take("annotate", "annotate", "placed.data", "--format", "json", "--function",
                  "skid_trigger", allowed=(0, 1, 2))
        self.take("annotate", "annotate", "pebs-sound.data", "--format", "json")
        self.take("annotate", "annotate", "pebs-sound.data", "--format", "json", "--by", "line")

    def of_branch_records(self):
        """A stack in unmapped memory whose older record leads past the newer one."""
        branches = [(0x400030, 0x400010, 2), (0x400020, 0x400038, 3), (0x400050, 0x400018, 2)]
        sample = struct.pack("<QiiQQ", 0x400000, 7, 7, 2, len(branches))
        sample += b"".join(struct.pack("<3Q", *branch) for branch in branches)
        records = struct.pack("<IHH", 9, 2, 8 + len(sample)) + sample
        # perf_event_attr of cpu-clock: IP | TID | TIME | BRANCH_STACK, all branches.
        attribute = bytearray(struct.pack("<IIQQQ96x", 1, 128, 0, 1000, 0x807))
        struct.pack_into("<Q", attribute, 72, 8)  # branch_sample_type
        at = 104 + len(attribute) + 16
        header = b"PERFILE2" + struct.pack("<11Q", 104, 144, 104, 144, at, len(records), 0, 0,
                                           1 << 6, 0, 0) + struct.pack("<Q", 0)
        arch = struct.pack("<I", 8) + b"x86_64\0\0"
        feature_at = at + len(records) + 16
        with open(os.path.join(self.directory, "branches.data"), "wb") as file:
            file.write(header + attribute + struct.pack("<QQ", 0, 0) + records +
                       struct.pack("<QQ", feature_at, len(arch)) + arch)
        self.take("audit", "audit", "branches.data", "--format", "json")

    def of_targets(self):
        self.take("target", "target", "-o", "load", "--format", "json")
        self.take("target", "target", "--trigger", "load-dram", "--triggers", "3", "--duration", "1",
                  "-o", "chase", "--format", "json")

    def of_machines(self):
        self.take("doctor", "doctor", "--format", "json", allowed=(0, 1, 3))

    def of_events(self):
        for cpu in ("skl", "hsw", "icl", "zen4"):
            self.take("events", "events", "--list", "--cpu", cpu, "--format", "json")
        self.take("events", "events", "r20d1", "L2_RQSTS.MISS", "--cpu", "skl", "--format", "json")
        for cpu in ("skl", "zen4", "arm_n1"):
            self.take("events", "events", "--for", "L3 misses", "--cpu", cpu, "--format", "json")

    def of_counts(self):
        rows = {"r81d0": 1000, "r40d1": 40, "r01d1": 900, "r08d1": 60, "r02d1": 30, "r10d1": 30,
                "r04d1": 20, "r20d1": 10, "cycles": 5000, "r3f24": 9, "page-faults": 3}
        text = "".join(f"{count},,{name},1000000,100.00,,\n" for name, count in rows.items())
        text += "<not counted>,,instructions,0,100.00,,\n<not supported>,,r01b2,0,100.00,,\n"
        self.take("rates", "rates", "-", "--format", "json", input=text)
        self.take("rates", "rates", "-", "--format", "json", "--lfb-l2", "0.5", input=text)
        lines = '{"counter-value" : "7.000000", "unit" : "", "event" : "r01d1", ' \
                '"event-runtime" : 10, "pcnt-running" : 50.00}\n'
        self.take("rates", "rates", "-", "--format", "json", input=lines)

    def of_this_machine(self):
        """Recordings of this machine, where perf is permitted."""
        tried = subprocess.run(
            [self.skidscan, "record", "-q", "-e", "access,execute,page-faults", "--samples", "500",
             "-o", "here.run"], cwd=self.directory, stderr=subprocess.PIPE, text=True, check=False,
            timeout=300)
        if tried.returncode != 0:
            self.left_out.append(f"recordings of this machine: {tried.stderr.strip()}")
            return
        self.take_file("run", "here.run/run.json")
        self.take_recording("here.run")
        recordings = sorted(glob.glob(os.path.join(self.directory, "here.run", "*.data")))
        for recording in recordings:
            self.take("inspect", "inspect", recording, "--format", "json")
        self.take_lines("samples", "samples", recordings[0], "--format", "jsonl", most=100)

    def of_others(self, directory):
        """Recordings of other machines and perfs: they are what the features section is of."""
        here = glob.glob(os.path.join(self.source, "tests", "data", "*", "*.data"))
        others = [path for path in glob.glob(os.path.join(directory, "*")) if ".data" in path]
        if not others:
            self.left_out.append(f"no recordings in {directory} (name their directory in "
                                 "SKIDSCAN_RECORDINGS)")
        for recording in sorted(here) + sorted(others):
            self.take("inspect", "inspect", recording, "--format", "json", allowed=(0, 1, 2))
            self.take_recording(recording, allowed=(0, 1, 2))
            self.take_lines("samples", "samples", recording, "--format", "jsonl", "--columns",
                            "time,event,mode,exact,ip,trace", most=50, allowed=(0, 1, 2))

    def make(self, recordings):
        self.of_models()
        self.of_small_models()
        self.of_audits()
        self.of_branch_records()
        self.of_targets()
        if shutil.which("aarch64-linux-gnu-gcc") is None:
            self.left_out.append("targets of aarch64: aarch64-linux-gnu-gcc is missing")
        self.of_machines()
        self.of_events()
        self.of_counts()
        self.of_this_machine()
        self.of_others(recordings)
