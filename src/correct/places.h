// Samples and the instructions that they may be of, added up by place.
#pragma once

#include "src/correct/correct.h"
#include "src/symbols/address_space.h"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace skid::correct {

struct SpreadPlace {
  symbols::FileIndex file = symbols::Region::kNoFile;
  bool is_linked = false;  ///< `address` is one of the file; else of the kernel, or a file offset
  std::uint64_t address = 0;

  friend auto operator<=>(const SpreadPlace&, const SpreadPlace&) = default;
};

/// Samples at one instruction and what they were spread over.
struct Spread {
  SpreadPlace place;
  std::uint64_t recorded = 0;
  std::vector<SpreadPlace> candidates;  ///< each once
  std::vector<std::uint64_t> samples;   ///< by candidate; their sum is `recorded`
  bool is_open = false;                 ///< the cause of some or all may be none of the candidates
};

/// Adds the spreads to what `counts_of` returns (a reference to Counts) for each of their places.
/// Samples whose candidates are all in one place are surely there, unless their cause is not known.
template <typename CountsOf>
void add_up(const std::vector<Spread>& spreads, CountsOf counts_of) {
  for (const Spread& spread : spreads) {
    counts_of(spread.place).recorded += spread.recorded;
    std::set<Counts*> reached;
    for (std::size_t i = 0; i < spread.candidates.size(); ++i) {
      Counts& counts = counts_of(spread.candidates[i]);
      counts.corrected += spread.samples[i];
      reached.insert(&counts);
    }
    for (Counts* counts : reached) {
      counts->high += spread.recorded;
      if (reached.size() == 1 && !spread.is_open) counts->low += spread.recorded;
    }
  }
}

/// Where blocks begin, by file and address of an instruction.
using Blocks = std::map<std::pair<symbols::FileIndex, std::uint64_t>, std::uint64_t>;

/// Adds up the spreads by the chosen unit. `blocks`: for By::block. Most corrected samples first.
std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile,
                       const Blocks& blocks);

}  // namespace skid::correct
