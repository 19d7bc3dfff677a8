// What the kernel says of one tracepoint: which fields its payload has and how it prints them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::perfdata {

/// One line "field:…" of a format file.
struct TracepointField {
  enum class Place {
    fixed,     ///< at `offset`
    data_loc,  ///< where the u32 at `offset` says: length << 16 | offset in the payload
    rel_loc,   ///< the same, its offset counted from behind that u32
  };

  std::string declaration;  ///< "char prev_comm[16]", as the format file has it
  std::string name;         ///< "prev_comm"
  Place place = Place::fixed;
  std::uint32_t offset = 0;  ///< in the payload, in bytes
  std::uint32_t size = 0;    ///< bytes; 0: the rest of the payload
  bool is_signed = false;
  bool is_array = false;
  bool is_text = false;  ///< an array of char
  /// Bytes an element of an array has; 0 where the format does not tell.
  std::uint32_t element_size = 0;
};

struct TracepointFormat {
  std::string system, name;  ///< "sched", "sched_switch"
  std::uint32_t id = 0;      ///< perf_event_attr.config, and common_type in the payload
  std::vector<TracepointField> fields;
  std::size_t common_fields = 0;  ///< how many of them, in front, every tracepoint has
  std::string print;              ///< "\"comm=%s\", REC->comm"

  const TracepointField* field(std::string_view field_name) const noexcept;
};

/// Reads a format file. nullopt when it is not what the kernel writes: unknown lines, declarations
/// that are no plain C, sizes out of bounds. long_size: bytes of the recorded kernel's long.
std::optional<TracepointFormat> parse_tracepoint_format(std::string_view system,
                                                        std::string_view text, unsigned long_size);

/// The format file written anew from what was understood of it, with `print` for its print fmt.
std::string format_file(const TracepointFormat& format, std::string_view print);

}  // namespace skid::perfdata
