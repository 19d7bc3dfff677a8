#include "src/commands/output_files.h"

#include "src/support/error.h"

#include <filesystem>
#include <system_error>

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

void check(const OutputFile& file, const std::vector<std::string>& inputs) {
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
    if (is_same(file.name, input)) {
      throw UsageError(
          fmt::format("{} {}: is an input; name another file", file.option, file.name));
    }
  }
}

}  // namespace

void check_output_files(const std::vector<OutputFile>& files,
                        const std::vector<std::string>& inputs) {
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (files[i].name.empty()) continue;
    check(files[i], inputs);
    for (std::size_t j = 0; j < i; ++j) {
      if (files[j].name.empty() || !is_same(files[i].name, files[j].name)) continue;
      throw UsageError(fmt::format("{} {}: is the file of {}, too; name two files", files[i].option,
                                   files[i].name, files[j].option));
    }
  }
}

}  // namespace skid::commands
