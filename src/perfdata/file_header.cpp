#include "src/perfdata/file_header.h"

#include "src/perfdata/fault_log.h"
#include "src/perfdata/format.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

constexpr std::uint64_t kMagic = 0x32454c4946524550;     // "PERFILE2"
constexpr std::uint64_t kOldMagic = 0x454c494646524550;  // "PERFFILE", of perf before Linux 3.4
constexpr std::size_t kWithoutFeatures = 72;             // perf_file_header before Linux 2.6.33

/// Returns how to decompress a file that begins with these bytes; empty: it is not compressed.
std::string_view decompression_of(std::span<const std::byte> bytes) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFormats{
      {{"\x1f\x8b", "gzip -d"},
       {"\xfd"
        "7zXZ",
        "xz -d"},
       {"\x28\xb5\x2f\xfd", "zstd -d"},
       {"BZh", "bzip2 -d"}}};
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  for (const auto& [beginning, command] : kFormats) {
    if (text.starts_with(beginning)) return command;
  }
  return {};
}

}  // namespace

FileSection read_section(ByteReader& reader) {
  const std::uint64_t offset = reader.u64();
  const std::uint64_t size = reader.u64();
  return {offset, size};
}

FileHeader parse_file_header(std::span<const std::byte> bytes, const std::filesystem::path& path) {
  const auto refuse = [&path](std::uint64_t offset, std::string found, std::string expected,
                              std::string remedy) {
    throw InputError(
        {path.string(), offset, std::move(found), std::move(expected), std::move(remedy)});
  };

  if (bytes.size() < sizeof kMagic) {
    refuse(0, fmt::format("a file of {} bytes", bytes.size()),
           fmt::format("a perf.data header of {} bytes", FileHeader::kLargestSize),
           "is it a recording of perf?");
  }
  FileHeader header;
  const std::uint64_t magic = ByteReader(bytes, ByteOrder::little).u64();
  if (magic == kOldMagic) {
    // The magic is text, which is the same in both orders; no header has more than 104 bytes.
    ByteReader reader(bytes.subspan(sizeof kMagic), ByteOrder::little);
    if (reader.u64() > FileHeader::kLargestSize) header.order = ByteOrder::big;
  } else if (magic != kMagic) {
    if (const auto command = decompression_of(bytes); !command.empty()) {
      refuse(0, "a compressed file", "a recording", fmt::format("decompress it: {}", command));
    }
    if (__builtin_bswap64(magic) != kMagic) {
      refuse(0, "no perf.data magic", "PERFILE2", "is it a recording of perf?");
    }
    header.order = ByteOrder::big;
  }

  ByteReader reader(bytes, header.order);
  reader.skip(sizeof kMagic);
  const std::uint64_t size = reader.u64();
  header.pipe = size == FileHeader::kPipeSize && !reader.failed();
  if (header.pipe) return header;
  header.attribute_entry_size = reader.u64();
  header.attributes = read_section(reader);
  header.data = read_section(reader);
  reader.skip(FileSection::kEntrySize);  // event types, unused since Linux 3.9
  std::array<std::uint64_t, HEADER_FEATURES / 64> words{};
  if (size == FileHeader::kLargestSize) {
    for (auto& word : words) word = reader.u64();
  }
  if (reader.failed()) {
    refuse(0, fmt::format("a file of {} bytes", bytes.size()),
           fmt::format("a perf.data header of {} bytes", FileHeader::kLargestSize), kRecordAgain);
  }
  if (size != FileHeader::kLargestSize && size != kWithoutFeatures) {
    refuse(8, fmt::format("a header of {} bytes", size),
           fmt::format("{}, {} or {}", FileHeader::kPipeSize, kWithoutFeatures,
                       FileHeader::kLargestSize),
           kRecordAgain);
  }
  // The bits are in words of the writer's unsigned long. A 32-bit big-endian machine writes the
  // lower word first. Every recording has a host name, which shows the order.
  const auto has_hostname = [&words] { return (words[0] >> HEADER_HOSTNAME & 1u) != 0; };
  if (header.order == ByteOrder::big && !has_hostname()) {
    const auto as_written = words;
    for (auto& word : words) word = word << 32 | word >> 32;
    if (!has_hostname()) words = as_written;
  }
  for (unsigned bit = 0; bit < HEADER_FEATURES; ++bit) {
    if ((words[bit / 64] >> (bit % 64) & 1u) != 0) header.features.push_back(bit);
  }
  return header;
}

}  // namespace skid::perfdata
