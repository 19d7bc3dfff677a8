#!/usr/bin/env python3
"""Records the kernel with modules (FAT on a RAM disk, zram) on an emulated CPU, with call chains and with branch
stacks, and compares with the guest's `perf script` what `samples` prints: in the guest, where kallsyms has the names,
and here, where the modules' files have them. Then `audit` judges the branch records by the same files. docs/lab.md
describes it.

exit status: 0 all right, 1 otherwise, 77 skipped, 64 wrong usage
"""

import lzma
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from machine import Cpu, Parser, boot, tool  # noqa: E402

NAMES = ["brd", "nls_ascii", "nls_cp437", "nls_iso8859_1", "nls_utf8", "vfat", "lzo_rle", "zram"]
RECORDINGS = {"chains": "-e cycles -c 20011 -g", "branches": "-e cycles:pp -c 50021 -j any,k"}
WORK = """for i in 1 2 3; do
  dd if=/dev/zero of=/mnt/file bs=4k count=600
  dd if=/bin/busybox of=/dev/zram0 bs=4k count=300
  cat /mnt/file >/dev/null
  rm /mnt/file
  dd if=/dev/zram0 of=/dev/null bs=4k count=300
done 2>/dev/null
"""
COLUMNS = "--columns ip,sym,symoff,dso,brstack"


def copy_modules(kernel: Path, directory: Path) -> None:
    """Copies the modules NAMES that the kernel does not have built in, with those that they depend on."""
    files = {path.name.split(".")[0].replace("-", "_"): path for path in kernel.rglob("*.ko*")}
    directory.mkdir(parents=True, exist_ok=True)
    names = list(NAMES)
    for name in names:
        if name not in files:
            continue
        content = files[name].read_bytes()
        if files[name].suffix == ".xz":
            content = lzma.decompress(content)
        (directory / f"{name}.ko").write_bytes(content)
        depends = re.search(rb"\0depends=([^\0]*)", content)[1].decode().replace("-", "_").split(",")
        names += [each for each in depends if each and each not in names]


def commands(skidscan: Path, modules: Path, work: Path) -> str:
    text = (f"extra=/lib/modules/$(uname -r)/extra\nmkdir $extra /mnt\ncp {modules}/*.ko $extra\ndepmod\n"
            f"for module in {' '.join(NAMES)}; do modprobe $module || true; done\n"
            "echo 0 >/proc/sys/kernel/kptr_restrict\nmkdosfs /dev/ram0\nmount -t vfat /dev/ram0 /mnt\n"
            "echo 8M >/sys/block/zram0/disksize\ncd /results\ncp /proc/kallsyms .\n")
    for name, options in RECORDINGS.items():
        text += (f"perf record --buildid-all -o {name}.data {options} -- sh {work}\n"
                 f"perf script -i {name}.data -G --no-demangle -F ip,sym,symoff >{name}.names\n"
                 f"{skidscan} samples {name}.data --no-demangle {COLUMNS} >{name}.guest\n")
    return text + "perf script -i branches.data -G -F brstack >branches.stacks\n"


def rows(text: str) -> list[list[str]]:
    return [line.split("\t") for line in text.splitlines()[1:]]


def symbol(row: list[str]) -> str:
    return f"{row[1]}+{row[2]}" if row[1] else "[unknown]"


def module_of(row: list[str]) -> str:
    """Empty for the kernel itself and user mode."""
    match = re.fullmatch(r"\[(\w+)\]|/lib/modules/.*/([\w-]+)\.ko.*", row[3])
    name = (match[1] or match[2]).replace("-", "_") if match else ""
    return "" if name == "vdso" else name


def branches(text: str) -> list[str]:
    """Addresses, flags and cycles; later fields depend on the release of perf."""
    return ["/".join(each.split("/")[:6]) for each in text.split()]


def check(skidscan: Path, results: Path, name: str, modules: Path) -> tuple[str, list[str]]:
    """What was compared, and what differs."""
    binaries = [word for path in modules.iterdir() for word in ("--binary", path)]
    here = rows(subprocess.run([skidscan, "samples", results / f"{name}.data", "--no-demangle", *COLUMNS.split(),
                                *binaries], capture_output=True, text=True, check=True).stdout)
    guest = rows((results / f"{name}.guest").read_text())
    perf = [line.split(None, 1) for line in (results / f"{name}.names").read_text().splitlines()]
    lines = [line.split() for line in (results / "kallsyms").read_text().splitlines() if "[" in line]
    known = {(int(line[0], 16), line[2], line[3]) for line in lines}
    wrong = []
    if not len(perf) == len(guest) == len(here):
        return "", [f"{len(perf)} samples by perf, {len(guest)} in the guest, {len(here)} here"]
    in_modules = beyond = 0
    for (address, named), inside, outside in zip(perf, guest, here):
        module = module_of(inside)
        in_modules += bool(module)
        # With /proc/kcore perf extends the last symbol of a module over the next one (docs/agreement.md).
        function, _, offset = named.partition("+")
        if module and offset and (int(address, 16) - int(offset, 16), function, f"[{module}]") not in known:
            beyond += 1
            named = symbol(inside)
        if (address, named) != (inside[0], symbol(inside)):
            wrong.append(f"{address} {named}: {symbol(inside)} in the guest")
        if module and outside[1:3] != inside[1:3]:
            wrong.append(f"{address} {named}: {symbol(outside)} here")
    if in_modules < 100 or beyond * 100 > in_modules:
        wrong.append("less than 100 samples in modules, or more than 1% of them beyond perf's symbol")
    compared = f"{len(perf)} samples, {in_modules} in modules, {beyond} of them beyond perf's symbol"
    if name == "branches":
        stacks = branches((results / "branches.stacks").read_text())
        if stacks != branches(" ".join(row[4] for row in here)):
            wrong.append("branch stacks")
        audit = subprocess.run([skidscan, "audit", results / f"{name}.data", "--fail-on", "branches", *binaries],
                               capture_output=True, text=True, check=False)
        if audit.returncode:
            wrong.append(f"audit: exit status {audit.returncode}")
        compared += f", {len(stacks)} branch records; {audit.stdout.partition(';')[0].replace(chr(10), ' ')}"
    return compared, wrong


def main() -> int:
    parser = Parser(prog="modules.py", description="Compares names and branch stacks of a kernel with modules.")
    parser.add_argument("skidscan", type=Path, metavar="SKIDSCAN", help="the program, as built")
    parser.add_argument("directory", type=Path, metavar="DIR", help="for recordings and results")
    parser.add_argument("--cpu", default="skylake", metavar="CPU", help="with LBR (default: skylake)")
    parser.add_suite()
    arguments = parser.parse_args()
    skidscan, directory = arguments.skidscan.resolve(), arguments.directory.resolve()
    packages = Path(tool("guest/packages.sh", "x86_64", *filter(None, [arguments.suite])))
    modules, work = directory / "modules", directory / "work"
    copy_modules(packages / "guest/contents/usr/lib/modules", modules)
    work.write_text(WORK)
    results = boot(Cpu.of(arguments.cpu), directory / "guest", commands(skidscan, modules, work),
                   [skidscan, work, modules], suite=arguments.suite)
    failed = 0
    for name in RECORDINGS:
        compared, wrong = check(skidscan, results, name, modules)
        print(f"{name}: {compared}: {len(wrong)} differ", *wrong[:5], sep="\n    ", flush=True)
        failed += bool(wrong)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
