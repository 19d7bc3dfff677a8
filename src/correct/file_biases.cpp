#include "src/correct/file_biases.h"

#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/measure/profile.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <utility>

namespace skid::correct {

bool FileBiases::is_data_of_file(std::uint64_t byte, symbols::FileIndex file, std::uint64_t bias) {
  const auto [known, is_new] = known_.try_emplace({byte, file, bias});
  if (is_new) {
    known->second =
        contains(file, byte - bias) || std::ranges::any_of(biases_, [&](const auto& other) {
          const auto& [index, biases] = other;
          return biases.size() == 1 && contains(index, byte - *biases.begin());
        });
  }
  return known->second;
}

/// Whether a file has data at a link-time address.
bool FileBiases::contains(symbols::FileIndex file, std::uint64_t address) const {
  const auto* module = profile_.modules.find(profile_.digest.spaces.file(file)).module;
  return module != nullptr &&
         std::ranges::any_of(module->loaded_ranges(),
                             [&](const AddressRange& range) { return range.contains(address); });
}

}  // namespace skid::correct
