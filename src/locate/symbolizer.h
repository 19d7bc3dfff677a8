// Functions of places, looked up once per distinct place.
#pragma once

#include "src/support/hash.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace skid::symbols {

struct FileLocation;
struct Function;
struct MappedFile;

class AddressSpaces;
}  // namespace skid::symbols

namespace skid::locate {

class KernelSymbols;
class ModuleStore;

/// Returns the function of the kernel or of a module at `address`, with its recorded range: by
/// `kernel` (KernelSymbols::symbol_at, which has the parameters), else by the module's file with
/// the recorded build-id.
std::optional<symbols::Function> kernel_function_at(KernelSymbols& kernel, ModuleStore& modules,
                                                    const symbols::MappedFile& file,
                                                    std::uint64_t address, std::uint64_t offset);

/// The function at a sampled address.
struct Symbol {
  std::string_view name;     ///< empty when none is known; valid as long as the symbolizer
  std::uint64_t offset = 0;  ///< bytes from the function's first byte
};

class Symbolizer {
 public:
  /// All arguments must outlive the symbolizer.
  Symbolizer(const symbols::AddressSpaces& spaces, ModuleStore& modules, KernelSymbols& kernel)
      : spaces_(spaces), modules_(modules), kernel_(kernel) {}

  /// Returns the function at a place. `in_kernel`: the place is in the kernel or one of its
  /// modules, whose symbols are looked up by `address`; else `address` is not used.
  Symbol symbol_at(symbols::FileLocation location, std::uint64_t address, bool in_kernel);

 private:
  /// A slot of a hash table with open addressing, in which an answer is one cache miss away.
  struct Answer {
    static constexpr std::uint64_t kFree = UINT64_MAX;

    std::uint64_t file = kFree;  ///< twice the FileIndex, plus 1 in the kernel
    std::uint64_t at = 0;        ///< offset in the file; in the kernel the address
    Symbol symbol = {};
  };

  Answer& slot_of(std::uint64_t file, std::uint64_t at);
  Symbol look_up(symbols::FileLocation location, std::uint64_t address, bool in_kernel);

  const symbols::AddressSpaces& spaces_;
  ModuleStore& modules_;
  KernelSymbols& kernel_;
  std::set<std::string> names_;
  std::vector<Answer> answers_ = std::vector<Answer>(1024);  ///< a power of two of slots
  std::size_t used_ = 0;
  std::uint64_t seed_ = random_seed();  ///< random, so that places cannot be chosen to collide
};

}  // namespace skid::locate
