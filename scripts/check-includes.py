#!/usr/bin/env python3
"""Checks with include-what-you-use that each file includes what it uses, and nothing else.
usage: check-includes.py BUILD [--fix] [FILE...]
BUILD: configured without precompiled headers and batches, by clang. FILE: sources; without, all of the product.
--fix changes the files; clang-format then puts the lines in their order. Exit status 1: something was found.
"""

import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parent.parent
CHECKED = ("src/", "analysis/", "runway/", "plots/", "bench/")
# What templates of the library use, and no file of ours: thread cancellation in streams, defaults of std::ranges.
OF_THE_LIBRARY = {"__forced_unwind", "identity", "less", "greater", "common_comparison_category", "common_comparison_category_t",
                  "allocator_traits<>::value_type", "operator<",
                  "operator>", "operator<=", "operator>=", "strong_ordering", "partial_ordering", "equal_to"}
# Private headers that the tool does not know by their public name.
PUBLIC = '[{ include: ["<bits/std_abs.h>", private, "<cmath>", public] }]'


def findings(command, mapping):
    """(file, "add" or "remove", line, names it is for) of one source."""
    words = shlex.split(command["command"])[1:]
    options = ["--max_line_length=10000", "--cxx17ns", "--quoted_includes_first", f"--mapping_file={mapping}"]
    tool = ["include-what-you-use"]
    for option in options:
        tool += ["-Xiwyu", option]
    done = subprocess.run(tool + words, cwd=command["directory"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    found, file, action = [], "", ""
    for line in done.stderr.splitlines():
        head = re.fullmatch(r"(.*) should (add|remove) these lines:", line)
        if head:
            file, action = head.groups()
        elif line.startswith(("The full include-list", "---")) or not line.strip():
            action = ""
        elif action:
            text, _, names = line.removeprefix("- ").partition("//")
            names = names.strip().removeprefix("for ")
            found.append((os.path.relpath(file, TOP), action, text.strip(), set(names.split(", "))))
    if re.search("error: |warning: |Assertion failed", done.stderr):
        raise RuntimeError(f"{command['file']}: {done.stderr[-2000:]}")
    return found


def is_ours(action, text, names):
    return action == "remove" or text.startswith("namespace") or not names <= OF_THE_LIBRARY


def declared_in(line):
    """(namespace, declaration) of "namespace skid::locate { struct Digest; }"."""
    return re.fullmatch(r"namespace (\S+) \{ (.*) \}", line).groups()


def declarations(lines):
    """Forward declarations as lines, one namespace each."""
    by_space = collections.defaultdict(set)
    for line in lines:
        space, declared = declared_in(line)
        by_space[space].add(declared)
    out = []
    for space, declared in sorted(by_space.items()):
        out += [f"namespace {space} {{", *sorted(declared), f"}}  // namespace {space}", ""]
    return out


def fix(path, changes):
    lines = (TOP / path).read_text().split("\n")
    removed = {declared_in(text)[1] if text.startswith("namespace") else text
               for action, text in changes if action == "remove"}
    added = [text for action, text in changes if action == "add"]
    lines = [line for line in lines if line.partition("//")[0].strip() not in removed]
    last = max((i for i, line in enumerate(lines) if re.match(r"#\s*(include|pragma once)", line)), default=-1)
    lines[last + 1:last + 1] = [text for text in added if text.startswith("#")]
    spaces = [text for text in added if text.startswith("namespace")]
    if spaces:
        at = next(i for i, line in enumerate(lines) if line.startswith("namespace"))
        lines[at:at] = declarations(spaces)
    text = re.sub(r"namespace (\S+) \{\n+\}  // namespace \1\n\n?", "", "\n".join(lines))
    (TOP / path).write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--fix", action="store_true")
    options = parser.parse_args()
    wanted = {os.path.relpath(file, TOP) for file in options.files}
    commands = []
    for command in json.loads((options.build / "compile_commands.json").read_text()):
        path = os.path.relpath(command["file"], TOP)
        if path in wanted or (not wanted and path.startswith(CHECKED)):
            commands.append(command)
    changes = collections.defaultdict(dict)
    with tempfile.NamedTemporaryFile("w", suffix=".imp") as mapping:
        mapping.write(PUBLIC)
        mapping.flush()
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
            for found in threads.map(lambda command: findings(command, mapping.name), commands):
                for path, action, text, names in found:
                    if is_ours(action, text, names):
                        changes[path][action, text] = ", ".join(sorted(names))
    for path, each in sorted(changes.items()):
        for (action, text), names in sorted(each.items()):
            print(f"{path}: {action} {text}" + (f"  // for {names}" if names else ""))
        if options.fix:
            fix(path, each)
    print(f"{len(commands)} sources, {sum(map(len, changes.values()))} lines to change")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main())
