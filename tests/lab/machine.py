"""The emulated machine: its CPUs, its boot, its recordings and the truth log."""

import argparse
import os
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).resolve().parent
SKIPPED = 77
# Without these the kernel takes a counter for its watchdog, mistrusts the emulated clock, panics if the timer
# is late on a busy machine, and slows down; and the driver of SPE finds its buffer unmapped in user mode.
APPEND = {"x86_64": "nmi_watchdog=0 tsc=reliable no_timer_check mitigations=off", "aarch64": "kpti=off"}


class Parser(argparse.ArgumentParser):
    """Wrong usage is status 64, as in skidscan."""

    def exit(self, status=0, message=None):
        super().exit(64 if status == 2 else status, message)

    def add_suite(self):
        self.add_argument("--suite", default="", metavar="NAME",
                          help="of Debian, whose kernel and perf the guest has: trixie, trixie-backports, sid "
                          "(default: this machine's release)")


@dataclass(frozen=True)
class Cpu:
    """A model of the file `cpus` or of QEMU, with properties."""

    name: str
    like: str  # skidscan's name, empty if the model is not in the file
    qemu: str  # model and properties
    properties: dict[str, str]

    @property
    def arch(self) -> str:
        return "aarch64" if self.qemu.startswith("neoverse") else "x86_64"

    @property
    def model(self) -> str:
        """For QEMU's -cpu, without the log."""
        if self.arch == "aarch64":
            return self.qemu
        # By this name skidscan marks the run as emulated.
        return f"{self.qemu},pmu=on,-hypervisor,model-id=QEMU TCG CPU ({self.qemu.split(',')[0]})"

    @staticmethod
    def of(text: str) -> "Cpu":
        """From NAME[,PROPERTY=VALUE]..., where NAME is in any case, or a model of QEMU."""
        name, *properties = text.split(",")
        like, qemu = "", name
        for line in (HERE / "cpus").read_text().splitlines():
            if not line.startswith("#") and line.split()[0] == name.lower():
                name, like, qemu = line.split()
        values = dict(each.partition("=")[::2] for each in properties)
        return Cpu(",".join([name, *properties]), like, ",".join([qemu, *properties]), values)

    def require(self) -> None:
        """Ends the program if neither the file nor QEMU has the model."""
        model = self.qemu.split(",")[0]
        known = subprocess.run([tool("qemu/build.sh", self.arch), "-cpu", "help"], capture_output=True, text=True,
                               check=True).stdout
        if not self.like and f" {model} " not in known:
            names = ", ".join(self.names())
            print(f"unknown CPU '{model}'; expected {names}, or a model of QEMU, such as Broadwell",
                  file=sys.stderr)
            sys.exit(64)

    @staticmethod
    def names(arch="") -> list[str]:
        """Of all architectures, unless one is given."""
        lines = (HERE / "cpus").read_text().splitlines()
        names = [line.split()[0] for line in lines if not line.startswith("#")]
        return [name for name in names if arch in ("", Cpu.of(name).arch)]

    def fault(self, name: str) -> int:
        return int(self.properties.get(name, "0"), 0)


def tool(script: str, *arguments: str) -> str:
    """Output of a script that says on its own why it cannot go on; so does this program then."""
    done = subprocess.run([HERE / script, *arguments], stdout=subprocess.PIPE, text=True,
                          check=False)
    if done.returncode:
        sys.exit(done.returncode)
    return done.stdout.strip()


def boot(cpu: Cpu, directory: Path, commands: str, files: list[Path], *, append="", options=(),
         cached=False, suite="") -> Path:
    """Runs shell commands in a guest; returns the directory with what they wrote to /results."""
    qemu = tool("qemu/build.sh", cpu.arch, *(["--cached"] if cached else []))
    packages = tool("guest/packages.sh", cpu.arch, *filter(None, [suite]))
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "commands").write_text(
        "mv /usr/bin/perf /usr/lib/perf\n"
        f"cp {shlex.quote(str(HERE))}/guest/perf /usr/bin/perf\n"
        "chmod 444 /dev/cpu/*/cpuid 2>/dev/null || true\n"
        "echo 100 >/tmp/mark\ntouch /results/marks\nchmod 666 /tmp/mark /results/marks\n" + commands)
    initrd = directory / "initrd"
    subprocess.run([HERE / "guest/initramfs.sh", cpu.arch, packages, directory / "commands",
                    initrd, HERE / "guest/perf", *files], check=True)
    done = subprocess.run(
        [HERE / "guest/boot.sh", cpu.arch, packages, initrd, directory, qemu, "-cpu",
         f"{cpu.model},pmu-log={directory}/truth.log", *options],
        env={**os.environ, "APPEND": f"{APPEND[cpu.arch]} {append}"},
        capture_output=True, text=True, check=False)
    initrd.unlink()
    if done.returncode:
        sys.exit(f"{cpu.name}: {done.stderr}")
    results = directory / "results"
    if (results / "status").read_text().strip() != "0":
        sys.exit(f"{cpu.name}: a command failed in the guest:\n{(results / 'commands.log').read_text()}")
    return results


@dataclass
class Truth:
    """What the log has of one recording, in order. Addresses as numbers."""

    records: list[dict] = field(default_factory=list)  # of PEBS, IBS and SPE, written ones only
    interrupts: list[dict] = field(default_factory=list)
    lost: int = 0  # records that were not written, except those that a filter of SPE excludes


def truths(directory: Path) -> dict[Path, Truth]:
    """By recording, from the marks that guest/perf writes."""
    results = directory / "results"
    files = {}
    for line in (results / "marks").read_text().splitlines():
        mark, where, command = line.split(" ", 2)
        output = re.search(r" -o (\S+)", command)
        if output:
            path = Path(where) / output.group(1).removesuffix(".partial")
            if path.is_relative_to("/results"):
                files[int(mark)] = results / path.relative_to("/results")
    found: dict[Path, Truth] = {}
    truth = Truth()
    with open(directory / "truth.log") as log:
        for line in log:
            if " filtered " in line:
                continue
            kind, *words = line.split()
            if kind == "MARK":
                path = files.get(int(words[0]))
                truth = found.setdefault(path, Truth()) if path else Truth()
                continue
            values = {}
            for word in words:
                key, _, value = word.partition("=")
                if value and key not in values and "," not in value:
                    values[key] = int(value, 0)
            if kind == "PMI":
                truth.interrupts.append(values)
            elif "written" in words:
                truth.records.append(values)
            elif kind in ("PEBS", "IBS", "SPE"):
                truth.lost += 1
    return found
