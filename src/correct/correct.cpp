#include "src/correct/correct.h"

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "src/audit/rule.h"
#include "src/audit/sampled_file.h"
#include "src/code/by_function.h"
#include "src/code/code_budget.h"
#include "src/code/control_flow.h"
#include "src/correct/candidates.h"
#include "src/correct/evidence.h"
#include "src/correct/fit.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/correct/sampled_code.h"
#include "src/correct/skid.h"
#include "src/correct/spread.h"
#include "src/events/causes.h"
#include "src/locate/digest.h"
#include "src/locate/filter.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace skid::symbols {
struct MappedFile;
}  // namespace skid::symbols

namespace skid::correct {
namespace {

using analysis::NotJudged;

/// Numbers of samples by event and place, in the order of places.
using SamplesAt = std::map<SampledAt, std::uint64_t>;

SpreadPlace place_in(const symbols::Module& module, const symbols::FileLocation& location) {
  const auto address = module.address_at(location.offset);
  if (!address) return {location.file, false, location.offset};
  return {location.file, true, *address};
}

/// Returns the candidate that alone is in a set; nullopt: there are others, or it is not known.
std::optional<std::size_t> only_one(CandidateSet candidates) {
  if (std::popcount(candidates) != 1 || candidates == kUnknownCandidate) return std::nullopt;
  return static_cast<std::size_t>(std::countr_zero(candidates));
}

/// Assigns the samples of a recording's events to the instructions that caused them.
class Corrector {
 public:
  /// Selects the events of `choices` and determines their skids. Throws InputError if the recording
  /// was corrected before.
  Corrector(const measure::Profile& profile, const Choices& choices)
      : profile_(profile),
        keeps_places_(!choices.output.empty()),
        filtered_(profile.digest.filtered),
        evidence_(profile),
        biases_(profile) {
    perfdata::refuse_corrected(profile.recording.features(), profile.source.file.string(),
                               "correct the original");
    for (const measure::RecordedEvent& recorded : profile.events) {
      if (!profile.selects(recorded, choices.filter, filtered_)) continue;
      CorrectedEvent& event = events_[recorded.index];
      event.causes = recorded.causes;
      event.correction.identity = recorded.identity;
      event.correction.level = recorded.precise.recorded;
      event.correction.period = recorded.period;
      event.correction.skid = skid_of(recorded, choices.measured);
    }
  }

  /// Must be called only once.
  void correct() {
    SamplesAt sampled;
    profile_.digest.located.for_each(
        [&](const locate::LocatedSamples& located) { take(located, sampled); });
    // Each file is corrected with the mappings of all files, whatever their order.
    for (const auto& [at, samples] : sampled) biases_.add(at);
    for (auto at = sampled.cbegin(); at != sampled.cend();) {
      SamplesAt of_file;
      const symbols::FileIndex file = at->first.location.file;
      while (at != sampled.cend() && at->first.location.file == file) {
        of_file.insert(sampled.extract(at++));
      }
      correct_file(file, of_file);
    }
    judge_samples();
    for (auto& [attribute, event] : events_) judge_fit(event);
  }

  CorrectedEvents& events() noexcept { return events_; }

  /// Returns by how many bytes a sample moves, after correct() with an output; nullopt: it stays.
  std::optional<std::uint64_t> move_of(const locate::VisitedRecord& visited) {
    const auto found = find_place(visited);
    if (found == places_.end()) return std::nullopt;
    const auto& [at, place] = *found;
    if (!is_corrected(events_.at(at.attribute).correction.skid.verdict)) return std::nullopt;
    CandidateSet left = all_of(place.candidates);
    if (evidence_.has(at.attribute)) {
      left = left_by(at.attribute, evidence_.agreement(visited, place.candidates,
                                                       place.place.address, /*is_counted=*/false));
    }
    const auto cause = only_one(left);
    if (!cause) return std::nullopt;
    const std::uint64_t distance = place.candidates.known[*cause].address - place.place.address;
    return distance == 0 ? std::nullopt : std::optional(distance);
  }

  /// Returns what Choices::filter selected.
  const locate::Filtered& filtered() const noexcept { return filtered_; }

 private:
  /// A place with its candidates, whose samples are judged one by one, or are moved in an output.
  struct PlaceToJudge {
    SpreadPlace place;
    Candidates candidates;
    /// Their sum is that of the samples at the place, which agree with all candidates until they
    /// are judged.
    std::map<Agreement, std::uint64_t> samples;
  };
  using Places = std::map<SampledAt, PlaceToJudge>;

  /// Leaves samples where they were recorded.
  static void leave(CorrectedEvent& event, const SpreadPlace& place, std::uint64_t samples,
                    NotJudged reason) {
    event.correction.not_placed[static_cast<std::size_t>(reason)] += samples;
    event.spreads.push_back({place, samples, {}, true});
  }

  void take(const locate::LocatedSamples& located, SamplesAt& sampled) {
    const auto entry = events_.find(located.attribute);
    if (entry == events_.end()) return;
    CorrectedEvent& event = entry->second;
    event.correction.samples += located.samples;
    if (event.correction.skid.verdict == Verdict::nothing_to_correct) {
      event.correction.in_place += located.samples;
    }
    if (event.correction.skid.verdict != Verdict::corrected) return;
    SpreadPlace place;
    if (located.location) {
      place.file = located.location->file;
      place.address = located.location->offset;
    }
    const NotJudged reason = audit::reason_of_mode(located, profile_.arch());
    if (reason != NotJudged::none) {
      if (reason == NotJudged::kernel && located.location) place.address = located.ip;
      leave(event, place, located.samples, reason);
    } else if (!located.location) {
      leave(event, place, located.samples, NotJudged::unmapped);
    } else {
      sampled[{*located.location, located.ip, located.attribute}] += located.samples;
    }
  }

  void correct_file(symbols::FileIndex index, const SamplesAt& sampled) {
    const symbols::MappedFile& file = profile_.digest.spaces.file(index);
    const auto found = profile_.modules.find(file);
    NotJudged reason = audit::reason_of_file(file, found);
    if (reason == NotJudged::none && found.module->arch() != Arch::x86_64) {
      reason = NotJudged::architecture;
    }
    if (reason != NotJudged::none) {
      for (const auto& [at, samples] : sampled) {
        SpreadPlace place{index, false, at.location.offset};
        if (found.module != nullptr) place = place_in(*found.module, at.location);
        leave(events_.at(at.attribute), place, samples, reason);
      }
      return;
    }
    code::ControlFlow flow(*found.module, Arch::x86_64, audit::loop_of(found.path), budget_);
    SampledCode code(profile_, biases_, *found.module, flow, budget_);
    for (const auto& [at, samples] : sampled) code.note_sample(at, events_.at(at.attribute).causes);
    const auto begin_of = [&](const auto& one) {
      const auto address = found.module->address_at(one.first.location.offset);
      return address ? flow.function_around(*address).begin : 0;
    };
    code::visit_by_function(sampled.begin(), sampled.end(), begin_of, [&](const auto& one) {
      correct_place(*found.module, flow, code, one.first, one.second);
    });
  }

  void correct_place(const symbols::Module& module, code::ControlFlow& flow, SampledCode& code,
                     const SampledAt& at, std::uint64_t samples) {
    CorrectedEvent& event = events_.at(at.attribute);
    const SpreadPlace place = place_in(module, at.location);
    const NotJudged problem = place.is_linked ? flow.problem_at(place.address) : NotJudged::no_code;
    if (problem != NotJudged::none) {
      leave(event, place, samples, problem);
      return;
    }
    PlaceToJudge found{place, code.candidates_of(at, place.address, event.causes), {}};
    const CandidateSet all = all_of(found.candidates);
    found.samples[{all, all}] = samples;
    if (flow.is_cut()) {
      leave(event, place, samples, NotJudged::too_much_code);
      return;
    }
    const bool has_evidence = evidence_.has(at.attribute);
    if (!has_evidence) add(event, found, all, all, samples);
    if (has_evidence || keeps_places_) places_.emplace(at, std::move(found));
  }

  /// Returns the place of a sample that is judged by itself.
  Places::iterator find_place(const locate::VisitedRecord& visited) {
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr || sample->mode != perfdata::CpuMode::user || !visited.location) {
      return places_.end();
    }
    const auto found = places_.find({*visited.location, sample->ip, sample->attribute});
    if (found != places_.end()) return found;
    return places_.find({*visited.location, 0, sample->attribute});
  }

  /// Returns the candidates that agree with all evidence of a sample; where data address and branch
  /// record exclude each other, with the address.
  CandidateSet left_by(std::uint32_t attribute, const Agreement& agreement) const {
    const CandidateSet both = agreement.by_address & agreement.by_branch;
    return both != 0 && evidence_.trusts_branches(attribute) ? both : agreement.by_address;
  }

  void judge_samples() {
    const bool any = std::ranges::any_of(
        places_, [&](const auto& one) { return evidence_.has(one.first.attribute); });
    if (!any) return;
    profile_.visit({[&](const locate::VisitedRecord& visited) {
      const auto found = find_place(visited);
      if (found == places_.end() || !evidence_.has(found->first.attribute)) return;
      auto& [place, candidates, samples] = found->second;
      constexpr std::size_t kMostAgreements = 64;  // a program has few, registers may hold anything
      std::uint64_t& not_judged = samples[{all_of(candidates), all_of(candidates)}];
      if (not_judged == 0 || samples.size() > kMostAgreements) return;
      --not_judged;
      ++samples[evidence_.agreement(visited, candidates, place.address, /*is_counted=*/true)];
    }});
    for (const auto& [at, place] : places_) {
      if (!evidence_.has(at.attribute)) continue;
      CorrectedEvent& event = events_.at(at.attribute);
      const CandidateSet all = all_of(place.candidates);
      for (const auto& [agreement, samples] : place.samples) {
        if (samples == 0) continue;
        const CandidateSet left = left_by(at.attribute, agreement);
        add(event, place, agreement.by_address, left, samples);
        if (!only_one(left) || only_one(all)) continue;
        const auto by =
            only_one(agreement.by_address) ? DecidedBy::address : DecidedBy::branch_records;
        event.correction.decided_by[static_cast<std::size_t>(by)] += samples;
      }
    }
  }

  /// Adds samples of a place, each of which one of the candidates in `possible` caused, and likely
  /// one of `left`.
  static void add(CorrectedEvent& event, const PlaceToJudge& found, CandidateSet possible,
                  CandidateSet left, std::uint64_t samples) {
    EventCorrection& correction = event.correction;
    Spread spread{found.place, samples, {}, possible == 0 || (possible & kUnknownCandidate) != 0};
    const auto place_of = [&](std::size_t candidate) {
      return SpreadPlace{found.place.file, true, found.candidates.known[candidate].address};
    };
    for (std::size_t i = 0; i < found.candidates.known.size(); ++i) {
      if ((possible >> i & 1) != 0) spread.candidates.push_back(place_of(i));
    }
    const auto cause = only_one(left);
    if (cause) spread.likely = place_of(*cause);
    if (found.candidates.sampled_allowed && left == 0) event.only_sampled += samples;
    if (!found.candidates.sampled_allowed && left != 0) event.only_preceding += samples;
    std::uint64_t* count = &correction.undecided;
    if (left == 0) {
      count = &correction.unexplained;
    } else if (left == kUnknownCandidate) {
      count = &correction.unknown;
    } else if (cause) {
      count = *spread.likely == found.place ? &correction.in_place : &correction.moved;
    }
    *count += samples;
    event.spreads.push_back(std::move(spread));
  }

  const measure::Profile& profile_;
  bool keeps_places_;
  CorrectedEvents events_;
  locate::Filtered filtered_;
  Evidence evidence_;
  FileBiases biases_;
  code::CodeBudget budget_;
  Places places_;
};

}  // namespace

Correction correct(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.content(), source.file);
  if (!choices.output.empty()) check_rewritable(recording);
  locate::ModuleStore modules(choices.places);
  const measure::Profile profile(source, recording, modules, choices);
  Corrector corrector(profile, choices);
  Correction result;
  result.by = choices.by;
  result.filtered = corrector.filtered();
  bool any_corrected = false;
  corrector.correct();
  for (auto& [attribute, event] : corrector.events()) {
    any_corrected = any_corrected || is_corrected(event.correction.skid.verdict);
    event.correction.places = fold(std::move(event.spreads), choices.by, profile);
  }
  if (!choices.output.empty() && any_corrected) {
    write_corrected(
        recording, profile.digest,
        [&](const locate::VisitedRecord& visited) { return corrector.move_of(visited); },
        choices.output);
    result.is_written = true;
  }
  for (auto& [attribute, event] : corrector.events()) {
    result.events.push_back(std::move(event.correction));
  }
  profile.summarize(result);
  return result;
}

}  // namespace skid::correct
