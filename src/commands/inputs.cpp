#include "src/commands/inputs.h"

#include "src/commands/terminal.h"
#include "src/measure/measure.h"
#include "src/output/report/report.h"
#include "src/record/directory.h"
#include "src/run/run.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

namespace skid::commands {

namespace fs = std::filesystem;

bool begins_as_report(const FileDescriptor& stream) {
  constexpr std::size_t kEnoughToTell = 64;
  return stream && output::looks_like_report(peek(stream, kEnoughToTell));
}

bool is_report(const std::string& file) {
  std::error_code none;
  if (!fs::is_regular_file(file, none)) return false;
  return begins_as_report(FileDescriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)));
}

void refuse_report(const std::string& file) {
  if (!is_report(file)) return;
  throw InputError({file, std::nullopt, "JSON text, such as a report of skidscan",
                    "a recording of perf",
                    "name the recording that it was made from; reports are for 'skidscan report', "
                    "'compare' and 'merge'"});
}

perfdata::Recording open_recording(const measure::Source& source) {
  if (source.run != nullptr) return perfdata::Recording::open(source.content(), source.file);
  const std::string file = source.file.string();
  std::error_code none;
  if (file == kDefaultRecording && !fs::exists(file, none)) {
    throw InputError({file, std::nullopt, "no such file here", "",
                      "make it with 'perf record', or name a recording"});
  }
  refuse_report(file);
  return perfdata::Recording::open(file);
}

ExitStatus print_faults(const perfdata::Recording& recording) {
  for (const auto& fault : recording.faults()) print_error(describe(fault));
  if (recording.attributes().empty()) {
    // In pipe mode attributes may follow until the end.
    throw InputError({recording.path().string(), std::nullopt, "no event attribute", "at least one",
                      "the recording is damaged or was cut off; record again"});
  }
  return recording.read_in_part() ? ExitStatus::read_in_part : ExitStatus::done;
}

std::vector<std::string> runs_of_descriptions(std::vector<std::string> inputs) {
  for (std::string& input : inputs) {
    const fs::path path = input;
    if (path.filename() == run::kFileName && run::is_run(path.parent_path())) {
      input = path.has_parent_path() ? path.parent_path().string() : ".";
    }
  }
  return inputs;
}

std::string default_input() {
  std::error_code ignored;
  if (run::is_run(record::kDefaultRunDirectory)) return record::kDefaultRunDirectory;
  return fs::exists(kDefaultRecording, ignored) ? kDefaultRecording : "";
}

std::vector<std::string> inputs_or_default_run(std::vector<std::string> inputs) {
  if (!inputs.empty()) return runs_of_descriptions(std::move(inputs));
  if (std::string input = default_input(); !input.empty()) return {std::move(input)};
  throw Error(
      "no {} and no {} here; make one with 'skidscan record' or 'perf record', or name "
      "a run or a recording",
      record::kDefaultRunDirectory, kDefaultRecording);
}

}  // namespace skid::commands
