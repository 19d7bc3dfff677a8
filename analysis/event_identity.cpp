#include "analysis/event_identity.h"

#include <algorithm>

#include <fmt/format.h>

namespace skid::analysis {

std::string excluded_modes(const EventIdentity& event) {
  std::vector<std::string> modes = event.excluded;
  std::erase(modes, "guest");
  return fmt::format("{}", fmt::join(modes, ", "));
}

}  // namespace skid::analysis
