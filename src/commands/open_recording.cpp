#include "src/commands/open_recording.h"

#include "src/run/run.h"
#include "src/support/error.h"

#include <filesystem>

namespace skid::commands {

perfdata::Recording open_recording(const std::string& file) {
  if (run::is_run(file)) {
    throw InputError({file, std::nullopt, "a run of 'skidscan record'", "a recording of perf",
                      "name one of those in it, *.data, or use 'skidscan report'"});
  }
  std::error_code none;
  if (file == kDefaultRecording && !std::filesystem::exists(file, none)) {
    throw InputError({file, std::nullopt, "no such file here", "",
                      "make it with 'perf record', or name a recording"});
  }
  return perfdata::Recording::open(file);
}

}  // namespace skid::commands
