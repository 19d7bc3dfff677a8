// The samples of a recording's events at the instructions that caused them.
#pragma once

#include "analysis/not_judged.h"
#include "src/correct/corrected_event.h"
#include "src/correct/flow.h"
#include "src/correct/places.h"
#include "src/correct/splits.h"
#include "src/correct/watched_data.h"
#include "src/measure/profile.h"
#include "src/symbols/module.h"

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace skid::correct {

class Corrector {
 public:
  /// With the events of `choices` and their skids. Throws InputError
  /// if the recording was corrected before.
  Corrector(const measure::Profile& profile, const Choices& choices);

  /// Must be called only once.
  CorrectedEvents& correct();
  /// What Choices::filter selected.
  const locate::Filtered& filtered() const noexcept { return filtered_; }
  /// Where the blocks of all places begin, with By::block; after correct().
  const Blocks& blocks() const noexcept { return blocks_; }

 private:
  static void leave(CorrectedEvent& event, const SpreadPlace& place, std::uint64_t samples,
                    analysis::NotJudged reason);
  static void leave_unless_nothing_to_do(CorrectedEvent& event, const SpreadPlace& place,
                                         std::uint64_t samples, analysis::NotJudged reason);
  void take(const locate::LocatedSamples& located);
  void correct_file(std::span<const Sampled> all);
  /// Conditional jumps with samples that only the instruction before explains.
  std::set<std::uint64_t> unfused_jumps(const symbols::Module& module, Flow& flow,
                                        std::span<const Sampled> all);
  /// `unfused`: of unfused_jumps().
  void correct_place(const symbols::Module& module, Flow& flow, const Sampled& one,
                     const std::set<std::uint64_t>& unfused);
  Suspicion suspicion_of(const CorrectedEvent& event, const Sampled& one, std::uint64_t address);
  void keep_block(Flow& flow, const SpreadPlace& place);

  const measure::Profile& profile_;
  bool keeps_blocks_, keeps_moves_;
  CorrectedEvents events_;
  locate::Filtered filtered_;
  std::vector<Sampled> sampled_;
  WatchedData watched_;
  audit::CodeBudget budget_;
  Splits splits_;
  Blocks blocks_;
};

}  // namespace skid::correct
