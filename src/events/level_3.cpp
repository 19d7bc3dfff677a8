#include "src/events/level_3.h"

#include "src/events/spelling.h"

namespace skid::events {
namespace {

constexpr std::uint64_t kUnhaltedCycles = 0x003c, kInstRetired = 0x00c0, kFixedInstRetired = 0x0100,
                        kPrecDist = 0x01c0;

/// From Ice Lake on the kernel counts instructions at level 3 on fixed counter 0, by any of their
/// codes.
bool is_on_fixed_counter(std::uint64_t config) {
  return config == kInstRetired || config == kFixedInstRetired || config == kPrecDist;
}

LevelThree by_pdist(const Event& event) {
  if (event.precise == false) return LevelThree::same_as_level_2;
  if (!event.pdist) return LevelThree::unknown;
  const bool distinct = !event.pdist->empty() || is_on_fixed_counter(event.config);
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
