"""ELF programs with the sections, symbols and line tables that a test wants, recordings of them, and commands
that are run on these within limits."""

import os
import resource
import struct
import subprocess
import zlib

CODE = 0x401000  # address of .text
CODE_SIZE = 0x4000
TEXT = 0x1000  # of .text in the file
BUILD_ID = bytes(range(20))
NOTE_AT = 0x200  # the build-id's, in the file
X86, AARCH64 = 62, 183
MIB = 1 << 20
# Limit of processor time for one command. Commands whose work is bounded take a tenth of it at most, even in a build
# without optimization, so that the speed of the machine does not matter.
MOST_SECONDS = 60
SHF_COMPRESSED = 0x800
AT_NAME, AT_STMT_LIST, AT_LOW_PC, AT_HIGH_PC, AT_COMP_DIR = 0x03, 0x10, 0x11, 0x12, 0x1B
AT_SIBLING, AT_ORIGIN, AT_IMPORT, AT_SPECIFICATION, AT_RANGES = 0x01, 0x31, 0x18, 0x47, 0x55
AT_STR_OFFSETS_BASE, AT_ADDR_BASE, AT_DWO_NAME, AT_GNU_DWO_ID = 0x72, 0x73, 0x76, 0x2131
ADDR, DATA8, STRING, STRP, REF4, SEC_OFFSET = 0x01, 0x07, 0x08, 0x0E, 0x13, 0x17
FLAG_PRESENT, STRX, ADDRX, LINE_STRP = 0x19, 0x1A, 0x1B, 0x1F
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

    def __init__(self, code=b"\x90" * CODE_SIZE, machine=X86):
        self.machine, self.size = machine, len(code)
        self.sections = []  # name, type, flags, address, bytes or (offset, size), link, entry size
        self.segments = []  # type, flags, offset, address, size
        self.add(".text", code, flags=6, address=CODE)
        self.names = {"f": (CODE, len(code))}
        self.symbols = None  # (.symtab, .strtab) instead of those of `names`
        self.note = b""  # of the build-id

    def add_build_id(self):
        self.note = struct.pack("<III4s20s", 4, 20, 3, b"GNU\0", BUILD_ID)
        address = CODE - TEXT + NOTE_AT
        self.add(".note.gnu.build-id", (NOTE_AT, len(self.note)), kind=7, flags=2, address=address)
        self.segments.append((4, 4, NOTE_AT, address, len(self.note)))

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
        table, strings = bytearray(24), bytearray(1)
        for name, (address, size) in self.names.items():
            table += struct.pack("<IBBHQQ", len(strings), 0x12, 0, 1, address, size)
            strings += name.encode() + b"\0"
        if self.symbols:
            table, strings = self.symbols
        self.add(".symtab", table, kind=2, link=len(self.sections) + 2, entry=24)
        self.add(".strtab", strings, kind=3)

    def write(self, path):
        if self.names or self.symbols:
            self.add_symbols()
        names = b"\0" + b"".join(s[0].encode() + b"\0" for s in self.sections) + b".shstrtab\0"
        self.add(".shstrtab", names, kind=3)
        segments = [(1, 5, 0, CODE - TEXT, TEXT + self.size)] + self.segments
        out = bytearray(TEXT)  # .text follows, at its place in the segment
        out[NOTE_AT:NOTE_AT + len(self.note)] = self.note
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
            "<HHIQQQIHHHHHH", 2, self.machine, 1, CODE, at, sections_at, 0, 64, 56, len(segments), 64,
            len(self.sections) + 1, len(self.sections))
        with open(path, "wb") as file:
            file.write(out)


def text(string):
    content = string.encode() + b"\0" * (64 - len(string) % 64)
    return struct.pack("<I", len(content)) + content


def write_records(path, attribute, data, features):
    """A recording of one event. `features`: texts by bit."""
    attribute += struct.pack("<QQ", 0, 0)
    begin = 104 + len(attribute)
    at = begin + len(data) + 16 * len(features)
    table, content = b"", b""
    for _, feature in sorted(features.items()):
        table += struct.pack("<QQ", at + len(content), len(text(feature)))
        content += text(feature)
    header = b"PERFILE2" + struct.pack("<12Q", 104, len(attribute), 104, len(attribute), begin, len(data), 0, 0,
                                       sum(1 << bit for bit in features), 0, 0, 0)
    with open(path, "wb") as file:
        file.write(header + attribute + data + table + content)


def write_recording(path, program, samples=CODE_SIZE):
    """Loads retired at precise level 2 of a Skylake, sampled on its NOPs."""
    attribute = struct.pack("<IIQQQQQ", 4, 112, 0x81D0, 1009, 0x7, 0, (2 << 15) | (1 << 8) | (1 << 2))
    name = os.path.abspath(program).encode()
    name += b"\0" * (8 - len(name) % 8)
    length = TEXT + CODE_SIZE
    data = struct.pack("<IHHIIQQQ", 1, 2, 40 + len(name), 7, 7, CODE - TEXT, length, 0) + name
    for i in range(samples):
        address = CODE + i * CODE_SIZE // samples
        data += struct.pack("<IHHQIIQ", 9, 0x4002, 32, address, 7, 7, 1000 + i)
    write_records(path, attribute.ljust(112, b"\0"), data,
                  {6: "x86_64", 8: "Skylake", 9: "GenuineIntel,6,94,3"})


def measure(command, cpu, memory, **options):
    """Seconds of CPU, MiB and exit status of a command that may take `cpu` seconds and `memory` MiB of
    addresses."""

    def limited():
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu))
        resource.setrlimit(resource.RLIMIT_AS, (memory * MIB, memory * MIB))

    with subprocess.Popen(command, stdin=subprocess.DEVNULL, preexec_fn=limited, **options) as child:
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024, child.returncode


def repeated(content, size):
    block = content * (MIB // len(content))
    return [block] * (size // len(block))


def sliced_units(count, size_of_lines, **options):
    """Units that divide the code, with line programs one after the other."""
    step = CODE_SIZE // count
    return b"".join(plain_unit(i * size_of_lines, CODE + i * step, step, **options)
                    for i in range(count))
