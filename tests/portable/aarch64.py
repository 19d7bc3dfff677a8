#!/usr/bin/python3
"""Runs the program of the portable archive for aarch64 under qemu-user, and compares all that it prints and writes with
the output of the one for x86-64: of recordings, of other machines' files, and of the tables of events.

usage: aarch64.py PROGRAM ARCHIVE_FOR_AARCH64 ARCHIVE [RECORDINGS]     (exit status 77: skipped, with the reason)
"""
import concurrent.futures
import os
import pathlib
import subprocess
import sys
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
EXAMPLE = "skidscan/share/skidscan/examples/emulated-skylake.run"
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin"}
JSON = ["--format", "json"]
CPUS = ["skylake", "alderlake", "core", "zen2", "zen4", "arm_ac57", "arm_n1"]  # by Intel's files and libpfm4
OF_RECORDING = [[command, *output] for command in ("report", "audit", "annotate", "correct", "inspect")
                for output in ([], JSON)] + [["samples"]]
WRONG_USAGE = 64
# What differs between the archives.
DIFFERENT = {f"skidscan/{name}" for name in
             ("bin/skidscan", "share/doc/skidscan/changelog.gz", "share/doc/skidscan/licences/SOURCES")}


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def run(prefix, root, arguments):
    """Standard output and error without the name of the directory, and the exit status, of a program in a directory."""
    done = subprocess.run([*prefix, root / "skidscan/bin/skidscan", *arguments], cwd=root, env=ENVIRONMENT,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=600)
    directory = os.fsencode(root)
    return done.stdout.replace(directory, b""), done.stderr.replace(directory, b""), done.returncode


def first_difference(ours, theirs):
    pairs = zip((ours[0] + ours[1]).splitlines(), (theirs[0] + theirs[1]).splitlines())
    return next((pair for pair in pairs if pair[0] != pair[1]), (len(ours[0]), ours[2], len(theirs[0]), theirs[2]))


def main():
    built, *archives = (pathlib.Path(path).resolve() for path in sys.argv[1:4])
    for archive in archives:
        if not archive.exists():
            skip(f"{archive.name} is missing; cmake --build DIR --target portable-aarch64 makes it")
        if archive.stat().st_mtime < built.stat().st_mtime:
            skip(f"{archive.name} is older than the program; cmake --build DIR --target portable-aarch64 makes it")
    directories = [TESTS / "data", *(pathlib.Path(path).resolve() for path in sys.argv[4:])]
    recordings = [path for directory in directories for path in sorted(directory.rglob("*.data*"))]
    failures = 0

    def fail(*what):
        nonlocal failures
        failures += 1
        print("FAILED:", *what, flush=True)

    with tempfile.TemporaryDirectory(prefix="skidscan-aarch64-") as work:
        # Names of the same length, so that tables are as wide.
        roots = [pathlib.Path(work) / name for name in ("a64", "x64")]
        for root, archive in zip(roots, archives):
            root.mkdir()
            subprocess.run(["tar", "-xf", archive, "-C", root], check=True)
        prefixes = [["qemu-aarch64-static", "-0", "skidscan"], []]

        def compare(arguments):
            ours, theirs = (run(prefix, root, arguments) for prefix, root in zip(prefixes, roots))
            # Of its own [vdso] a program states that it is not the recorded one; under qemu-user it has none.
            if ours != theirs:
                theirs = run(["qemu-x86_64-static", "-cpu", "max", "-0", "skidscan"], roots[1], arguments)
            if ours != theirs:
                fail(*arguments, first_difference(ours, theirs))
            if ours[2] == WRONG_USAGE:
                fail(*arguments, ours[1])

        models = sorted(path.stem for path in (roots[0] / "skidscan/share/skidscan/models").glob("*.json"))
        made = [["synth", "--like", model, "-o", f"{model}.data"] for model in models]
        commands = [["events", "--cpus"], *(["events", "--list", *JSON, "--cpu", cpu] for cpu in CPUS)]
        commands += [[command, recording, *options]
                     for recording in (EXAMPLE, *(f"{model}.data" for model in models), *recordings)
                     for command, *options in OF_RECORDING]
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            for some in (made, commands):
                list(pool.map(compare, some))
        names = [{str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} for root in roots]
        for name in sorted(names[0] ^ names[1]):
            fail(name, "is in one of them only")
        for name in sorted((names[0] & names[1]) - DIFFERENT):
            ours, theirs = ((root / name).read_bytes().replace(os.fsencode(root), b"") for root in roots)
            if ours != theirs:
                fail(name, "differs")
        print(f"{len(made) + len(commands)} commands and {len(names[0])} files compared, {failures} differ")
    sys.exit(1 if failures else 0)


main()
