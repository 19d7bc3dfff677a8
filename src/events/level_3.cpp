#include "src/events/level_3.h"

#include "src/events/spelling.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace skid::events {
namespace {

constexpr std::uint64_t kUnhaltedCycles = 0x003c, kInstRetired = 0x00c0, kFixedInstRetired = 0x0100,
                        kPrecDist = 0x01c0;

/// Ice Lake counts instructions at level 3 on fixed counter 0, by any of their codes.
bool is_on_fixed_counter(std::uint64_t config) {
  return config == kInstRetired || config == kFixedInstRetired || config == kPrecDist;
}

/// Cores whose level 3 is on counter 0, or 0 and 1, with "reduced skid PEBS", by the kernel's
/// glp_get_event_constraints(), tnt_… and cmt_…. Goldmont has that at every level.
bool has_reduced_skid(const Event& event) {
  constexpr std::array<std::string_view, 11> kFiles{
      "goldmontplus", "elkhartlake", "snowridgex",   "gracemont",  "crestmont",       "skymont",
      "darkmont",     "arcticwolf",  "sierraforest", "grandridge", "clearwaterforest"};
  return std::ranges::any_of(kFiles, [&event](std::string_view file) {
    return event.source.find(file) != std::string::npos;
  });
}

/// Golden Cove and later, Goldmont Plus and later.
LevelThree by_pdist(const Event& event) {
  if (event.precise == false) return LevelThree::same_as_level_2;
  const bool goldmont_plus = event.source.find("goldmontplus") != std::string::npos;
  if (event.config == kInstRetired && !goldmont_plus) return LevelThree::distinct;
  const bool distinct = event.pdist && !event.pdist->empty();
  if (has_reduced_skid(event)) return distinct ? LevelThree::distinct : LevelThree::reduced_skid;
  // glc_get_event_constraints(): code 0x00c0 alone is on fixed counter 0, and 0x0100 on no other.
  if (event.config == kFixedInstRetired) return LevelThree::refused;
  if (!event.pdist) return LevelThree::unknown;
  return distinct ? LevelThree::distinct : LevelThree::same_as_level_2;
}

LevelThree of_intel(Core core, const Event& event) {
  switch (core) {
    case Core::core_2:
    case Core::bonnell:
    case Core::nehalem:
    case Core::westmere:
    case Core::sandy_bridge:
    case Core::silvermont:
    case Core::knights_landing:
      return LevelThree::refused;
    case Core::ivy_bridge:
    case Core::haswell:
    case Core::broadwell:
    case Core::skylake:
    case Core::skylake_server: {
      // INST_RETIRED.PREC_DIST on counter 1; cycles at level 3 are the same, inverted.
      const std::uint64_t plain = without_modifiers(ConfigLayout::intel, event.config);
      return plain == kPrecDist || event.config == kUnhaltedCycles ? LevelThree::distinct
                                                                   : LevelThree::same_as_level_2;
    }
    case Core::goldmont:
      return LevelThree::same_as_level_2;
    case Core::icelake:
      return is_on_fixed_counter(event.config) ? LevelThree::distinct : LevelThree::same_as_level_2;
    case Core::sapphire_rapids:
    case Core::other:
      break;
  }
  return by_pdist(event);
}

}  // namespace

LevelThree level_3_of(const Cpu& cpu, const Event& event) {
  switch (cpu.layout) {
    case ConfigLayout::amd:
      return LevelThree::refused;
    case ConfigLayout::arm:
      return LevelThree::same_as_level_2;
    case ConfigLayout::intel:
      break;
  }
  return of_intel(cpu.core, event);
}

}  // namespace skid::events
