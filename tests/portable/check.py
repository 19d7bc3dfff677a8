#!/usr/bin/python3
"""Runs the portable archive in a root directory that has nothing else, and compares it with the built program.

usage: check.py ARCHIVE PROGRAM [RECORDINGS]     (exit status 77: skipped, with the reason)

First without any other file: reports of all recordings, in all formats. Then with perf and its libraries: a
recorded run, whose processes are traced. Then, with busybox too, a user without rights records in a home directory
that is mounted with noexec. Needs root; mounts are in a namespace of their own.
"""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

FORMATS = [["--format", "text"], ["--format", "json"], ["--format", "csv"], ["--html", "/dev/stdout", "-q"]]
ENVIRONMENT = {"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "TMPDIR": "/tmp"}
PROGRAM = "/skidscan/bin/skidscan"
failures = []


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def check(holds, message):
    if not holds:
        failures.append(message)
        print("FAILED:", message)


def run(program, arguments, root="/", traced_to=None):
    """Standard output and error, and the exit status, of a program (a path and arguments) in /tmp of a root."""
    command = ["skidscan", *program[1:], *arguments]
    executable, environment = program[0], ENVIRONMENT
    if traced_to:
        command = ["strace", "-ff", "-o", traced_to, "-e", "trace=file,process", "chroot", root, *program, *arguments]
        executable, root = "strace", "/"
        environment = ENVIRONMENT | {"PATH": os.environ["PATH"]}

    def enter():
        os.chroot(root)
        os.chdir("/tmp")

    done = subprocess.run(command, executable=executable, preexec_fn=enter, env=environment,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return done.stdout, done.stderr, done.returncode


def compare_reports(root, built, recordings):
    """With the built program in the same root, so that both find the same files."""
    for path in [built, *libraries_of(built)]:
        (root / "built").mkdir(exist_ok=True)
        shutil.copy(path, root / "built")
    loader = next(path for path in libraries_of(built) if "/ld-" in path)
    built_inside = [f"/built/{os.path.basename(loader)}", "--library-path", "/built", "/built/skidscan"]
    compared = 0
    for recording in sorted(recordings.rglob("*.data*")):
        for output in FORMATS:
            arguments = ["report", str(recording), *output]
            ours, theirs = (run(program, arguments, root) for program in ([PROGRAM], built_inside))
            check(ours == theirs, f"report {recording.name} {' '.join(output)} differs; {ours[1][-200:]!r}")
            compared += 1
    print(f"{compared} reports compared with the built program's")
    shutil.rmtree(root / "built")


def libraries_of(program):
    return re.findall(r"(/\S+) \(", subprocess.run(["ldd", program], capture_output=True, text=True).stdout)


def copy_with_libraries(root, program):
    for path in [program, *libraries_of(program)]:
        copy = root / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)


def traced(trace):
    """The programs that were started, and the files that skidscan's processes opened or tried to."""
    started, opened = set(), set()

    def walk(pid, program):
        for line in trace.with_name(f"trace.{pid}").read_text(errors="replace").splitlines():
            if found := re.match(r'execve\("([^"]*)".*= 0$', line):
                program = found[1]
                started.add(program)
            elif found := re.match(r"(?:clone3?|v?fork)\(.*= (\d+)$", line):
                walk(found[1], program)
            elif found := re.match(r'open(?:at)?\((?:\w+, )?"([^"]*)".*= (?:\d+|-1 ENOENT.*)$', line):
                if program == PROGRAM:
                    opened.add(found[1])

    # That of the root directory's program; process ids may have begun again at the smallest.
    first, = (path for path in trace.parent.glob("trace.*")
              if re.match(r'execve\("[^"]*/chroot"', path.read_text(errors="replace")))
    walk(first.suffix[1:], "")
    return started, opened


def check_recording(root, work):
    trace = work / "trace" if shutil.which("strace") else None
    out, err, status = run([PROGRAM], ["record", "-q", "-o", "/tmp/default.run"], root, trace)
    check(status == 0, f"record: exit status {status}: {err.decode()[-300:]}")
    if trace:
        started, opened = traced(trace)
        expected = re.compile(PROGRAM + r"$|.*/perf$|.*/target\.[\w-]+$|.*/chroot$")
        strange = {path for path in started if not expected.match(path)}
        check(not strange, f"record started {strange}")
        expected = re.compile(r"/(skidscan|proc|sys|dev|tmp)(/|$)|[^/]")
        strange = {path for path in opened if not expected.match(path)}
        check(not strange, f"record opened {strange}")
        check(PROGRAM in started and opened, "record was not traced")
        print(f"record started {len(started)} programs, opened {len(opened)} files")
    else:
        print("record was not traced: strace is missing")
    for arguments in (["report", "default.run"], ["merge", "default.run", "-o", "all.json"],
                      ["report", "all.json"], ["record", "--resume", "default.run", "--pack", "default.tar"],
                      ["report", "default.tar"], ["synth", "--like", "pebs-shadow", "-o", "shadow.data"],
                      ["correct", "shadow.data"], ["target", "--trigger", "load-l2", "--working-set", "64K"],
                      ["target", "--arch", "aarch64", "-o", "aarch64"], ["doctor"]):
        out, err, status = run([PROGRAM], arguments, root)
        check(status in (0, 3), f"{arguments}: exit status {status}: {err.decode()[-300:]}")
    out, err, status = run([PROGRAM], ["target", "--nops", "300"], root)
    check(status == 1 and b"with NOPs 300 are built with it" in err, f"target --nops: {err.decode()}")


# What the user does, in a shell of busybox. $1: the number of recordings after which the run is interrupted.
SESSION = """
tar -xJf /archive.tar.xz -C /tmp && PATH=/tmp/skidscan/bin:$PATH
events='-e faults,cpu-clock -p none --duration 3'
skidscan record $events --pack run.tar; echo "noexec: $?"
ls -A
skidscan record $events -o /tmp/session.run --pack run.tar & recording=$!
for i in $(seq 1200); do [ ! -e /tmp/session.run/faults.none.data ] || break; sleep 0.1; done
kill -TERM $recording; wait $recording; echo "interrupted: $?"
ls -A
skidscan record --resume /tmp/session.run --pack run.tar -q; echo "resumed: $?"
ls -A . /tmp/session.run
"""
SEEN = """noexec: 1
interrupted: 143
resumed: 0
.:
run.tar
"""


def check_user(root, work, archive, built):
    user, home = 65534, root / "home/user"
    home.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", f"noexec,mode=0755,uid={user},gid={user}", "tmpfs", home], check=True)
    (root / "tmp").chmod(0o1777)
    shutil.copy(archive, root / "archive.tar.xz")
    copy_with_libraries(root, shutil.which("busybox"))
    (root / "bin").mkdir(exist_ok=True)

    def run_as(who, directory, *arguments):
        def enter():
            os.chroot(root)
            os.chdir(directory)
            os.setgroups([])
            os.setgid(who)
            os.setuid(who)

        return subprocess.run([shutil.which("busybox"), *arguments], preexec_fn=enter,
                              env={"LC_ALL": "C.UTF-8", "PATH": "/usr/bin:/bin", "HOME": directory}, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)

    run_as(0, "/", "--install", "-s", "/bin")
    done = run_as(user, "/home/user", "sh", "-c", SESSION)
    check(done.stdout == SEEN, f"a user's session printed {done.stdout!r}, {done.stderr[-600:]!r}")
    check("cannot be executed; expected a file system without noexec" in done.stderr, f"noexec: {done.stderr!r}")
    check("finish with: skidscan record --resume /tmp/session.run --pack run.tar" in done.stderr,
          f"interrupted: {done.stderr!r}")
    # Elsewhere: by the built program, outside of the root directory.
    shutil.copy(home / "run.tar", work / "run.tar")
    there, here = (subprocess.run([program, "report", "run.tar", "--format", "json"], cwd=directory, check=True,
                                  capture_output=True).stdout
                   for program, directory in ((root / PROGRAM.lstrip("/"), home), (built, work)))
    check(there == here, "the packed run is reported in another way elsewhere")
    samples = [measurement["samples"]["read"] for measurement in json.loads(here)["measurements"]]
    check(len(samples) == 2 and min(samples) > 0, f"the packed run has {samples} samples")
    print(f"a user recorded and packed {samples} samples")


def check_example(root):
    out, err, status = run([PROGRAM], ["report", "--example"], root)
    check(status == 0 and b"EMULATED" in out, f"report --example: exit status {status}: {err.decode()[-300:]}")


def main():
    archive, built = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    if not archive.exists():
        skip(f"{archive.name} is missing; cmake --build DIR --target portable makes it")
    if archive.stat().st_mtime < built.stat().st_mtime:
        skip(f"{archive.name} is older than the program; cmake --build DIR --target portable makes it again")
    if "--inside" not in sys.argv:
        # All files and mounts are in a namespace of their own, on a file system of its own.
        work = tempfile.mkdtemp(prefix="skidscan-portable-")
        done = subprocess.run(["unshare", "--mount", "--propagation", "private", *sys.argv, "--inside", work])
        os.rmdir(work)
        sys.exit(done.returncode)
    work = pathlib.Path(sys.argv[-1])
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", work], check=True)
    root = work / "root"
    for directory in ("proc", "sys", "dev", "tmp"):
        (root / directory).mkdir(parents=True)
    subprocess.run(["tar", "-xf", archive, "-C", root], check=True)
    subprocess.run(["mount", "--rbind", "/proc", root / "proc"], check=True)
    subprocess.run(["mount", "--rbind", "/sys", root / "sys"], check=True)
    (root / "dev/null").touch()
    subprocess.run(["mount", "--bind", "/dev/null", root / "dev/null"], check=True)
    (root / "dev/stdout").symlink_to("/proc/self/fd/1")
    built = str(built)
    check(run([PROGRAM], ["--version"], root) == run([built], ["--version"]), "--version differs")
    recordings = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 5 else None
    if recordings and recordings.is_dir():
        inside = root / str(recordings).lstrip("/")
        inside.mkdir(parents=True)
        subprocess.run(["mount", "--bind", "--read-only", recordings, inside], check=True)
        compare_reports(root, built, recordings)
    check_example(root)
    if perf := shutil.which("perf"):
        copy_with_libraries(root, perf)
        check_recording(root, work)
        paranoid = int(pathlib.Path("/proc/sys/kernel/perf_event_paranoid").read_text())
        if not shutil.which("busybox"):
            print("no user's session: busybox is missing")
        elif paranoid > 2:
            print(f"no user's session: kernel.perf_event_paranoid is {paranoid}")
        else:
            check_user(root, work, archive, built)
    sys.exit(1 if failures else 0)


main()
