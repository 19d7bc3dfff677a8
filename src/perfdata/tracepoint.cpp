#include "src/perfdata/tracepoint.h"

#include "src/perfdata/tracing_data.h"

#include <algorithm>
#include <utility>

namespace skid::perfdata {
namespace {

/// Two's complement of `size` bytes, widened.
std::int64_t widened(std::uint64_t value, std::uint64_t size) noexcept {
  const auto shift = static_cast<unsigned>(64 - 8 * size);
  return static_cast<std::int64_t>(value << shift) >> shift;
}

bool is_number_size(std::uint64_t size) noexcept {
  return size == 1 || size == 2 || size == 4 || size == 8;
}

}  // namespace

Tracepoints Tracepoints::parse(std::span<const std::byte> tracing_data, std::string& problem) {
  Tracepoints tracepoints;
  if (tracing_data.empty()) return tracepoints;
  const auto data = parse_tracing_data(tracing_data, problem);
  if (!data) return tracepoints;
  tracepoints.order_ = data->byte_order;
  for (const auto& description : data->tracepoints) {
    auto format = parse_tracepoint_format(description.system, description.text, data->long_size);
    if (!format) continue;
    const auto id = format->id;
    tracepoints.formats_.try_emplace(id, std::move(*format));
  }
  return tracepoints;
}

const TracepointFormat* Tracepoints::format(std::uint64_t id) const noexcept {
  const auto found = formats_.find(id);
  return found == formats_.end() ? nullptr : &found->second;
}

std::uint64_t Tracepoints::unsigned_at(std::span<const std::byte> raw, std::uint64_t offset,
                                       std::uint64_t size) const noexcept {
  ByteReader reader(raw, order_);
  reader.skip(offset);
  switch (size) {
    case 1:
      return reader.u8();
    case 2:
      return reader.u16();
    case 4:
      return reader.u32();
    default:
      return reader.u64();
  }
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
  return std::all_of(format.fields.begin(), format.fields.end(), [&](const TracepointField& field) {
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
  // Other types are given as their bytes.
  const std::uint64_t step = is_number_size(size) && field.is_array ? size : 1;
  std::vector<std::uint64_t> numbers;
  std::vector<std::int64_t> signed_numbers;
  for (std::uint64_t at = 0; bytes.size() - at >= step; at += step) {
    const auto value = unsigned_at(bytes, at, step);
    if (field.is_signed) {
      signed_numbers.push_back(widened(value, step));
    } else {
      numbers.push_back(value);
    }
  }
  if (field.is_signed) return signed_numbers;
  return numbers;
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
