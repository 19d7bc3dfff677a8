// Tracepoints: their formats, which HEADER_TRACING_DATA contains, and the fields of their payloads
// (PERF_SAMPLE_RAW).
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

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

/// A field of a payload: one line "field:…" of a format file.
struct TracepointField {
  enum class Place {
    fixed,     ///< at `offset`
    data_loc,  ///< given by the u32 at `offset`: length << 16 | offset in the payload
    rel_loc,   ///< as data_loc, with an offset from the end of that u32
  };

  std::string name;  ///< "prev_comm"
  Place place = Place::fixed;
  std::uint32_t offset = 0;  ///< offset in the payload in bytes
  std::uint32_t size = 0;    ///< bytes; 0: the rest of the payload
  bool is_signed = false;
  bool is_array = false;
  bool is_text = false;            ///< it is an array of char
  bool is_hexadecimal = false;     ///< pointer or unsigned long, which perf prints in base 16
  std::uint32_t element_size = 0;  ///< size of an array's element in bytes; 0: unknown
};

struct TracepointFormat {
  std::string system, name;  ///< "sched", "sched_switch"
  std::uint32_t id = 0;      ///< perf_event_attr.config, and common_type in the payload
  std::vector<TracepointField> fields;
  std::size_t common_fields = 0;  ///< number of first fields that all tracepoints have

  /// Returns the field of that name, or null.
  const TracepointField* field(std::string_view field_name) const noexcept;
};

/// A number, a text, or an array of numbers.
using TracepointValue = std::variant<std::uint64_t, std::int64_t, std::string,
                                     std::vector<std::uint64_t>, std::vector<std::int64_t>>;

struct NamedValue {
  std::string_view name;  ///< name of the field; valid as long as the Tracepoints
  TracepointValue value;
  bool is_hexadecimal = false;
};

/// The tracepoints of a recording. Payloads are not trusted: if a field extends past the end of its
/// payload, the payload is damaged and not decoded.
class Tracepoints {
 public:
  static constexpr std::string_view kDamaged = "(damaged payload)";
  static constexpr std::string_view kUnknown = "(no format of this tracepoint)";

  /// Maximum number of formats. A recording contains those of the recorded tracepoints; Linux 6.18
  /// has 2,300.
  static constexpr std::size_t kMost = 4096;
  /// Maximum size of the text of a format, in bytes; longer ones are left out. The longest of Linux
  /// 6.18 has 5.5 KiB.
  static constexpr std::size_t kLongestFormat = std::size_t{64} << 10;

  /// Parses the bytes of a HEADER_TRACING_DATA section, or those after a
  /// PERF_RECORD_HEADER_TRACING_DATA (tools/perf/util/trace-event-info.c writes them). If they
  /// cannot be parsed, sets `problem` and returns no tracepoints. No bytes, as in a recording
  /// without tracepoints, are not a problem. Formats that the kernel does not write are left out:
  /// they have other characters than those of plain declarations, or sizes out of bounds.
  static Tracepoints parse(std::span<const std::byte> tracing_data, std::string& problem);

  /// Returns the format of the tracepoint whose perf_event_attr.config is `id`; null if there is
  /// none.
  const TracepointFormat* format(std::uint64_t id) const noexcept;

  /// Whether every field of the format is within the payload, and the payload belongs to this
  /// tracepoint.
  bool fits(const TracepointFormat& format, std::span<const std::byte> raw) const noexcept;

  /// Returns the fields of a payload without those that every tracepoint has (common_pid …);
  /// nullopt for a damaged payload.
  std::optional<std::vector<NamedValue>> fields(const TracepointFormat& format,
                                                std::span<const std::byte> raw) const;

  /// Returns the value of a field that is a number; nullopt for other fields and damaged payloads.
  std::optional<std::uint64_t> number(const TracepointField& field,
                                      std::span<const std::byte> raw) const noexcept;

 private:
  /// Returns what is wrong with the bytes, or an empty string.
  std::string read(std::span<const std::byte> bytes);
  std::uint64_t unsigned_at(std::span<const std::byte> raw, std::uint64_t offset,
                            std::uint64_t size) const noexcept;
  std::optional<std::span<const std::byte>> bytes_of(const TracepointField& field,
                                                     std::span<const std::byte> raw) const noexcept;
  TracepointValue value_of(const TracepointField& field, std::span<const std::byte> bytes) const;

  ByteOrder order_ = ByteOrder::little;
  std::map<std::uint64_t, TracepointFormat> formats_;  ///< by id
};

}  // namespace skid::perfdata
