"""ELF files that were made to take memory or time, each with a recording that samples its code.

usage: elf.py --list
       elf.py CASE DIRECTORY                  writes DIRECTORY/program and DIRECTORY/perf.data
       elf.py --check SKIDSCAN [CASE...]      runs the commands that read files on each case and prints
                                              seconds of CPU and MiB; fails above 10 s and 512 MiB
"""

import os
import struct
import subprocess
import sys
import tempfile

from program import (ADDR, ADDRX, AT_ADDR_BASE, AT_COMP_DIR, AT_DWO_NAME, AT_GNU_DWO_ID, AT_HIGH_PC,
                     AT_IMPORT, AT_LOW_PC, AT_NAME, AT_ORIGIN, AT_RANGES, AT_SIBLING, AT_SPECIFICATION,
                     AT_STMT_LIST, AT_STR_OFFSETS_BASE, CODE, CODE_SIZE, COMPILE_UNIT, DATA8, END,
                     FLAG_PRESENT, IMPORTED_UNIT, INLINED, LINE_STRP, MIB, MOST_SECONDS, PLAIN, REF4,
                     SEC_OFFSET, STRING, STRP, STRX, Program, abbreviation, line_program, measure, plain_unit,
                     repeated, sliced_units, uleb, unit, write_recording)


def line_bomb():
    """900 MiB of rows in 0.9 MB."""
    rows = 900 * MIB
    program = Program()
    head = line_program(b"")
    head = struct.pack("<I", len(head) - 4 + rows) + head[4:]
    program.dwarf(plain_unit(), abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0",
                  [head] + repeated(b"\x01", rows))
    return program


def line_bomb_units(count=14, rows=MIB):
    """Many units, none of them large."""
    program = Program()
    one = line_program(b"\x01" * rows)
    program.dwarf(sliced_units(count, len(one)), abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0",
                  [one] * count)
    program.add(".comment", os.urandom(900_000))
    return program


def line_unordered():
    """Rows from the highest address to the lowest."""
    program = Program()
    rows = b"".join(b"\0\x09\x02" + struct.pack("<Q", CODE + CODE_SIZE - i % CODE_SIZE) + b"\x01"
                    for i in range(75_000))
    program.dwarf(plain_unit(), abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0", line_program(rows))
    return program


def line_of_legacy_compression():
    program = Program()
    rows = 600 * MIB
    head = line_program(b"")
    head = struct.pack("<I", len(head) - 4 + rows) + head[4:]
    program.add(".debug_info", plain_unit())
    program.add(".debug_abbrev", abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0")
    program.add_compressed(".zdebug_line", [head] + repeated(b"\x01", rows), legacy=True)
    return program


def long_directory(version=4, files=100_000, defined=0):
    """Each file of the line table is in a directory with a name of 400 KB."""
    program = Program()
    directory = b"d" * 400_000 + b"\0"
    more = {}
    if version == 4:
        tables = directory + b"\0" + b"a\0\x01\0\0" * files + b"\0"
    else:
        tables = bytes([1, 1]) + uleb(LINE_STRP) + uleb(1) + struct.pack("<I", 0)
        tables += bytes([2, 1]) + uleb(LINE_STRP) + bytes([2, 0x0B]) + uleb(files)
        tables += (struct.pack("<I", 399_999) + b"\0") * files
        more["line_str"] = directory
    rows = (b"\0\x06\x03a\0\x01\0\0" * defined) + b"\x01" + END
    program.dwarf(plain_unit(), abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0",
                  line_program(rows, tables, version), **more)
    return program


def long_directory_of_unit():
    """The unit's directory, of 400 KB in an inflated section, is that of 60,000 files."""
    program = Program()
    body = uleb(1) + struct.pack("<IQQI", 0, CODE, CODE_SIZE, 0)
    tables = b"\0" + b"a\0\0\0\0" * 60_000 + b"\0"
    program.dwarf(unit(body), abbreviation(1, COMPILE_UNIT, PLAIN + [(AT_COMP_DIR, STRP)]) + b"\0",
                  line_program(b"\x01" + END, tables), str=[b"d" * 400_000 + b"\0"])
    return program


def abbreviations_shared():
    """40,000 units use the last of 80,000 abbreviations."""
    table = b"".join(abbreviation(i, COMPILE_UNIT, []) for i in range(2, 80_000))
    table += abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0"
    program = Program()
    program.dwarf(sliced_units(16, 0) + plain_unit(size=1) * 25_000, table, line_program(b"\x01" + END))
    return program


def abbreviation_of_many_attributes():
    attributes = [(0x2200 + i % 1000, FLAG_PRESENT) for i in range(150_000)] + PLAIN
    program = Program()
    program.dwarf(plain_unit() * 20_000, abbreviation(1, COMPILE_UNIT, attributes) + b"\0",
                  line_program(b"\x01" + END))
    return program


def many_units():
    """700 MiB of units of 12 bytes in 0.9 MB."""
    program = Program()
    tiny = unit(b"\x01")
    program.dwarf([plain_unit(abbreviations=4)] + repeated(tiny, 700 * MIB),
                  abbreviation(1, COMPILE_UNIT, []) + abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0",
                  line_program(b"\x01" + END))
    return program


def many_units_inflated(size=14):
    program = Program()
    program.dwarf([plain_unit()] + repeated(unit(b"\x02"), size * MIB),
                  abbreviation(2, COMPILE_UNIT, []) + abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0",
                  line_program(b"\x01" + END))
    program.add(".comment", os.urandom(900_000))
    return program


def units_with_ranges(units, ranges):
    """Units that all use one list of ranges."""
    program = Program()
    body = uleb(1) + struct.pack("<IQI", 0, 0, 0)
    program.dwarf(unit(body) * units, abbreviation(
        1, COMPILE_UNIT, [(AT_STMT_LIST, SEC_OFFSET), (AT_LOW_PC, ADDR), (AT_RANGES, SEC_OFFSET)]) +
                  b"\0", line_program(b"\x01" + END), ranges=ranges + b"\0" * 16)
    return program


def ranges_shared():
    """A list of 20,000 ranges."""
    return units_with_ranges(20_000, b"".join(
        struct.pack("<QQ", CODE + i % 1000, CODE + i % 1000 + 9) for i in range(20_000)))


def ranges_without_end():
    """A list of 40,000 choices of a base address, which contain no range."""
    return units_with_ranges(15_000, struct.pack("<QQ", (1 << 64) - 1, CODE) * 40_000)


def inlined_calls(attributes=(), body=b"", calls=600_000, nested=False, **more):
    """A unit of inlined calls, side by side or each within the one before it."""
    program = Program()
    call = uleb(2) + body
    low_high = [(AT_LOW_PC, ADDR), (AT_HIGH_PC, DATA8)]
    table = abbreviation(1, COMPILE_UNIT, PLAIN, children=True)
    table += abbreviation(2, INLINED, list(attributes) or low_high, children=nested) + b"\0"
    program.dwarf(unit(uleb(1) + struct.pack("<IQQ", 0, CODE, CODE_SIZE) + (call * calls)), table,
                  line_program(b"\x01" + END), **more)
    return program


def inlined_nested():
    return inlined_calls(body=struct.pack("<QQ", CODE, CODE_SIZE), calls=50_000, nested=True)


def inlined_ranges():
    """All calls have one list of 20,000 ranges."""
    ranges = b"".join(struct.pack("<QQ", i % 1000, i % 1000 + 9) for i in range(20_000)) + b"\0" * 16
    return inlined_calls([(AT_RANGES, SEC_OFFSET)], b"\0\0\0\0", ranges=ranges)


def inlined_bases():
    """All calls have one list of 40,000 choices of a base address."""
    ranges = struct.pack("<QQ", (1 << 64) - 1, CODE) * 40_000 + b"\0" * 16
    return inlined_calls([(AT_RANGES, SEC_OFFSET)], b"\0\0\0\0", ranges=ranges)


def inlined_attributes():
    """All calls have 150,000 attributes without bytes."""
    attributes = [(0x2200 + i % 1000, FLAG_PRESENT) for i in range(150_000)]
    return inlined_calls(attributes + [(AT_LOW_PC, ADDR), (AT_HIGH_PC, DATA8)],
                         struct.pack("<QQ", CODE, CODE_SIZE))


def inlined_siblings():
    """All calls refer to the first one as their sibling."""
    return inlined_calls([(AT_SIBLING, REF4)], struct.pack("<I", 32))


def indices_out_of_range():
    """Strings, addresses and bases that are in no section."""
    program = Program()
    shape = [(AT_STR_OFFSETS_BASE, SEC_OFFSET), (AT_ADDR_BASE, SEC_OFFSET), (AT_COMP_DIR, STRX),
             (AT_NAME, STRX), (AT_LOW_PC, ADDRX), (AT_HIGH_PC, DATA8), (AT_STMT_LIST, SEC_OFFSET)]
    body = uleb(1) + struct.pack("<II", 0xFFFFFFF0, 8) + uleb(1 << 60) + uleb(1 << 31)
    body += uleb(0) + struct.pack("<QI", CODE_SIZE, 0)
    other = uleb(1) + struct.pack("<II", 8, 0xFFFFFFF8) + uleb(3) + uleb(1 << 62) + uleb(1 << 61)
    other += struct.pack("<QI", CODE_SIZE, 0xFFFFFFFF)
    program.dwarf(unit(body, version=5) + unit(other, version=5),
                  abbreviation(1, COMPILE_UNIT, shape) + b"\0", line_program(b"\x01" + END),
                  str=b"x\0", str_offsets=struct.pack("<IHHII", 12, 5, 0, 0, 0xFFFFFFFF),
                  addr=struct.pack("<IHBBQ", 12, 5, 8, 0, CODE))
    return program


def cyclic_entries():
    """A unit that is its own origin, sibling and import, and 10,000 nested inlined functions."""
    program = Program()
    shape = PLAIN + [(AT_ORIGIN, REF4), (AT_SPECIFICATION, REF4), (AT_SIBLING, REF4), (AT_IMPORT, REF4)]
    table = abbreviation(1, COMPILE_UNIT, shape, True) + abbreviation(2, INLINED, [(AT_ORIGIN, REF4)], True)
    table += abbreviation(3, IMPORTED_UNIT, [(AT_IMPORT, REF4)]) + b"\0"
    body = uleb(1) + struct.pack("<IQQ", 0, CODE, CODE_SIZE) + struct.pack("<I", 11) * 4
    body += (uleb(2) + struct.pack("<I", 11)) * 10_000 + uleb(3) + struct.pack("<I", 11) + b"\0" * 10_001
    program.dwarf(unit(body), table, line_program(b"\x01" + END))
    return program


def links_to_itself():
    """Debug links that name the file itself, and a split unit whose file is a device."""
    program = Program()
    shape = PLAIN + [(AT_COMP_DIR, STRING), (AT_DWO_NAME, STRING), (AT_GNU_DWO_ID, DATA8)]
    body = uleb(1) + struct.pack("<IQQ", 0, CODE, CODE_SIZE) + b"/dev\0tty\0" + struct.pack("<Q", 1)
    program.dwarf(unit(body), abbreviation(1, COMPILE_UNIT, shape) + b"\0", line_program(b"\x01" + END))
    program.add(".gnu_debuglink", b"program\0" + struct.pack("<I", 0))
    program.add(".gnu_debugaltlink", b"program\0" + b"\x12" * 20)
    return program


def overlapping_sections():
    """All sections of DWARF and 4,000 others are the whole of a file of 0.9 MB."""
    program = Program()
    program.add(".comment", os.urandom(900_000))
    for name in ("info", "types", "abbrev", "addr", "aranges", "line", "line_str", "frame", "loc",
                 "loclists", "pubnames", "str", "str_offsets", "macinfo", "macro", "ranges", "rnglists"):
        program.add(".debug_" + name, (0x1000, 900_000))
    for _ in range(4000):
        program.add("", (0, 900_000))
    return program


def many_notes(sections):
    """10,000 notes that are the whole of a file of 1.5 MB."""
    program = Program()
    program.add(".comment", b"\x04\0\0\0\x04\0\0\0\x01\0\0\0GNU\0abcd" * 45_000)
    if sections:
        for _ in range(10_000):
            program.add("", (0x5000, 900_000), kind=7)
    else:
        program.segments = [(4, 4, 0x5000 + 20 * i, 0, 700_000) for i in range(10_000)]
    return program


def names(strings, offsets, address=CODE):
    """Functions at one address."""
    program = Program()
    table = b"\0" * 24 + b"".join(
        struct.pack("<IBBHQQ", offset, 0x12, 0, 1, address, CODE_SIZE) for offset in offsets)
    program.symbols = (table, strings)
    return program


def names_of_underscores():
    """30,000 names that are ends of one of 64 KB."""
    return names(b"\0" + b"_" * 65_000 + b"\0", range(1, 60_000, 2))


def long_name():
    """A function with a name of 64 KB, sampled at every address."""
    return names(b"\0" + b"n" * 65_000 + b"\0", [1])


def code_in_many_sections():
    """10,000 sections with the same code of 0.9 MB."""
    program = Program()
    program.add(".more", b"\xeb\x00" * 450_000, flags=6, address=CODE + CODE_SIZE)
    program.segments = [(1, 5, 0x1000 + CODE_SIZE, CODE + CODE_SIZE, 900_000)]
    for i in range(10_000):
        program.add("", (0x1000, 900_000), flags=6, address=CODE)
    return program


def source_of_holes(path):
    """The source of the lines is a file of 3 GB without content."""
    program = Program()
    source = path + ".c"
    with open(source, "wb"):
        os.truncate(source, 3 << 30)
    tables = b"\0" + os.path.abspath(source).encode() + b"\0\0\0\0" + b"\0"
    program.dwarf(plain_unit(), abbreviation(1, COMPILE_UNIT, PLAIN) + b"\0",
                  line_program(b"\x03\xff\xff\xff\x0f\x01" + b"\x2d" * 1000 + END, tables))
    program.write(path)


def names_within_names():
    """Each name contains the next one, and is expanded to kilobytes."""
    size = 1300
    inner = b"_Z1fIXadL" * size + b"_Z1av" + b"EEEvv" * size
    return names((b"\0" + inner) * 12 + b"\0",
                 [1 + copy * (len(inner) + 1) + 9 * i for copy in range(12) for i in range(size)])


def names_of_lifetimes(count=3000):
    """Each name hides 240,000 lifetimes of Rust."""
    strings, offsets = b"\0", []
    for i in range(count):
        offsets.append(len(strings))
        strings += b"_RNvMINtC1a1bFG1zzz_EuEu5f%04d\0" % i
    return names(strings, offsets)


def sparse(kind):
    """8 KiB on the disk, 3 GB in size."""

    def write(path):
        size = 3 * 1024 * MIB
        program = Program()
        if kind == "notes":
            program.segments = [(4, 4, 0x8000, 0, size - 0x8000)]
        elif kind == "symbols":
            program.symbols = ((0x8000, size - 0x8000), (0x8000, size - 0x8000))
        elif kind == "sections":
            for name in (".debug_info", ".debug_abbrev", ".debug_line", ".debug_str"):
                program.add(name, (0x8000, size - 0x8000))
        program.write(path)
        os.truncate(path, size)

    return write


def sparse_section_headers(path):
    """The number of sections is that of a table of 3 GB."""
    size = 3 * 1024 * MIB
    Program().write(path)
    with open(path, "r+b") as file:
        data = bytearray(file.read())
        at = struct.unpack_from("<Q", data, 40)[0]
        struct.pack_into("<H", data, 60, 0)
        struct.pack_into("<Q", data, at + 32, (size - at) // 64)
        file.seek(0)
        file.write(data)
    os.truncate(path, size)


CASES = {
    "line-bomb": line_bomb,
    "line-bomb-units": line_bomb_units,
    "line-unordered": line_unordered,
    "line-bomb-legacy": line_of_legacy_compression,
    "long-directory": long_directory,
    "long-directory-5": lambda: long_directory(5, 80_000),
    "long-directory-defined": lambda: long_directory(4, 1, 60_000),
    "long-directory-unit": long_directory_of_unit,
    "abbreviations-shared": abbreviations_shared,
    "abbreviation-wide": abbreviation_of_many_attributes,
    "units": many_units,
    "units-inflated": many_units_inflated,
    "ranges-shared": ranges_shared,
    "ranges-empty": ranges_without_end,
    "inlined-calls": lambda: inlined_calls(body=struct.pack("<QQ", CODE, CODE_SIZE)),
    "inlined-nested": inlined_nested,
    "inlined-ranges": inlined_ranges,
    "inlined-bases": inlined_bases,
    "inlined-attributes": inlined_attributes,
    "inlined-siblings": inlined_siblings,
    "indices": indices_out_of_range,
    "cyclic": cyclic_entries,
    "links": links_to_itself,
    "overlap": overlapping_sections,
    "notes-segments": lambda: many_notes(False),
    "notes-sections": lambda: many_notes(True),
    "names-underscores": names_of_underscores,
    "names-nested": names_within_names,
    "names-lifetimes": names_of_lifetimes,
    "name-long": long_name,
    "code-sections": code_in_many_sections,
    "source-holes": lambda: source_of_holes,
    "sparse-notes": lambda: sparse("notes"),
    "sparse-symbols": lambda: sparse("symbols"),
    "sparse-dwarf": lambda: sparse("sections"),
    "sparse-headers": lambda: sparse_section_headers,
}

COMMANDS = [["report"], ["audit"], ["annotate", "--no-pager"], ["annotate", "--no-pager", "--source"],
            ["annotate", "--no-pager", "--by", "line"],
            ["samples"], ["inspect"]]
MOST_MIB = 512


def make(case, directory):
    program = os.path.join(directory, "program")
    made = CASES[case]()
    if isinstance(made, Program):
        made.write(program)
    else:
        made(program)
    write_recording(os.path.join(directory, "perf.data"), program)


def check(skidscan, cases):
    failed = False
    for case in cases:
        with tempfile.TemporaryDirectory() as directory:
            make(case, directory)
            line = f"{case:24}"
            for command in COMMANDS:
                seconds, mib, status = measure(
                    [skidscan, command[0], os.path.join(directory, "perf.data"), *command[1:]],
                    MOST_SECONDS, 4096, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
                bad = mib > MOST_MIB or status < 0
                failed |= bad
                line += f"  {seconds:5.1f} s {mib:5.0f} MiB {status:3}{'!' if bad else ' '}"
            print(line, flush=True)
    return 1 if failed else 0


def main(arguments):
    if arguments == ["--list"]:
        print("\n".join(CASES))
        return 0
    if arguments[:1] == ["--check"] and len(arguments) > 1:
        return check(arguments[1], arguments[2:] or list(CASES))
    if len(arguments) == 2 and arguments[0] in CASES:
        make(*arguments)
        return 0
    print(__doc__, file=sys.stderr)
    return 64


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
