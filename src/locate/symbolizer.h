// Functions of places, looked up once per distinct place.
#pragma once

#include "src/locate/kernel_symbols.h"
#include "src/locate/module_store.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace skid::locate {

/// The function at a sampled address.
struct Symbol {
  std::string name;          ///< empty when none is known
  std::uint64_t offset = 0;  ///< bytes from the function's first byte
};

class Symbolizer {
 public:
  /// All must outlive the symbolizer.
  Symbolizer(const symbols::AddressSpaces& spaces, ModuleStore& modules, KernelSymbols& kernel)
      : spaces_(spaces), modules_(modules), kernel_(kernel) {}

  /// Of a place in a process.
  const Symbol& symbol_at(symbols::FileLocation location);
  /// Of `address` in the kernel or one of its modules: symbols of the kernel have addresses.
  const Symbol& kernel_symbol_at(symbols::FileLocation location, std::uint64_t address);

 private:
  using Answers = std::map<std::pair<symbols::FileIndex, std::uint64_t>, Symbol>;

  const symbols::AddressSpaces& spaces_;
  ModuleStore& modules_;
  KernelSymbols& kernel_;
  Answers answers_;         // by file and offset
  Answers kernel_answers_;  // by file and address
};

}  // namespace skid::locate
