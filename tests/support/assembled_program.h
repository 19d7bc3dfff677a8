// Programs of assembly, and the comments beside their instructions: what a test expects of an
// instruction, or how it calls it, stands in its line.
#pragma once

#include "src/support/address.h"
#include "src/support/process.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"
#include "tests/support/facts.h"
#include "tests/support/prelude.h"
#include "tests/support/symbol_values.h"
#include "tests/support/text.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::test {

/// An instruction with a comment: "# NOTE, NOTE: explanation", on AArch64 "// NOTE".
struct NotedInstruction {
  std::uint64_t address = 0;
  std::vector<std::string> notes;
  std::string line;  ///< of the assembly

  bool has(std::string_view note) const {
    return std::find(notes.begin(), notes.end(), note) != notes.end();
  }
};

/// The notes of a line of assembly.
inline std::vector<std::string> notes_of(std::string_view line) {
  const auto mark = std::min(line.find("# "), line.find("// "));
  if (mark == std::string_view::npos) return {};
  std::string_view comment = line.substr(line.find(' ', mark) + 1);
  comment = comment.substr(0, comment.find(": "));
  std::vector<std::string> notes;
  for (std::size_t at = 0; at < comment.size();) {
    const auto end = std::min(comment.find(", ", at), comment.size());
    notes.emplace_back(comment.substr(at, end - at));
    at = end + 2;
  }
  return notes;
}

/// The compiler that assembles and links code of `arch` here.
inline std::string compiler_for(Arch arch) {
#if defined(__aarch64__)
  return arch == Arch::aarch64 ? "cc" : "x86_64-linux-gnu-gcc";
#else
  return arch == Arch::x86_64 ? "cc" : "aarch64-linux-gnu-gcc";
#endif
}

#define SKIP_WITHOUT_ASSEMBLER(arch) SKIP_WITHOUT(::skid::test::compiler_for(arch))

/// What is before each program: "function NAME" and "end NAME" around code make it a function.
inline constexpr const char* kPrologue = R"(
  .section .note.GNU-stack,"",%progbits
  .text
  .macro function name
  .globl \name
  .hidden \name
  .type \name, %function
\name:
  .endm
  .macro end name
  .size \name, . - \name
  .endm
)";

/// A built program.
class AssembledProgram {
 public:
  /// Assembles and links `file`. `options`: of the compiler. Throws std::runtime_error with the
  /// compiler's messages where it fails.
  AssembledProgram(const std::filesystem::path& file, const std::string& code, Arch arch,
                   const std::vector<std::string>& options) {
    const auto source = std::filesystem::path(file).replace_extension(".s");
    const std::string assembly = kPrologue + code;
    std::ofstream(source) << assembly;
    std::vector<std::string> command{compiler_for(arch), "-g", "-Wl,--build-id=sha1"};
    command.insert(command.end(), options.begin(), options.end());
    command.insert(command.end(), {"-o", file, source});
    const auto built = run_program(command);
    if (!built.code.success()) throw std::runtime_error(built.err);
    values_ = symbol_values(file);
    module_.emplace(symbols::Module::open(file));
    find_notes(lines_of(assembly), source.filename());
  }

  const symbols::Module& module() const { return *module_; }
  /// Of a symbol of any type. Throws std::out_of_range without one.
  std::uint64_t value_of(const std::string& symbol) const { return values_.at(symbol); }
  /// The instructions that have notes, in the order of the assembly.
  const std::vector<NotedInstruction>& noted() const { return noted_; }
  /// The address of the first instruction with this note. Throws std::runtime_error without one.
  std::uint64_t at(std::string_view note) const {
    for (const NotedInstruction& one : noted_) {
      if (one.has(note)) return one.address;
    }
    throw std::runtime_error("no instruction is " + std::string(note));
  }
  /// The instructions of the only function of that name. Throws std::out_of_range without one.
  std::vector<symbols::Instruction> instructions_of(const std::string& function) const {
    const AddressRange range = module_->functions_named(function).at(0).range;
    return symbols::Disassembler(*module_->arch()).decode(module_->code(range), range.begin, 1000);
  }

 private:
  /// By the line table: the first address of a line is that of its instruction. Throws
  /// std::runtime_error for notes in a line without one.
  void find_notes(const std::vector<std::string>& lines, const std::string& source) {
    std::map<std::size_t, std::uint64_t> addresses;
    for (const AddressRange& range : module_->executable_ranges()) {
      for (std::uint64_t address = range.begin; address < range.end; ++address) {
        const auto place = module_->line_at(address);
        if (!place || !place->file.ends_with(source)) continue;
        addresses.try_emplace(static_cast<std::size_t>(place->line) - 1, address);
      }
    }
    for (std::size_t i = 0; i < lines.size(); ++i) {
      auto notes = notes_of(lines[i]);
      if (notes.empty()) continue;
      if (!addresses.contains(i)) throw std::runtime_error("no instruction in " + lines[i]);
      noted_.push_back({addresses[i], std::move(notes), lines[i]});
    }
  }

  std::optional<symbols::Module> module_;
  std::map<std::string, std::uint64_t> values_;  ///< of symbols
  std::vector<NotedInstruction> noted_;
};

}  // namespace skid::test
