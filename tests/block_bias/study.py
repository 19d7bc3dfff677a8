"""How often `skidscan audit` calls even profiles biased, and how often it finds a shadow.

usage: study.py SKIDSCAN PLACE_SAMPLES [--seeds N] [--blocks N]

Assembles a program of many blocks of loads, writes a recording of even samples for each seed, and prints
in how many of them a block is called biased and in how many the interval of `misplaced` contains 0; then
the same for one block of eight loads with 2,000 samples, one load of which is sampled twice as often.
Needs cc. Not one of the tests: 200 seeds of 1,000 blocks take some minutes."""

import argparse
import json
import os
import random
import subprocess
import tempfile

SKYLAKE = {"vendor": "GenuineIntel", "model_name": "a Skylake", "family": 6, "model": 94,
           "stepping": 3}
ALL_LOADS = "0x81d0"
LENGTH = 8  # bytes of a load


def build(directory, loads_of_blocks):
    """A function for each block."""
    lines = ["  .text", "  .globl main", "main:", "  ret"]
    for number, loads in enumerate(loads_of_blocks):
        name = f"block{number}"
        lines += [f"  .globl {name}", f"  .type {name}, @function", f"{name}:"]
        lines += ["  movq 0x1000(,%rdi,8), %rax"] * loads
        lines += ["  ret", f"  .size {name}, . - {name}"]
    lines.append('  .section .note.GNU-stack,"",@progbits')
    source = os.path.join(directory, "blocks.s")
    with open(source, "w", encoding="utf-8") as file:
        file.write("\n".join(lines) + "\n")
    program = os.path.join(directory, "blocks")
    subprocess.run(["cc", "-no-pie", "-Wl,--build-id=sha1", "-o", program, source], check=True)
    return program


def draw(loads, samples, rng, factor=1.0):
    """Samples of each load; the first is favoured by `factor`."""
    counts = [0] * loads
    for load in rng.choices(range(loads), [factor] + [1.0] * (loads - 1), k=samples):
        counts[load] += 1
    return counts


def bias_of(tools, program, counts_of_blocks):
    """`bias` of the audit of a recording with these samples."""
    skidscan, place_samples = tools
    places = [{"symbol": f"block{number}", "offset": LENGTH * load, "samples": count, "exact": True}
              for number, counts in enumerate(counts_of_blocks)
              for load, count in enumerate(counts) if count > 0]
    placement = {"binary": program, "machine": SKYLAKE, "events": [
        {"event": "loads", "config": ALL_LOADS, "period": 1009,
         "levels": [{"level": 2, "places": places}]}]}
    directory = os.path.dirname(program)
    with open(os.path.join(directory, "places.json"), "w", encoding="utf-8") as file:
        json.dump(placement, file, separators=(",", ":"))
    subprocess.run([place_samples, "places.json", "perf.data"], cwd=directory, check=True)
    done = subprocess.run([skidscan, "audit", "perf.data", "--format", "json"], cwd=directory,
                          check=True, stdout=subprocess.PIPE)
    return json.loads(done.stdout)["recordings"][0]["events"][0]["bias"]


def even_profiles(tools, directory, seeds, blocks):
    rng = random.Random(0)
    loads = [rng.randint(2, 10) for _ in range(blocks)]
    program = build(directory, loads)
    called = covering = 0
    for seed in range(1, seeds + 1):
        rng = random.Random(seed)
        # From blocks with hardly a sample to hot ones.
        counts = [draw(n, int(10 * 10 ** rng.uniform(0, 1.7)), rng) for n in loads]
        bias = bias_of(tools, program, counts)
        assert bias["blocks_judged"] == blocks, bias["blocks_judged"]
        called += bias["blocks_biased"] > 0
        covering += bias["misplaced"]["low"] == 0
    print(f"even profiles of {blocks} blocks: {seeds} seeds, {called} called biased "
          f"({called / seeds:.1%}), the interval of misplaced contains 0 in {covering / seeds:.1%}")


def shadows(tools, directory, seeds):
    program = build(directory, [8])
    for factor in (2.0, 0.5):
        found = 0
        for seed in range(1, seeds + 1):
            bias = bias_of(tools, program, [draw(8, 2000, random.Random(seed), factor)])
            found += bias["blocks_biased"] == 1 and bias["misplaced"]["low"] > 0
        print(f"one load of eight sampled {factor} times as often, 2,000 samples: {seeds} seeds, found "
              f"in {found / seeds:.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("skidscan")
    parser.add_argument("place_samples")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--blocks", type=int, default=1000)
    options = parser.parse_args()
    tools = (os.path.abspath(options.skidscan), os.path.abspath(options.place_samples))
    with tempfile.TemporaryDirectory() as directory:
        even_profiles(tools, directory, options.seeds, options.blocks)
        shadows(tools, directory, options.seeds)


if __name__ == "__main__":
    main()
