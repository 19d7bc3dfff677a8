// One recorded event: its perf_event_attr, its ids and its name.
#pragma once

#include "src/perfdata/bytes.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::perfdata {

/// The fields of perf_event_attr that are used. A field past the end of the recorded attribute is
/// 0, as the ABI requires.
struct Attribute {
  std::uint32_t type = 0;  ///< PERF_TYPE_*, or a PMU's number
  std::uint64_t config = 0;
  std::uint64_t config1 = 0;  ///< breakpoints: the address
  std::uint64_t config2 = 0;  ///< breakpoints: the length in bytes
  std::uint32_t bp_type = 0;  ///< breakpoints: 1 read, 2 write, 4 execute

  bool frequency = false;  ///< `period_or_frequency` is in samples per second
  std::uint64_t period_or_frequency = 0;

  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::uint64_t sample_regs_intr = 0;

  bool inherit = false;     ///< counted in tasks that the task starts, too
  unsigned precise_ip = 0;  ///< 0 to 3
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hypervisor = false;
  bool exclude_host = false;
  bool exclude_guest = false;
  bool sample_id_all = false;  ///< records other than samples end with who, when and which event

  std::string name;                ///< as perf wrote it, "cpu-clock:ppH"; else described by type
  std::vector<std::uint64_t> ids;  ///< sample ids that belong to this event

  bool has(std::uint64_t sample_type_bits) const noexcept {
    return (sample_type & sample_type_bits) == sample_type_bits;
  }
  /// Whether the event has no samples to measure. A dummy event only carries mapping records. An
  /// event of BPF output has what programs write, such as the times off the CPU of `perf record
  /// --off-cpu`.
  bool is_dummy() const noexcept;
};

/// PERF_ATTR_SIZE_VER0, the smallest perf_event_attr there ever was.
inline constexpr std::size_t kSmallestAttribute = 64;
/// Larger than any perf_event_attr so far by far (144 bytes in Linux 6.16).
inline constexpr std::size_t kLargestAttribute = 4096;

/// Reads a perf_event_attr from `bytes`, which contain exactly one (kSmallestAttribute bytes or
/// more; bytes past the known fields are ignored). nullopt if it is too small.
std::optional<Attribute> parse_attribute(std::span<const std::byte> bytes, ByteOrder order);

/// Bytes of a written perf_event_attr, PERF_ATTR_SIZE_VER7.
inline constexpr std::size_t kWrittenAttribute = 128;

/// The perf_event_attr of perf record for this event, in kWrittenAttribute bytes of a little-endian
/// recording. `is_first`: the first event of a recording also asks for the records of mappings,
/// names and forks.
std::string encode_attribute(const Attribute& attribute, bool is_first);

/// A name for an event that the recording did not name: "cycles", "page-faults:u", "mem:0x10:rw",
/// "type 8 config 0x1cd". Its modifiers give the excluded modes and the precise level, where they
/// differ from the default of perf 6.1 (evsel__add_modifiers in tools/perf/util/evsel.c).
std::string describe_event(const Attribute& attribute);

}  // namespace skid::perfdata
