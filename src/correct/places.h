// Samples and the instructions that they may be of, added up by place.
#pragma once

#include "src/correct/correct.h"
#include "src/locate/module_store.h"
#include "src/symbols/address_space.h"

#include <compare>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace skid::correct {

struct SpreadPlace {
  symbols::FileIndex file = symbols::Region::kNoFile;
  std::uint64_t address = 0;
  bool is_linked = false;  ///< `address` is one of the file; else of the kernel, or a file offset

  friend auto operator<=>(const SpreadPlace&, const SpreadPlace&) = default;
};

/// Samples at one instruction and what they were spread over.
struct Spread {
  SpreadPlace place;
  std::uint64_t recorded = 0;
  std::vector<SpreadPlace> candidates;  ///< each once
  std::vector<std::uint64_t> samples;   ///< by candidate; their sum is `recorded`
};

/// Where blocks begin, by file and address of an instruction.
using Blocks = std::map<std::pair<symbols::FileIndex, std::uint64_t>, std::uint64_t>;

struct FoldingFrom {
  const symbols::AddressSpaces& spaces;
  locate::ModuleStore& modules;
  const Blocks& blocks;  ///< for By::block
};

/// Adds up the spreads. Samples whose candidates are all in one place are surely there. Most
/// corrected samples first.
std::vector<Place> fold(const std::vector<Spread>& spreads, By by, const FoldingFrom& from);

}  // namespace skid::correct
