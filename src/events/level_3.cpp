#include "src/events/level_3.h"

#include "src/events/spelling.h"

namespace skid::events {
namespace {

constexpr std::uint64_t kCycles = 0x003c, kInstructions = 0x00c0, kFixedInstructions = 0x0100,
                        kPreciseInstructions = 0x01c0;

/// From Ice Lake on the kernel counts instructions at level 3 on fixed counter 0, by any of their
/// codes.
bool is_on_fixed_counter(std::uint64_t config) {
  return config == kInstructions || config == kFixedInstructions || config == kPreciseInstructions;
}

Level3 by_pdist(const Event& event) {
  if (event.precise == false) return Level3::level_2;
  if (!event.pdist) return Level3::unknown;
  const bool distinct = !event.pdist->empty() || is_on_fixed_counter(event.config);
  return distinct ? Level3::distinct : Level3::level_2;
}

Level3 of_intel(Core core, const Event& event) {
  switch (core) {
    case Core::core_2:
    case Core::bonnell:
    case Core::nehalem:
    case Core::westmere:
    case Core::sandy_bridge:
    case Core::silvermont:
    case Core::knights_landing:
      return Level3::refused;
    case Core::ivy_bridge:
    case Core::haswell:
    case Core::broadwell:
    case Core::skylake:
    case Core::skylake_server: {
      // INST_RETIRED.PREC_DIST on counter 1; cycles at level 3 are the same, inverted.
      const std::uint64_t plain = without_modifiers(ConfigLayout::intel, event.config);
      return plain == kPreciseInstructions || event.config == kCycles ? Level3::distinct
                                                                      : Level3::level_2;
    }
    case Core::goldmont:
      return Level3::level_2;
    case Core::icelake:
      return is_on_fixed_counter(event.config) ? Level3::distinct : Level3::level_2;
    case Core::sapphire_rapids:
    case Core::other:
      break;
  }
  return by_pdist(event);
}

}  // namespace

std::string_view name_of(Level3 level) {
  switch (level) {
    case Level3::refused:
      return "refused";
    case Level3::level_2:
      return "same as level 2";
    case Level3::distinct:
      return "distinct";
    case Level3::unknown:
      break;
  }
  return "unknown";
}

Level3 level_3_of(const Cpu& cpu, const Event& event) {
  switch (cpu.layout) {
    case ConfigLayout::amd:
      return Level3::refused;
    case ConfigLayout::arm:
      return Level3::level_2;
    case ConfigLayout::intel:
      break;
  }
  return of_intel(cpu.core, event);
}

}  // namespace skid::events
