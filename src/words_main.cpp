// Writes the manual pages and the completions of shells, while skidscan is built: what the command
// line says of itself. usage: skidscan_words DIRECTORY
#include "src/commands/application.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/words/bash.h"
#include "src/words/fish.h"
#include "src/words/manual.h"
#include "src/words/roff.h"
#include "src/words/zsh.h"

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

#include <CLI/CLI.hpp>

namespace {

void write(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  skid::write_file_atomically(path, text);
}

void write_words(const std::filesystem::path& directory) {
  int unused = 0;
  const auto app = skid::commands::make_application(unused);
  const auto manual = skid::words::read_manual(*app, SKIDSCAN_VERSION);
  for (const auto& [name, page] : skid::words::manual_pages(manual)) {
    write(directory / "man" / name, page);
  }
  write(directory / "bash" / manual.program, skid::words::bash_completion(manual));
  write(directory / "zsh" / ("_" + manual.program), skid::words::zsh_completion(manual));
  write(directory / "fish" / (manual.program + ".fish"), skid::words::fish_completion(manual));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    static_cast<void>(std::fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]));
    return static_cast<int>(skid::ExitStatus::usage);
  }
  try {
    write_words(argv[1]);
  } catch (const std::exception& error) {
    static_cast<void>(std::fprintf(stderr, "%s: %s\n", argv[0], error.what()));
    return static_cast<int>(skid::ExitStatus::failed);
  }
  return 0;
}
