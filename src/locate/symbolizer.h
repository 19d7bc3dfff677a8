// Places in files to functions, asked once per distinct place.
#pragma once

#include "src/locate/module_store.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <map>
#include <string>
#include <utility>

namespace skid::locate {

/// The function behind a sampled address.
struct Symbol {
  std::string name;          ///< empty when none is known
  std::uint64_t offset = 0;  ///< bytes from the function's first byte
};

class Symbolizer {
 public:
  /// Both must outlive the symbolizer.
  Symbolizer(const symbols::AddressSpaces& spaces, ModuleStore& modules)
      : spaces_(spaces), modules_(modules) {}

  const Symbol& symbol_at(symbols::FileLocation location);

 private:
  const symbols::AddressSpaces& spaces_;
  ModuleStore& modules_;
  std::map<std::pair<symbols::FileIndex, std::uint64_t>, Symbol> answers_;
};

}  // namespace skid::locate
