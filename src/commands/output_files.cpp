#include "src/commands/output_files.h"

#include "analysis/command_line.h"
#include "analysis/measurement.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/inputs.h"
#include "src/output/cell.h"
#include "src/output/page.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::output {
struct MachineGroup;
}  // namespace skid::output

namespace skid::commands {
namespace {

namespace fs = std::filesystem;

/// Whether both name the same file, existing or not.
bool is_same(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  if (fs::equivalent(one, other, ignored)) return true;
  return fs::absolute(one, ignored).lexically_normal() ==
         fs::absolute(other, ignored).lexically_normal();
}

/// Whether the file is in the directory or below it.
bool is_inside(const fs::path& file, const fs::path& directory) {
  std::error_code error;
  const fs::path real = fs::canonical(directory, error);
  if (error) return false;
  const fs::path inside = fs::weakly_canonical(file, error).lexically_relative(real);
  return !error && !inside.empty() && *inside.begin() != "..";
}

/// Returns the files of a run; only its run.json if that cannot be read.
std::vector<fs::path> files_of_run(const fs::path& directory) {
  std::vector<fs::path> files{directory / run::kFileName, directory / "truth.json"};
  try {
    const run::Run read = run::read_run(directory);
    for (const auto& measurement : read.measurements) files.push_back(directory / measurement.file);
    for (const auto& target : read.targets) files.push_back(directory / target.file);
  } catch (const Error&) {
    // Reading the input reports the error.
  }
  return files;
}

/// Returns whether standard output would be mixed with the file's content.
bool is_standard_output(const std::string& name) {
  struct stat named {
  }, printed{};
  return ::stat(name.c_str(), &named) == 0 && ::fstat(STDOUT_FILENO, &printed) == 0 &&
         !S_ISCHR(named.st_mode) && named.st_dev == printed.st_dev &&
         named.st_ino == printed.st_ino;
}

void check(const OutputFile& file, const std::vector<std::string>& inputs,
           bool may_replace_reports) {
  const auto refuse_if = [&file](bool is_wrong, std::string_view reason) {
    if (is_wrong) throw UsageError("{} {}: {}", file.option, file.name, reason);
  };
  refuse_if(file.name == "-", "standard output is in use; name a file");
  refuse_if(is_standard_output(file.name),
            "is standard output, which is in use; name another file");
  std::error_code ignored;
  refuse_if(fs::is_directory(file.name, ignored), "is a directory; name a file in it");
  for (const std::string& input : inputs) {
    refuse_if(is_same(file.name, input) && !(may_replace_reports && is_report(input)),
              "is an input; name another file");
    if (!is_inside(file.name, input) || !run::is_run(input)) continue;
    const auto is_named = [&file](const fs::path& part) { return is_same(file.name, part); };
    refuse_if(std::ranges::any_of(files_of_run(input), is_named),
              fmt::format("is part of the run {}; name another file", input));
  }
}

}  // namespace

void check_output_files(const std::vector<OutputFile>& files, const std::vector<std::string>& given,
                        bool may_replace_reports) {
  const std::vector<std::string> inputs = runs_of_descriptions(given);
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].name.empty()) continue;
    check(files[i], inputs, may_replace_reports);
    for (std::size_t j = 0; j < i; ++j) {
      if (files[j].name.empty() || !is_same(files[i].name, files[j].name)) continue;
      throw UsageError("{} {}: is also the file of {}; name two files", files[i].option,
                       files[i].name, files[j].option);
    }
  }
}

output::html::Origin page_origin(const std::vector<analysis::Measurement>& measurements) {
  constexpr std::size_t kMostLines = 50;
  output::html::Origin origin;
  origin.version = SKIDSCAN_VERSION;
  origin.line = own_command_line();
  // Leave out the directory that the program was started from.
  if (!origin.line.empty()) origin.line.front() = "skidscan";
  std::set<analysis::CommandLine> known;
  for (const auto& measurement : measurements) {
    for (const analysis::CommandLine& line : measurement.command_lines) {
      if (line.empty() || !known.insert(line).second) continue;
      if (origin.recorded.size() == kMostLines) {
        ++origin.left_out;
        continue;
      }
      origin.recorded.push_back(line);
      // Recorded command lines lose that directory, too; names of other programs remain whole.
      auto& program = origin.recorded.back().front();
      const std::string name = std::filesystem::path(program).filename().string();
      if (name == "skidscan" || name == "perf") program = name;
    }
  }
  return origin;
}

void write_page(const std::string& file, std::string_view title,
                const std::vector<analysis::Measurement>& measurements,
                const std::function<std::string(const output::Page&)>& text, const DrawSvg& draw) {
  if (file.empty()) return;
  std::set<std::string> reasons;
  std::size_t figures = 0;
  output::Page page{.html = true};
  page.draw = [&](std::string_view kind, const output::MachineGroup* of) -> std::string {
    try {
      return "<figure tabindex=\"0\">" + draw(kind, of, fmt::format("figure{}-", ++figures)) +
             "</figure>\n";
    } catch (const Error& error) {
      const std::string reason = fmt::format("no figure: {}", error.what());
      return reasons.insert(reason).second ? page.paragraph(reason, output::Ink::yellow) : "";
    }
  };
  write_file_atomically(file, output::html::document(title, text(page), page_origin(measurements)));
}

}  // namespace skid::commands
