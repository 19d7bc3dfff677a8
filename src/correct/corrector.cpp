#include "src/correct/corrector.h"

#include "src/audit/sampled_file.h"
#include "src/correct/candidates.h"
#include "src/correct/model_fit.h"
#include "src/perfdata/format.h"
#include "src/support/error.h"

#include <algorithm>
#include <utility>

namespace skid::correct {
namespace {

using analysis::NotJudged;

SpreadPlace place_in(const symbols::Module& module, const Sampled& one) {
  const auto address = module.address_at(one.offset);
  if (!address) return {one.file, one.offset};
  return {one.file, *address, true};
}

}  // namespace

Corrector::Corrector(const measure::Profile& profile, const Choices& choices)
    : profile_(profile),
      keeps_blocks_(choices.by == By::block),
      keeps_moves_(!choices.output.empty()),
      filtered_(profile.digest.filtered),
      watched_(profile.digest.spaces, profile.modules) {
  if (perfdata::is_corrected(profile.recording.features())) {
    throw InputError({.file = profile.source.file.string(),
                      .offset = {},
                      .found = "samples that were corrected before",
                      .expected = "a recording as perf made it",
                      .remedy = "correct the original"});
  }
  for (const measure::RecordedEvent& recorded : profile.events) {
    if (!profile.selects(recorded, choices.filter, filtered_)) continue;
    CorrectedEvent& event = events_[recorded.index];
    event.attribute = recorded.attribute;
    event.causes = measure::causes_of(recorded.knowledge).causes;
    event.correction = EventCorrection(measure::event_summary(recorded));
    event.correction.skid = skid_of(recorded, choices.measured);
  }
}

CorrectedEvents& Corrector::correct() {
  profile_.digest.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
  std::ranges::sort(sampled_, {}, &Sampled::key);
  std::vector<std::span<const Sampled>> files;
  // Each file is corrected with the mappings of all files, whatever their order.
  for (auto begin = sampled_.begin(); begin != sampled_.end();) {
    const auto end = std::find_if(begin, sampled_.end(),
                                  [&](const Sampled& one) { return one.file != begin->file; });
    files.emplace_back(begin, end);
    const auto found = profile_.modules.find(profile_.digest.spaces.file(begin->file));
    if (found.module != nullptr) watched_.add_mappings(*found.module, files.back());
    begin = end;
  }
  for (const auto& of_file : files) correct_file(of_file);
  splits_.decide(profile_, events_);
  for (auto& [attribute, event] : events_) judge_fit(event);
  return events_;
}

/// Samples that stay where they were recorded.
void Corrector::leave(CorrectedEvent& event, const SpreadPlace& place, std::uint64_t samples,
                      NotJudged reason) {
  event.correction.not_placed[static_cast<std::size_t>(reason)] += samples;
  event.spreads.push_back({place, samples, {place}, {samples}, true});
}

void Corrector::leave_unless_nothing_to_do(CorrectedEvent& event, const SpreadPlace& place,
                                           std::uint64_t samples, NotJudged reason) {
  if (event.correction.skid.verdict == Verdict::nothing_to_correct) {
    event.correction.in_place += samples;
    event.spreads.push_back({place, samples, {place}, {samples}});
  } else {
    leave(event, place, samples, reason);
  }
}

void Corrector::take(const locate::LocatedSamples& located) {
  const auto entry = events_.find(located.attribute);
  if (entry == events_.end()) return;
  CorrectedEvent& event = entry->second;
  event.correction.samples += located.samples;
  if (event.correction.skid.verdict == Verdict::refused) return;
  SpreadPlace place;
  if (located.location) {
    place.file = located.location->file;
    place.address = located.location->offset;
  }
  const auto reason = audit::reason_of_mode(located.kind.mode());
  if (reason) {
    if (*reason == NotJudged::kernel) place.address = located.ip;
    leave(event, place, located.samples, *reason);
  } else if (!located.location) {
    leave(event, place, located.samples, NotJudged::unmapped);
  } else {
    sampled_.push_back({located.location->file, located.location->offset, located.ip,
                        located.attribute, located.samples});
  }
}

void Corrector::correct_file(std::span<const Sampled> all) {
  const symbols::MappedFile& file = profile_.digest.spaces.file(all.front().file);
  const auto found = profile_.modules.find(file);
  NotJudged reason = NotJudged::none;
  if (found.module == nullptr) {
    reason = audit::reason_without_module(file, found);
  } else if (!found.module->has_code()) {
    reason = NotJudged::no_code;
  } else if (found.module->arch() != Arch::x86_64) {
    reason = NotJudged::architecture;
  }
  if (reason != NotJudged::none) {
    for (const Sampled& one : all) {
      SpreadPlace place{one.file, one.offset};
      if (found.module != nullptr) place = place_in(*found.module, one);
      leave_unless_nothing_to_do(events_.at(one.attribute), place, one.samples, reason);
    }
    return;
  }
  Flow flow(*found.module, Arch::x86_64, audit::loop_of(found.path), budget_);
  // Functions can overlap; each is decoded once.
  std::vector<std::pair<std::uint64_t, const Sampled*>> by_function;
  for (const Sampled& one : all) {
    const auto address = found.module->address_at(one.offset);
    by_function.emplace_back(address ? flow.function_around(*address).begin : 0, &one);
  }
  std::ranges::stable_sort(by_function, {}, [](const auto& one) { return one.first; });
  const auto unfused = unfused_jumps(*found.module, flow, all);
  for (const auto& [begin, one] : by_function) correct_place(*found.module, flow, *one, unfused);
}

Suspicion Corrector::suspicion_of(const CorrectedEvent& event, const Sampled& one,
                                  std::uint64_t address) {
  Suspicion suspicion = watched_.suspicion_of(event, one, address);
  suspicion.fuses_as_intel = profile_.machine().cpu.vendor == "GenuineIntel";
  return suspicion;
}

std::set<std::uint64_t> Corrector::unfused_jumps(const symbols::Module& module, Flow& flow,
                                                 std::span<const Sampled> all) {
  std::set<std::uint64_t> unfused;
  for (const Sampled& one : all) {
    const CorrectedEvent& event = events_.at(one.attribute);
    const auto address = module.address_at(one.offset);
    const bool is_trap = event.attribute.type == PERF_TYPE_BREAKPOINT &&
                         event.correction.skid.verdict == Verdict::corrected;
    if (!is_trap || !address || flow.problem_at(*address) != NotJudged::none) continue;
    const auto jump = flow.instruction_at(*address);
    if (!jump || jump->flow != instructions::Flow::conditional) continue;
    const auto candidates = candidates_of(flow, *address, suspicion_of(event, one, *address));
    if (candidates.unknown || candidates.known.size() != 1) continue;
    const std::uint64_t before = candidates.known.front().address;
    const auto first = flow.instruction_at(before);
    if (first && before + first->length == *address) unfused.insert(*address);
  }
  return unfused;
}

void Corrector::correct_place(const symbols::Module& module, Flow& flow, const Sampled& one,
                              const std::set<std::uint64_t>& unfused) {
  CorrectedEvent& event = events_.at(one.attribute);
  EventCorrection& correction = event.correction;
  const SpreadPlace place = place_in(module, one);
  if (keeps_blocks_) keep_block(flow, place);
  if (correction.skid.verdict == Verdict::nothing_to_correct || !place.is_linked) {
    leave_unless_nothing_to_do(event, place, one.samples, NotJudged::no_code);
    return;
  }
  const NotJudged problem = flow.problem_at(place.address);
  if (problem != NotJudged::none) {
    leave(event, place, one.samples, problem);
    return;
  }
  Suspicion suspicion = suspicion_of(event, one, place.address);
  suspicion.unfused = &unfused;
  const auto candidates = candidates_of(flow, place.address, suspicion);
  if (flow.is_cut()) {
    leave(event, place, one.samples, NotJudged::too_much_code);
    return;
  }
  if (candidates.sampled_allowed && candidates.none()) event.only_sampled += one.samples;
  if (!candidates.sampled_allowed && !candidates.none()) event.only_preceding += one.samples;
  Spread spread{place, one.samples, {}, {}, candidates.unknown || candidates.known.empty()};
  for (const Candidate& candidate : candidates.known) {
    spread.candidates.push_back({one.file, candidate.address, true});
    if (keeps_blocks_) keep_block(flow, spread.candidates.back());
  }
  if (candidates.known.empty()) {
    (candidates.unknown ? correction.unknown : correction.unexplained) += one.samples;
    spread.candidates = {place};
    spread.samples = {one.samples};
  } else if (candidates.known.size() == 1 && !candidates.unknown) {
    const bool stays = candidates.known.front().address == place.address;
    (stays ? correction.in_place : correction.moved) += one.samples;
    spread.samples = {one.samples};
    const std::uint64_t distance = spread.candidates.front().address - place.address;
    if (!stays && keeps_moves_)
      event.moves[{one.attribute, {one.file, one.offset}, one.ip}] = distance;
  } else {
    correction.split += one.samples;
    if (candidates.unknown) {
      spread.candidates.push_back(place);
      event.may_be_elsewhere += one.samples;
    }
    splits_.add(flow, event, one, place.address, candidates, spread);
  }
  event.spreads.push_back(std::move(spread));
}

void Corrector::keep_block(Flow& flow, const SpreadPlace& place) {
  if (!place.is_linked) return;
  blocks_.emplace(std::pair(place.file, place.address), flow.block_at(place.address).begin);
}

}  // namespace skid::correct
