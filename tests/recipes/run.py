#!/usr/bin/env python3
"""Runs the blocks of a page of docs/ in order, in a temporary directory.
usage: run.py SKIDSCAN PAGE sh|perf|python|r

Blocks of ```sh always run and must succeed; blocks of ```sh perf, ```python and ```r run only if the last
argument names them. The ```text block after a block shows its output; "…" is what is left out.
"""

import os
import re
import subprocess
import sys
import tempfile

SHELL = ["bash", "-eu", "-o", "pipefail"]
KINDS = {"sh": ("sh", SHELL), "perf": ("sh perf", SHELL), "python": ("python", [sys.executable]),
         "r": ("r", ["Rscript"])}


def blocks_of(page):
    """(line, information string, text) of each fenced block."""
    blocks, line, kind, text = [], 0, None, []
    with open(page, encoding="utf-8") as file:
        for number, row in enumerate(file, 1):
            if not row.startswith("```"):
                text.append(row)
            elif kind is None:
                line, kind, text = number, row[3:].strip(), []
            else:
                blocks.append((line, kind, "".join(text)))
                kind = None
    if kind is not None:
        raise SystemExit(f"{page}:{line}: block without an end")
    return blocks


def is_as_shown(shown, printed):
    """Whether the output is as shown, whatever the column spacing; "…" is any text, as a line any lines."""
    def plain(line):
        return " ".join(line.split())
    pattern = "".join(r"(?:.*\n)*?" if line == "…" else re.escape(plain(line)).replace("…", ".*") + r"\n"
                      for line in shown.splitlines())
    return re.fullmatch(pattern, "".join(plain(line) + "\n" for line in printed.splitlines())) is not None


def main():
    skidscan, page, kind = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2]), sys.argv[3]
    environment = dict(os.environ, LC_ALL="C.UTF-8", COLUMNS="100",
                       PATH=os.path.dirname(skidscan) + os.pathsep + os.environ["PATH"])
    run = {KINDS["sh"][0]: KINDS["sh"][1], KINDS[kind][0]: KINDS[kind][1]}
    known = {name for name, _ in KINDS.values()} | {"text"}
    ran, printed = 0, None
    with tempfile.TemporaryDirectory() as directory:
        for line, name, text in blocks_of(page):
            if name not in known:
                print(f"{page}:{line}: blocks are {', '.join(sorted(known))}, not '{name}'")
                return 1
            if name == "text":
                if printed is not None and not is_as_shown(text, printed):
                    print(f"{page}:{line}: shown:\n{text}\nprinted:\n{printed}")
                    return 1
                continue
            printed = None
            if name not in run:
                continue
            ran += name == KINDS[kind][0]
            done = subprocess.run([*run[name], "-"] if name == "r" else run[name], input=text,
                                  cwd=directory, env=environment, text=True, check=False,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
            printed = done.stdout
            if done.returncode != 0:
                print(f"{page}:{line}: exit status {done.returncode}\n{text}{printed}")
                return 1
    if ran == 0:
        print(f"{page}: no block of {KINDS[kind][0]}")
        return 1
    print(f"{ran} blocks of {KINDS[kind][0]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
