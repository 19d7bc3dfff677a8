"""Boots an emulated CPU, runs a command of skidscan in it, and brings back the files that it wrote."""

import os
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from machine import Cpu, Parser, boot

ROOT = Path(__file__).resolve().parents[2]


def program(chosen: str) -> Path:
    candidates = [chosen] if chosen else [ROOT / "build/skidscan", ROOT / "build-check/skidscan",
                                          shutil.which("skidscan") or ""]
    for candidate in map(Path, filter(None, candidates)):
        if candidate.is_file() and os.access(candidate, os.X_OK):
            return candidate.resolve()
    sys.exit(f"{chosen}: no program" if chosen else
             "skidscan is not built; run scripts/first-run.sh, or pass --skidscan FILE")


def archived_program(chosen: str, directory: Path) -> Path:
    """The program of the portable archive for aarch64."""
    name = "skidscan-*-linux-aarch64.tar.xz"
    archives = [Path(chosen)] if chosen else [*ROOT.glob(f"build/{name}"), *ROOT.glob(f"build-check/{name}")]
    if not archives or not archives[0].is_file():
        sys.exit(f"{chosen}: no archive" if chosen else f"no {name} in build; scripts/install-dependencies.sh "
                 "package && cmake --build build --target portable-aarch64 makes it, or pass --skidscan FILE")
    subprocess.run(["tar", "-xf", archives[0], "-C", directory], check=True)
    return directory / "skidscan/bin/skidscan"


def compiler() -> list[Path]:
    """What `record` builds its targets with."""
    gcc = shutil.which("gcc") or sys.exit("gcc is missing, with which the guest builds targets")

    def path_of(option: str) -> Path:
        found = subprocess.run([gcc, option], capture_output=True, text=True, check=True).stdout.strip()
        return Path(shutil.which(found) or found)

    return [Path(gcc), path_of("-print-file-name=liblto_plugin.so"),
            *(path_of(f"-print-prog-name={name}") for name in ("cc1", "collect2", "as", "ld"))]


def preparation(skidscan: Path) -> str:
    """Commands before skidscan's: the user lab, the programs' names, a directory that is brought back."""
    return ("mkdir -p /etc\necho lab:x:1000:1000::/tmp:/bin/sh >/etc/passwd\n"
            "mkdir -m 777 /results/files\ncd /results/files\n"
            f"[ ! -x /usr/bin/gcc ] || ln -s gcc /usr/bin/cc\nln -s {shlex.quote(str(skidscan))} /usr/bin/skidscan\n")


def as_user(command: str) -> str:
    return f"su lab -s /bin/sh -c {shlex.quote(command)}"


def main() -> int:
    parser = Parser(
        prog="scripts/lab.sh", description=__doc__,
        usage="%(prog)s [options] CPU[,PROPERTY=VALUE...] -- COMMAND [OPTION...]",
        epilog=f"CPUs: {', '.join(Cpu.names())}, or a model of QEMU. Properties: docs/lab.md. The first call "
        "builds the emulator, which takes some minutes. Exit status: that of the command.")
    parser.add_argument("cpu", metavar="CPU", help="in any case, with properties: skylake,pmi-skid=200")
    parser.add_argument("command", nargs="+", metavar="COMMAND", help="of skidscan, such as record -e EVENT")
    parser.add_argument("-o", dest="output", type=Path, default=Path("."), metavar="DIR",
                        help="where the files go (default: the current directory)")
    parser.add_argument("--skidscan", default="", metavar="FILE",
                        help="the program, of aarch64 its portable archive (default: the built one)")
    parser.add_argument("--append", default="", metavar="WORDS", help="to the kernel's command line")
    parser.add_suite()
    parser.add_argument("--user", action="store_true", help="run the command without root")
    parser.add_argument("--paranoid", type=int, metavar="N", help="kernel.perf_event_paranoid (Debian's: 3)")
    parser.add_argument("--smp", type=int, default=1, metavar="N", help="virtual CPUs (default: 1)")
    parser.add_argument("--force", action="store_true", help="replace existing files")
    if "--" not in sys.argv[1:] and not {"-h", "--help"} & set(sys.argv[1:]):
        parser.error("no command; expected CPU -- COMMAND, such as: skylake -- record -e r81d0:u")
    arguments = parser.parse_args()
    cpu = Cpu.of(arguments.cpu)
    cpu.require()
    output = arguments.output.resolve()
    # What another -o of the command writes is not known before it has.
    if arguments.command[0] == "record" and (output / "skidscan.run").exists() and not arguments.force:
        sys.exit(f"{output / 'skidscan.run'}: exists; --force replaces it, -o DIR writes elsewhere")
    command = shlex.join(["skidscan", *arguments.command])
    if arguments.user:
        command = as_user(command)
    if arguments.paranoid is not None:
        command = f"echo {arguments.paranoid} >/proc/sys/kernel/perf_event_paranoid; {command}"
    with tempfile.TemporaryDirectory(prefix="skidscan-lab.") as directory:
        if cpu.arch == "aarch64":  # without a compiler: the targets of the archive
            skidscan = archived_program(arguments.skidscan, Path(directory))
            files = [Path(directory) / "skidscan"]
        else:
            skidscan = program(arguments.skidscan)
            files = [skidscan, *compiler()]
        results = boot(cpu, Path(directory), preparation(skidscan) +
                       f"{command} >/results/output 2>&1 || status=$?\necho ${{status:-0}} >/results/exit\n",
                       files, append=arguments.append, options=["-smp", str(arguments.smp)],
                       suite=arguments.suite)
        sys.stdout.write((results / "output").read_text(errors="replace"))
        output.mkdir(parents=True, exist_ok=True)
        for path in sorted((results / "files").iterdir()):
            target = output / path.name
            if target.exists() or target.is_symlink():
                if not arguments.force:
                    sys.exit(f"{target}: exists; --force replaces it, -o DIR writes elsewhere")
                shutil.rmtree(target) if target.is_dir() else target.unlink()
            shutil.move(path, target)
            print(f"{os.path.relpath(target)}: from the guest")
        return int((results / "exit").read_text())


if __name__ == "__main__":
    sys.exit(main())
