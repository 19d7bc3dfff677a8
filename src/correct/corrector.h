// Where the samples of a recording's events were before they skidded.
#pragma once

#include "analysis/not_judged.h"
#include "src/correct/corrected_event.h"
#include "src/correct/flow.h"
#include "src/correct/places.h"
#include "src/correct/splits.h"
#include "src/correct/watched_data.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/perfdata/recording.h"
#include "src/symbols/module.h"

#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace skid::correct {

class Corrector {
 public:
  /// `recording`: after digest(), which gave `digest`. `keeps_blocks`: for blocks().
  Corrector(perfdata::Recording& recording, const locate::Digest& digest,
            locate::ModuleStore& modules, bool keeps_blocks)
      : recording_(recording),
        digest_(digest),
        modules_(modules),
        keeps_blocks_(keeps_blocks),
        watched_(digest.spaces, modules) {}

  void add(std::uint32_t attribute, CorrectedEvent event) { events_[attribute] = std::move(event); }
  /// Its samples are where instructions were executed.
  void add_instructions(std::uint32_t attribute) { of_instructions_.insert(attribute); }

  /// Once, after all were added.
  CorrectedEvents& correct();
  /// Where the blocks of all places begin; after correct().
  const Blocks& blocks() const noexcept { return blocks_; }

 private:
  static void leave(CorrectedEvent& event, const SpreadPlace& place, std::uint64_t samples,
                    analysis::NotJudged reason);
  static void leave_unless_nothing_to_do(CorrectedEvent& event, const SpreadPlace& place,
                                         std::uint64_t samples, analysis::NotJudged reason);
  void take(const locate::LocatedSamples& located, std::vector<Splits::Executed>& executed);
  void correct_file(std::span<const Sampled> all);
  void correct_place(const symbols::Module& module, Flow& flow, const Sampled& one);
  void keep_block(Flow& flow, const SpreadPlace& place);

  perfdata::Recording& recording_;
  const locate::Digest& digest_;
  locate::ModuleStore& modules_;
  bool keeps_blocks_;
  CorrectedEvents events_;
  std::set<std::uint32_t> of_instructions_;
  std::vector<Sampled> sampled_;
  WatchedData watched_;
  Splits splits_;
  Blocks blocks_;
};

}  // namespace skid::correct
