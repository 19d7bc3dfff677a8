// The offsets of samples as one line of bars.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::output {

struct Page;

/// A range of offsets in instructions, both ends included.
struct OffsetRange {
  std::int64_t low = 0, high = 0;
};
/// Returns the range that contains the samples of all `runs`; nullopt if they have none.
std::optional<OffsetRange> offset_range(const std::vector<const analysis::Measurement*>& runs);
/// Draws the offsets of `runs` as one line of at most `bars` bars over `range`, which contains them
/// all: "▂▇█▇".
std::string offset_line(const Page& page, const std::vector<const analysis::Measurement*>& runs,
                        OffsetRange range, std::size_t bars);

}  // namespace skid::output
