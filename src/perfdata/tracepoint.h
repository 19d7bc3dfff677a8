// Payloads of tracepoints (PERF_SAMPLE_RAW): their fields, and their text as perf prints it.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/perfdata/tracepoint_format.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
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
};

/// The tracepoints of a recording. Payloads are as hostile as anything else in it: one whose fields
/// do not lie inside of it is said to be damaged and not decoded.
class Tracepoints {
 public:
  static constexpr std::string_view kDamaged = "(damaged payload)";
  static constexpr std::string_view kUnknown = "(no format of this tracepoint)";

  Tracepoints();
  Tracepoints(const Tracepoints&) = delete;
  Tracepoints& operator=(const Tracepoints&) = delete;
  Tracepoints(Tracepoints&&) noexcept;
  Tracepoints& operator=(Tracepoints&&) noexcept;
  ~Tracepoints();

  /// Reads what `parse_tracing_data` reads; `problem` says what is wrong with bytes that cannot be
  /// read, and no tracepoint is known then. No bytes, as in a recording without tracepoints, are
  /// no problem. A format that is not understood is left out.
  static Tracepoints parse(std::span<const std::byte> tracing_data, std::string& problem);

  /// The format of the tracepoint whose perf_event_attr.config is `id`; null when there is none.
  const TracepointFormat* format(std::uint64_t id) const noexcept;

  /// Whether every field of the format lies within the payload, and the payload is of it.
  bool fits(const TracepointFormat& format, std::span<const std::byte> raw) const noexcept;

  /// The fields of a payload but for those that every tracepoint has (common_pid …); nullopt for a
  /// damaged one.
  std::optional<std::vector<NamedValue>> fields(const TracepointFormat& format,
                                                std::span<const std::byte> raw) const;

  /// The value of one field that is a number; nullopt for a damaged payload and other fields.
  std::optional<std::uint64_t> number(const TracepointField& field,
                                      std::span<const std::byte> raw) const noexcept;

  /// What `perf script -F trace` prints of a payload without plugins and kernel symbols; kUnknown
  /// or kDamaged where nothing can be printed. Formats that may not be given to libtraceevent are
  /// written as it writes what it cannot parse: "[FAILED TO PARSE] field=value …".
  std::string text(std::uint64_t id, std::span<const std::byte> raw);

 private:
  struct Printer;
  struct Payload;
  struct Entry {
    TracepointFormat format;
    std::unique_ptr<Printer> printer;  ///< null until the first text
  };

  std::uint64_t unsigned_at(std::span<const std::byte> raw, std::uint64_t offset,
                            std::uint64_t size) const noexcept;
  std::optional<std::span<const std::byte>> bytes_of(const TracepointField& field,
                                                     std::span<const std::byte> raw) const noexcept;
  TracepointValue value_of(const TracepointField& field, std::span<const std::byte> bytes) const;

  ByteOrder order_ = ByteOrder::little;
  unsigned long_size_ = 8;
  std::uint32_t page_size_ = 0;
  std::map<std::uint64_t, Entry> entries_;  ///< by id
  std::unique_ptr<Payload> payload_;        ///< the one being printed
};

}  // namespace skid::perfdata
