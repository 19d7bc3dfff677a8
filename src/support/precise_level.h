// The parts of a precise level that depend on the CPU and the event.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skid {

/// The precise level that requests a constant skid.
inline constexpr int kConstantSkid = 1;

/// The meaning of a sample's PERF_RECORD_MISC_EXACT_IP.
enum class ExactIp : std::uint8_t {
  unknown,   ///< the CPU is not known
  evidence,  ///< set where the address of this sample was corrected or reported as valid
  request,   ///< set on every record of a level: it repeats what was requested
  never,     ///< not set for this event at any level
};

/// The meaning of precise level 3 of an event on a CPU.
enum class LevelThree : std::uint8_t {
  unknown,
  distinct,         ///< precise distribution (PDIR, PDist)
  same_as_level_2,  ///< no counter has precise distribution for this event
  refused,          ///< the kernel refuses level 3 of the event
  reduced_skid,     ///< Atom: other counters than at level 2, with less skid
};

/// Names of ExactIp and LevelThree in JSON, in the order of the enumerators; null for `unknown`.
inline constexpr std::array<std::string_view, 4> kExactIpNames{"unknown", "evidence", "request",
                                                               "never"};
inline constexpr std::array<std::string_view, 5> kLevelThreeNames{
    "unknown", "distinct", "same as level 2", "refused", "reduced skid"};

constexpr std::string_view name_of(ExactIp meaning) {
  return kExactIpNames.at(static_cast<std::size_t>(meaning));
}
constexpr std::string_view name_of(LevelThree level) {
  return kLevelThreeNames.at(static_cast<std::size_t>(level));
}

}  // namespace skid
