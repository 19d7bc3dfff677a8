#include "src/run/run.h"

#include "src/run/kit_run.h"

#include <algorithm>
#include <system_error>

namespace skid::run {

bool Run::partial() const {
  return std::any_of(measurements.begin(), measurements.end(),
                     [](const auto& measurement) { return measurement.state == State::pending; });
}

namespace {

bool has_file(const std::filesystem::path& directory, const char* name) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(directory / name, ignored);
}

}  // namespace

bool is_run(const std::filesystem::path& directory) {
  return has_file(directory, kFileName) ||
         (has_plan(directory) && has_file(directory, kSessionName));
}

bool has_plan(const std::filesystem::path& directory) {
  return has_file(directory, kPlanName);
}

}  // namespace skid::run
