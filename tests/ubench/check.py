"""What skidscan makes of the recordings of a study of PEBS on a Xeon Gold 6126, against its published counts.

usage: check.py SKIDSCAN PLACE_SAMPLES RECORDINGS     (77: skipped, something is missing)

Programs are assembled anew from the table RECORDINGS/../reference/ubench-6126.tsv. Of those without a recording
in RECORDINGS (ubench.VARIANT.data) one is written with the samples of the table.
"""
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import programs

RECORDED_SPELLING = "mem_inst_retired.all_loads:upp"
XEON_GOLD_6126 = {"vendor": "GenuineIntel", "family": 6, "model": 85, "stepping": 4}


def skipped(reason):
    print(f"skipped: {reason}")
    sys.exit(77)


def output(*command):
    result = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    assert result.returncode == 0, f"{command}: exit status {result.returncode}: {result.stderr}"
    return result.stdout


def nops_of(variant):
    """After an instruction of a loop; after its jump at the end one less, but for none."""
    nops = int(variant[len("x-"):-len("nop")]) if "-" in variant else 0
    return {0, nops, abs(nops - 1)}


def place(place_samples, program, rows, recording):
    placement = {"binary": str(program), "machine": XEON_GOLD_6126, "events": [{
        "event": "mem_inst_retired.all_loads:u", "type": 4, "config": "0x81d0", "period": 13973,
        "levels": [{"level": 2, "places": [{"address": hex(row.address), "samples": row.samples}
                                           for row in rows if row.samples]}]}]}
    source = recording.with_suffix(".json")
    source.write_text(json.dumps(placement))
    output(place_samples, source, recording)


def recorded_path(skidscan, recording, variant):
    """Of the program, relative to the root, as the recording has it."""
    header, *lines = (line.split("\t") for line in output(skidscan, "samples", recording).splitlines())
    path, = {dso for dso in (line[header.index("dso")] for line in lines)
             if pathlib.PurePosixPath(dso).name == variant}
    return path.lstrip("/")


def counts_of_samples(text, functions):
    """By link-time address, of the TSV of `samples`."""
    header, *lines = (line.split("\t") for line in text.splitlines())
    begin = {name: min(row.address for row in rows) for name, rows in functions.items()}
    counts = {}
    for line in lines:
        sample = dict(zip(header, line))
        if sample["sym"] not in functions:
            continue
        address = begin[sample["sym"]] + int(sample["symoff"], 0)
        counts[address] = counts.get(address, 0) + 1
    return counts


def check(skidscan, recording, root, rows, name):
    expected = {row.address: row.samples for row in rows if row.samples}
    functions = {}
    for row in rows:
        functions.setdefault(row.function, []).append(row)
    where = (recording, "--symfs", root)

    found = counts_of_samples(output(skidscan, "samples", *where), functions)
    assert found == expected, f"{name}: samples: {found}; expected {expected}"

    for function in functions:
        listing = json.loads(output(skidscan, "annotate", "--function", function, "--format", "json", "--all",
                                    *where))
        annotated = counts_of_listing(listing)
        of_function = {row.address: row.samples for row in functions[function] if row.samples}
        assert annotated == of_function, f"{name}: annotate {function}: {annotated}; expected {of_function}"

    event, = json.loads(output(skidscan, "audit", "--format", "json", "--all", "--top", 1000,
                               *where))["recordings"][0]["events"]
    audited = {int(one["address"], 16): one for one in event["instructions"]}
    counts = {address: one["samples"] for address, one in audited.items()}
    assert counts == expected, f"{name}: audit: {counts}; expected {expected}"
    assert event["judged"] == sum(expected.values()), f"{name}: {event['judged']} samples are judged"
    assert event["impossible"] == 0, f"{name}: {event['impossible']} impossible samples"

    check_bias(event["bias"], expected, name)

    text_at = {row.address: row.instruction for row in rows}
    pairs = 0
    for address, one in audited.items():
        if "(" in text_at[address]:
            assert "GP_LOAD" in one["categories"], f"{name}: {one}"
            continue
        # A jump without a load of its own: fused with the comparison before it.
        before = max(other for other in text_at if other < address)
        assert text_at[before].startswith("cmp") and "COND_BRANCH" in one["categories"], f"{name}: {one}"
        assert int(one["judged_address"], 16) == before and one["disassembly"].startswith("cmp"), \
            f"{name}: {one}"
        pairs += one["samples"]
    return event["judged"], pairs, event["bias"]


def check_bias(bias, expected, name):
    """The loops of both functions have loads that execute equally often and are sampled unequally."""
    assert bias["blocks_judged"] == len(bias["blocks"]) > 1 and bias["misplaced"]["low"] > 0.1, f"{name}: {bias}"
    for block in bias["blocks"]:
        samples = [place["samples"] for place in block["places"]]
        assert samples == [expected.get(int(place["address"], 16), 0) for place in block["places"]], \
            f"{name}: {block}"
        even = sum(samples) / len(samples)
        chi_square = sum((count - even) ** 2 / even for count in samples)
        assert abs(block["chi_square"] - chi_square) < 1e-9 * chi_square, f"{name}: {block}"
    # Seven loads in a row, then the jump back.
    loop, = [block for block in bias["blocks"] if block["function"] == "f2"]
    assert len(loop["places"]) == 7 and loop["biased"], f"{name}: {loop}"


# The delay from overflow to record, in instructions, and the share of next samples that it predicts, computed from
# these recordings by a program of its own (the first record from so many instructions after the overflow on).
DELAYS = {("x-2nop", "f1"): (44, 0.63), ("x-2nop", "f2"): (44, 0.74), ("x-4nop", "f1"): (43, 0.92),
          ("x-4nop", "f2"): (40, 0.85)}
INSTRUCTIONS = {("x-2nop", "f1"): 31, ("x-2nop", "f2"): 28, ("x-4nop", "f1"): 51, ("x-4nop", "f2"): 46}  # of a loop


def check_order(bias, variant):
    """Where the loop is longer than the delay, the next sample follows from the previous one."""
    for block in bias["blocks"]:
        loop = block["loop"]
        expected = DELAYS.get((variant, block["function"]))
        if not expected:
            assert not loop["delay"] and not loop["order"], f"{variant}: {loop}"
            continue
        (delay, predicted), found = expected, loop["delay"]
        assert loop["order"]["locked"], f"{variant}: {loop}"
        assert abs(found["predicted"] - predicted) < 0.02, f"{variant}: {found}"
        # Less whole iterations.
        delay = (delay - 1) % INSTRUCTIONS[variant, block["function"]] + 1
        assert found["low"] <= delay <= found["high"], f"{variant}: {found}"


def check_shadow(skidscan, where, name):
    """By the delay of this CPU: what `audit` takes for never sampled, `annotate` marks; and T predicts next samples."""
    event, = json.loads(output(skidscan, "audit", "--delay", 43, "--format", "json", *where))["recordings"][0]["events"]
    for block in event["bias"]["blocks"]:
        shadow, places = block["loop"]["shadow"], block["loop"]["places"]
        never = {place["address"] for place, share in zip(places, shadow["shares"]) if not share}
        listing = json.loads(output(skidscan, "annotate", "--function", block["function"], "--delay", 43, "--all",
                                    "--format", "json", *where))
        marked = {row["begin"] for code in listing["codes"] for row in code["rows"]
                  if any(count["shadowed"] for count in row["counts"])}
        assert never <= marked, f"{name}: {never} is marked in {marked}"
        # The share of next samples by a program of its own.
        expected = {("x-2nop", "f2"): 0.70, ("x-4nop", "f1"): 0.92}.get((name, block["function"]))
        assert expected is None or abs(shadow["predicted"] - expected) < 0.02, f"{name}: {shadow}"


def describe(bias):
    return (f"{bias['misplaced']['value']:.1%} are misplaced; chi-square "
            + ", ".join(f"{block['chi_square']:.0f} (most {block['largest_ratio']:.3g} of the even count)"
                        for block in bias["blocks"]))


def counts_of_listing(listing):
    code, = listing["codes"]
    return {int(row["begin"], 16): row["counts"][0]["samples"] for row in code["rows"]
            if row["counts"][0]["samples"]}


def main():
    skidscan, place_samples, recordings = (pathlib.Path(path) for path in sys.argv[1:4])
    table = recordings / ".." / "reference" / "ubench-6126.tsv"
    if not table.is_file():
        skipped(f"no {table} (name the directory of the recordings in SKIDSCAN_RECORDINGS)")
    for tool in ("as", "ld", "objdump"):
        if not shutil.which(tool):
            skipped(f"no {tool}; binutils for x86-64 has it")
    if b"elf64-x86-64" not in subprocess.run(["objdump", "-i"], capture_output=True).stdout:
        skipped("objdump does not support x86-64")
    with tempfile.TemporaryDirectory() as directory:
        for (variant, spelling), rows in programs.read_table(table).items():
            name = f"{variant}, {spelling}"
            root = pathlib.Path(directory) / name.replace("/", "_")
            recording = recordings / f"ubench.{variant}.data"
            real = spelling == RECORDED_SPELLING and recording.is_file()
            program = root / (recorded_path(skidscan, recording, variant) if real else variant)
            program.parent.mkdir(parents=True)
            programs.assemble(rows, program, nops_of(variant))
            if not real:
                recording, root = root / "perf.data", pathlib.Path("/")
                place(place_samples, program, rows, recording)
            judged, pairs, bias = check(skidscan, recording, root, rows, name)
            if real:
                check_order(bias, variant)
                check_shadow(skidscan, (recording, "--symfs", root), variant)
            print(f"{name}: {judged} samples in {'the recording' if real else 'a synthetic one'} as in the table, "
                  f"{pairs} of them at jumps fused with a load, none impossible; {describe(bias)}")


main()
