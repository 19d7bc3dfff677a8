// Writes the manual pages while skidscan is built.
// usage: skidscan_manual DIRECTORY
#include "src/commandline/help.h"
#include "src/commands/commands.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <cstdio>
#include <exception>
#include <filesystem>

namespace {

void write_all(const std::filesystem::path& directory) {
  std::filesystem::create_directories(directory);
  for (const auto& [page, text] : skid::commandline::manual_pages(skid::commands::program())) {
    skid::write_file_atomically(directory / page, text);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    static_cast<void>(std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]));
    return static_cast<int>(skid::ExitStatus::usage);
  }
  try {
    write_all(argv[1]);
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", argv[0], error.what()));
    return static_cast<int>(skid::ExitStatus::failed);
  }
  return 0;
}
