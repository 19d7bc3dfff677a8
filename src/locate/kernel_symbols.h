// Symbols of the recorded kernel, from a symbol table that was verified to be of that kernel.
#pragma once

#include "src/symbols/kallsyms.h"
#include "src/symbols/kernel_reference.h"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::symbols {
class AddressSpaces;
struct Function;
struct MappedFile;
}  // namespace skid::symbols

namespace skid::locate {

/// Files with the symbols of kernels and their identity.
struct KernelFiles {
  std::filesystem::path kallsyms = "/proc/kallsyms";
  std::filesystem::path notes = "/sys/kernel/notes";  ///< notes of the running kernel: its build-id
  std::filesystem::path cache;  ///< perf's build-id cache, "~/.debug"; empty: there is none
  std::string os_release;       ///< release of the running kernel, as `uname -r` prints it

  /// Returns the files of the machine that this program runs on.
  static KernelFiles of_this_machine();
};

/// The kernel of a recording.
struct RecordedKernel {
  std::string build_id;    ///< lower-case hexadecimal; empty when not recorded
  std::string os_release;  ///< empty when not recorded
  std::optional<symbols::KernelReference> reference;
};

/// Returns the kernel that a recording names.
RecordedKernel recorded_kernel(const perfdata::Recording& recording,
                               const symbols::AddressSpaces& spaces);

/// Returns the build-id in ELF notes (struct elf64_note, four-byte fields of this machine's byte
/// order), in lower-case hexadecimal; empty when there is none.
std::string build_id_in_notes(std::string_view notes);

class KernelSymbols {
 public:
  /// `recorded` is called once, at the first lookup: a recording from a pipe describes its kernel
  /// as it is read.
  explicit KernelSymbols(std::function<RecordedKernel()> recorded,
                         KernelFiles files = KernelFiles::of_this_machine())
      : recorded_(std::move(recorded)), files_(std::move(files)) {}

  /// Returns the symbol of the kernel or of a module at `address`, with its recorded range.
  /// `file`: "[kernel.kallsyms]", a module's file or "[ext4]"; or the mapping of a recorded symbol,
  /// which is returned itself. `offset`: bytes from the start of its mapping; unused for the kernel
  /// itself. nullopt if no symbol is known or verified, with the reason in `remarks`. The table is
  /// read at the first lookup.
  std::optional<symbols::Function> symbol_at(const symbols::MappedFile& file, std::uint64_t address,
                                             std::uint64_t offset);

  /// Returns remarks on tables that were refused or could not be verified, one line each.
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  void open();
  std::filesystem::path believable_table();
  bool find_shift();
  const std::string& believable_module(const std::string& dso, std::uint64_t begin);

  std::function<RecordedKernel()> recorded_;
  std::optional<RecordedKernel> kernel_;  ///< set by `open`
  KernelFiles files_;
  std::optional<symbols::Kallsyms> table_;
  std::uint64_t shift_ = 0;  ///< address in the table minus recorded address, modulo 2^64
  std::map<std::string, std::string> modules_;  ///< name of a module by dso; empty: not verified
  std::vector<std::string> remarks_;
};

}  // namespace skid::locate
