// .eh_frame_hdr is a table of functions, sorted by address, for binary search:
//
//   u8 version = 1; u8 encodings of the three fields below
//   i32 address of .eh_frame; u32 number of entries
//   { i32 address of the function; i32 address of its entry in .eh_frame } ...
//
// Addresses in the table are relative to .eh_frame_hdr. The entry (FDE) has the size of the
// function:
//
//   u32 length; u32 distance of the CIE; i32 address of the function; u32 its size; ...
//
// where the address is relative to its own field. The CIE states this encoding; here an entry
// counts if its address is that of the table.
#include "src/symbols/unwind_table.h"

#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/symbols/elf_file.h"
#include "src/symbols/elf_sections.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include <elf.h>
#include <gelf.h>
#include <libelf.h>

namespace skid::symbols {
namespace {

struct Content {
  std::uint64_t address = 0;  ///< link-time address of the first byte
  std::span<const std::byte> bytes;
};

std::optional<Content> content_of(const ElfFile& file, std::string_view name) {
  const auto section = section_named(file, name);
  const Elf_Data* data = section ? elf_rawdata(section->section, nullptr) : nullptr;
  if (data == nullptr || data->d_buf == nullptr) return std::nullopt;
  return Content{section->header.sh_addr,
                 {static_cast<const std::byte*>(data->d_buf), data->d_size}};
}

std::uint64_t signed_word(ByteReader& reader) {
  return static_cast<std::uint64_t>(reader.i32());
}

}  // namespace

std::vector<AddressRange> unwind_ranges(const ElfFile& file) {
  const auto table = content_of(file, ".eh_frame_hdr"), frames = content_of(file, ".eh_frame");
  if (!table || !frames) return {};
  const ByteOrder order =
      file.header().e_ident[EI_DATA] == ELFDATA2MSB ? ByteOrder::big : ByteOrder::little;
  // DW_EH_PE_udata4, DW_EH_PE_datarel | DW_EH_PE_sdata4
  constexpr std::uint8_t kVersion = 1, kCount = 0x03, kEntries = 0x3b;
  ByteReader reader(table->bytes, order);
  const std::uint8_t version = reader.u8();
  (void)reader.u8();  // encoding of the address of .eh_frame
  const std::uint8_t count = reader.u8(), encoding = reader.u8();
  (void)reader.u32();  // address of .eh_frame
  const std::uint64_t entries = reader.u32();
  if (version != kVersion || count != kCount || encoding != kEntries) return {};
  std::vector<AddressRange> ranges;
  constexpr std::size_t kEntry = 8;
  for (std::uint64_t i = 0; i < entries && reader.remaining() >= kEntry; ++i) {
    const std::uint64_t function = table->address + signed_word(reader);
    const std::uint64_t entry = table->address + signed_word(reader);
    const std::uint64_t offset = entry - frames->address;
    if (offset > frames->bytes.size()) continue;
    ByteReader fields(frames->bytes.subspan(offset), order);
    (void)fields.u64();  // length, CIE
    const std::uint64_t begin = entry + kEntry + signed_word(fields);
    const std::uint64_t size = fields.u32();
    if (fields.failed() || begin != function || size == 0) continue;
    if (!ranges.empty()) {
      AddressRange& before = ranges.back();
      if (begin <= before.begin) continue;  // the table is not sorted
      before.end = std::min(before.end, begin);
    }
    ranges.push_back(AddressRange::of_size(begin, size));
  }
  return ranges;
}

}  // namespace skid::symbols
