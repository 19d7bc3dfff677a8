// One recorded event: its perf_event_attr, its ids and its name.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

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
  std::uint64_t config2 = 0;  ///< breakpoints: the length in bytes; SPE: the least latency
  std::uint32_t bp_type = 0;  ///< breakpoints: 1 read, 2 write, 4 execute

  bool frequency = false;  ///< `period_or_frequency` is in samples per second
  std::uint64_t period_or_frequency = 0;

  std::uint64_t sample_type = 0;
  std::uint64_t read_format = 0;
  std::uint64_t branch_sample_type = 0;
  std::uint64_t sample_regs_user = 0;
  std::uint64_t sample_regs_intr = 0;

  bool inherit = false;     ///< also counts in tasks that the task starts
  unsigned precise_ip = 0;  ///< 0 to 3
  bool exclude_user = false;
  bool exclude_kernel = false;
  bool exclude_hypervisor = false;
  bool exclude_host = false;
  bool exclude_guest = false;
  bool sample_id_all = false;  ///< records other than samples end with a SampleId
  bool use_clockid = false;    ///< times are of a clock that was named (perf record -k)
  /// Samples per wakeup of the reader, 1 with `perf record --no-buffering`; 0 where the kernel
  /// wakes it by filled bytes (`watermark`).
  std::uint32_t wakeup_events = 0;
  bool aux_output = false;  ///< PEBS records go to the AUX area of Intel PT, not into samples
  bool aux_action = false;  ///< a sample pauses, resumes or copies the AUX area

  std::string name;                ///< as perf wrote it, "cpu-clock:ppH"; else describe_event()
  std::vector<std::uint64_t> ids;  ///< sample ids that belong to this event

  /// Whether all of these bits are set in `sample_type`.
  bool has(std::uint64_t sample_type_bits) const noexcept {
    return (sample_type & sample_type_bits) == sample_type_bits;
  }
  /// Whether the event has no samples to measure. A dummy event exists only for mapping records.
  /// The samples of a BPF output event are data that BPF programs write, such as the times off the
  /// CPU of `perf record --off-cpu`.
  bool is_dummy() const noexcept;
  /// Whether the event takes no samples and is counted at those of its group: all members of
  /// `{a,b}:S` but one (evsel__config_leader_sampling() in tools/perf/util/record.c).
  bool is_only_counted() const noexcept;
};

/// Maximum number of events of a recording, far more than are recorded: a kernel has some 2,500
/// tracepoints. Bounds the memory for a damaged recording: a report needs up to 14 KB per event.
inline constexpr std::size_t kMostAttributes = std::size_t{1} << 14;

/// Size of the smallest perf_event_attr of any kernel, PERF_ATTR_SIZE_VER0.
inline constexpr std::size_t kSmallestAttribute = 64;
/// Maximum size of a perf_event_attr. Far larger than any perf_event_attr so far (144 bytes in
/// Linux 6.16).
inline constexpr std::size_t kLargestAttribute = 4096;

/// Reads a perf_event_attr from `bytes`, which contain exactly one (kSmallestAttribute bytes or
/// more; bytes past the known fields are ignored). nullopt if it is too small.
std::optional<Attribute> parse_attribute(std::span<const std::byte> bytes, ByteOrder order);

/// Size of a perf_event_attr that is written, PERF_ATTR_SIZE_VER7.
inline constexpr std::size_t kWrittenAttribute = 128;

/// Returns the perf_event_attr that perf record writes for this event, in kWrittenAttribute bytes
/// of a little-endian recording. `is_first`: it is the first event of the recording, which also
/// requests the records of mappings, names and forks.
std::string encode_attribute(const Attribute& attribute, bool is_first);

/// Returns a name for an event that the recording does not name: "cycles", "page-faults:u",
/// "mem:0x10:rw", "type 8 config 0x1cd". Its modifiers give the excluded modes and the precise
/// level, where they differ from the default of perf 6.1 (evsel__add_modifiers in
/// tools/perf/util/evsel.c).
std::string describe_event(const Attribute& attribute);

}  // namespace skid::perfdata
