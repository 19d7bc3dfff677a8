#include "src/correct/correct.h"

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "src/audit/rule.h"
#include "src/audit/sampled_file.h"
#include "src/code/code_budget.h"
#include "src/code/control_flow.h"
#include "src/correct/candidates.h"
#include "src/correct/fit.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/correct/skid.h"
#include "src/correct/splits.h"
#include "src/correct/spread.h"
#include "src/events/causes.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/filter.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/recording.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::symbols {
struct MappedFile;
}  // namespace skid::symbols

namespace skid::correct {
namespace {

using analysis::NotJudged;

/// The bytes that breakpoints on data watch, as link-time addresses of the files that processes
/// map. Operands in code have link-time addresses, but a breakpoint has one in the process.
///
/// Example: a sample at 0x555555555139 is at the link-time address 0x1139 of its file. So its
/// `bias` is 0x555555554000, and a breakpoint at 0x555555558028 watches the link-time address
/// 0x4028.
class WatchedData {
 public:
  explicit WatchedData(const measure::Profile& profile)
      : spaces_(profile.digest.spaces),
        modules_(profile.modules),
        fuses_as_intel_(profile.machine().cpu.vendor == "GenuineIntel") {}

  /// Notes where processes mapped the file that the samples are in.
  void add_mappings(const symbols::Module& module, std::span<const Sampled> samples) {
    for (const Sampled& one : samples) {
      const auto address = module.address_at(one.offset);
      if (address && one.ip != 0) biases_[one.file].insert(one.ip - *address);
    }
  }

  /// Returns what can have caused samples of `event` at a link-time address of a file. To be called
  /// after add_mappings() was called for all files.
  Suspicion suspicion_of(const CorrectedEvent& event, const Sampled& one, std::uint64_t address) {
    Suspicion suspicion;
    suspicion.skid = event.correction.skid.instructions.value_or(1);
    suspicion.causes = event.causes;
    suspicion.fuses_as_intel = fuses_as_intel_;
    suspicion.is_breakpoint = event.attribute.type == PERF_TYPE_BREAKPOINT;
    if (!suspicion.is_breakpoint) return suspicion;
    constexpr std::uint32_t kWrite = 2;  // HW_BREAKPOINT_W
    const std::uint64_t bias = one.ip - address;
    suspicion.writes_only = event.attribute.bp_type == kWrite;
    suspicion.watched = event.attribute.config1 - bias;
    suspicion.bias = bias;
    suspicion.length = std::max<std::uint64_t>(event.attribute.config2, 1);
    const std::tuple key(one.attribute, one.file, bias);
    const auto [known, is_new] = places_.try_emplace(key);
    Place& place = known->second;
    if (is_new) {
      place.stack_is_elsewhere = is_data_of_file(event.attribute.config1, one.file, bias);
      place.read_only = read_only(event.attribute.config1, one.file, bias);
    }
    suspicion.stack_is_elsewhere = place.stack_is_elsewhere;
    suspicion.read_only = place.read_only;
    return suspicion;
  }

 private:
  /// Whether the watched bytes are data of `file`, or of another file that all processes mapped at
  /// the same address.
  bool is_data_of_file(std::uint64_t watched, symbols::FileIndex file, std::uint64_t bias) {
    const auto contains = [&](symbols::FileIndex other, std::uint64_t at) {
      const auto* module = modules_.find(spaces_.file(other)).module;
      if (module == nullptr) return false;
      const auto ranges = module->loaded_ranges();
      return std::ranges::any_of(
          ranges, [&](const AddressRange& range) { return range.contains(watched - at); });
    };
    if (contains(file, bias)) return true;
    return std::ranges::any_of(biases_, [&](const auto& other) {
      return other.second.size() == 1 && contains(other.first, *other.second.begin());
    });
  }

  /// Returns the read-only parts of a file. Empty if processes have it at other addresses than its
  /// own, or if the watched bytes are in one of them.
  std::vector<AddressRange> read_only(std::uint64_t watched, symbols::FileIndex file,
                                      std::uint64_t bias) {
    const auto* module = modules_.find(spaces_.file(file)).module;
    if (module == nullptr || bias != 0) return {};
    auto ranges = module->loaded_ranges(/*writable_too=*/false);
    const bool is_constant =
        std::ranges::any_of(ranges, [&](const AddressRange& one) { return one.contains(watched); });
    return is_constant ? std::vector<AddressRange>() : std::move(ranges);
  }

  const symbols::AddressSpaces& spaces_;
  locate::ModuleStore& modules_;
  bool fuses_as_intel_;
  /// The differences between the addresses in processes and those of the file, by file.
  std::map<symbols::FileIndex, std::set<std::uint64_t>> biases_;
  /// The members of Suspicion that are equal for all samples with one `bias`.
  struct Place {
    bool stack_is_elsewhere = false;
    std::vector<AddressRange> read_only;
  };
  /// The known places, by event, file and bias.
  std::map<std::tuple<std::uint32_t, symbols::FileIndex, std::uint64_t>, Place> places_;
};

SpreadPlace place_in(const symbols::Module& module, const Sampled& one) {
  const auto address = module.address_at(one.offset);
  if (!address) return {one.file, false, one.offset};
  return {one.file, true, *address};
}

/// Assigns the samples of a recording's events to the instructions that caused them.
class Corrector {
 public:
  /// Selects the events of `choices` and determines their skids. Throws InputError if the recording
  /// was corrected before.
  Corrector(const measure::Profile& profile, const Choices& choices)
      : profile_(profile),
        keeps_blocks_(choices.by == By::block),
        keeps_moves_(!choices.output.empty()),
        filtered_(profile.digest.filtered),
        watched_(profile) {
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
      event.causes = recorded.causes;
      event.correction.identity = recorded.identity;
      event.correction.level = recorded.precise.recorded;
      event.correction.period = recorded.period;
      event.correction.skid = skid_of(recorded, choices.measured);
    }
  }

  /// Must be called only once.
  CorrectedEvents& correct() {
    profile_.digest.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
    // Each file is corrected with the mappings of all files, whatever their order.
    for (auto& [file, all] : sampled_) {
      std::ranges::sort(all, {}, &Sampled::key);
      const auto found = profile_.modules.find(profile_.digest.spaces.file(file));
      if (found.module != nullptr) watched_.add_mappings(*found.module, all);
    }
    for (const auto& [file, all] : sampled_) correct_file(all);
    sampled_.clear();  // there may be millions
    splits_.decide(profile_, events_);
    for (auto& [attribute, event] : events_) judge_fit(event);
    return events_;
  }

  /// Returns what Choices::filter selected.
  const locate::Filtered& filtered() const noexcept { return filtered_; }
  /// Returns where the blocks of all places begin. Empty before correct(), and without By::block.
  const Blocks& blocks() const noexcept { return blocks_; }

 private:
  /// Leaves samples where they were recorded.
  static void leave(CorrectedEvent& event, const SpreadPlace& place, std::uint64_t samples,
                    NotJudged reason) {
    event.correction.not_placed[static_cast<std::size_t>(reason)] += samples;
    event.spreads.push_back({place, samples, {place}, {samples}, true});
  }

  static void leave_unless_nothing_to_do(CorrectedEvent& event, const SpreadPlace& place,
                                         std::uint64_t samples, NotJudged reason) {
    if (event.correction.skid.verdict == Verdict::nothing_to_correct) {
      event.correction.in_place += samples;
      event.spreads.push_back({place, samples, {place}, {samples}});
    } else {
      leave(event, place, samples, reason);
    }
  }

  void take(const locate::LocatedSamples& located) {
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
    const NotJudged reason = audit::reason_of_mode(located, profile_.arch());
    if (reason != NotJudged::none) {
      if (reason == NotJudged::kernel && located.location) place.address = located.ip;
      leave(event, place, located.samples, reason);
    } else if (!located.location) {
      leave(event, place, located.samples, NotJudged::unmapped);
    } else {
      sampled_[located.location->file].push_back({located.location->file, located.location->offset,
                                                  located.ip, located.attribute, located.samples});
    }
  }

  void correct_file(std::span<const Sampled> all) {
    const symbols::MappedFile& file = profile_.digest.spaces.file(all.front().file);
    const auto found = profile_.modules.find(file);
    NotJudged reason = audit::reason_of_file(file, found);
    if (reason == NotJudged::none && found.module->arch() != Arch::x86_64) {
      reason = NotJudged::architecture;
    }
    if (reason != NotJudged::none) {
      for (const Sampled& one : all) {
        SpreadPlace place{one.file, false, one.offset};
        if (found.module != nullptr) place = place_in(*found.module, one);
        leave_unless_nothing_to_do(events_.at(one.attribute), place, one.samples, reason);
      }
      return;
    }
    code::ControlFlow flow(*found.module, Arch::x86_64, audit::loop_of(found.path), budget_);
    // Functions can overlap; each is decoded once.
    std::multimap<std::uint64_t, const Sampled*> by_function;
    for (const Sampled& one : all) {
      const auto address = found.module->address_at(one.offset);
      by_function.emplace(address ? flow.function_around(*address).begin : 0, &one);
    }
    const auto unfused = unfused_jumps(*found.module, flow, all);
    for (const auto& [begin, one] : by_function) correct_place(*found.module, flow, *one, unfused);
  }

  /// Returns the conditional jumps whose samples only the instruction before them explains.
  std::set<std::uint64_t> unfused_jumps(const symbols::Module& module, code::ControlFlow& flow,
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
      const auto candidates =
          candidates_of(flow, *address, watched_.suspicion_of(event, one, *address));
      if (candidates.unknown || candidates.known.size() != 1) continue;
      const std::uint64_t before = candidates.known.front().address;
      const auto first = flow.instruction_at(before);
      if (first && before + first->length == *address) unfused.insert(*address);
    }
    return unfused;
  }

  /// `unfused`: from unfused_jumps().
  void correct_place(const symbols::Module& module, code::ControlFlow& flow, const Sampled& one,
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
    Suspicion suspicion = watched_.suspicion_of(event, one, place.address);
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
      spread.candidates.push_back({one.file, true, candidate.address});
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

  void keep_block(code::ControlFlow& flow, const SpreadPlace& place) {
    if (!place.is_linked) return;
    blocks_.emplace(std::pair(place.file, place.address), flow.block_at(place.address).begin);
  }

  const measure::Profile& profile_;
  bool keeps_blocks_, keeps_moves_;
  CorrectedEvents events_;
  locate::Filtered filtered_;
  std::map<symbols::FileIndex, std::vector<Sampled>> sampled_;
  WatchedData watched_;
  code::CodeBudget budget_;
  Splits splits_;
  Blocks blocks_;
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
  Moves moves;
  bool any_corrected = false;
  for (auto& [attribute, event] : corrector.correct()) {
    moves.merge(event.moves);
    any_corrected = any_corrected || is_corrected(event.correction.skid.verdict);
    event.correction.places =
        fold(std::move(event.spreads), choices.by, profile, corrector.blocks());
    result.events.push_back(std::move(event.correction));
  }
  if (!choices.output.empty() && any_corrected) {
    write_corrected(recording, profile.digest, moves, choices.output);
    result.is_written = true;
  }
  profile.summarize(result);
  return result;
}

}  // namespace skid::correct
