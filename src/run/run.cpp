#include "src/run/run.h"

#include "src/machine/diagnosis.h"
#include "src/run/kit_run.h"
#include "src/run/perftool/outcome.h"
#include "src/support/text.h"

#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace skid::run {

namespace {

namespace fs = std::filesystem;

bool has_file(const fs::path& directory, const char* name) {
  std::error_code ignored;
  return fs::is_regular_file(directory / name, ignored);
}

}  // namespace

std::string recording_name(std::string_view event, std::string_view level, int repeat,
                           std::set<std::string>& taken) {
  constexpr std::size_t kLongest = 100;
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";
  std::string name(event.substr(0, kLongest));
  for (char& character : name) {
    if (kPlain.find(character) == std::string_view::npos) character = '_';
  }
  if (name.starts_with('-')) name.front() = '_';  // no option of a command
  while (name.size() > 1 && name.back() == '_') name.pop_back();
  name += fmt::format(".{}", level);
  if (repeat > 0) name += fmt::format(".{}", repeat);
  std::string file = name + ".data";
  for (int number = 2; !taken.insert(file).second; ++number) {
    file = fmt::format("{}~{}.data", name, number);
  }
  return file;
}

void note_samples(PlannedMeasurement& measurement, std::uint64_t samples,
                  const machine::CpuIdentity& cpu) {
  std::string shortage = perftool::shortage(samples, measurement.samples);
  if (!shortage.empty()) measurement.messages.push_back(std::move(shortage));
  if (samples > 0) return;
  const bool software = perftool::is_software_event(measurement.perf_event);
  const machine::Reason reason = machine::why_no_samples(cpu, software ? 0 : measurement.level);
  measurement.reason = reason.what;
  if (!reason.remedy.empty()) measurement.reason += "; " + reason.remedy;
}

bool Run::partial() const {
  return find_by(measurements, &PlannedMeasurement::state, State::pending) != nullptr;
}

bool is_run(const fs::path& directory) {
  return has_file(directory, kFileName) ||
         (has_plan(directory) && has_file(directory, kSessionName));
}

bool has_plan(const fs::path& directory) {
  return has_file(directory, kPlanName);
}

Run read_run(const fs::path& directory) {
  std::error_code ignored;
  if (has_plan(directory) && !fs::exists(directory / kFileName, ignored)) {
    return read_kit_run(directory);
  }
  return read_description(directory / kFileName);
}

}  // namespace skid::run
