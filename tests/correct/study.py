#!/usr/bin/env python3
"""Corrects synthetic level-1 profiles of random control flows and compares them with their truth: the error is
half the sum of the differences by instruction, uncorrected and corrected. Fails if a truth is outside of its
bounds, if a profile is refused or worse than the uncorrected one, if it is off by more than its undecided samples
and those whose cause is not known, or if more samples are undecided than --most-undecided.
usage: study.py SKIDSCAN [--seeds N] [--first N] [--samples N] [--branches N] [--registers] [--most-undecided SHARE]
"""

import argparse
import collections
import json
import os
import random
import re
import subprocess
import sys
import tempfile

from recording import Recording

# As in the run of synth that has measured the skid: hostname, kernel, perf, architecture, model, cpuid.
MACHINE = {3: "synthetic", 4: "synthetic", 5: "skidscan synth", 6: "x86_64", 8: "a model of a Skylake with PEBS",
           9: "GenuineIntel,6,94,3"}
EVENT, PERIOD = 0x81d0, 10007  # MEM_INST_RETIRED.ALL_LOADS
# A control flow without so many samples in the first steps is left out: it would be followed for minutes.
MOST_STEPS, FEWEST_SAMPLES = 100_000, 2_000

Step = collections.namedtuple("Step", "text loads")
# The branch records of each sample (0: none), read so many branches after it.
Records = collections.namedtuple("Records", "depth late")

LOADS = ["movq {at}(%rdi), %rax", "addq {at}(%rsi), %rbx", "movzbl {at}(%rdi), %ecx",
         "movups {at}(%rdi,%r9), %xmm0", "movq {at}(%rsi), %rsi", "popq %r8"]
OTHERS = ["addq %rax, %rbx", "imulq %rbx, %rcx", "leaq 8(%rdi), %r9", "movq %rax, {at}(%rsi)", "addq $16, %rdi",
          "pushq %r8", "xorl %edx, %edx", "nop"]
PAIRS = ["cmpq %rax, %rbx", "cmpq {at}(%rdi), %rax", "testq %rax, %rax"]  # all fuse with JE


class Function:
    """Blocks of instructions; the last one of a block decides where it goes."""

    def __init__(self, name, draw, callees, blocks):
        self.name = name
        self.steps = []    # by number: Step
        self.goes = {}     # by number of a last instruction: what execution does there
        self.begins = []   # of blocks
        for block in range(blocks):
            self.begins.append(len(self.steps))
            for _ in range(draw.randint(1, 6)):
                loads = draw.random() < 0.4
                text = draw.choice(LOADS if loads else OTHERS)
                self.steps.append(Step(text.format(at=8 * draw.randint(0, 99)), loads))
                if callees and draw.random() < 0.12:
                    callee = draw.choice(callees)
                    self.goes[len(self.steps)] = ("call", callee)
                    self.steps.append(Step(f"call {callee.name}", False))
            target = draw.randrange(blocks)
            kind = draw.choice(["falls", "falls", "jump", "pair", "pair", "returns"])
            if block == blocks - 1 or (kind == "returns" and draw.random() < 0.7):
                if self.steps[-1].text.startswith("push"):  # which would make RET an indirect jump
                    self.steps[-1] = Step("nop", False)
                self.goes[len(self.steps)] = ("return",)
                self.steps.append(Step("ret", True))
            elif kind == "jump":
                self.goes[len(self.steps)] = ("jump", target)
                self.steps.append(Step(f"jmp .L{name}_{target}", False))
            elif kind == "pair":
                text = draw.choice(PAIRS).format(at=8 * draw.randint(0, 99))
                self.steps.append(Step(text, "(" in text))
                self.goes[len(self.steps)] = ("branch", target, draw.random())
                self.steps.append(Step(f"je .L{name}_{target}", False))

    def assembly(self):
        lines = [f"  .globl {self.name}", f"  .hidden {self.name}",
                 f"  .type {self.name}, @function", f"{self.name}:"]
        begins = {number: block for block, number in enumerate(self.begins)}
        for number, step in enumerate(self.steps):
            if number in begins:
                lines.append(f".L{self.name}_{begins[number]}:")
            at = f"{self.name}_{number}"
            lines += [f".Lat_{at}:", f"  .set site_{at}, .Lat_{at} - {self.name}",
                      "  " + step.text]
        return lines + [f"  .size {self.name}, . - {self.name}"]


class Registers(dict):
    """The general-purpose registers while instructions are executed. What is loaded is random."""

    def __init__(self, draw):
        super().__init__()
        self.draw = draw
        for name in ("rax", "rbx", "rcx", "rdx", "rsi", "rdi", "rbp", "rsp", "r8", "r9"):
            self[name] = self.pointer()

    def pointer(self):
        return self.draw.randrange(0x10000, 1 << 46, 8)

    def execute(self, text):
        """Executes an instruction. Returns the address that it loaded from, or None."""
        operation, *operands = re.split(r"[ ,]+(?![^(]*\))", text)
        loaded = None
        if "(" in text and operation != "leaq":
            displacement, base, index = re.search(r"(\d+)\(%(\w+),?%?(\w*)\)", text).groups()
            if text.index("(") < len(operation) + 1 + len(operands[0]) or operation == "cmpq":
                loaded = int(displacement) + self[base] + (self[index] if index else 0)
        if operation in ("popq", "ret"):
            loaded = self["rsp"]
            self["rsp"] += 8
        elif operation in ("pushq", "call"):
            self["rsp"] -= 8
        elif operation == "leaq":
            self["r9"] = self["rdi"] + 8
        elif text == "addq $16, %rdi":
            self["rdi"] += 16
        written = operands[-1].removeprefix("%").replace("ecx", "rcx").replace("edx", "rdx") if operands else ""
        if operation in ("movq", "addq", "movzbl", "imulq", "xorl", "popq") and written in self and written != "rdi":
            self[written] = self.pointer()
        return loaded


def execute(entry, draw):
    """The instructions as they are executed, for ever: (function, number, whether a jump led there)."""
    while True:
        stack = [(entry, 0)]
        jumped = True
        for _ in range(5000):  # then enter anew, from unknown code
            function, number = stack.pop()
            yield function, number, jumped
            goes = function.goes.get(number, ("next",))
            jumped = True
            if goes[0] == "call":
                stack += [(function, number + 1), (goes[1], 0)]
            elif goes[0] == "jump" or (goes[0] == "branch" and draw.random() < goes[2]):
                stack.append((function, function.begins[goes[1]]))
            elif goes[0] != "return":
                stack.append((function, number + 1))
                jumped = False
            if not stack:
                break
        yield None, 0, True


class Sampler:
    """Level-1 samples of loads: each is recorded at the instruction after the load or, where a fused pair
    does the load, after the pair, which retires at once."""

    def __init__(self, records, registers):
        self.late, self.registers = records.late, registers
        self.truth, self.recorded = collections.Counter(), []
        self.branches = collections.deque(maxlen=records.depth)  # newest first
        self.unread = []  # samples whose branch stack is not yet read: [place, branches to wait for]

    def run(self, entry, draw, samples):
        waiting, last, left, data = None, None, samples, None
        for step, (function, number, jumped) in enumerate(execute(entry, draw)):
            if step == MOST_STEPS and samples - left < FEWEST_SAMPLES:
                self.truth.clear()
                return
            is_second = last is not None and function is last[0] and number == last[1] + 1 and \
                function.goes.get(number, ("",))[0] == "branch"
            if function is None:
                waiting, last = None, None
                continue
            here = (function.name, number)
            if jumped:
                self.add_branch(last and (last[0].name, last[1]), here)
            if not is_second:
                if waiting is not None:
                    self.truth[waiting] += 1
                    self.unread.append([(here, data, dict(self.registers)), self.late])
                    left -= 1
                    waiting = None
                self.read_branches()
                if left == 0 and not self.unread:
                    return
            loaded = self.registers.execute(function.steps[number].text)
            if left > 0 and function.steps[number].loads and draw.random() < 0.5:
                waiting, data = here, loaded
            last = (function, number)

    def add_branch(self, source, destination):
        self.branches.appendleft((source, destination))
        for one in self.unread:
            one[1] -= 1

    def read_branches(self):
        for here, _ in [one for one in self.unread if one[1] <= 0]:
            self.recorded.append((*here, tuple(self.branches)))
        self.unread = [one for one in self.unread if one[1] > 0]


def error(counts, truth):
    total = sum(truth.values())
    return sum(abs(counts[key] - truth[key]) for key in set(counts) | set(truth)) / 2 / total


class Study:
    def __init__(self, skidscan, directory):
        self.skidscan, self.directory = skidscan, directory

    def run(self, *command):
        done = subprocess.run(command, cwd=self.directory, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, check=False, timeout=300)
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(command)}: {done.stderr}")
        return done.stdout

    def measure_skid(self):
        self.run(self.skidscan, "synth", "--like", "pebs-sound", "--all-levels", "-o", "skid.run")

    def build(self, functions):
        lines = ["  .text"]
        for function in functions:
            lines += function.assembly()
        lines.append('  .section .note.GNU-stack,"",@progbits')
        with open(os.path.join(self.directory, "code.s"), "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
        self.run("cc", "-shared", "-Wl,--build-id=sha1", "-o", "code.so", "code.s")
        offsets, begins = {}, {}
        for line in self.run("nm", "--defined-only", "code.so").splitlines():
            value, kind, name = line.split()[-3:]
            if kind == "t":
                begins[name] = int(value, 16)
            elif name.startswith("site_"):
                function, number = name[len("site_"):].rsplit("_", 1)
                offsets[function, int(number)] = int(value, 16)
        return offsets, begins

    def write(self, samples, address, records, has_registers):
        """Writes the recording of samples: their place, data address, registers and branch records."""
        recording = Recording(EVENT, PERIOD, records.depth > 0, samples[0][2] if has_registers else ())
        notes = self.run("readelf", "-n", "code.so")
        build_id = bytes.fromhex(re.search(r"Build ID: ([0-9a-f]+)", notes).group(1))
        segments = self.run("readelf", "-lW", "code.so")
        code = next(line.split() for line in segments.splitlines() if "LOAD" in line and " R E " in line)
        offset, begin, size = (int(code[at], 16) for at in (1, 2, 5))
        recording.map(os.path.join(self.directory, "code.so"), build_id, begin, size, offset)
        for place, data, registers, branches in samples:
            recording.sample(address[place], data, registers,
                             [[end and address[end] for end in branch] for branch in branches])
        recording.write(os.path.join(self.directory, "placed.data"), MACHINE)

    def of_seed(self, seed, samples, records, has_registers):
        draw = random.Random(seed)
        callees = [Function(f"callee{i}", draw, [], draw.randint(1, 5)) for i in range(4)]
        entry = Function("entry", draw, callees, draw.randint(8, 40))
        offsets, begins = self.build(callees + [entry])
        sampler = Sampler(records, Registers(random.Random(seed)))
        sampler.run(entry, draw, samples)
        truth = sampler.truth
        if not truth:
            return None
        address = {(function, number): begins[function] + offset
                   for (function, number), offset in offsets.items()}
        recorded = collections.Counter(place for place, *_ in sampler.recorded)
        self.write(sampler.recorded, address, records, has_registers)
        answer = json.loads(self.run(self.skidscan, "correct", "placed.data", "--skid", "skid.run",
                                     "--format", "json"))["recordings"][0]["events"][0]
        numbers = {(function, offset): number for (function, number), offset in offsets.items()}
        corrected = collections.Counter()
        outside = 0
        for place in answer["places"]:
            key = (place["symbol"], numbers[place["symbol"], place["offset"]])
            corrected[key] += place["corrected"]
            outside += not place["low"] <= truth[key] <= place["high"]
        if sum(recorded.values()) != answer["samples"]:
            raise RuntimeError(f"seed {seed}: {answer['samples']} samples")
        is_refused = answer["verdict"] == "refused"
        return (error(recorded, truth), None if is_refused else error(corrected, truth), outside,
                answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("skidscan", type=os.path.abspath)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--samples", type=int, default=100_000)
    parser.add_argument("--branches", type=int, default=0, help="branch records of a sample")
    parser.add_argument("--registers", action="store_true", help="data addresses and registers")
    parser.add_argument("--most-undecided", type=float, default=1)
    parser.add_argument("--late", type=int, default=0, help="branches between a sample and its records")
    options = parser.parse_args()
    records = Records(options.branches, options.late if options.branches else 0)
    before, after, wrong, undecided = [], [], [], []
    with tempfile.TemporaryDirectory() as directory:
        study = Study(options.skidscan, directory)
        study.measure_skid()
        for seed in range(options.first, options.first + options.seeds):
            found = study.of_seed(seed, options.samples, records, options.registers)
            if found is None:
                print(f"seed {seed}: too few loads are executed")
                continue
            uncorrected, corrected, outside, answer = found
            if corrected is None:
                wrong.append(f"seed {seed}: refused: {answer['reason']}")
                continue
            before.append(uncorrected)
            after.append(corrected)
            stays = answer["samples"] - answer["moved"] - answer["in_place"]
            undecided.append(answer["undecided"] / answer["samples"])
            print(f"seed {seed}: {uncorrected:.2%} to {corrected:.3%}, {answer['undecided']} undecided, "
                  f"{stays - answer['undecided']} not explained")
            if corrected > stays / answer["samples"] or corrected > uncorrected:
                wrong.append(f"seed {seed}: error {corrected:.3%}, uncorrected {uncorrected:.3%}")
            # What stays without an explanation is not bounded.
            if outside and not answer["unexplained"] and not answer["unknown"]:
                wrong.append(f"seed {seed}: {outside} places outside their bounds")
    if after:
        print(f"{len(after)} corrected: error {sum(before) / len(before):.2%} to "
              f"{sum(after) / len(after):.3%}, at most {max(after):.3%}; undecided "
              f"{sum(undecided) / len(undecided):.2%}, at most {max(undecided):.2%}")
        if sum(undecided) / len(undecided) > options.most_undecided:
            wrong.append(f"more than {options.most_undecided:.0%} of the samples are undecided")
    else:
        wrong.append("nothing was corrected")
    for line in wrong:
        print(f"wrong: {line}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
