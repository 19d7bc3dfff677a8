#include "src/output/name_list.h"

#include <cstddef>
#include <string>
#include <vector>

namespace skid::output {

std::string list_of(const std::vector<std::string>& names, std::size_t most) {
  if (names.size() <= most) return joined(names);
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<std::ptrdiff_t>(most));
  return fmt::format("{} and {} more", joined(first), names.size() - most);
}

}  // namespace skid::output
