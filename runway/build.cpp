// From a specification to an ELF file, through the system's compiler.

#include "runway/runtime_files.h"
#include "runway/target.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/temporary_directory.h"
#include "src/support/text.h"

#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::runway {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAssembly = "runway.s";
constexpr std::string_view kOutput = "target";
constexpr std::uint64_t kLargestTarget = std::uint64_t{64} << 20;

constexpr std::optional<Arch> host_arch() {
#if defined(__x86_64__)
  return Arch::x86_64;
#elif defined(__aarch64__)
  return Arch::aarch64;
#else
  return std::nullopt;
#endif
}

fs::path compiler_for(Arch arch) {
  const bool own = host_arch() == arch;
  const std::string name = own ? "cc" : fmt::format("{}-linux-gnu-gcc", name_of(arch));
  if (const std::optional<fs::path> found = find_program(name)) return fs::absolute(*found);
  const std::string_view package = own                    ? "gcc"
                                   : arch == Arch::x86_64 ? "gcc-x86-64-linux-gnu"
                                                          : "gcc-aarch64-linux-gnu";
  throw Error(
      fmt::format("{}: not found in PATH, and targets for {} are built with it; install "
                  "the package {}",
                  name, name_of(arch), package));
}

std::vector<std::string> compiler_arguments(Arch arch) {
  std::vector<std::string> arguments{
      "-std=gnu11",
      // Above -O1 gcc turns loops into calls of memset, which a target does not have.
      "-O1",
      "-ffreestanding",
      "-nostdlib",
      "-nostdinc",
      // Addresses are those of the file, whatever the distribution's default is.
      "-static",
      "-no-pie",
      "-fno-pie",
      // Options that distributions turn on and a target without a C library cannot have.
      "-fno-stack-protector",
      "-fno-unwind-tables",
      "-fno-asynchronous-unwind-tables",
      "-mgeneral-regs-only",
      "-Wl,--build-id=sha1",
      "-Wl,-z,noexecstack",
      "-o",
      std::string(kOutput),
      // First, so that the loop's addresses do not depend on the rest.
      std::string(kAssembly),
      fmt::format("start_{}.s", name_of(arch)),
  };
  if (arch == Arch::x86_64) arguments.emplace_back("-fcf-protection=none");
  for (const RuntimeFile& file : runtime_files()) {
    if (file.name.ends_with(".c")) arguments.emplace_back(file.name);
  }
  return arguments;
}

/// Not through write_file_atomically, which would wait for the disk for each of them.
void write_source(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error(fmt::format("{}: cannot be written: is the disk full?", path.string()));
}

/// The first line of a compiler's messages that reports an error, or the first of all.
std::string first_message(std::string_view text) {
  std::string first;
  while (!text.empty()) {
    std::string line(take_until('\n', text));
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = std::move(line);
  }
  return first.empty() ? "no message" : first;
}

}  // namespace

Target build_target(const Specification& specification, const fs::path& path) {
  const std::string assembly = assembly_of(specification);
  const fs::path compiler = compiler_for(specification.arch);
  StagedFile staged(path, kProgramMode);

  // Names relative to a temporary directory, so that neither path nor time get into the bytes.
  const TemporaryDirectory directory;
  write_source(directory.path() / kAssembly, assembly);
  for (const RuntimeFile& file : runtime_files()) {
    write_source(directory.path() / file.name, file.text);
  }
  std::vector<std::string> command{compiler.string()};
  for (std::string& argument : compiler_arguments(specification.arch)) {
    command.push_back(std::move(argument));
  }
  const Completed compiled = run_program(command, directory.path());
  if (!compiled.code.success()) {
    throw Error(fmt::format("{}: {}: {}", compiler.string(), describe(compiled.code),
                            first_message(compiled.err)));
  }

  const fs::path built = directory.path() / kOutput;
  const std::optional<Target> target = read_target(built);
  if (!target) throw Error(fmt::format("{}: left the note out of the target", compiler.string()));
  write_all(staged.file(), read_file(built, kLargestTarget), path.string());
  staged.complete();
  return {path, target->build_id, target->description};
}

}  // namespace skid::runway
