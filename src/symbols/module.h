// One ELF file: its symbols, lines, code bytes and build-id. With its neighbours in this folder the
// only code that knows libelf and libdw.
#pragma once

#include "src/support/address.h"
#include "src/symbols/binary_places.h"  // IWYU pragma: keep
#include "src/symbols/location.h"       // IWYU pragma: keep

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::symbols {

/// An opened ELF file. Addresses are link-time virtual addresses of that file. Symbols and DWARF
/// are read on first use, from the file or from its separate debug file if installed; only one
/// thread at a time may use a module.
class Module {
 public:
  /// Opens a regular file, read-only. Throws InputError when it is none or not ELF. A hostile file
  /// may give no or wrong symbols, never a crash. `places`: where its debug file may be.
  /// `demangles`: functions have the names of their C++ or Rust source, else those of the symbol
  /// table.
  static Module open(const std::filesystem::path& path, BinaryPlaces places = {},
                     bool demangles = true);

  /// Lower-case hexadecimal; empty when the file has none.
  const std::string& build_id() const;
  /// nullopt for machines that skidscan does not decode.
  std::optional<Arch> arch() const;

  /// Whether the file contains the code of its sections: a separate debug file does not
  /// (SHT_NOBITS), although its program headers include it.
  bool has_code() const;

  /// The link-time address of a byte at `file_offset` of the file, through the program headers;
  /// nullopt if no PT_LOAD segment contains it. Executable segments take precedence.
  std::optional<std::uint64_t> address_at(std::uint64_t file_offset) const;

  /// The link-time addresses of its PT_LOAD segments, data that is not in the file (.bss) included,
  /// in the order of the file. `writable_too`: else only of those that are not writable.
  std::vector<AddressRange> loaded_ranges(bool writable_too = true) const;

  /// The part of the file around `address` that the kernel maps executable, as in PERF_RECORD_MMAP:
  /// whole pages of 4 KiB.
  struct ExecutableMapping {
    AddressRange range;             ///< link-time virtual addresses
    std::uint64_t file_offset = 0;  ///< of the first byte
  };
  /// nullopt if no executable PT_LOAD segment contains `address`.
  std::optional<ExecutableMapping> executable_mapping_at(std::uint64_t address) const;

  /// The function symbol that covers `address`, as `perf` would choose it. A symbol without a size
  /// reaches to the next one.
  std::optional<Function> function_at(std::uint64_t address) const;
  /// Its range alone, without the cost of its name.
  std::optional<AddressRange> function_range_at(std::uint64_t address) const;
  /// All functions of that name (static functions can share one), lowest address first. Demangled
  /// names may include the parameters; those of the symbol table are found, too.
  std::vector<Function> functions_named(std::string_view name) const;
  /// Where functions begin, lowest address first; entries of the PLT are among them.
  std::vector<std::uint64_t> function_starts() const;
  /// The values of all defined symbols of any type, lowest first, each once: also labels within
  /// functions.
  std::vector<std::uint64_t> symbol_values() const;
  /// From DWARF line tables, when there are any.
  std::optional<SourceLine> line_at(std::uint64_t address) const;
  /// Whether line_at left out lines that would take too much memory or time to read.
  bool has_partial_lines() const;

  /// Address ranges of the file's code: its executable sections, or without any its executable
  /// segments. Lowest address first; they may overlap in a damaged file.
  std::vector<AddressRange> executable_ranges() const;
  /// The bytes of `range` in the file; fewer (or none) if it ends before or has no code, at most
  /// 64 MiB.
  std::vector<std::byte> code(AddressRange range) const;

 private:
  struct Contents;
  struct Free {
    void operator()(Contents* contents) const noexcept;
  };
  explicit Module(std::unique_ptr<Contents, Free> contents) : contents_(std::move(contents)) {}
  std::unique_ptr<Contents, Free> contents_;
};

/// The vdso of this process: code that the kernel maps into every process and that is in no file.
/// All processes of the running kernel with the same word size have it. nullopt when the kernel
/// gives none or it cannot be read.
std::optional<Module> running_vdso();

}  // namespace skid::symbols
