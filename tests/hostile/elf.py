"""ELF files that were made to take memory or time, each with a recording that samples its code.

usage: elf.py --list
       elf.py CASE DIRECTORY                  writes DIRECTORY/program and DIRECTORY/perf.data
       elf.py --check SKIDSCAN [CASE...]      runs the commands that read files on each case and prints
                                              seconds of CPU and MiB; fails above 10 s and 512 MiB
"""

import os
import resource
import struct
import subprocess
import sys
import tempfile
import zlib

CODE = 0x401000  # address of .text
CODE_SIZE = 0x4000
MIB = 1 << 20
SHF_COMPRESSED = 0x800
AT_NAME, AT_STMT_LIST, AT_LOW_PC, AT_HIGH_PC, AT_COMP_DIR = 0x03, 0x10, 0x11, 0x12, 0x1B
AT_SIBLING, AT_ORIGIN, AT_IMPORT, AT_SPECIFICATION, AT_RANGES = 0x01, 0x31, 0x18, 0x47, 0x55
AT_STR_OFFSETS_BASE, AT_ADDR_BASE, AT_DWO_NAME, AT_GNU_DWO_ID = 0x72, 0x73, 0x76, 0x2131
ADDR, DATA2, DATA4, DATA8, STRING, REF4, SEC_OFFSET = 0x01, 0x05, 0x06, 0x07, 0x08, 0x13, 0x17
FLAG_PRESENT, STRX, ADDRX, LINE_STRP, UDATA = 0x19, 0x1A, 0x1B, 0x1F, 0x0F
COMPILE_UNIT, INLINED, IMPORTED_UNIT = 0x11, 0x1D, 0x3D
PLAIN = [(AT_STMT_LIST, SEC_OFFSET), (AT_LOW_PC, ADDR), (AT_HIGH_PC, DATA8)]


def uleb(value):
    out = b""
    while True:
        byte, value = value & 0x7F, value >> 7
        out += bytes([byte | (0x80 if value else 0)])
        if not value:
            return out


def abbreviation(code, tag, attributes, children=False):
    pairs = b"".join(uleb(name) + uleb(form) for name, form in attributes)
    return uleb(code) + uleb(tag) + bytes([children]) + pairs + b"\0\0"


def unit(body, abbreviations=0, version=4):
    head = struct.pack("<HIB", 4, abbreviations, 8) if version == 4 else struct.pack(
        "<HBBI", 5, 1, 8, abbreviations)
    return struct.pack("<I", len(head) + len(body)) + head + body


def plain_unit(lines=0, low=CODE, size=CODE_SIZE, code=1, abbreviations=0):
    return unit(uleb(code) + struct.pack("<IQQ", lines, low, size), abbreviations)


def line_program(rows, tables=b"\0" + b"a.c\0\0\0\0" + b"\0", version=4, low=CODE):
    """`rows`: bytes of opcodes after the address was set."""
    start = b"\0\x09\x02" + struct.pack("<Q", low)
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 1])
    header = struct.pack("<BBBbBB", 1, 1, 1, -3, 12, 13) + lengths + tables
    sizes = struct.pack("<BB", 8, 0) if version == 5 else b""
    body = struct.pack("<H", version) + sizes + struct.pack("<I", len(header)) + header + start + rows
    return struct.pack("<I", len(body)) + body


END = b"\0\x01\x01"


class Program:
    """An ELF64 program of NOPs with one function, and sections as a case wants them."""

    def __init__(self):
        self.sections = []  # name, type, flags, address, bytes or (offset, size), link, entry size
        self.segments = []  # type, flags, offset, address, size
        self.add(".text", b"\x90" * CODE_SIZE, flags=6, address=CODE)
        self.names = {"f": (CODE, CODE_SIZE)}
        self.symbols = None  # (.symtab, .strtab) instead of those of `names`

    def add(self, name, content, kind=1, flags=0, address=0, link=0, entry=0):
        self.sections.append((name, kind, flags, address, content, link, entry))

    def add_compressed(self, name, chunks, legacy=False):
        packer = zlib.compressobj(9)
        size, packed = 0, b""
        for chunk in chunks:
            size += len(chunk)
            packed += packer.compress(chunk)
        packed += packer.flush()
        if legacy:
            return self.add(name, b"ZLIB" + struct.pack(">Q", size) + packed)
        return self.add(name, struct.pack("<IIQQ", 1, 0, size, 1) + packed, flags=SHF_COMPRESSED)

    def dwarf(self, info, abbreviations, lines, **more):
        for name, content in {"info": info, "abbrev": abbreviations, "line": lines, **more}.items():
            if isinstance(content, bytes):
                self.add(".debug_" + name, content)
            else:
                self.add_compressed(".debug_" + name, content)

    def add_symbols(self):
        table, strings = b"\0" * 24, b"\0"
        for name, (address, size) in self.names.items():
            table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, address, size)
            strings += name.encode() + b"\0"
        if self.symbols:
            table, strings = self.symbols
        self.add(".symtab", table, kind=2, link=len(self.sections) + 2, entry=24)
        self.add(".strtab", strings, kind=3)

    def write(self, path):
        self.add_symbols()
        names = b"\0" + b"".join(s[0].encode() + b"\0" for s in self.sections) + b".shstrtab\0"
        self.add(".shstrtab", names, kind=3)
        segments = [(1, 5, 0, CODE - 0x1000, 0x1000 + CODE_SIZE)] + self.segments
        out = bytearray(0x1000)  # .text follows, at its place in the segment
        headers = b"\0" * 64
        name = 1
        for title, kind, flags, address, content, link, entry in self.sections:
            offset, size = content if isinstance(content, tuple) else (len(out), len(content))
            if not isinstance(content, tuple):
                out += content + b"\0" * (-len(content) % 8)
            headers += struct.pack("<IIQQQQIIQQ", name, kind, flags, address, offset, size, link, 0,
                                   1, entry)
            name += len(title) + 1
        program_headers = b"".join(
            struct.pack("<IIQQQQQQ", kind, flags, offset, address, address, size, size, 4)
            for kind, flags, offset, address, size in segments)
        at = len(out)
        out += program_headers
        sections_at = len(out)
        out += headers
        out[0:64] = b"\x7fELF\x02\x01\x01".ljust(16, b"\0") + struct.pack(
            "<HHIQQQIHHHHHH", 2, 62, 1, CODE, at, sections_at, 0, 64, 56, len(segments), 64,
            len(self.sections) + 1, len(self.sections))
        with open(path, "wb") as file:
            file.write(out)


def text(string):
    content = string.encode() + b"\0" * (64 - len(string) % 64)
    return struct.pack("<I", len(content)) + content


def write_recording(path, program, samples=CODE_SIZE):
    """Loads retired at precise level 2 of a Skylake, sampled on its NOPs."""
    attribute = struct.pack("<IIQQQQQ", 4, 112, 0x81D0, 1009, 0x7, 0, (2 << 15) | (1 << 8) | (1 << 2))
    attribute = attribute.ljust(112, b"\0") + struct.pack("<QQ", 0, 0)
    name = os.path.abspath(program).encode()
    name += b"\0" * (8 - len(name) % 8)
    length = 0x1000 + CODE_SIZE
    data = struct.pack("<IHHIIQQQ", 1, 2, 40 + len(name), 7, 7, CODE - 0x1000, length, 0) + name
    for i in range(samples):
        address = CODE + i * CODE_SIZE // samples
        data += struct.pack("<IHHQIIQ", 9, 0x4002, 32, address, 7, 7, 1000 + i)
    features = {6: text("x86_64"), 8: text("Skylake"), 9: text("GenuineIntel,6,94,3")}
    begin = 104 + len(attribute)
    at = begin + len(data) + 16 * len(features)
    table, content = b"", b""
    for feature in features.values():
        table += struct.pack("<QQ", at + len(content), len(feature))
        content += feature
    flags = sum(1 << bit for bit in features)
    header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, len(attribute), begin, len(data),
                                       0, 0) + struct.pack("<QQQQ", flags, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(header + attribute + data + table + content)


def repeated(content, size):
    block = content * (MIB // len(content))
    return [block] * (size // len(block))


def sliced_units(count, size_of_lines, **options):
    """Units that divide the code, with line programs one after the other."""
    step = CODE_SIZE // count
    return b"".join(plain_unit(i * size_of_lines, CODE + i * step, step, **options)
                    for i in range(count))


# ---- the cases: name, function that returns a Program (or writes the file itself)


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


def ranges_shared():
    """20,000 units use one list of 20,000 ranges."""
    program = Program()
    ranges = b"".join(struct.pack("<QQ", CODE + i % 1000, CODE + i % 1000 + 9) for i in range(20_000))
    body = uleb(1) + struct.pack("<IQI", 0, 0, 0)
    program.dwarf(unit(body) * 20_000, abbreviation(
        1, COMPILE_UNIT, [(AT_STMT_LIST, SEC_OFFSET), (AT_LOW_PC, ADDR), (AT_RANGES, SEC_OFFSET)]) +
                  b"\0", line_program(b"\x01" + END), ranges=ranges + b"\0" * 16)
    return program


def ranges_without_end():
    """20,000 units use one list of 80,000 choices of a base address, which contain no range."""
    program = Program()
    ranges = struct.pack("<QQ", (1 << 64) - 1, CODE) * 40_000
    body = uleb(1) + struct.pack("<IQI", 0, 0, 0)
    program.dwarf(unit(body) * 15_000, abbreviation(
        1, COMPILE_UNIT, [(AT_STMT_LIST, SEC_OFFSET), (AT_LOW_PC, ADDR), (AT_RANGES, SEC_OFFSET)]) +
                  b"\0", line_program(b"\x01" + END), ranges=ranges + b"\0" * 16)
    return program


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
    "abbreviations-shared": abbreviations_shared,
    "abbreviation-wide": abbreviation_of_many_attributes,
    "units": many_units,
    "units-inflated": many_units_inflated,
    "ranges-shared": ranges_shared,
    "ranges-empty": ranges_without_end,
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
            ["samples"], ["inspect"]]
MOST_SECONDS, MOST_MIB = 10, 512


def make(case, directory):
    program = os.path.join(directory, "program")
    made = CASES[case]()
    if isinstance(made, Program):
        made.write(program)
    else:
        made(program)
    write_recording(os.path.join(directory, "perf.data"), program)


def limited():
    resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CPU, (20, 20))
    os.nice(5)


def measure(command):
    """Seconds of CPU, MiB, exit status."""
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                          stdin=subprocess.DEVNULL, preexec_fn=limited) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, child.returncode


def check(skidscan, cases):
    failed = False
    for case in cases:
        with tempfile.TemporaryDirectory() as directory:
            make(case, directory)
            line = f"{case:24}"
            for command in COMMANDS:
                seconds, mib, status = measure(
                    [skidscan, command[0], os.path.join(directory, "perf.data"), *command[1:]])
                bad = seconds > MOST_SECONDS or mib > MOST_MIB or status < 0
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
