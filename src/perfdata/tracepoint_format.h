// The format of one tracepoint: the fields of its payload.
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
    data_loc,  ///< given by the u32 at `offset`: length << 16 | offset in the payload
    rel_loc,   ///< the same, its offset counted from the end of that u32
  };

  std::string name;  ///< "prev_comm"
  Place place = Place::fixed;
  std::uint32_t offset = 0;  ///< in the payload, in bytes
  std::uint32_t size = 0;    ///< bytes; 0: the rest of the payload
  bool is_signed = false;
  bool is_array = false;
  bool is_text = false;            ///< an array of char
  bool is_hexadecimal = false;     ///< a pointer or an unsigned long, which perf prints in base 16
  std::uint32_t element_size = 0;  ///< bytes of an element of an array; 0: unknown
};

struct TracepointFormat {
  std::string system, name;  ///< "sched", "sched_switch"
  std::uint32_t id = 0;      ///< perf_event_attr.config, and common_type in the payload
  std::vector<TracepointField> fields;
  std::size_t common_fields = 0;  ///< how many of them, the first ones, every tracepoint has

  const TracepointField* field(std::string_view field_name) const noexcept;
};

/// Reads a format file by libtraceevent, without its print format: libtraceevent 1.7.1 trusts print
/// formats and can be made to follow null pointers by them. nullopt for a format that the kernel
/// does not write: other characters than those of plain declarations, sizes out of bounds.
/// long_size: bytes of the recorded kernel's long.
std::optional<TracepointFormat> parse_tracepoint_format(std::string_view system,
                                                        std::string_view text, unsigned long_size);

}  // namespace skid::perfdata
