#include "src/commands/output_files.h"

#include "src/output/report/report_reader.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>

namespace skid::commands {
namespace {

namespace fs = std::filesystem;

/// Whether both name one file, there or not.
bool is_same(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  if (fs::equivalent(one, other, ignored)) return true;
  return fs::absolute(one, ignored).lexically_normal() ==
         fs::absolute(other, ignored).lexically_normal();
}

/// Whether it is to be written into the directory or below it.
bool is_inside(const fs::path& file, const fs::path& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error) return false;
  const fs::path inside = fs::weakly_canonical(file, error).lexically_relative(real);
  return !error && !inside.empty() && *inside.begin() != "..";
}

/// The files that would be lost with a run; of one that cannot be read its description.
std::vector<fs::path> files_of_run(const fs::path& directory) {
  std::vector<fs::path> files{directory / run::kFileName, directory / "truth.json"};
  try {
    const run::Run read = run::read_run(directory);
    for (const auto& measurement : read.measurements) files.push_back(directory / measurement.file);
    for (const auto& target : read.targets) files.push_back(directory / target.file);
  } catch (const Error&) {
    // Whoever reads it next says what is wrong.
  }
  return files;
}

bool is_report(const std::string& file) {
  constexpr std::size_t kEnoughToTell = 64;
  const FileDescriptor stream(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  return stream && output::looks_like_report(peek(stream, kEnoughToTell));
}

void check(const OutputFile& file, const std::vector<std::string>& inputs,
           bool may_replace_reports) {
  if (file.name == "-") {
    throw UsageError(
        fmt::format("{} -: what is printed goes to standard output; name a file", file.option));
  }
  std::error_code ignored;
  if (fs::is_directory(file.name, ignored)) {
    throw UsageError(
        fmt::format("{} {}: is a directory; name a file in it", file.option, file.name));
  }
  for (const std::string& input : inputs) {
    if (is_same(file.name, input) && !(may_replace_reports && is_report(input))) {
      throw UsageError(
          fmt::format("{} {}: is an input; name another file", file.option, file.name));
    }
    if (!is_inside(file.name, input) || !run::is_run(input)) continue;
    const auto files = files_of_run(input);
    if (std::any_of(files.begin(), files.end(),
                    [&file](const fs::path& part) { return is_same(file.name, part); })) {
      throw UsageError(fmt::format("{} {}: is part of the run {}; name another file", file.option,
                                   file.name, input));
    }
  }
}

}  // namespace

void check_output_files(const std::vector<OutputFile>& files,
                        const std::vector<std::string>& inputs, bool may_replace_reports) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].name.empty()) continue;
    check(files[i], inputs, may_replace_reports);
    for (std::size_t j = 0; j < i; ++j) {
      if (files[j].name.empty() || !is_same(files[i].name, files[j].name)) continue;
      throw UsageError(fmt::format("{} {}: is the file of {}, too; name two files", files[i].option,
                                   files[i].name, files[j].option));
    }
  }
}

}  // namespace skid::commands
