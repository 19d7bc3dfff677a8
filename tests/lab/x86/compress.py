#!/usr/bin/env python3
"""Compresses recordings of perf in place, as perf record -z does, which leaves out the table of build-ids.

usage: compress.py FILE...     (perf.data of a little-endian machine, in file mode, without AUX data; needs zstd)
"""

import os
import struct
import subprocess
import sys
from pathlib import Path

# tools/perf/Documentation/perf.data-file-format.txt
MAGIC, HEADER_SIZE = b"PERFILE2", 104
DATA_AT, FEATURES_AT = 40, 72  # in the header: offset and size of the records, bits of the features
HEADER_COMPRESSED, VERSION, ZSTD, LEVEL = 27, 1, 1, 19
PERF_RECORD_COMPRESSED, LONGEST_RECORD = 81, 65528
PAGE = 4096


def compressed(data: bytes) -> bytes:
    """A file with the same attributes, records and features."""
    if not data.startswith(MAGIC) or struct.unpack_from("<Q", data, 8)[0] != HEADER_SIZE:
        raise ValueError("no perf.data of a little-endian machine in file mode")
    begin, size = struct.unpack_from("<QQ", data, DATA_AT)
    bits = int.from_bytes(data[FEATURES_AT:HEADER_SIZE], "little")
    if bits >> HEADER_COMPRESSED & 1:
        raise ValueError("is compressed already")
    features = {}
    for number, bit in enumerate(bit for bit in range(256) if bits >> bit & 1):
        at, length = struct.unpack_from("<QQ", data, begin + size + 16 * number)
        features[bit] = data[at:at + length]
    records = data[begin:begin + size]
    stream = subprocess.run(["zstd", "-q", f"-{LEVEL}", "--no-check", "-c"], input=records, stdout=subprocess.PIPE,
                            check=True).stdout
    packets = b""
    longest = LONGEST_RECORD - 8
    for part in (stream[at:at + longest] for at in range(0, len(stream), longest)):
        packets += struct.pack("<IHH", PERF_RECORD_COMPRESSED, 0, 8 + len(part)) + part
    # The last number is the length of perf's buffer, into which each packet has to fit when decompressed.
    buffer = -(-size // PAGE) * PAGE
    features[HEADER_COMPRESSED] = struct.pack("<5I", VERSION, ZSTD, LEVEL, size // max(1, len(stream)), buffer)
    header = bytearray(data[:begin])
    struct.pack_into("<Q", header, DATA_AT + 8, len(packets))
    header[FEATURES_AT:HEADER_SIZE] = (bits | 1 << HEADER_COMPRESSED).to_bytes(HEADER_SIZE - FEATURES_AT, "little")
    at = begin + len(packets) + 16 * len(features)
    table = contents = b""
    for bit in sorted(features):
        table += struct.pack("<QQ", at + len(contents), len(features[bit]))
        contents += features[bit]
    return bytes(header) + packets + table + contents


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        print(__doc__.strip(), file=sys.stderr)
        sys.exit(64)
    for file in map(Path, sys.argv[1:]):
        try:
            smaller = compressed(file.read_bytes())
        except ValueError as error:
            sys.exit(f"{file}: {error}")
        partial = file.with_name(file.name + ".partial")
        partial.write_bytes(smaller)
        os.replace(partial, file)


if __name__ == "__main__":
    main()
