// The files that a command writes beside what it prints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skid::commands {

struct OutputFile {
  std::string_view option;  ///< that names it: "--plot"
  std::string name;         ///< as given; empty where the option was not
};

/// Before anything is read or written: throws UsageError where a name is that of standard output,
/// of a directory, of one of `inputs`, of a file that a run among them consists of, or of the file
/// that another option names. `may_replace_reports`: inputs that are reports are excepted.
void check_output_files(const std::vector<OutputFile>& files,
                        const std::vector<std::string>& inputs, bool may_replace_reports = false);

}  // namespace skid::commands
