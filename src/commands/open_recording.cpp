#include "src/commands/open_recording.h"

#include "src/output/report/report_reader.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <filesystem>
#include <system_error>

#include <fcntl.h>

namespace skid::commands {

void refuse_report(const std::string& file) {
  constexpr std::size_t kEnoughToTell = 64;
  std::error_code none;
  if (!std::filesystem::is_regular_file(file, none)) return;
  const FileDescriptor descriptor(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  if (!descriptor || !output::looks_like_report(peek(descriptor, kEnoughToTell))) return;
  throw InputError({file, std::nullopt, "JSON text, such as a report of skidscan",
                    "a recording of perf",
                    "name the recording that it was made from; reports are for 'skidscan report', "
                    "'compare' and 'merge'"});
}

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
  refuse_report(file);
  return perfdata::Recording::open(file);
}

}  // namespace skid::commands
