#include "src/correct/correct.h"

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "src/audit/rule.h"
#include "src/audit/sampled_file.h"
#include "src/code/by_function.h"
#include "src/code/code_budget.h"
#include "src/code/control_flow.h"
#include "src/code/file_code.h"
#include "src/correct/candidates.h"
#include "src/correct/evidence.h"
#include "src/correct/fit.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/correct/skid.h"
#include "src/correct/spread.h"
#include "src/events/causes.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/filter.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/module.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>

namespace skid::symbols {
struct MappedFile;
}  // namespace skid::symbols

namespace skid::correct {
namespace {

using analysis::NotJudged;

/// Samples of one event at one place of a file. In recordings with a breakpoint they have one `ip`,
/// so that their processes map the file at the same address; else it is 0.
struct SampledAt : symbols::FileLocation {
  std::uint64_t ip = 0;
  std::uint32_t attribute = 0;

  friend auto operator<=>(const SampledAt&, const SampledAt&) = default;
};

/// Numbers of samples by event and place, in the order of places.
using SamplesAt = std::map<SampledAt, std::uint64_t>;

/// `module`: of the location's file; null: it is missing.
SpreadPlace place_in(const symbols::Module* module, const symbols::FileLocation& location) {
  const auto address = module != nullptr ? module->address_at(location.offset) : std::nullopt;
  return {location.file, address.has_value(), address.value_or(location.offset)};
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
      : profile_(profile), filtered_(profile.digest.filtered), evidence_(profile) {
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
    find_watched_data(sampled);
    code::for_each_file(sampled, [&](symbols::FileIndex file, auto begin, auto end) {
      correct_file(file, begin, end);
    });
    judge_samples();
    for (auto& [attribute, event] : events_) judge_fit(event);
  }

  CorrectedEvents& events() noexcept { return events_; }

  /// Returns by how many bytes a sample moves, after correct(); nullopt: it stays.
  std::optional<std::uint64_t> move_of(const locate::VisitedRecord& visited) {
    const auto found = find_place(visited);
    if (found == places_.end()) return std::nullopt;
    const auto& [at, sampled] = *found;
    const auto& [place, candidates, samples] = sampled;
    if (!is_corrected(events_.at(at.attribute).correction.skid.verdict)) return std::nullopt;
    const auto cause =
        only_one(left_by(at.attribute, evidence_.agreement(visited, candidates, place.address)));
    if (!cause || candidates.known[*cause].address == place.address) return std::nullopt;
    return candidates.known[*cause].address - place.address;
  }

  /// Returns what Choices::filter selected.
  const locate::Filtered& filtered() const noexcept { return filtered_; }

 private:
  /// A file whose code is decoded.
  struct File {
    code::ControlFlow flow;
    witness::FileAccesses accesses{flow};
    std::set<std::uint64_t> unfused = {};  ///< conditional jumps, see Suspicion
  };

  /// A place with its candidates.
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
    const NotJudged reason = audit::reason_of_mode(located, profile_.arch());
    const auto& location = located.location;
    if (!location) {
      leave(event, {}, located.samples, reason == NotJudged::none ? NotJudged::unmapped : reason);
    } else if (reason != NotJudged::none) {
      const bool is_kernel = reason == NotJudged::kernel;
      leave(event, {location->file, false, is_kernel ? located.ip : location->offset},
            located.samples, reason);
    } else {
      sampled[{*location, located.ip, located.attribute}] += located.samples;
    }
  }

  /// Notes which breakpoints watch data of a file.
  ///
  /// Example: a sample at 0x555555555139 is at the link-time address 0x1139 of its file. So the
  /// file has the bias 0x555555554000, and a breakpoint at 0x555555558028 watches the link-time
  /// address 0x4028.
  void find_watched_data(const SamplesAt& sampled) {
    std::set<std::pair<const symbols::Module*, std::uint64_t>> biases;
    for (const auto& [at, samples] : sampled) {
      const auto* module = profile_.modules.find(profile_.digest.spaces.file(at.file)).module;
      const SpreadPlace place = place_in(module, at);
      if (place.is_linked && at.ip != 0) biases.emplace(module, at.ip - place.address);
    }
    std::vector<AddressRange> data;
    for (const auto& [module, bias] : biases) {
      for (const AddressRange& range : module->loaded_ranges()) {
        data.push_back({range.begin + bias, range.end + bias});
      }
    }
    join(data);
    for (auto& [attribute, event] : events_) {
      event.watches_file = contains(data, profile_.events[attribute].attribute.config1);
    }
  }

  void correct_file(symbols::FileIndex index, SamplesAt::const_iterator begin,
                    SamplesAt::const_iterator end) {
    const symbols::MappedFile& mapped = profile_.digest.spaces.file(index);
    const auto found = profile_.modules.find(mapped);
    NotJudged reason = audit::reason_of_file(mapped, found);
    if (reason == NotJudged::none && found.module->arch() != Arch::x86_64) {
      reason = NotJudged::architecture;
    }
    const auto leave_at = [&](const SamplesAt::value_type& sampled, NotJudged why) {
      const auto& [at, samples] = sampled;
      leave(events_.at(at.attribute), place_in(found.module, at), samples, why);
    };
    if (reason != NotJudged::none) {
      std::for_each(begin, end, [&](const auto& sampled) { leave_at(sampled, reason); });
      return;
    }
    File file{{*found.module, audit::loop_of(found.path), budget_}};
    for (auto one = begin; one != end; ++one) {
      const auto address = found.module->address_at(one->first.offset);
      if (!address) {
        leave_at(*one, NotJudged::no_code);
      } else {
        note_trap(file, one->first, *address);
      }
    }
    const auto note_place = [&](const SamplesAt::value_type& sampled, std::uint64_t address) {
      const auto& [at, samples] = sampled;
      NotJudged problem = file.flow.problem_at(address);
      PlaceToJudge place{place_in(found.module, at), {}, {}};
      if (problem == NotJudged::none) {
        place.candidates = candidates_of(file, at, address);
        if (file.flow.file().is_cut()) problem = NotJudged::too_much_code;
      }
      if (problem != NotJudged::none) return leave_at(sampled, problem);
      const CandidateSet all = all_of(place.candidates);
      place.samples[{all, all}] = samples;
      places_.emplace(at, std::move(place));
    };
    code::visit_by_function(file.flow.file(), begin, end, note_place);
  }

  /// Notes whether samples of a breakpoint are at a conditional jump that only the instruction
  /// before it explains: it is not fused with that. Called before candidates_of() for all samples
  /// of the file.
  void note_trap(File& file, const SampledAt& at, std::uint64_t address) {
    const bool is_trap = profile_.events[at.attribute].attribute.type == PERF_TYPE_BREAKPOINT;
    if (!is_trap || file.flow.problem_at(address) != NotJudged::none) return;
    const auto jump = file.flow.instruction_at(address);
    if (!jump || jump->flow != instructions::Flow::conditional) return;
    const Candidates candidates = candidates_of(file, at, address);
    if (candidates.unknown || candidates.known.size() != 1) return;
    if (candidates.known.front().falls_through) file.unfused.insert(address);
  }

  /// Returns the candidates of samples, whose link-time address is `address`.
  Candidates candidates_of(File& file, const SampledAt& at, std::uint64_t address) {
    const perfdata::Attribute& attribute = profile_.events[at.attribute].attribute;
    const CorrectedEvent& event = events_.at(at.attribute);
    Suspicion suspicion{.causes = event.causes,
                        .fuses_as_intel = profile_.machine().cpu.vendor == "GenuineIntel",
                        .unfused = &file.unfused};
    if (attribute.type == PERF_TYPE_BREAKPOINT) {
      suspicion.watched = {.ip = at.ip,
                           .address = attribute.config1,
                           .bytes = std::max<std::uint64_t>(attribute.config2, 1)};
      suspicion.writes_only = attribute.bp_type == HW_BREAKPOINT_W;
      suspicion.stack_is_elsewhere = event.watches_file;
    }
    return find_candidates(file.flow, file.accesses, address, suspicion);
  }

  /// Returns the place of a sample.
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
    if (any) {
      profile_.visit({[&](const locate::VisitedRecord& visited) {
        const auto found = find_place(visited);
        if (found == places_.end() || !evidence_.has(found->first.attribute)) return;
        auto& [place, candidates, samples] = found->second;
        constexpr std::size_t kMostAgreements = 64;  // few in programs; registers may hold anything
        std::uint64_t& not_judged = samples[{all_of(candidates), all_of(candidates)}];
        if (not_judged == 0 || samples.size() > kMostAgreements) return;
        --not_judged;
        ++samples[evidence_.agreement(visited, candidates, place.address)];
      }});
    }
    evidence_.conclude();
    for (const auto& [at, place] : places_) {
      CorrectedEvent& event = events_.at(at.attribute);
      for (const auto& [agreement, samples] : place.samples) {
        if (samples > 0) {
          add(event, place, agreement, left_by(at.attribute, agreement), samples);
        }
      }
    }
  }

  /// Adds samples of a place, each of which one of the candidates that agree with its address
  /// caused, and likely one of `left`.
  static void add(CorrectedEvent& event, const PlaceToJudge& found, const Agreement& agreement,
                  CandidateSet left, std::uint64_t samples) {
    const Candidates& candidates = found.candidates;
    const CandidateSet possible = agreement.by_address;
    EventCorrection& correction = event.correction;
    Spread spread{found.place, samples, {}, possible == 0 || (possible & kUnknownCandidate) != 0};
    const auto place_of = [&](std::size_t candidate) {
      return SpreadPlace{found.place.file, true, candidates.known[candidate].address};
    };
    for (std::size_t i = 0; i < candidates.known.size(); ++i) {
      if ((possible >> i & 1) != 0) spread.candidates.push_back(place_of(i));
    }
    const auto cause = only_one(left);
    if (cause) spread.likely = place_of(*cause);
    if (candidates.sampled_allowed && left == 0) event.only_sampled += samples;
    if (!candidates.sampled_allowed && left != 0) event.only_preceding += samples;
    std::uint64_t* count = &correction.undecided;
    if (left == 0) {
      count = &correction.unexplained;
    } else if (left == kUnknownCandidate) {
      count = &correction.unknown;
    } else if (cause) {
      count = *spread.likely == found.place ? &correction.in_place : &correction.moved;
    }
    *count += samples;
    if (cause && !only_one(all_of(candidates))) {
      const auto by = only_one(possible) ? DecidedBy::address : DecidedBy::branch_records;
      correction.decided_by[static_cast<std::size_t>(by)] += samples;
    }
    event.spreads.push_back(std::move(spread));
  }

  const measure::Profile& profile_;
  CorrectedEvents events_;
  locate::Filtered filtered_;
  Evidence evidence_;
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
  corrector.correct();
  Correction result;
  result.by = choices.by;
  result.filtered = corrector.filtered();
  for (auto& [attribute, event] : corrector.events()) {
    event.correction.places = fold(std::move(event.spreads), choices.by, profile);
    result.is_written |= !choices.output.empty() && is_corrected(event.correction.skid.verdict);
  }
  if (result.is_written) {
    write_corrected(
        recording, profile.digest,
        [&](const locate::VisitedRecord& visited) { return corrector.move_of(visited); },
        choices.output);
  }
  for (auto& [attribute, event] : corrector.events()) {
    result.events.push_back(std::move(event.correction));
  }
  profile.summarize(result);
  return result;
}

}  // namespace skid::correct
