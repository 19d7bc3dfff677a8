#!/usr/bin/env python3
"""Runs the tests that record again on this machine made poorer: each must pass or be skipped.
usage: run.py BUILD [NAME...]     all machines unless some are named
Machines: machines() below, two at a time where no breakpoint can fire. Of each, the seconds and the number of tests
passed, failed and skipped are printed; the output of its tests is in BUILD/poorer/NAME.log.
exit status: 0 nothing failed, 1 something did, 64 wrong usage
"""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
OTHER_USER = 65534

RUNS = r"Record\.|DefaultRun|Doctor\.|Terminal\.Verbose|Cases\.(breakpoints|built_in_events|packed_recording)$"
RECORDING = (RUNS + r"|Of/Examples.*/(annotate|correct|merge)|HostileRecording\.OfPerf|Completing\.OfSampled"
             r"|Kinds/TriggerKindSamples.*_(load|fault) |TargetUnderPerf"
             r"|Cases\.(annotate|correct|data_addresses|inspect|rates_perf|tracepoint)$")
AGREEMENT = r"Agreement\.On(Several|Threads|What|AProcess|Pie)|Agreement\.With|Agreement\.OfAReport"
TIMING = r"Record\.R|DefaultRun|Cases\.(annotate|report_perf)$|Agreement\.On(AProcess|Threads|Pie)"


def allowed_cpus():
    return sorted(os.sched_getaffinity(0))


class Machine:
    """What is changed: the environment, words before ctest, and the tests that could notice it. `lacks`: the fact
    that must not hold on it, so that a change without an effect is no success. `beside`: beside another one. Its
    serial tests leave a core idle, and have no breakpoints that could disturb those of the other; what depends on time
    passes on busy CPUs, too."""

    def __init__(self, tests, *, environment=None, prefix=(), competitors=0, needs=(), lacks=None, user=None,
                 beside=False):
        self.tests, self.environment, self.prefix = tests, environment or {}, list(prefix)
        self.competitors, self.needs, self.lacks, self.user = competitors, needs, lacks, user
        self.beside = beside


def without_perf(directory):
    """A PATH of links to all programs but perf."""
    links = directory / "programs"
    shutil.rmtree(links, ignore_errors=True)
    links.mkdir()
    for place in os.environ["PATH"].split(os.pathsep):
        for program in pathlib.Path(place).iterdir() if os.path.isdir(place) else ():
            link = links / program.name
            if program.name != "perf" and not link.is_symlink():
                link.symlink_to(program)
    return str(links)


def machines(directory, library):
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, HERE / "perf_event_open.c", "-ldl"], check=True)

    def perf_event_open(which):
        return {"LD_PRELOAD": str(library), "POORER": which}

    as_other_user = ["setpriv", f"--reuid={OTHER_USER}", f"--regid={OTHER_USER}", "--clear-groups"]
    return {
        "silent-breakpoints": Machine(RUNS, environment=perf_event_open("silent"), lacks="breakpoints",
                                      beside=True),
        "no-breakpoints": Machine(RECORDING, environment=perf_event_open("refused"), lacks="breakpoints",
                                  beside=True),
        "no-permission": Machine(RECORDING + "|Agreement", environment=perf_event_open("forbidden"), lacks="samples",
                                 beside=True),
        "no-perf": Machine(RECORDING + "|Agreement", lacks="perf", beside=True,
                           environment={"PATH": without_perf(directory), "PERF": ""}),
        "one-cpu": Machine(TIMING, prefix=["taskset", "-c", str(allowed_cpus()[0])], needs=["taskset"],
                           lacks="two-cpus"),
        "ordinary-user": Machine(RUNS, prefix=as_other_user, needs=["another-user"], lacks="root",
                                 user=OTHER_USER),
        "busy-cpus": Machine(TIMING, prefix=["nice", "-n", "2"], competitors=len(allowed_cpus())),
        "fast-cpu": Machine(AGREEMENT, environment={"SKIDSCAN_BUSY_TIMES": "0.1"}),
        "slow-cpu": Machine(AGREEMENT, environment={"SKIDSCAN_BUSY_TIMES": "10"}),
    }


def why_not(build, machine):
    for fact in machine.needs:
        asked = subprocess.run([build / "tests" / "facts", fact], capture_output=True, text=True, check=False)
        if asked.returncode != 0:
            return asked.stdout.strip()
    return ""


def run(build, directory, name, machine):
    """Prints the line of the machine; whether a test failed."""
    own = directory / name
    shutil.rmtree(own, ignore_errors=True)
    own.mkdir()
    # ctest writes into the directory that it is started for: here one that an ordinary user may write to.
    (own / "CTestTestfile.cmake").write_text(f'subdirs("{build}")\n', encoding="utf-8")
    if machine.user is not None:
        os.chown(own, machine.user, machine.user)
    environment = dict(os.environ, SKIDSCAN_FACTS=str(own / "facts"), SKIDSCAN_DEFAULT_RUN=str(own / "default.run"),
                       **machine.environment)
    if machine.user is not None:
        environment["HOME"] = str(own)
    command = [*machine.prefix, HERE.parent.parent / "scripts" / "run-tests.py", own,
               "-R", f"^Facts$|{machine.tests}", "-j", str(len(allowed_cpus()) * 2), "--output-on-failure"]
    competitors = [subprocess.Popen([sys.executable, "-c", "while True: pass"])  # stopped by their ids below
                   for _ in range(machine.competitors)]
    start = time.monotonic()
    try:
        with open(directory / f"{name}.log", "w", encoding="utf-8") as log:
            done = subprocess.run(command, env=environment, cwd=own, stdout=log, stderr=subprocess.STDOUT,
                                  check=False)
    finally:
        for competitor in competitors:
            competitor.kill()
            competitor.wait()
    lines = (directory / f"{name}.log").read_text(encoding="utf-8").splitlines()
    told = [f"{name:20} {time.monotonic() - start:4.0f} s  {lines[-1] if lines else 'no output'}"]
    told += [f"  {line}" for line in lines if line.startswith(("failed: ", "passed at the second try: "))]
    print("\n".join(told), flush=True)
    if machine.lacks is not None and machine.lacks in (own / "facts").read_text(encoding="utf-8").split("\n"):
        print(f"  {name} is not poorer: {machine.lacks} is there")
        return True
    return done.returncode != 0


def main():
    if len(sys.argv) < 2:
        print(__doc__.split("\n")[1], file=sys.stderr)
        return 64
    build = pathlib.Path(sys.argv[1]).resolve()
    directory = build / "poorer"
    directory.mkdir(exist_ok=True)
    # LD_PRELOAD has no way to name a path with a space or a colon.
    usual = tempfile.gettempdir()
    with tempfile.TemporaryDirectory(dir="/tmp" if " " in usual or ":" in usual else usual) as libraries:
        os.chmod(libraries, 0o755)  # for the other user, too
        known = machines(directory, pathlib.Path(libraries) / "perf_event_open.so")
        names = sys.argv[2:] or list(known)
        if unknown := [name for name in names if name not in known]:
            print(f"{unknown[0]}: expected {', '.join(known)}", file=sys.stderr)
            return 64
        def has_failed(name):
            if reason := why_not(build, known[name]):
                print(f"{name:20} {reason}")
                return False
            return run(build, directory, name, known[name])

        with concurrent.futures.ThreadPoolExecutor(2) as two:
            failed = list(two.map(has_failed, [name for name in names if known[name].beside]))
        failed += [has_failed(name) for name in names if not known[name].beside]
        return int(any(failed))


if __name__ == "__main__":
    sys.exit(main())
