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

TOP = pathlib.Path(__file__).resolve().parent.parent
CHECKED = ("src/", "analysis/", "runway/", "plots/", "bench/", "cmake/")
# What templates of the library use, and no file of ours: thread cancellation in streams, defaults of std::ranges,
# members of containers.
OF_THE_LIBRARY = {"__forced_unwind", "remove_cv_t", "identity", "less", "greater", "equal_to", "initializer_list", "allocator",
                  "_NonArray", "borrowed_iterator_t", "common_comparison_category", "common_comparison_category_t",
                  "__synth3way_t", "operator<", "operator>", "operator<=", "operator>=", "operator==",
                  "strong_ordering", "strong_ordering::equal", "partial_ordering", "allocator_traits<>::value_type",
                  "__alloc_traits<>::value_type", "add_const<>::type", "remove_reference<>::type",
                  "tuple_element<>::type", "__tuple_element_t", "__shared_ptr_access", "ptrdiff_t"}
# Functions that templates find by the type of an argument (SKID_NAMES, SKID_WORDS), whose header has them; the tool names
# the first such function that it sees.
BY_ARGUMENT = {"name_of", "names_of", "describe"}
# Headers that the documentation of the library names, for parts of them that the tool names.
PUBLIC = [(r"<bits/chrono\.h>", "<chrono>"), (r"<bits/std_abs\.h>", "<cmath>"), (r"<bits/utility\.h>", "<utility>"),
          (r"<fmt/core\.h>", "<fmt/format.h>"), (r"<nlohmann/(?!json_fwd).*>", "<nlohmann/json.hpp>"),
          (r"<Zydis/.*>", "<Zydis/Zydis.h>"), (r"<perfmon/perf_event\.h>", "<perfmon/pfmlib_perf_event.h>"),
          (r"<bits/mman-shared\.h>", "<sys/mman.h>"), (r"<bits/types/idtype_t\.h>", "<sys/wait.h>"),
          (r"<bits/types/sig.*>", "<csignal>"), (r"<bits/types/struct_(itimerspec|tm)\.h>", "<ctime>"),
          (r"<stdio\.h>", "<cstdio>"), (r"<string\.h>", "<cstring>"), (r"<syscall\.h>", "<sys/syscall.h>")]


def public(text, names):
    """The line with the public header. Algorithms of std::ranges are in a header that <ranges> has, too."""
    if text == "#include <ranges>" and all(re.match(r"(__)?find", name) for name in names - OF_THE_LIBRARY):
        return "#include <algorithm>"
    for private, header in PUBLIC:
        text = re.sub(f"(?<=#include ){private}$", header, text)
    return text


def findings(command):
    """{file: {(action, line): names}} for one source and the headers that it includes. action: "add" or "remove". None,
    after the tool's output, where the tool reports an error or nothing about the source."""
    words = shlex.split(command["command"])[1:]
    tool = ["include-what-you-use"]
    for option in ["--max_line_length=10000", "--cxx17ns", "--quoted_includes_first",
                   *(f"--check_also={TOP}/{folder}*" for folder in CHECKED)]:
        tool += ["-Xiwyu", option]
    done = subprocess.run(tool + words, cwd=command["directory"], stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    found, action, lines = {}, "", {}
    for line in done.stderr.splitlines():
        head = re.fullmatch(r"(.*) should (add|remove) these lines:", line)
        correct = re.fullmatch(r"\((.*) has correct #includes/fwd-decls\)", line)
        if head or correct:
            action = head[2] if head else ""
            lines = found.setdefault(os.path.relpath((head or correct)[1], TOP), {})
        elif line.startswith(("The full include-list", "---")) or not line.strip():
            action = ""
        elif action:
            text, _, names = line.removeprefix("- ").partition("//")
            lines[action, text.strip()] = set(filter(None, names.strip().removeprefix("for ").split(", ")))
    source = os.path.relpath(os.path.join(command["directory"], command["file"]), TOP)
    if source not in found or re.search("error: |warning: |Assertion failed", done.stderr):
        print(f"{source}:\n{done.stderr}", file=sys.stderr)
        return None
    return {path: lines for path, lines in found.items() if path.startswith(CHECKED)}


def changes_of(path, found):
    """{(action, line): names} for a file, of what was found for it in each source that includes it."""
    present = set(re.findall(r"^#include \S+", (TOP / path).read_text(), re.M))
    added, kept = collections.defaultdict(set), set()
    for lines in found:
        for (action, text), names in lines.items():
            if action == "add":
                if text.startswith("#"):
                    text = public(text, names)
                    kept.add(text)
                    names = names - OF_THE_LIBRARY - BY_ARGUMENT
                if path.startswith("src/support/") and re.match(r'#include "(?!src/support/)', text):
                    continue  # the type of a caller, in a template
                if names or text.startswith("namespace"):
                    added[text] |= names
    removed = set.intersection(*({text for action, text in lines if action == "remove"} for lines in found))
    if "#include <nlohmann/json.hpp>" in kept | present - removed:
        added.pop("#include <nlohmann/json_fwd.hpp>", None)
    changes = {("add", text): names for text, names in added.items() if text not in present}
    return changes | {("remove", text): set() for text in removed - kept}


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
    # A namespace that follows its own declarations contains them.
    text = re.sub(r"namespace (\S+) \{\n((?:[^\n]*;\n)+)\}  // namespace \1\n\nnamespace \1 \{\n\n",
                  r"namespace \1 {\n\n\2\n", text)
    (TOP / path).write_text(text)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--fix", action="store_true")
    options = parser.parse_intermixed_args()
    wanted = {os.path.relpath(file, TOP) for file in options.files}
    commands = []
    for command in json.loads((options.build / "compile_commands.json").read_text()):
        path = os.path.relpath(command["file"], TOP)
        if path in wanted or (not wanted and path.startswith(CHECKED)):
            commands.append(command)
    found, failed = collections.defaultdict(list), 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        for of_source in threads.map(findings, commands):
            failed += of_source is None
            for path, lines in (of_source or {}).items():
                found[path].append(lines)
    # What a header needs depends on its users: all of them have to be seen.
    changes = {path: changes_of(path, lines) for path, lines in sorted(found.items()) if path in wanted or not wanted}
    for path, each in changes.items():
        for (action, text), names in sorted(each.items()):
            print(f"{path}: {action} {text}" + (f"  // for {', '.join(sorted(names))}" if names else ""))
        if options.fix and each:
            fix(path, each)
    number = sum(map(len, changes.values()))
    print(f"{len(commands)} sources, {failed} with errors, {number} lines to change")
    return 1 if number or failed else 0


if __name__ == "__main__":
    sys.exit(main())
