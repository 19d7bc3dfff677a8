// An event of a recording while its samples are corrected.
#pragma once

#include "src/correct/correct.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/events/causes.h"
#include "src/perfdata/attribute.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

namespace skid::correct {

/// Samples of one event at one place of a file, in processes that map it alike.
struct Sampled {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t ip = 0;      ///< in recordings with a breakpoint
  std::uint32_t attribute = 0;
  std::uint64_t samples = 0;

  auto key() const { return std::tie(file, offset, ip, attribute); }
};

struct CorrectedEvent {
  perfdata::Attribute attribute;
  std::vector<events::Cause> causes;
  EventCorrection correction;
  std::vector<Spread> spreads;
  Moves moves;                         ///< of all samples at a place; for an output
  std::uint64_t may_be_elsewhere = 0;  ///< of `split`, one candidate is not known
  std::uint64_t only_sampled = 0;      ///< samples that only the sampled instruction explains
  std::uint64_t only_preceding = 0;    ///< that only a preceding one does
};
using CorrectedEvents = std::map<std::uint32_t, CorrectedEvent>;  ///< by attribute

/// The final verdict on an event that is corrected. Refuses one whose samples contradict the model,
/// because too many have no explanation, or the sampled instructions explain them better than the
/// preceding ones; and one of which no sample was placed.
void judge_fit(CorrectedEvent& event);

}  // namespace skid::correct
