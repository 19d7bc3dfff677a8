"""Writes recordings of level-1 samples with data addresses, registers and branch records, as perf does
(tools/perf/Documentation/perf.data-file-format.txt; struct perf_event_attr and PERF_RECORD_* in
include/uapi/linux/perf_event.h)."""

import struct

# sample_type
IP, TID, TIME, ADDR, BRANCH_STACK, REGS_INTR = 1 << 0, 1 << 1, 1 << 2, 1 << 3, 1 << 11, 1 << 18
# The bits of registers, arch/x86/include/uapi/asm/perf_regs.h
REGISTERS = {"rax": 0, "rbx": 1, "rcx": 2, "rdx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7,
             **{f"r{i}": i + 8 for i in range(8, 16)}}
BIAS = 0x7f0000000000
PID = 1


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(words):
    data = words.encode() + b"\0"
    data += b"\0" * (-len(data) % 64)
    return struct.pack("<I", len(data)) + data


class Recording:
    """Samples of one event in a process that runs `binary`. `branches`: they have branch records. `registers`: the
    names of those that they have, with the data address; empty: neither."""

    def __init__(self, config, period, branches, registers):
        self.kind = IP | TID | TIME | (BRANCH_STACK if branches else 0)
        self.registers = sorted(registers, key=REGISTERS.get)
        if registers:
            self.kind |= ADDR | REGS_INTR
        mask = sum(1 << REGISTERS[name] for name in registers)
        flags = 1 << 15 | 1 << 18  # precise_ip 1, sample_id_all
        self.attribute = struct.pack("<IIQQQQQIIQQQQIiQIHH", 4, 120, config, period, self.kind, 0, flags, 0, 0, 0, 0,
                                     1 << 0 | 1 << 3 if branches else 0, 0, 0, 0, mask, 0, 0, 0)
        self.records = []

    def map(self, binary, build_id, address, size, offset):
        body = struct.pack("<iiQQQB3x20sII", PID, PID, address + BIAS, size, offset, len(build_id),
                           build_id.ljust(20, b"\0"), 5, 2)
        name = binary.encode() + b"\0"
        body += name + b"\0" * (-len(name) % 8) + struct.pack("<iiQ", PID, PID, 0)
        self.records.append(record(10, 2 | 1 << 14, body))  # MMAP2 of the user with a build-id

    def sample(self, address, data, registers, branches):
        """A sample at a link-time address. `branches`: pairs of link-time addresses, newest first; None is code of
        another file."""
        body = struct.pack("<QiiQ", address + BIAS, PID, PID, 1)
        if self.kind & ADDR:
            body += struct.pack("<Q", data)
        if self.kind & BRANCH_STACK:
            body += struct.pack("<Q", len(branches))
            for ends in branches:
                body += struct.pack("<QQQ", *(0x1000 if end is None else end + BIAS for end in ends), 0)
        if self.kind & REGS_INTR:
            body += struct.pack("<Q", 2)  # PERF_SAMPLE_REGS_ABI_64
            body += b"".join(struct.pack("<Q", registers[name]) for name in self.registers)
        self.records.append(record(9, 2, body))

    def write(self, path, machine):
        """`machine`: the texts of features by their number, tools/perf/util/header.h."""
        data = b"".join(self.records)
        attributes_at = 104
        data_at = attributes_at + len(self.attribute) + 16
        features_at = data_at + len(data)
        content_at = features_at + 16 * len(machine)
        table, contents = b"", b""
        for _, words in sorted(machine.items()):
            content = text(words)
            table += struct.pack("<QQ", content_at + len(contents), len(content))
            contents += content
        header = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(self.attribute) + 16, attributes_at,
                             len(self.attribute) + 16, data_at, len(data), 0, 0)
        header += struct.pack("<4Q", sum(1 << number for number in machine), 0, 0, 0)
        with open(path, "wb") as file:
            file.write(header + self.attribute + struct.pack("<QQ", 0, 0) + data + table + contents)
