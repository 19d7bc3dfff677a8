#!/usr/bin/env python3
"""Records what `record` records by default on an emulated Neoverse N1 with SPE, ends it by SIGTERM, resumes and packs it.
Then checks the targets, and what report, audit and merge conclude from the samples of SPE. docs/lab.md describes it.

exit status: 0 all right, 1 otherwise, 77 skipped, 64 wrong usage
"""

import json
import subprocess
import sys
import tarfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import SKIPPED, Cpu, Parser, boot  # noqa: E402
from run import archived_program, preparation  # noqa: E402

# Enough samples of SPE for a verdict. The guest executes an instruction in a nanosecond of its time.
DURATION = "--duration 0.3"
SPE = {"load": "arm_spe_0/load_filter=1,jitter=1/u", "store": "arm_spe_0/store_filter=1,jitter=1/u"}
COMMANDS = f"""
skidscan record {DURATION} -o default.run & pid=$!
for i in $(seq 300); do [ ! -e default.run/execute.none.data ] || break; sleep 0.1; done
kill -TERM $pid
wait $pid || echo "ended with $?"
skidscan record --resume default.run --pack default.tar
skidscan record {DURATION} -e {SPE["load"]} -p none --pack loads.tar
"""


class Checks:
    """Of the runs that the guest packed, with the host's program."""

    def __init__(self, skidscan: Path, files: Path):
        self.skidscan, self.files, self.wrong = skidscan, files, 0

    def run(self, *arguments: str) -> str:
        done = subprocess.run([self.skidscan, *arguments], cwd=self.files, capture_output=True, text=True, check=False)
        if done.returncode not in (0, 2):
            sys.exit(f"skidscan {' '.join(arguments)}: {done.stderr.strip()}")
        return done.stdout

    def expect(self, what: str, found, expected) -> None:
        self.wrong += found != expected
        print(f"{what}: {found}" + ("" if found == expected else f"; WRONG, expected {expected}"))

    def check(self) -> None:
        with tarfile.open(self.files / "default.tar") as packed:
            run = json.load(packed.extractfile("skidscan.run/run.json"))
        states = [each["state"] for each in run["measurements"]]
        self.expect("finished", states.count("finished"), len(states))
        targets = {each["event"]: each["target"] for each in run["measurements"]}
        self.expect("target of access", targets["access"], "target.load")
        report = json.loads(self.run("report", "default.tar", "--format", "json"))["measurements"]
        self.expect("emulated", all(each["cpu"]["emulated"] for each in report), True)
        found = {each["event"]["requested"]: each for each in report}
        self.expect("runway of access", found["access"]["basis"]["geometry"]["highest_offset"], 5000)
        audit = json.loads(self.run("audit", "default.tar", "--format", "json"))
        audited = {each["requested"]: each for recording in audit["recordings"] for each in recording["events"]}
        for kind, event in SPE.items():
            self.expect(f"target of {event}", targets[event], f"target.{kind}.short")
            self.expect("  runway", found[event]["basis"]["geometry"]["highest_offset"], 20)
            self.expect("  trigger", found[event]["trigger"]["kind"], kind)
            self.expect(f"  verdict of {found[event]['judged_samples']} samples", found[event]["contract"]["verdict"],
                        "kept")
            records = audited[event]["spe_record"]
            self.expect(f"  contradicted of {records['judged']} records", records["contradicted"], 0)
        self.run("merge", "default.tar", "loads.tar", "-o", "sum.json")
        sums = json.loads((self.files / "sum.json").read_text())["measurements"]
        self.expect("  parts of loads in merge", [each["parts"] for each in sums if
                                                  each["event"]["requested"] == SPE["load"]], [2])


def main() -> int:
    parser = Parser(description=__doc__.split("\n\n", maxsplit=1)[0])
    parser.add_argument("skidscan", type=Path, help="the program")
    parser.add_argument("archive", type=Path, help="of the target portable-aarch64")
    parser.add_argument("directory", type=Path, help="for all output")
    parser.add_suite()
    parser.add_argument("--cached", action="store_true", help="skip if the emulator is not built")
    arguments = parser.parse_args()
    if not arguments.archive.is_file():
        print(f"skipped: {arguments.archive.name} is missing; cmake --build DIR --target portable-aarch64 makes it")
        return SKIPPED
    directory = arguments.directory.resolve()
    directory.mkdir(parents=True, exist_ok=True)
    program = archived_program(str(arguments.archive), directory)
    results = boot(Cpu.of("neoverse-n1"), directory, preparation(program) + COMMANDS, [directory / "skidscan"],
                   cached=arguments.cached, suite=arguments.suite)
    print((results / "commands.log").read_text())
    checks = Checks(arguments.skidscan.resolve(), results / "files")
    checks.check()
    return 1 if checks.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
