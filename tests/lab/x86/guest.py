#!/usr/bin/env python3
"""Runs `doctor`, `record`, and interrupted recordings inside emulated Skylakes: as root, as a
user, beside the NMI watchdog, with few counters and with two CPUs. Then checks exit statuses, messages, and that
samples are where the emulation puts them. docs/lab.md describes it.

exit status: 0 all right, 1 otherwise, 77 skipped, 64 wrong usage
"""

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import Cpu, Parser, boot  # noqa: E402
from run import as_user, compiler, preparation  # noqa: E402

LOADS = "-e MEM_INST_RETIRED.ALL_LOADS:u -c 36 --nops 60"
RECORD = f"skidscan record -q {LOADS}"
# Stops the command in the background when its first measurement is finished.
STOP = ("{command} -o {run} & pid=$!; until ls {run}/*.data >/dev/null 2>&1; do sleep 0.1; done; "
        "kill -{signal} $pid; wait $pid")


@dataclass(frozen=True)
class Step:
    name: str
    command: str
    status: int = 0  # that is expected
    says: str = ""  # a part of the output
    user: bool = False


def steps(name: str, user=False, problems="No problem found") -> list[Step]:
    return [Step(f"{name}-doctor", "skidscan doctor", says=problems, user=user),
            Step(f"{name}-doctor.json", "skidscan doctor --format json", user=user),
            Step(f"{name}.run", f"{RECORD} -o {name}.run", user=user)]


def interrupted(name: str, signal: str, status: int, user=False) -> list[Step]:
    run = f"{name}.run"
    return [Step(f"{name}-begun", STOP.format(command=RECORD, run=run, signal=signal), status, user=user),
            Step(run, f"skidscan record -q --resume {run}", user=user)]


PARANOID = "echo {} >/proc/sys/kernel/perf_event_paranoid"
ROOT = [*steps("root"), Step("packed.tar", f"{RECORD} --pack packed.tar"), *interrupted("stopped", "TERM", 143),
        *interrupted("killed", "KILL", 137)]
USER = [Step("paranoid-3", PARANOID.format(3)),
        Step("forbidden-doctor", "skidscan doctor", 1, "kernel.perf_event_paranoid is 3", user=True),
        Step("forbidden-record", f"{RECORD} -o forbidden.run", 1, "kernel.perf_event_paranoid is 3", user=True),
        Step("paranoid-2", PARANOID.format(2)),
        *steps("user", user=True, problems="only user mode can be sampled"),
        Step("user-kernel.run", f"{RECORD.replace(':u', '')} -o user-kernel.run", user=True),
        *interrupted("user-stopped", "TERM", 143, user=True)]
WATCHDOG = "the NMI watchdog keeps one hardware counter"
MACHINES = [  # CPU, kernel's command line, vCPUs, steps
    ("skylake", "", 1, ROOT), ("skylake", "", 1, USER),
    ("skylake,pmu-counters=2", "nmi_watchdog=1", 1, steps("watchdog", problems=WATCHDOG)),
    ("skylake", "", 2, steps("two")),
    ("skylake", "nmi_watchdog=1", 2, steps("two-watchdog", problems=WATCHDOG))]


def check_run(skidscan: Path, run: Path):
    """What is wrong with the samples of each level."""
    done = subprocess.run([skidscan, "report", run, "--format", "json"], capture_output=True, text=True, check=False)
    if done.returncode:
        yield f"report: {done.stderr.strip()}"
        return
    found = {each["precise"]["recorded"]: each for each in json.loads(done.stdout)["measurements"]}
    if sorted(found) != [0, 1, 2, 3]:
        yield f"levels {sorted(found)}"
    for level, each in found.items():
        samples, skid = each["samples"], each["skid"]["instructions"]
        here = samples["hit"] + samples["skid"]
        # The target also loads between its rounds; at level 0 the interrupt is in the loop or the kernel then.
        others = sum(samples[name] for name in ("other_user", "kernel", "before", "loop")[:1 if level else 4])
        low, high = ((13, 20), (1, 1), (0, 0), (0, 0))[level]
        seen = (skid["p50"], skid["p99"]) if level == 0 else (skid["min"], skid["max"])
        if here < 5000 or here + others != samples["read"] or others > 0.05 * here:
            yield f"level {level}: {samples}"
        elif not low <= seen[0] <= seen[1] <= high:
            yield f"level {level}: samples {seen[0]} to {seen[1]} instructions after the load"


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n")[0])
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_suite()
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    skidscan, directory = arguments.skidscan.resolve(), arguments.directory.resolve()
    checks = failures = 0
    for number, (cpu, append, cpus, all_steps) in enumerate(MACHINES):
        commands = preparation(skidscan)
        for step in all_steps:
            command = as_user(step.command) if step.user else f"( {step.command} )"
            commands += f"{command} >{step.name}.out 2>&1 && s=0 || s=$?\necho $s >{step.name}.status\n"
        results = boot(Cpu.of(cpu), directory / str(number), commands, [skidscan, *compiler()], append=append,
                       options=["-smp", str(cpus)], cached=arguments.cached, suite=arguments.suite) / "files"
        for step in all_steps:
            output = (results / f"{step.name}.out").read_text(errors="replace")
            status = int((results / f"{step.name}.status").read_text())
            wrong = [f"exit status {status}"] if status != step.status else []
            if step.says not in output.replace("\n", " "):
                wrong.append(f"does not say '{step.says}'")
            if step.name.endswith(".json") and not wrong:
                found = json.loads(output)
                if [each["max_precise"] for each in found["pmus"] if each["core"]] != [3]:
                    wrong.append(f"max_precise: {found['pmus']}")
                names = [each["id"] for each in found["problems"]]
                if ("nmi_watchdog" in names) != ("nmi_watchdog=1" in append) or ("user_only" in names) != step.user:
                    wrong.append(f"problems: {names}")
            if step.name.endswith((".run", ".tar")):
                wrong += check_run(skidscan, results / step.name)
            print(f"{cpu} {append} {cpus} CPU: {step.name}: {'; '.join(wrong) or 'right'}", flush=True)
            if wrong:
                print("".join(f"    {line}\n" for line in output.splitlines()), end="")
            checks, failures = checks + 1, failures + bool(wrong)
    print(f"{checks} steps, {failures} wrong")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
