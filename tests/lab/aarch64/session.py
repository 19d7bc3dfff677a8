"""The runs of the guest, in which no skidscan runs: commands of perf for it, and their run.json afterwards.

usage: session.py commands SKIDSCAN DIR     writes DIR/commands, a target in the directory of each run
       session.py runs SKIDSCAN DIR         writes the run.json of the runs that came back to DIR/results
"""

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

OPTIONS = ["--arch", "aarch64", "--nops", "1200"]  # longer than any skid; emulated instructions are slow
LEVELS = ["", "p", "pp", "ppp"]
# Event, levels, period and iterations.
RUNS = {"cycles": [("cycles:u", range(4), 10007, 30000)],
        "breakpoints": [("access", (1, 2), 7, 35707), ("execute", (1, 2), 7, 35707)]}
FIFOS = ["/tmp/control", "/tmp/acknowledge"]


def read(*command) -> dict:
    return json.loads(subprocess.run([*command, "--format", "json"], capture_output=True, text=True).stdout)


def measurements(name: str, layout: dict):
    perf_names = {"cycles:u": "cycles:u", "access": f"mem:{layout['datum']}/8:rw:",
                  "execute": f"mem:{layout['trigger']['begin']}:x:"}
    for event, levels, period, iterations in RUNS[name]:
        for level in levels:
            colon = "" if ":" in event else ":"
            yield {"event": event, "requested": event + colon * (level > 0) + LEVELS[level],
                   "perf_event": perf_names[event] + LEVELS[level], "level": level, "repeat": 1, "period": period,
                   "cpu": None, "trigger": "load", "length": {"iterations": iterations},
                   "file": f"{event.replace(':', '_')}.{LEVELS[level] or 'none'}.data", "state": "finished",
                   "reason": "", "command": [], "started": "", "ended": "", "target_report": None, "messages": []}


def commands(skidscan: str, directory: Path) -> None:
    lines = [f"mkfifo {' '.join(FIFOS)}"]
    for name in RUNS:
        target = directory / "targets" / name / "target.load"
        target.parent.mkdir(parents=True, exist_ok=True)
        layout = read(skidscan, "target", *OPTIONS, "-o", target)["layout"]
        lines.append(f"mkdir /results/{name}.run")
        for each in measurements(name, layout):
            lines.append(f"perf record -q --no-buildid-cache --no-bpf-event -e {each['perf_event']} "
                         f"-c {each['period']} -d -o /results/{name}.run/{each['file']} -D -1 "
                         f"--control fifo:{','.join(FIFOS)} -- {shlex.quote(str(target))} "
                         f"--iterations {each['length']['iterations']} --cpu 0 --control {FIFOS[0]} --ack {FIFOS[1]}")
    here = Path(__file__).parent
    target = shlex.quote(str(directory / "targets/cycles/target.load"))
    lines.append((here / "commands").read_text().replace("@TARGET@", target))
    (directory / "commands").write_text("\n".join(lines) + "\n")


def cpu_of(files: Path) -> dict:
    lines = (line.split(":") for line in (files / "proc/cpuinfo").read_text().splitlines() if ":" in line)
    fields = {key.strip(): value.strip() for key, value in lines}
    return {"arch": "aarch64", "vendor": fields["CPU implementer"], "model": int(fields["CPU part"], 16),
            "stepping": int(fields["CPU revision"]), "model_name": "", "microcode": "", "family": None,
            "hypervisor": None}


def core_pmus_of(files: Path) -> list:
    return [{"name": path.parent.name, "type": int(path.read_text()), "max_precise": None, "cpus": [0]}
            for path in sorted((files / "sys/bus/event_source/devices").glob("armv8*/type"))]


def runs(skidscan: str, directory: Path) -> None:
    files = directory / "results/machine"
    cpu, core_pmus = cpu_of(files), core_pmus_of(files)
    kernel = (files / "proc/sys/kernel/osrelease").read_text().strip()
    for name in RUNS:
        run = directory / "results" / f"{name}.run"
        target = read(skidscan, "target", "--read", shutil.copy(directory / "targets" / name / "target.load", run))
        document = {"schema": "skidscan.run/1", "tool_version": target["tool_version"],
                    "command_line": [], "synthetic": False,
                    "machine": {"cpu": cpu, "kernel": kernel, "hostname": "lab", "core_pmus": core_pmus,
                                "perf_event_paranoid": None, "perf_event_max_sample_rate": None,
                                "allowed_cpus": [0]},
                    "perf": {"path": "perf", "version": "6.1", "major": 6, "minor": 1}, "cpu": 0, "samples": 0,
                    "duration_seconds": None, "started": "", "ended": "",
                    "targets": [{"trigger": "load", "file": "target.load", "build_id": target["build_id"]}],
                    "measurements": list(measurements(name, target["layout"])), "notes": []}
        (run / "run.json").write_text(json.dumps(document, indent=2))


{"commands": commands, "runs": runs}[sys.argv[1]](sys.argv[2], Path(sys.argv[3]))
