#include "src/run/run.h"

#include <algorithm>
#include <system_error>

namespace skid::run {

bool Run::partial() const {
  return std::any_of(measurements.begin(), measurements.end(),
                     [](const auto& measurement) { return measurement.state == State::pending; });
}

bool is_run(const std::filesystem::path& directory) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / kFileName, ignored);
}

}  // namespace skid::run
