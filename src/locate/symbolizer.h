// Functions of places, looked up once per distinct place; those of the recorded kernel by a
// verified symbol table and the load address.
#pragma once

#include "src/support/hash.h"
#include "src/symbols/address_space.h"
#include "src/symbols/text_symbols.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {
class Recording;
}  // namespace skid::perfdata

namespace skid::symbols {
struct Function;
}  // namespace skid::symbols

namespace skid::locate {

class ModuleStore;

/// Files with the symbols of kernels and their identity.
struct KernelFiles {
  std::filesystem::path kallsyms = "/proc/kallsyms";
  std::filesystem::path notes = "/sys/kernel/notes";  ///< of the running kernel, with its build-id
  std::filesystem::path cache;  ///< perf's build-id cache, "~/.debug"; empty: there is none
  std::string os_release;       ///< of the running kernel: uname -r

  /// Of the machine that this runs on.
  static KernelFiles of_this_machine();
};

/// The kernel of a recording.
struct RecordedKernel {
  std::string build_id;    ///< lower-case hexadecimal; empty when not recorded
  std::string os_release;  ///< empty when not recorded
  std::optional<symbols::KernelReference> reference;
};

RecordedKernel recorded_kernel(const perfdata::Recording& recording,
                               const symbols::AddressSpaces& spaces);

/// The build-id in ELF notes (struct elf64_note, four-byte fields of this machine's byte order), in
/// lower-case hexadecimal; empty when there is none.
std::string build_id_in_notes(std::string_view notes);

class KernelSymbols {
 public:
  /// `recorded` is called once, at the first lookup: a recording from a pipe describes its kernel
  /// as it is read.
  explicit KernelSymbols(std::function<RecordedKernel()> recorded,
                         KernelFiles files = KernelFiles::of_this_machine())
      : recorded_(std::move(recorded)), files_(std::move(files)) {}

  /// The symbol of the kernel or of a module at `address`, with its recorded range.
  /// `file`: "[kernel.kallsyms]", a module's file or "[ext4]", or a recorded symbol, which is the
  /// answer itself. `offset`: bytes from the start of its mapping; unused for the kernel itself.
  /// nullopt if none is known or verified, with the reason in `remarks`. The table is read at the
  /// first lookup.
  std::optional<symbols::Function> symbol_at(const symbols::MappedFile& file, std::uint64_t address,
                                             std::uint64_t offset);

  /// What had to be refused or could not be verified, one line each.
  const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  void open();
  std::filesystem::path believable_table();
  bool find_shift();
  const std::string& believable_module(const std::string& dso, std::uint64_t begin);

  std::function<RecordedKernel()> recorded_;
  std::optional<RecordedKernel> kernel_;  // once opened
  KernelFiles files_;
  std::optional<symbols::Kallsyms> table_;
  std::uint64_t shift_ = 0;  // from recorded addresses to those of the table, modulo 2^64
  std::map<std::string, std::string> modules_;  // by dso: the name; empty: not verified
  std::vector<std::string> remarks_;
};

/// The function at a sampled address.
struct Symbol {
  std::string_view name;     ///< empty when none is known; valid as long as the symbolizer
  std::uint64_t offset = 0;  ///< bytes from the function's first byte
};

class Symbolizer {
 public:
  /// All must outlive the symbolizer.
  Symbolizer(const symbols::AddressSpaces& spaces, ModuleStore& modules, KernelSymbols& kernel)
      : spaces_(spaces), modules_(modules), kernel_(kernel) {}

  /// Of a place in a process; with `in_kernel`, of `address` in the kernel or one of its modules:
  /// symbols of the kernel have addresses.
  Symbol symbol_at(symbols::FileLocation location, std::uint64_t address, bool in_kernel);

 private:
  /// A slot of a hash table with open addressing, in which an answer is one cache miss away.
  struct Answer {
    static constexpr std::uint64_t kFree = UINT64_MAX;

    std::uint64_t file = kFree;  ///< twice its index, plus 1 in the kernel
    std::uint64_t at = 0;        ///< offset, in the kernel address
    Symbol symbol = {};
  };

  Answer& slot_of(std::uint64_t file, std::uint64_t at);
  Symbol look_up(symbols::FileLocation location, std::uint64_t address, bool in_kernel);

  const symbols::AddressSpaces& spaces_;
  ModuleStore& modules_;
  KernelSymbols& kernel_;
  std::set<std::string> names_;
  std::vector<Answer> answers_ = std::vector<Answer>(1024);  // a power of two
  std::size_t used_ = 0;
  std::uint64_t seed_ = random_seed();  // against places chosen to collide
};

}  // namespace skid::locate
