// Writes the manual pages and shell completions while skidscan is built.
// usage: skidscan_manual DIRECTORY
#include "src/commandline/help.h"
#include "src/commands/commands.h"
#include "src/support/error.h"
#include "src/support/file.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  skid::write_file_atomically(path, text);
}

void write_all(const std::filesystem::path& directory) {
  const auto program = skid::commands::program();
  const std::string& name = program.itself.name;
  for (const auto& [page, text] : skid::commandline::manual_pages(program)) {
    write(directory / "man" / page, text);
  }
  write(directory / "bash" / name, skid::commandline::bash_completion(program));
  write(directory / "zsh" / ("_" + name), skid::commandline::zsh_completion(program));
  write(directory / "fish" / (name + ".fish"), skid::commandline::fish_completion(program));
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
