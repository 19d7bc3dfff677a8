// From a specification to an ELF file, through the system's compiler, and from one working set to
// another.

#include "runway/note.h"
#include "runway/runtime_assembly.h"
#include "runway/shipped.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "src/support/temporary_directory.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace skid::runway {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kAssembly = "runway.s";
constexpr std::string_view kOutput = "target";

/// What targets that come with the program do not have: " with NOPs 300".
std::string unusual_values(const Specification& specification) {
  const Specification usual = default_specification(specification.arch, specification.trigger);
  std::vector<std::string> values;
  const auto compare = [&](auto member, std::string_view name) {
    if (specification.*member == usual.*member) return;
    values.push_back(fmt::format("{} {}", name, specification.*member));
  };
  compare(&Specification::access_bytes, "access bytes");
  compare(&Specification::nop_bytes, "NOP bytes");
  compare(&Specification::nops, "NOPs");
  compare(&Specification::lead_in_nops, "lead-in NOPs");
  if (!specification.gaps.empty()) {
    values.push_back(fmt::format("gaps {}", fmt::join(specification.gaps, ",")));
  }
  if (specification.length != usual.length) values.emplace_back("another length");
  return values.empty() ? std::string() : fmt::format(" with {}", fmt::join(values, ", "));
}

fs::path compiler_for(const Specification& specification) {
  const Arch arch = specification.arch;
  const bool own = kOwnArch == arch;
  const std::string name = own ? "cc" : fmt::format("{}-linux-gnu-gcc", name_of(arch));
  if (const std::optional<fs::path> found = find_program(name)) return fs::absolute(*found);
  const std::string_view package = own                    ? "gcc"
                                   : arch == Arch::x86_64 ? "gcc-x86-64-linux-gnu"
                                                          : "gcc-aarch64-linux-gnu";
  throw Error(
      "{}: not found in PATH, and targets for {}{} are built with it; install the "
      "package {}",
      name, name_of(arch), unusual_values(specification), package);
}

/// Not through write_file_atomically, which would wait for the disk for each of them.
void write_source(const fs::path& path, std::string_view text) {
  std::ofstream file(path, std::ios::binary);
  file << text;
  file.close();
  if (!file) throw Error("{}: cannot be written: is the disk full?", path.string());
}

/// The first line of a compiler's messages that reports an error, or the first of all.
std::string first_message(std::string_view text) {
  std::string first;
  while (!text.empty()) {
    std::string line(take_until('\n', text));
    if (contains(line, "error")) return line;
    if (first.empty()) first = std::move(line);
  }
  return first.empty() ? "no message" : first;
}

/// Builds kOutput in the directory.
void compile(const Specification& specification, const fs::path& directory) {
  const std::string_view runtime = runtime_assembly(specification.arch);
  if (runtime.empty()) {
    throw Error(
        "targets for {0} cannot be built by this skidscan, which was built without a C compiler "
        "for {0}; expected one that was built by clang",
        name_of(specification.arch));
  }
  const fs::path compiler = compiler_for(specification);
  // The loop is first, so that its addresses do not depend on the rest.
  write_source(directory / kAssembly, assembly_of(specification) + std::string(runtime));
  const std::vector<std::string> command{
      compiler.string(),
      "-nostdlib",
      // Addresses are those of the file, whatever the distribution's default is.
      "-static",
      "-no-pie",
      "-Wl,--build-id=sha1",
      "-Wl,-z,noexecstack",
      "-o",
      std::string(kOutput),
      std::string(kAssembly),
  };
  const Completed compiled = run_program(command, directory);
  if (!compiled.code.success()) {
    throw Error("{}: {}: {}", compiler.string(), describe(compiled.code),
                first_message(compiled.err));
  }
  if (!read_target(directory / kOutput)) {
    throw Error("{}: left the note out of the target", compiler.string());
  }
}

std::string word_of(std::uint64_t number) {
  std::string bytes(sizeof number, '\0');
  std::memcpy(bytes.data(), &number, sizeof number);
  return bytes;
}

/// The members `elements` and `stride` of struct parameters in runtime/runway.h.
std::string chase_parameters(const Specification& specification) {
  return word_of(elements_of(specification)) + word_of(chase_stride(specification.trigger));
}

/// Finds bytes that occur exactly once in the target.
std::size_t place_of(std::string_view bytes, std::string_view target) {
  const std::size_t place = target.find(bytes);
  if (place == target.npos || target.find(bytes, place + 1) != target.npos) {
    throw Error("a target whose working set cannot be changed; expected one of this version");
  }
  return place;
}

}  // namespace

Target build_target(const Specification& specification, const fs::path& path) {
  check(specification);
  Specification usual = specification;
  usual.working_set_bytes =
      default_specification(specification.arch, specification.trigger).working_set_bytes;
  StagedFile staged(path, kProgramMode);
  // Names relative to a temporary directory, so that neither path nor time get into the bytes.
  const TemporaryDirectory directory;
  const fs::path built = directory.path() / kOutput;
  if (const auto shipped = shipped_target(usual)) {
    write_source(built, *shipped);
  } else {
    compile(usual, directory.path());
  }
  if (specification != usual) {
    write_source(built, with_working_set(require_target(built), specification.working_set_bytes));
  }
  const Target target = require_target(built);
  write_all(staged.file(), read_file(built, kLargestTarget), path.string());
  staged.complete();
  return {path, target.build_id, target.description};
}

std::string with_working_set(const Target& target, std::uint64_t working_set) {
  using std::string_view_literals::operator""sv;
  constexpr std::string_view kBuildIdNote = "\4\0\0\0\x14\0\0\0\3\0\0\0GNU\0"sv;
  const Specification& old = target.description.specification;
  Specification wanted = old;
  wanted.working_set_bytes = working_set;
  check(wanted);
  std::string bytes = read_file(target.path, kLargestTarget);
  const std::string parameters = chase_parameters(wanted);
  bytes.replace(place_of(chase_parameters(old), bytes), parameters.size(), parameters);
  const std::size_t others = target.description.layout.other_triggers.size();
  const std::string note = note_text(old, others);
  std::string wanted_note = note_text(wanted, others);
  wanted_note.resize(std::max(note.size(), wanted_note.size()), ' ');
  bytes.replace(place_of(note, bytes), wanted_note.size(), wanted_note);
  const std::size_t id_at = place_of(kBuildIdNote, bytes) + kBuildIdNote.size();
  const std::string difference = word_of(old.working_set_bytes ^ working_set);
  for (std::size_t i = 0; i < difference.size(); ++i) {
    bytes.at(id_at + i) = static_cast<char>(bytes.at(id_at + i) ^ difference[i]);
  }
  return bytes;
}

}  // namespace skid::runway
