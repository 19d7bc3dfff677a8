"""The programs of a study of PEBS on a Xeon Gold 6126, assembled anew from a table of their instructions.

The table has a line per instruction: variant, event, function, address, instruction in AT&T spelling, samples.
The gaps between addresses are NOPs.
"""
import collections
import csv
import re
import subprocess

Row = collections.namedtuple("Row", "function address instruction samples")


def read_table(path):
    """{(variant, event): [Row]}, in the order of addresses."""
    programs = collections.defaultdict(list)
    with open(path, newline="") as file:
        for line in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            programs[line["variant"], line["event"]].append(
                Row(line["function"], int(line["address"], 16), line["instruction"], int(line["samples"])))
    return {key: sorted(rows, key=lambda row: row.address) for key, rows in programs.items()}


def assembly(rows):
    """Source of one section that begins at the first address."""
    begin = rows[0].address
    addresses = {row.address for row in rows}
    lines = [".text"]
    function = None
    for row in rows:
        lines.append(f".org {row.address - begin}, 0x90")
        if row.function != function:
            if function:
                lines.append(f".size {function}, . - {function}")
            function = row.function
            lines.append(f".type {function}, @function\n.globl {function}\n{function}:")
        text = row.instruction
        branch = re.fullmatch(r"(j\w+) +([0-9a-f]+) <.*>", text)
        if branch:
            target = int(branch[2], 16)
            assert target in addresses, f"{text}: no instruction at its target"
            text = f"{branch[1]} .L{target:x}"
        lines.append(f".L{row.address:x}: {text}")
    lines.append(f".size {function}, . - {function}")
    lines.append('.section .note.GNU-stack,"",@progbits')
    return "\n".join(lines) + "\n"


def spelling(instruction):
    """An instruction without what versions of objdump spell differently."""
    instruction = re.sub(r"#.*|<.*", "", instruction)
    words = instruction.replace("retq", "ret").split()
    return " ".join(words)


def check(rows, program, gaps):
    """The file has the instructions of the table at their addresses, and gaps of these sizes of NOPs."""
    listing = subprocess.run(["objdump", "-d", "--no-show-raw-insn", program], check=True,
                             capture_output=True, text=True).stdout
    found = {int(line[1], 16): spelling(line[2])
             for line in re.finditer(r"^ *([0-9a-f]+):\s+(.*)$", listing, re.MULTILINE)}
    expected = {row.address: spelling(row.instruction) for row in rows}
    for address, instruction in expected.items():
        assert found.get(address) == instruction, \
            f"{program}: {address:#x} is {found.get(address)!r}; expected {instruction!r}"
    nops = 0
    for address in sorted(found):
        if address in expected:
            assert nops in gaps, f"{program}: {nops} NOPs before {address:#x}; expected one of {gaps}"
            nops = 0
        else:
            assert found[address] == "nop", f"{program}: {address:#x} is {found[address]!r}; expected a nop"
            nops += 1


def assemble(rows, program, gaps):
    """Writes the ELF executable `program` (a path). `gaps`: the numbers of NOPs between instructions."""
    source, unlinked = program.with_suffix(".s"), program.with_suffix(".o")
    source.write_text(assembly(rows))
    subprocess.run(["as", "--64", "-o", unlinked, source], check=True)
    # Headers and code in one segment, so that the file is mapped as the original was: at 0x400000 from its
    # first byte.
    subprocess.run(["ld", "-m", "elf_x86_64", "-z", "noseparate-code", "--build-id=sha1", "-e",
                    rows[0].function, f"-Ttext={rows[0].address:#x}", "-o", program, unlinked], check=True)
    check(rows, program, gaps)
