#include "src/events/exactly_once.h"

#include "src/events/spelling.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace skid::events {
namespace {

/// Of Intel's event files, all versions (intel/README.md). MEM_UOPS_RETIRED counts uops;
/// BR_INST_RETIRED.COND_TAKEN and NOT_TAKEN count outcomes.
constexpr auto kOnce = std::to_array<std::pair<std::string_view, OncePer>>({
    {"INST_RETIRED.ANY", OncePer::instruction},
    {"INST_RETIRED.ANY_P", OncePer::instruction},
    {"INST_RETIRED.PREC_DIST", OncePer::instruction},
    {"MEM_INST_RETIRED.ALL_LOADS", OncePer::load},
    {"MEM_INST_RETIRED.LOADS", OncePer::load},  // Nehalem, Westmere
    {"MEM_INST_RETIRED.ALL_STORES", OncePer::store},
    {"MEM_INST_RETIRED.STORES", OncePer::store},
    {"BR_INST_RETIRED.ALL_BRANCHES", OncePer::branch},
    {"BR_INST_RETIRED.ALL_BRANCHES_PEBS", OncePer::branch},
    {"BR_INST_RETIRED.COND", OncePer::conditional_branch},
    {"BR_INST_RETIRED.CONDITIONAL", OncePer::conditional_branch},
    {"BR_INST_RETIRED.JCC", OncePer::conditional_branch},  // Silvermont and its successors
    {"BR_INST_RETIRED.NEAR_TAKEN", OncePer::taken_branch},
});

}  // namespace

std::optional<OncePer> caused_once_by(const Cpu& cpu, const Event& event) {
  constexpr std::uint64_t kEventAndUmask = 0xffff;
  if (cpu.layout != ConfigLayout::intel || (event.config & ~kEventAndUmask) != 0 ||
      event.config1 != 0) {
    return std::nullopt;
  }
  const auto once_by_name = [](std::string_view name) -> std::optional<OncePer> {
    const std::string wanted = normalized(name);
    const auto found = std::find_if(kOnce.begin(), kOnce.end(),
                                    [&](const auto& one) { return one.first == wanted; });
    if (found == kOnce.end()) return std::nullopt;
    return found->second;
  };
  if (const auto once = once_by_name(event.name)) return once;
  for (const std::string& alias : event.aliases) {
    if (const auto once = once_by_name(alias)) return once;
  }
  return std::nullopt;
}

}  // namespace skid::events
