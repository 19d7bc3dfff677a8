// One ELF file: its symbols, lines, code bytes and build-id. Only this folder uses libelf and libdw
// to read them.
#pragma once

#include "src/support/address.h"
#include "src/support/file_identity.h"  // IWYU pragma: keep
#include "src/symbols/binary_places.h"  // IWYU pragma: keep
#include "src/symbols/demangle.h"
#include "src/symbols/location.h"  // IWYU pragma: keep

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

/// An opened ELF file. Addresses are link-time virtual addresses of that file; of a module of the
/// kernel those of kernel_module.h. Symbols and DWARF are read on first use, from the file or from
/// its separate debug file if installed; only one thread at a time may use a module.
class Module {
 public:
  /// Opens a regular file, read-only. Throws InputError if it is not a regular file or not ELF. A
  /// hostile file may have no or wrong symbols, but never causes a crash. `places`: where its debug
  /// file may be. `style`: that of the names of functions.
  static Module open(const std::filesystem::path& path, BinaryPlaces places = {},
                     NameStyle style = NameStyle::signatures);

  /// Returns the build-id in lower-case hexadecimal; empty if the file has none.
  const std::string& build_id() const;
  /// Returns the architecture; nullopt if skidscan does not decode it.
  std::optional<Arch> arch() const;

  /// Returns the identity of the opened file, as identity_of() does.
  FileIdentity identity() const;

  /// Whether the kernel and the dynamic linker map this file executable at these offsets in it, in
  /// bytes: from the first page of an executable PT_LOAD segment to the last page of one, or all of
  /// them. All are mapped executable with READ_IMPLIES_EXEC (personality(2)), and, by the size in
  /// memory, where the first segment has the code (elf_load() in fs/binfmt_elf.c,
  /// _dl_map_segments() of glibc). `is_whole`: false for offsets within a segment, too, which other
  /// mappings may have split.
  bool is_mapped_as(AddressRange offsets, bool is_whole) const;

  /// Whether the file contains the code of its sections. A separate debug file does not
  /// (SHT_NOBITS), although its program headers include it.
  bool has_code() const;

  /// Whether it is a module of the kernel for x86-64, which has addresses by its place in memory.
  bool is_kernel_module() const;
  /// Of a module of the kernel: the fields of instructions whose value depends on addresses that
  /// are not in the file, ascending. Empty for other files.
  const std::vector<AddressRange>& unresolved_fields() const;

  /// Returns the link-time address of the byte at `file_offset`, by the program headers; nullopt if
  /// no PT_LOAD segment contains it. Executable segments take precedence. Of a module of the kernel
  /// `file_offset` is that in its recorded mapping; nullopt beyond the code whose place is certain.
  std::optional<std::uint64_t> address_at(std::uint64_t file_offset) const;

  /// Returns the link-time addresses of the PT_LOAD segments in the order of the file, including
  /// data that is not in the file (.bss). `writable_too`: false leaves out writable segments.
  std::vector<AddressRange> loaded_ranges(bool writable_too = true) const;

  /// A part of the file that the kernel maps executable, as in PERF_RECORD_MMAP: whole pages of 4
  /// KiB.
  struct ExecutableMapping {
    AddressRange range;             ///< link-time virtual addresses
    std::uint64_t file_offset = 0;  ///< offset of the first byte
  };
  /// Returns the executable part around `address`; nullopt if no executable PT_LOAD segment
  /// contains it.
  std::optional<ExecutableMapping> executable_mapping_at(std::uint64_t address) const;

  /// Returns the function symbol that covers `address`, chosen as perf would. A symbol without a
  /// size extends to the next one.
  std::optional<Function> function_at(std::uint64_t address) const;
  /// Returns only the range of the function that covers `address`, without the cost of its name;
  /// also of one that no symbol names, by the table for unwinding the stack (unwind_table.h).
  std::optional<AddressRange> function_range_at(std::uint64_t address) const;
  /// Returns all functions of that name (static functions can share one), lowest address first. The
  /// name may be that of the symbol table or the demangled one, with or without parameters.
  std::vector<Function> functions_named(std::string_view name) const;
  /// Returns the addresses where functions, unnamed ones included, and entries of the PLT begin,
  /// lowest first.
  std::vector<std::uint64_t> function_starts() const;
  /// Returns the values of all defined symbols of any type, including labels within functions;
  /// lowest first, each once.
  std::vector<std::uint64_t> symbol_values() const;
  /// Returns the addresses of the first section of that name; nullopt: the file has none.
  std::optional<AddressRange> section(std::string_view name) const;
  /// Returns the value of the symbol of that name, of any type; nullopt: the file has none.
  std::optional<std::uint64_t> value_of(std::string_view name) const;
  /// Returns the source line of an address, from DWARF line tables if there are any.
  std::optional<SourceLine> line_at(std::uint64_t address) const;
  /// Returns the names of the functions whose code the compiler inlined at an address, the
  /// innermost first, as LineTable::inlined_at() does.
  std::vector<std::string> inlined_at(std::uint64_t address) const;
  /// Whether lines or inlined functions were left out because reading them would take too much
  /// memory or time.
  bool has_partial_lines() const;

  /// Returns the address ranges of the file's code, lowest first: its executable sections, or its
  /// executable segments if it has no such sections. They may overlap in a damaged file.
  std::vector<AddressRange> executable_ranges() const;
  /// Returns the bytes of `range` in the file, at most 64 MiB; fewer (or none) if the file ends
  /// before or has no code.
  std::vector<std::byte> code(AddressRange range) const;

 private:
  struct Contents;
  struct Free {
    void operator()(Contents* contents) const noexcept;
  };
  explicit Module(std::unique_ptr<Contents, Free> contents) : contents_(std::move(contents)) {}
  std::unique_ptr<Contents, Free> contents_;
};

/// Returns the vdso of this process: code that the kernel maps into every process and that is not
/// in a file. All processes of the running kernel with the same word size have the same one.
/// nullopt if the kernel has none or it cannot be read.
std::optional<Module> running_vdso();

}  // namespace skid::symbols
