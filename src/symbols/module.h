// One ELF file: its symbols, lines, code bytes and build-id. With its neighbours in this folder the
// only code that knows libelf and libdw.
#pragma once

#include "src/support/address.h"
#include "src/symbols/binary_places.h"
#include "src/symbols/location.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::symbols {

/// An opened ELF file. Addresses are link-time virtual addresses of that file. Symbols and DWARF
/// are read when they are first asked for, from the file or from its separate debug file where a
/// distribution keeps one on this machine; a module is for one thread at a time.
class Module {
 public:
  /// Opens a regular file, read-only. Throws InputError when it is none or not ELF. A hostile file
  /// may give no or wrong symbols, never a crash. `places`: where its debug file may be.
  static Module open(const std::filesystem::path& path, BinaryPlaces places = {});

  Module(const Module&) = delete;
  Module& operator=(const Module&) = delete;
  Module(Module&&) noexcept;
  Module& operator=(Module&&) noexcept;
  ~Module();

  /// Lower-case hexadecimal; empty when the file has none.
  const std::string& build_id() const;
  /// nullopt for machines that skidscan does not decode.
  std::optional<Arch> arch() const;

  /// Whether the file holds the code that its sections tell of: a separate debug file does not
  /// (SHT_NOBITS), though its program headers say that it does.
  bool has_code() const;

  /// The link-time address of a byte at `file_offset` of the file, through the program headers;
  /// nullopt when no PT_LOAD segment holds it. An executable segment goes first where several do.
  std::optional<std::uint64_t> address_at(std::uint64_t file_offset) const;

  /// The part of the file that the kernel maps executable where `address` is, as PERF_RECORD_MMAP
  /// tells of it: whole pages of 4 KiB.
  struct ExecutableMapping {
    AddressRange range;             ///< link-time virtual addresses
    std::uint64_t file_offset = 0;  ///< of the first byte
  };
  /// nullopt when no executable PT_LOAD segment holds `address`.
  std::optional<ExecutableMapping> executable_mapping_at(std::uint64_t address) const;

  /// The function symbol that covers `address`, as `perf` would choose it. A symbol without a size
  /// reaches to the next one.
  std::optional<Function> function_at(std::uint64_t address) const;
  /// All functions of that name (static functions can share one), lowest address first.
  std::vector<Function> functions_named(std::string_view name) const;
  /// The value of a defined symbol of any type; of several of that name, a global one.
  std::optional<std::uint64_t> symbol_value(std::string_view name) const;
  /// Where functions begin, lowest address first; entries of the PLT are among them.
  std::vector<std::uint64_t> function_starts() const;
  /// From DWARF line tables, when there are any.
  std::optional<SourceLine> line_at(std::uint64_t address) const;

  /// Where the file's code lies: its executable sections, or, where it tells of none, its
  /// executable segments. Lowest address first; they may overlap in a damaged file.
  std::vector<AddressRange> executable_ranges() const;
  /// The bytes of `range` that the file holds; fewer (or none) when it ends before or has no code,
  /// and never more than 64 MiB.
  std::vector<std::byte> code(AddressRange range) const;

 private:
  struct Contents;
  explicit Module(std::unique_ptr<Contents> contents);
  std::unique_ptr<Contents> contents_;
};

}  // namespace skid::symbols
