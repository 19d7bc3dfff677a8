#include "src/perfdata/tracepoint.h"

#include "src/support/byte_reader.h"
#include "src/support/text.h"

#include <algorithm>
#include <memory>
#include <regex>
#include <utility>

#include <fmt/format.h>
#include <traceevent/event-parse.h>

namespace skid::perfdata {
namespace {

/// Returns a text of the section's frame or the name of a system; fails if it is too long.
std::string_view short_text(ByteReader& reader) {
  constexpr std::size_t kLongestText = 256;
  const auto text = reader.terminated_text();
  if (text.size() > kLongestText) reader.fail();
  return reader.failed() ? std::string_view() : text;
}

std::string_view characters(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Maximum size of a payload, which is smaller than the record that contains it.
constexpr int kLargestPayload = 0xffff;
constexpr std::size_t kMostFields = 512;
/// Maximum length of a line in bytes. libtraceevent's time grows with the square of the length.
constexpr std::size_t kLongestLine = 1024;

/// Whether libtraceevent may parse this text. It leaks memory on texts that the kernel does not
/// write, and on names of mac80211's macros ("STA_PR_FMT"), which the formats of kernels before
/// 2.6.35 contain.
bool is_plain(std::string_view text) {
  static const std::regex kHead("name: [A-Za-z_]\\w*|ID: \\d+|format:");
  static const std::regex kField(
      "\tfield(?: special)?:(?:__data_loc |__rel_loc )?[A-Za-z_][\\w *]*[ *]\\w+(?:\\[\\w*\\])?;"
      "\toffset:\\d{1,5};\tsize:\\d{1,5};(?:\tsigned:[01];)?");
  static const std::regex kDynamicField(
      "\tfield:__(?:data|rel)_loc [A-Za-z_][\\w *]*\\[\\] \\w+;"
      "\toffset:\\d{1,5};\tsize:4;(?:\tsigned:[01];)?");
  if (contains(text, "_PR_FMT")) return false;
  for (std::size_t number = 0; !text.empty(); ++number) {
    const auto line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    if (line.size() > kLongestLine) return false;
    const auto is = [&](const std::regex& shape) {
      return std::regex_match(line.begin(), line.end(), shape);
    };
    if (number < 3 ? !is(kHead) : !line.empty() && !is(kField) && !is(kDynamicField)) return false;
  }
  return true;
}

/// Converts a field of libtraceevent; nullopt if its sizes are out of bounds.
std::optional<TracepointField> field_of(const tep_format_field& parsed, unsigned long_size) {
  if (parsed.name == nullptr || parsed.type == nullptr) return std::nullopt;
  if (parsed.offset < 0 || parsed.offset > kLargestPayload) return std::nullopt;
  if (parsed.size < 0 || parsed.size > kLargestPayload) return std::nullopt;
  const auto has = [&](unsigned long flag) { return (parsed.flags & flag) != 0; };
  const auto is_of = [type = std::string_view(parsed.type)](std::string_view word) {
    return contains(type, word);
  };
  TracepointField field;
  field.name = parsed.name;
  field.offset = static_cast<std::uint32_t>(parsed.offset);
  field.size = static_cast<std::uint32_t>(parsed.size);
  field.is_signed = has(TEP_FIELD_IS_SIGNED);
  field.is_array = has(TEP_FIELD_IS_ARRAY) || has(TEP_FIELD_IS_DYNAMIC);
  field.is_text =
      has(TEP_FIELD_IS_ARRAY) && !has(TEP_FIELD_IS_POINTER) && is_of("char") && !is_of("unsigned");
  field.is_hexadecimal = has(TEP_FIELD_IS_POINTER) || (has(TEP_FIELD_IS_LONG) && !field.is_signed);
  if (has(TEP_FIELD_IS_ARRAY)) {
    field.element_size = parsed.elementsize;
    if (field.element_size == 0 && has(TEP_FIELD_IS_LONG)) field.element_size = long_size;
  }
  if (has(TEP_FIELD_IS_DYNAMIC)) {
    field.place = has(TEP_FIELD_IS_RELATIVE) ? TracepointField::Place::rel_loc
                                             : TracepointField::Place::data_loc;
    if (field.size != sizeof(std::uint32_t)) return std::nullopt;
  }
  return field;
}

/// Appends a list of libtraceevent's fields; false when one of them is out of bounds.
bool append(const tep_format_field* first, unsigned long_size,
            std::vector<TracepointField>& fields) {
  for (; first != nullptr; first = first->next) {
    auto field = field_of(*first, long_size);
    if (!field || fields.size() >= kMostFields) return false;
    fields.push_back(std::move(*field));
  }
  return true;
}

/// Parses a format file with libtraceevent, without its print format: libtraceevent 1.7.1 trusts
/// print formats, which can make it follow null pointers. nullopt for a format that the kernel does
/// not write: other characters than those of plain declarations, sizes out of bounds. `long_size`:
/// size of the recorded kernel's long in bytes.
std::optional<TracepointFormat> parse_tracepoint_format(std::string_view system,
                                                        std::string_view text, unsigned long_size) {
  const auto end = text.find("\nprint fmt:");
  if (end == std::string_view::npos || !is_plain(text.substr(0, end))) return std::nullopt;
  const std::string fields = std::string(text.substr(0, end)) + "\nprint fmt: \"\"\n";
  // Each format has a handle of its own, because formats of a recording may have the same id.
  const std::unique_ptr<tep_handle, decltype(&tep_free)> handle(tep_alloc(), &tep_free);
  if (!handle) return std::nullopt;
  tep_set_loglevel(TEP_LOG_NONE);
  tep_set_long_size(handle.get(), static_cast<int>(long_size));
  // Not the system's name: libtraceevent treats the formats of "ftrace" differently.
  if (tep_parse_event(handle.get(), fields.c_str(), fields.size(), "system") != 0) {
    return std::nullopt;
  }
  const tep_event* event = tep_get_first_event(handle.get());
  if (event == nullptr || event->name == nullptr) return std::nullopt;
  if (event->id < 0 || event->id > kLargestPayload) return std::nullopt;  // common_type: 16 bits
  TracepointFormat format;
  format.system = std::string(system);
  format.name = event->name;
  format.id = static_cast<std::uint32_t>(event->id);
  if (!append(event->format.common_fields, long_size, format.fields)) return std::nullopt;
  format.common_fields = format.fields.size();
  if (!append(event->format.fields, long_size, format.fields)) return std::nullopt;
  return format;
}

/// Returns the two's complement number in the lowest `size` bytes of `value`.
std::int64_t widened(std::uint64_t value, std::uint64_t size) noexcept {
  const auto shift = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::int64_t>(value << shift) >> shift;
}

bool is_number_size(std::uint64_t size) noexcept {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

}  // namespace

const TracepointField* TracepointFormat::field(std::string_view field_name) const noexcept {
  return find_by(fields, &TracepointField::name, field_name);
}

Tracepoints Tracepoints::parse(std::span<const std::byte> tracing_data, std::string& problem) {
  Tracepoints tracepoints;
  if (tracing_data.empty()) return tracepoints;
  problem = tracepoints.read(tracing_data);
  return problem.empty() ? tracepoints : Tracepoints();
}

std::string Tracepoints::read(std::span<const std::byte> bytes) {
  constexpr std::string_view kMagic = "\x17\x08\x44tracing";
  if (bytes.size() < kMagic.size() || characters(bytes.first(kMagic.size())) != kMagic) {
    return "tracing data without their magic";
  }
  bytes = bytes.subspan(kMagic.size());
  ByteReader head(bytes, ByteOrder::little);
  short_text(head);  // version of the layout: "0.6"
  const auto big_endian = head.u8();
  const unsigned long_size = head.u8();
  if (head.failed()) return "tracing data that end inside their header";
  if (big_endian > 1) return fmt::format("tracing data of byte order {}", big_endian);
  if (long_size != 4 && long_size != 8) {
    return fmt::format("tracing data of a kernel with longs of {} bytes", long_size);
  }
  order_ = big_endian == 1 ? ByteOrder::big : ByteOrder::little;

  ByteReader reader(bytes.last(head.remaining()), order_);
  reader.skip(sizeof(std::uint32_t));  // page size
  for (const std::string_view part : {"header_page", "header_event"}) {
    if (short_text(reader) != part) return fmt::format("tracing data without {}", part);
    reader.skip(reader.u64());
  }
  std::size_t read_formats = 0;
  // Files events/SYSTEM/NAME/format of tracefs, each after its size.
  const auto read_system = [&](std::string_view system) {
    const std::uint32_t count = reader.u32();
    for (std::uint32_t i = 0; i < count && !reader.failed(); ++i) {
      const auto text = characters(reader.take(reader.u64()));
      if (reader.failed() || text.size() > kLongestFormat || read_formats == kMost) continue;
      ++read_formats;
      if (auto format = parse_tracepoint_format(system, text, long_size)) {
        const auto id = format->id;
        formats_.try_emplace(id, std::move(*format));
      }
    }
  };
  read_system("ftrace");
  const std::uint32_t systems = reader.u32();
  for (std::uint32_t i = 0; i < systems && !reader.failed(); ++i) read_system(short_text(reader));
  // Kernel symbols, printk formats and command lines follow; payloads do not need them.
  return reader.failed() ? "tracing data that end inside a tracepoint's format" : "";
}

const TracepointFormat* Tracepoints::format(std::uint64_t id) const noexcept {
  const auto found = formats_.find(id);
  return found == formats_.end() ? nullptr : &found->second;
}

std::uint64_t Tracepoints::unsigned_at(std::span<const std::byte> raw, std::uint64_t offset,
                                       std::uint64_t size) const noexcept {
  ByteReader reader(raw, order_);
  reader.skip(offset);
  if (size == 1) return reader.u8();
  if (size == 2) return reader.u16();
  return size == 4 ? reader.u32() : reader.u64();
}

std::optional<std::span<const std::byte>> Tracepoints::bytes_of(
    const TracepointField& field, std::span<const std::byte> raw) const noexcept {
  if (field.offset > raw.size() || field.size > raw.size() - field.offset) return std::nullopt;
  auto bytes = raw.subspan(field.offset);
  if (field.place == TracepointField::Place::fixed) {
    return field.size == 0 ? bytes : bytes.first(field.size);
  }
  const std::uint64_t location = unsigned_at(raw, field.offset, field.size);
  std::uint64_t offset = location & 0xffff;
  const std::uint64_t length = location >> 16;
  if (field.place == TracepointField::Place::rel_loc) offset += field.offset + field.size;
  if (offset > raw.size() || length > raw.size() - offset) return std::nullopt;
  return raw.subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
}

bool Tracepoints::fits(const TracepointFormat& format,
                       std::span<const std::byte> raw) const noexcept {
  const auto* type = format.field("common_type");
  if (type == nullptr || number(*type, raw) != format.id) return false;
  return std::ranges::all_of(format.fields, [&](const TracepointField& field) {
    return bytes_of(field, raw).has_value();
  });
}

std::optional<std::uint64_t> Tracepoints::number(const TracepointField& field,
                                                 std::span<const std::byte> raw) const noexcept {
  if (field.is_array || field.place != TracepointField::Place::fixed) return std::nullopt;
  if (!is_number_size(field.size) || !bytes_of(field, raw)) return std::nullopt;
  return unsigned_at(raw, field.offset, field.size);
}

TracepointValue Tracepoints::value_of(const TracepointField& field,
                                      std::span<const std::byte> bytes) const {
  if (field.is_text) return std::string(ByteReader(bytes, order_).text());
  const std::uint64_t size = field.is_array ? field.element_size : field.size;
  if (!field.is_array && is_number_size(size)) {
    const auto value = unsigned_at(bytes, 0, size);
    if (field.is_signed) return widened(value, size);
    return value;
  }
  // Values of other types are lists of their bytes.
  const std::uint64_t step = is_number_size(size) && field.is_array ? size : 1;
  const auto list_of = [&](auto number) {
    std::vector<decltype(number)> numbers;
    for (std::uint64_t at = 0; bytes.size() - at >= step; at += step) {
      const std::uint64_t value = unsigned_at(bytes, at, step);
      numbers.push_back(field.is_signed ? static_cast<decltype(number)>(widened(value, step))
                                        : static_cast<decltype(number)>(value));
    }
    return numbers;
  };
  if (field.is_signed) return list_of(std::int64_t{});
  return list_of(std::uint64_t{});
}

std::optional<std::vector<NamedValue>> Tracepoints::fields(const TracepointFormat& format,
                                                           std::span<const std::byte> raw) const {
  if (!fits(format, raw)) return std::nullopt;
  std::vector<NamedValue> values;
  for (std::size_t i = format.common_fields; i < format.fields.size(); ++i) {
    const auto& field = format.fields[i];
    values.push_back({field.name, value_of(field, *bytes_of(field, raw)), field.is_hexadecimal});
  }
  return values;
}

}  // namespace skid::perfdata
