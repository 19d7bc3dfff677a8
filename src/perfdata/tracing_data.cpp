#include "src/perfdata/tracing_data.h"

#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::perfdata {
namespace {

constexpr std::size_t kLongestText = 256;

/// Characters up to a NUL, which is consumed; fails when none comes within kLongestText.
std::string terminated(ByteReader& reader) {
  std::string text;
  while (!reader.failed()) {
    const auto byte = reader.u8();
    if (byte == 0) return text;
    text += static_cast<char>(byte);
    if (text.size() > kLongestText) reader.skip(reader.remaining() + 1);  // marks it as failed
  }
  return {};
}

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// `count` format files, each after its size.
void read_formats(ByteReader& reader, const std::string& system, TracingData& data) {
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
    const auto text = reader.take(reader.u64());
    if (reader.failed() || text.size() > kLongestTracepointFormat) continue;
    if (data.tracepoints.size() >= kMostTracepoints) continue;
    data.tracepoints.push_back({system, std::string(characters(text))});
  }
}

}  // namespace

std::optional<TracingData> parse_tracing_data(std::span<const std::byte> bytes,
                                              std::string& problem) {
  constexpr std::string_view kMagic = "\x17\x08\x44tracing";
  const auto refuse = [&](std::string what) {
    problem = std::move(what);
    return std::nullopt;
  };
  if (bytes.size() < kMagic.size() || characters(bytes.first(kMagic.size())) != kMagic) {
    return refuse("tracing data without their magic");
  }
  bytes = bytes.subspan(kMagic.size());
  TracingData data;
  ByteReader head(bytes, ByteOrder::little);
  data.version = terminated(head);
  const auto big_endian = head.u8();
  data.long_size = head.u8();
  if (head.failed()) return refuse("tracing data that end inside their header");
  if (big_endian > 1) return refuse(fmt::format("tracing data of byte order {}", big_endian));
  if (data.long_size != 4 && data.long_size != 8) {
    return refuse(fmt::format("tracing data of a kernel with longs of {} bytes", data.long_size));
  }
  data.byte_order = big_endian == 1 ? ByteOrder::big : ByteOrder::little;

  ByteReader reader(bytes.last(head.remaining()), data.byte_order);
  reader.skip(sizeof(std::uint32_t));  // page size
  for (const std::string_view part : {"header_page", "header_event"}) {
    if (terminated(reader) != part) return refuse(fmt::format("tracing data without {}", part));
    reader.skip(reader.u64());
  }
  read_formats(reader, "ftrace", data);
  const std::uint32_t systems = reader.u32();
  for (std::uint32_t i = 0; i < systems && !reader.failed(); ++i) {
    const std::string system = terminated(reader);
    read_formats(reader, system, data);
  }
  // Kernel symbols, printk formats and command lines follow; no payload needs them.
  if (reader.failed()) return refuse("tracing data that end inside a tracepoint's format");
  return data;
}

}  // namespace skid::perfdata
