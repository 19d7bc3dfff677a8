// The bytes of feature sections: parsed into Features, and written.
#pragma once

#include "src/perfdata/bytes.h"
#include "src/support/byte_order.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace skid::perfdata {

struct Features;

/// Maximum number of elements of a list, far above any list that perf writes. An element may take
/// many times more bytes in memory than in the file, where an empty string takes four.
inline constexpr std::uint64_t kMostElements = std::uint64_t{1} << 20;

/// Reads the content of one feature section into `features`. Returns what is wrong with it, or an
/// empty string; the content before the fault is kept. A section of a kind or a version that is not
/// decoded here is only marked present. A second section of one kind replaces the first, but
/// build-ids add up.
std::string parse_feature(unsigned bit, std::span<const std::byte> content, ByteOrder order,
                          Features& features);

/// Reads one PERF_RECORD_HEADER_BUILD_ID. `body`: the bytes after its header; `misc`: that of the
/// header. Returns what is wrong with it, or an empty string.
std::string parse_build_id(std::span<const std::byte> body, std::uint16_t misc, ByteOrder order,
                           Features& features);

/// The content of a section that is to be written.
struct FeatureSection {
  unsigned bit = 0;
  std::string content;
};

/// Returns the sections of `features`, ascending, that have a bit in `present` and that perf record
/// writes for a program without groups: strings, CPU counts, the command line, event descriptions,
/// PMU mappings, times of samples and compression. Optional values must be set.
std::vector<FeatureSection> encode_features(const Features& features);

/// Returns the name of a section, "HOSTNAME" or "feature 99".
std::string name_of_feature(unsigned bit);

}  // namespace skid::perfdata
