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
/// of a directory, of one of `inputs`, or of the file that another option names.
void check_output_files(const std::vector<OutputFile>& files,
                        const std::vector<std::string>& inputs);

}  // namespace skid::commands
