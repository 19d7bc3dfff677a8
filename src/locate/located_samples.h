// Samples with the file and offset that they were in.
#pragma once

#include "src/perfdata/sample_counts.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace skid::locate {

/// All samples of one event at one address of one address space, in one mode.
struct LocatedSamples {
  std::uint64_t ip = 0;
  std::int32_t address_space = 0;  ///< perfdata::address_space_of
  std::uint32_t attribute = 0;
  perfdata::SampleKind kind;
  std::optional<symbols::FileLocation> location;  ///< nullopt: nothing was mapped there
  std::uint64_t samples = 0;
};

/// Files with the distance between file offset and mapped address, which is constant within a
/// mapping, so that a small number identifies both.
class Placements {
 public:
  static constexpr std::uint32_t kNowhere = 0;

  /// The number for `ip` at `location`.
  std::uint32_t number(const std::optional<symbols::FileLocation>& location, std::uint64_t ip) {
    if (!location) return kNowhere;
    const Placement placement{location->offset - ip, location->file};
    if (location->file >= last_by_file_.size())
      last_by_file_.resize(std::size_t{location->file} + 1, kNowhere);
    std::uint32_t& last = last_by_file_[location->file];
    if (last != kNowhere && placements_[last - 1] == placement) return last;
    const auto next = static_cast<std::uint32_t>(placements_.size()) + 1;
    const auto [entry, added] = numbers_.try_emplace(placement, next);
    if (added) placements_.push_back(placement);
    return last = entry->second;
  }
  /// Where `ip` is by that number.
  std::optional<symbols::FileLocation> location(std::uint32_t number, std::uint64_t ip) const {
    if (number == kNowhere) return std::nullopt;
    const auto& [distance, file] = placements_[number - 1];
    return symbols::FileLocation{file, distance + ip};
  }

 private:
  using Placement = std::pair<std::uint64_t, symbols::FileIndex>;  // offset minus address, file

  std::map<Placement, std::uint32_t> numbers_;
  std::vector<Placement> placements_;        ///< by number, from 1 on
  std::vector<std::uint32_t> last_by_file_;  ///< the most frequent lookup
};

}  // namespace skid::locate
