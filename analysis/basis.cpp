#include "analysis/basis.h"

#include <algorithm>
#include <vector>

namespace skid::analysis {

std::optional<double> expected_hit_share(const Basis& basis) {
  if (!basis.geometry || !basis.geometry->even_hit_share) return std::nullopt;
  const double even = *basis.geometry->even_hit_share;
  if (!basis.ticks_per_instruction || !basis.ticks_per_iteration) return even;
  const auto triggers = static_cast<double>(basis.geometry->trigger_addresses.size());
  const double nops = triggers / even - triggers;
  // What NOPs take is measured to some percent, so that a trigger of a few cycles can get lost.
  return std::max(even, 1 - nops * *basis.ticks_per_instruction / *basis.ticks_per_iteration);
}

}  // namespace skid::analysis
