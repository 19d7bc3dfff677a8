// Payloads of tracepoints (PERF_SAMPLE_RAW): their fields.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/perfdata/tracepoint_format.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace skid::perfdata {

/// A number, a text, or an array of numbers.
using TracepointValue = std::variant<std::uint64_t, std::int64_t, std::string,
                                     std::vector<std::uint64_t>, std::vector<std::int64_t>>;

struct NamedValue {
  std::string_view name;  ///< of the field; valid as long as the Tracepoints
  TracepointValue value;
  bool is_hexadecimal = false;
};

/// The tracepoints of a recording. Payloads are not trusted: one whose fields reach past its end is
/// damaged and is not decoded.
class Tracepoints {
 public:
  static constexpr std::string_view kDamaged = "(damaged payload)";
  static constexpr std::string_view kUnknown = "(no format of this tracepoint)";

  /// Reads the bytes that `parse_tracing_data` reads. Bytes that cannot be read set `problem` and
  /// give no tracepoints; no bytes, as in a recording without tracepoints, are no problem. Formats
  /// that cannot be parsed are left out.
  static Tracepoints parse(std::span<const std::byte> tracing_data, std::string& problem);

  /// The format of the tracepoint whose perf_event_attr.config is `id`; null when there is none.
  const TracepointFormat* format(std::uint64_t id) const noexcept;

  /// Whether every field of the format is within the payload, and the payload is of this
  /// tracepoint.
  bool fits(const TracepointFormat& format, std::span<const std::byte> raw) const noexcept;

  /// The fields of a payload but for those that every tracepoint has (common_pid …); nullopt for a
  /// damaged one.
  std::optional<std::vector<NamedValue>> fields(const TracepointFormat& format,
                                                std::span<const std::byte> raw) const;

  /// The value of one field that is a number; nullopt for a damaged payload and other fields.
  std::optional<std::uint64_t> number(const TracepointField& field,
                                      std::span<const std::byte> raw) const noexcept;

 private:
  std::uint64_t unsigned_at(std::span<const std::byte> raw, std::uint64_t offset,
                            std::uint64_t size) const noexcept;
  std::optional<std::span<const std::byte>> bytes_of(const TracepointField& field,
                                                     std::span<const std::byte> raw) const noexcept;
  TracepointValue value_of(const TracepointField& field, std::span<const std::byte> bytes) const;

  ByteOrder order_ = ByteOrder::little;
  std::map<std::uint64_t, TracepointFormat> formats_;  ///< by id
};

}  // namespace skid::perfdata
