#include "src/correct/correct.h"

#include "src/audit/sampled_file.h"
#include "src/correct/block_flow.h"
#include "src/correct/candidates.h"
#include "src/correct/flow.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/correct/shares.h"
#include "src/events/exactly_once.h"
#include "src/locate/digest.h"
#include "src/measure/event_description.h"
#include "src/measure/event_identity.h"
#include "src/perfdata/recording.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

namespace skid::correct {
namespace {

using analysis::NotJudged;

/// Samples of one event at one place of a file, in processes that map it alike.
struct Sampled {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;  ///< in the file
  std::uint64_t ip = 0;      ///< in recordings with a breakpoint
  std::uint32_t attribute = 0;
  std::uint64_t samples = 0;

  auto key() const { return std::tie(file, offset, ip, attribute); }
};

/// What stays to be decided of samples with several candidates.
struct OpenSplit {
  std::uint32_t attribute = 0;
  std::size_t share = 0;            ///< number of its Spread
  std::vector<std::size_t> way_of;  ///< by candidate: index in Ways::from; SIZE_MAX: none
  Ways ways;
  // For the estimate by block flow.
  std::uint64_t address = 0, ip = 0;
  Candidates candidates;
  Suspicion suspicion;
  std::vector<double> estimate;  ///< by candidate; empty: none
};

struct Event {
  perfdata::Attribute attribute;
  std::vector<events::Cause> causes;
  EventCorrection correction;
  std::vector<Spread> spreads;
  Moves moves;                       ///< of all samples at a place
  bool is_once = false;              ///< Suspicion::is_once
  std::uint64_t only_sampled = 0;    ///< samples that only the sampled instruction explains
  std::uint64_t only_preceding = 0;  ///< that only a preceding one does

  bool is_breakpoint() const { return attribute.type == perfdata::PERF_TYPE_BREAKPOINT; }
};

class Corrector {
 public:
  Corrector(perfdata::Recording& recording, const locate::Digest& digest,
            locate::ModuleStore& modules, By by)
      : recording_(recording), digest_(digest), modules_(modules), by_(by) {}

  void add(std::uint32_t attribute, Event event) { events_[attribute] = std::move(event); }
  /// Its samples are where instructions were executed.
  void add_instructions(std::uint32_t attribute, bool precise) {
    of_instructions_.insert(attribute);
    instructions_are_precise_ = precise;
  }

  std::vector<EventCorrection> correct() {
    digest_.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
    std::sort(sampled_.begin(), sampled_.end(),
              [](const Sampled& a, const Sampled& b) { return a.key() < b.key(); });
    std::sort(executed_.begin(), executed_.end());
    for (auto begin = sampled_.begin(); begin != sampled_.end();) {
      const auto end = std::find_if(begin, sampled_.end(),
                                    [&](const Sampled& one) { return one.file != begin->file; });
      correct_file({begin, end});
      begin = end;
    }
    split();
    std::vector<EventCorrection> corrections;
    for (auto& [attribute, event] : events_) corrections.push_back(finish(event));
    return corrections;
  }

  /// Of all events; after correct().
  const Moves& moves() const noexcept { return moves_; }

 private:
  /// Samples that stay where they were recorded.
  void leave(Event& event, const SpreadPlace& place, std::uint64_t samples, NotJudged reason) {
    event.correction.not_placed[static_cast<std::size_t>(reason)] += samples;
    event.spreads.push_back({place, samples, {place}, {samples}});
  }

  void take(const locate::LocatedSamples& located) {
    if (of_instructions_.contains(located.attribute) && located.location &&
        located.kind.mode() == perfdata::CpuMode::user) {
      executed_.push_back({located.location->file, located.location->offset, located.samples});
    }
    const auto entry = events_.find(located.attribute);
    if (entry == events_.end()) return;
    Event& event = entry->second;
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

  void correct_file(std::span<const Sampled> all) {
    const symbols::MappedFile& file = digest_.spaces.file(all.front().file);
    const auto found = modules_.find(file);
    NotJudged reason = NotJudged::none;
    if (found.module == nullptr) {
      reason = audit::reason_without_module(file, found);
    } else if (!found.module->has_code()) {
      reason = NotJudged::no_code;
    } else if (found.module->arch() != Arch::x86_64) {
      reason = NotJudged::architecture;
    }
    if (found.module != nullptr) note_biases(*found.module, all);
    if (reason != NotJudged::none) {
      for (const Sampled& one : all) {
        SpreadPlace place{one.file, one.offset};
        if (found.module != nullptr) place = place_in(*found.module, one);
        leave_unless_nothing_to_do(events_.at(one.attribute), place, one.samples, reason);
      }
      return;
    }
    Flow flow(*found.module, Arch::x86_64, audit::loop_of(found.path));
    // Functions can overlap; each is decoded once.
    std::vector<std::pair<std::uint64_t, const Sampled*>> by_function;
    for (const Sampled& one : all) {
      const auto address = found.module->address_at(one.offset);
      by_function.emplace_back(address ? flow.function_around(*address).begin : 0, &one);
    }
    std::stable_sort(by_function.begin(), by_function.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t first_open = open_.size();
    for (const auto& [begin, one] : by_function) correct_place(*found.module, flow, *one);
    estimate(*found.module, flow, all, std::span(open_).subspan(first_open));
  }

  static SpreadPlace place_in(const symbols::Module& module, const Sampled& one) {
    const auto address = module.address_at(one.offset);
    if (!address) return {one.file, one.offset};
    return {one.file, *address, true};
  }

  void leave_unless_nothing_to_do(Event& event, const SpreadPlace& place, std::uint64_t samples,
                                  NotJudged reason) {
    if (event.correction.skid.verdict == Verdict::nothing_to_correct) {
      event.correction.in_place += samples;
      event.spreads.push_back({place, samples, {place}, {samples}});
    } else {
      leave(event, place, samples, reason);
    }
  }

  /// Where the processes of a recording with a breakpoint mapped a file.
  void note_biases(const symbols::Module& module, std::span<const Sampled> all) {
    for (const Sampled& one : all) {
      const auto address = module.address_at(one.offset);
      if (address && one.ip != 0) biases_[one.file].insert(one.ip - *address);
    }
  }

  /// Whether the watched bytes are data of a file: of the one at hand, or of another one that all
  /// processes mapped at the same address.
  bool is_data_of_file(std::uint64_t watched, symbols::FileIndex file, std::uint64_t bias) {
    const auto contains = [&](symbols::FileIndex other, std::uint64_t at) {
      const auto* module = modules_.find(digest_.spaces.file(other)).module;
      if (module == nullptr) return false;
      const auto ranges = module->loaded_ranges();
      return std::any_of(ranges.begin(), ranges.end(),
                         [&](const AddressRange& range) { return range.contains(watched - at); });
    };
    if (contains(file, bias)) return true;
    return std::any_of(biases_.begin(), biases_.end(), [&](const auto& other) {
      return other.second.size() == 1 && contains(other.first, *other.second.begin());
    });
  }

  Suspicion suspicion_of(const Event& event, const Sampled& one, std::uint64_t address) {
    Suspicion suspicion;
    suspicion.skid = event.correction.skid.instructions.value_or(1);
    suspicion.causes = event.causes;
    suspicion.is_once = event.is_once;
    suspicion.is_breakpoint = event.is_breakpoint();
    if (!suspicion.is_breakpoint) return suspicion;
    constexpr std::uint32_t kWrite = 2;  // HW_BREAKPOINT_W
    const std::uint64_t bias = one.ip - address;
    suspicion.writes_only = event.attribute.bp_type == kWrite;
    suspicion.watched = event.attribute.config1 - bias;
    suspicion.length = std::max<std::uint64_t>(event.attribute.config2, 1);
    const std::tuple key(one.attribute, one.file, bias);
    const auto known = stack_is_elsewhere_.find(key);
    suspicion.stack_is_elsewhere =
        known != stack_is_elsewhere_.end()
            ? known->second
            : stack_is_elsewhere_
                  .emplace(key, is_data_of_file(event.attribute.config1, one.file, bias))
                  .first->second;
    return suspicion;
  }

  void correct_place(const symbols::Module& module, Flow& flow, const Sampled& one) {
    Event& event = events_.at(one.attribute);
    EventCorrection& correction = event.correction;
    const SpreadPlace place = place_in(module, one);
    if (by_ == By::block) remember_block(flow, place);
    if (correction.skid.verdict == Verdict::nothing_to_correct || !place.is_linked) {
      leave_unless_nothing_to_do(event, place, one.samples, NotJudged::no_code);
      return;
    }
    const NotJudged problem = flow.problem_at(place.address);
    if (problem != NotJudged::none) {
      leave(event, place, one.samples, problem);
      return;
    }
    const Suspicion suspicion = suspicion_of(event, one, place.address);
    const auto candidates = candidates_of(flow, place.address, suspicion);
    if (candidates.sampled_allowed && candidates.none()) event.only_sampled += one.samples;
    if (!candidates.sampled_allowed && !candidates.none()) event.only_preceding += one.samples;
    Spread spread{place, one.samples, {}, {}};
    for (const Candidate& candidate : candidates.known) {
      spread.candidates.push_back({one.file, candidate.address, true});
      if (by_ == By::block) remember_block(flow, spread.candidates.back());
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
      if (!stays) event.moves[{one.attribute, {one.file, one.offset}, one.ip}] = distance;
    } else {
      correction.split += one.samples;
      open_.push_back(open_split(flow, event, one, place.address, candidates));
      open_.back().suspicion = suspicion;
      if (candidates.unknown) spread.candidates.push_back(place);
    }
    event.spreads.push_back(std::move(spread));
  }

  OpenSplit open_split(Flow& flow, const Event& event, const Sampled& one, std::uint64_t address,
                       const Candidates& candidates) {
    OpenSplit open;
    open.attribute = one.attribute;
    open.share = event.spreads.size();
    open.ways.attribute = one.attribute;
    open.ways.file = one.file;
    open.ways.offset = one.offset;
    for (const Candidate& candidate : candidates.known) {
      if (candidate.leads_from == address) {  // itself: no way leads there
        open.way_of.push_back(SIZE_MAX);
        continue;
      }
      const std::uint64_t from = one.offset + (candidate.leads_from - address);
      auto& ways = open.ways.from;
      const auto known = std::find(ways.begin(), ways.end(), from);
      open.way_of.push_back(static_cast<std::size_t>(known - ways.begin()));
      if (known != ways.end()) continue;
      ways.push_back(from);
      const auto instruction = flow.instruction_at(candidate.leads_from);
      if (instruction && candidate.leads_from + instruction->length == address) {
        open.ways.falls_from = ways.size() - 1;
      }
    }
    open.address = address;
    open.ip = one.ip;
    open.candidates = candidates;
    return open;
  }

  /// Of the addresses of a process from those of its file; 0 where no breakpoint depends on it.
  static std::uint64_t distance_of(std::uint64_t ip, std::uint64_t address) {
    return ip == 0 ? 0 : ip - address;
  }

  /// Estimates what led to the splits of a file by the samples `all` there.
  void estimate(const symbols::Module& module, Flow& flow, std::span<const Sampled> all,
                std::span<OpenSplit> splits) {
    if (splits.empty()) return;
    // Samples by event, distance of the process's addresses, and link-time address.
    std::map<std::tuple<std::uint32_t, std::uint64_t, std::uint64_t>, double> samples;
    for (const Sampled& one : all) {
      const auto address = module.address_at(one.offset);
      if (!address) continue;
      samples[{one.attribute, distance_of(one.ip, *address), *address}] +=
          static_cast<double>(one.samples);
    }
    std::map<std::pair<std::uint32_t, std::uint64_t>, BlockFlow> flows;
    for (OpenSplit& open : splits) {
      const std::pair key(open.attribute, distance_of(open.ip, open.address));
      const symbols::FileIndex file = open.ways.file;
      Evidence evidence;
      evidence.event = [&samples, key](std::uint64_t address) {
        const auto found = samples.find({key.first, key.second, address});
        return found == samples.end() ? 0 : found->second;
      };
      const std::uint64_t distance = open.ways.offset - open.address;
      if (!executed_.empty()) {
        evidence.instructions = [this, file, distance](std::uint64_t address) {
          return executed(file, {address + distance, address + distance + 1});
        };
        evidence.precise = instructions_are_precise_;
      }
      auto& block_flow = flows.try_emplace(key, flow, open.suspicion, evidence).first->second;
      open.estimate = block_flow.weights(open.address, open.candidates);
    }
  }

  /// Samples of `instructions` events in those bytes of a file.
  double executed(symbols::FileIndex file, AddressRange offsets) const {
    double samples = 0;
    auto at = std::lower_bound(executed_.begin(), executed_.end(),
                               std::tuple(file, offsets.begin, std::uint64_t{0}));
    for (; at != executed_.end() && std::get<0>(*at) == file && std::get<1>(*at) < offsets.end;
         ++at) {
      samples += static_cast<double>(std::get<2>(*at));
    }
    return samples;
  }

  void remember_block(Flow& flow, const SpreadPlace& place) {
    if (!place.is_linked) return;
    blocks_.emplace(std::pair(place.file, place.address), flow.block_at(place.address).range.begin);
  }

  /// Shares by the ways that branch records show; empty where they show none.
  static std::vector<double> weights_by_ways(const OpenSplit& open, const WayCounts& ways,
                                             std::size_t candidates) {
    std::vector<double> weights;
    double sum = 0;
    for (const std::size_t way : open.way_of) {
      if (way == SIZE_MAX) return {};
      const auto sharing = std::count(open.way_of.begin(), open.way_of.end(), way);
      weights.push_back(static_cast<double>(ways.from[way]) / static_cast<double>(sharing));
      sum += weights.back();
    }
    if (weights.size() < candidates) {  // the last one is what is not known
      weights.push_back(static_cast<double>(ways.elsewhere));
      sum += weights.back();
    }
    return sum > 0 ? weights : std::vector<double>();
  }

  static bool shows_nothing(const std::vector<double>& weights) {
    return std::all_of(weights.begin(), weights.end(), [](double one) { return one <= 0; });
  }

  void split() {
    std::vector<Ways> ways;
    for (OpenSplit& open : open_) ways.push_back(std::move(open.ways));
    const auto counted = count_ways(recording_, digest_.spaces, ways);
    for (std::size_t i = 0; i < open_.size(); ++i) {
      const OpenSplit& open = open_[i];
      Event& event = events_.at(open.attribute);
      Spread& spread = event.spreads[open.share];
      std::vector<double> weights;
      if (!counted.empty()) weights = weights_by_ways(open, counted[i], spread.candidates.size());
      SplitBy by = SplitBy::branch_records;
      if (weights.empty()) {
        weights = open.estimate;
        by = executed_.empty() ? SplitBy::blocks : SplitBy::instructions;
      }
      if (shows_nothing(weights)) {
        weights.assign(spread.candidates.size(), 1);
        by = SplitBy::equal_shares;
      }
      event.correction.split_by[static_cast<std::size_t>(by)] += spread.recorded;
      spread.samples = apportion(spread.recorded, weights);
    }
  }

  /// Why the counts contradict the model; empty: they do not.
  static std::string misfit_of(const Event& event) {
    const EventCorrection& c = event.correction;
    const std::uint64_t placed = c.moved + c.in_place + c.split + c.unexplained + c.unknown;
    if (placed == 0) {
      return c.samples == 0 ? "" : "no sample is at code whose control flow is known";
    }
    // McNemar's test of two shares of the same samples: chi-square of one degree of freedom, 0.1%.
    constexpr double kSignificant = 10.83;
    const auto sampled = static_cast<double>(event.only_sampled);
    const auto preceding = static_cast<double>(event.only_preceding);
    const double difference = sampled - preceding;
    if (difference > 0 && difference * difference > kSignificant * (sampled + preceding)) {
      return fmt::format(
          "the sampled instructions explain the event better than their predecessors do: {} "
          "samples only the former, {} only the latter, of {}",
          event.only_sampled, event.only_preceding, placed);
    }
    const double share = static_cast<double>(c.unexplained) / static_cast<double>(placed);
    if (share > kMostUnexplained) {
      return fmt::format(
          "{} of {} samples follow no instruction that can have caused the event, more than "
          "{:.0f}%",
          c.unexplained, placed, 100 * kMostUnexplained);
    }
    return {};
  }

  EventCorrection finish(Event& event) {
    EventCorrection& correction = event.correction;
    if (correction.skid.verdict == Verdict::corrected) {
      correction.skid.reason = misfit_of(event);
      if (!correction.skid.reason.empty()) {
        correction.skid.verdict = Verdict::refused;
        correction.skid.advice = "'skidscan audit' shows which samples contradict the event";
        correction.moved = correction.in_place = correction.split = 0;
        correction.split_by = {};
        event.spreads.clear();
        event.moves.clear();
      }
    }
    moves_.merge(event.moves);
    correction.places = fold(event.spreads, by_, {digest_.spaces, modules_, blocks_});
    return std::move(correction);
  }

  perfdata::Recording& recording_;
  const locate::Digest& digest_;
  locate::ModuleStore& modules_;
  By by_;
  std::map<std::uint32_t, Event> events_;  ///< by attribute
  std::set<std::uint32_t> of_instructions_;
  bool instructions_are_precise_ = false;
  std::vector<Sampled> sampled_;
  /// File, offset and samples of `instructions` events, ascending.
  std::vector<std::tuple<symbols::FileIndex, std::uint64_t, std::uint64_t>> executed_;
  std::map<symbols::FileIndex, std::set<std::uint64_t>> biases_;
  std::map<std::tuple<std::uint32_t, symbols::FileIndex, std::uint64_t>, bool> stack_is_elsewhere_;
  std::vector<OpenSplit> open_;
  Moves moves_;
  Blocks blocks_;
};

EventCorrection describe_event(const perfdata::Attribute& attribute, const measure::Source& source,
                               analysis::Measurement described) {
  EventCorrection correction;
  correction.recorded = attribute.name;
  correction.requested = described.event.requested.value_or("");
  correction.event = std::move(described.event.label);
  correction.level = static_cast<int>(attribute.precise_ip);
  if (source.planned != nullptr) {
    correction.period = source.planned->period;
  } else if (!attribute.frequency) {
    correction.period = attribute.period_or_frequency;
  }
  return correction;
}

bool is_selected(const std::vector<std::string>& names, const analysis::Measurement& described) {
  const auto& event = described.event;
  return names.empty() || std::any_of(names.begin(), names.end(), [&](const std::string& name) {
           return name == event.label || name == event.recorded || name == event.requested;
         });
}

bool counts_instructions(const measure::EventKnowledge& knowledge) {
  return knowledge.counted == events::Counted::instructions;
}

}  // namespace

std::string_view name_of(By by) {
  constexpr std::array<std::string_view, 4> kNames{"instruction", "line", "block", "function"};
  return kNames.at(static_cast<std::size_t>(by));
}

std::optional<By> by_named(std::string_view name) {
  for (const By by : {By::instruction, By::line, By::block, By::function}) {
    if (name_of(by) == name) return by;
  }
  return std::nullopt;
}

std::string_view name_of(SplitBy by) {
  constexpr std::array<std::string_view, kSplitBys> kNames{"equal_shares", "blocks", "instructions",
                                                           "branch_records"};
  return kNames.at(static_cast<std::size_t>(by));
}

Correction correct(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.file);
  if (!choices.output.empty()) check_rewritable(recording);
  const auto digest = locate::digest(recording, {.cores = choices.cores});
  if (perfdata::is_corrected(recording.features())) {
    throw InputError({.file = source.file.string(),
                      .offset = {},
                      .found = "samples that were corrected before",
                      .allowed = "a recording as perf made it",
                      .remedy = "correct the original"});
  }
  locate::ModuleStore modules(choices.places);
  modules.expect_machine(measure::recorded_machine(recording.features(), source.run).cpu.arch);
  if (source.run != nullptr) {
    for (const auto& target : source.run->targets) {
      modules.add_candidate(source.run_directory / target.file);
    }
  }
  measure::RecordedCpu cpu(measure::recorded_machine(recording.features(), source.run),
                           choices.perfmon, choices.catalogues);
  Correction result;
  result.run = source.run_directory.string();
  result.file = source.file.string();
  result.by = choices.by;
  result.synthetic = perfdata::is_synthetic(recording.features()) ||
                     (source.run != nullptr && source.run->synthetic);
  const auto& attributes = recording.attributes();
  std::vector<std::uint64_t> exact(attributes.size());
  digest.located.for_each([&](const locate::LocatedSamples& located) {
    if (located.kind.exact()) exact[located.attribute] += located.samples;
  });
  const auto requested = measure::requested_by_attribute(recording);
  Corrector corrector(recording, digest, modules, choices.by);
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    const perfdata::Attribute& attribute = attributes[index];
    if (attribute.is_dummy() || measure::is_cross_check(attribute, source)) continue;
    const std::string pmu = measure::pmu_name(recording.features(), attribute);
    const auto knowledge = cpu.know(attribute, pmu);
    if (counts_instructions(knowledge))
      corrector.add_instructions(index, attribute.precise_ip >= 2);
    auto described =
        measure::describe_measurement(source, recording, cpu.machine(), index, requested[index]);
    result.recorded_events.push_back(described.event.label);
    if (!is_selected(choices.events, described)) continue;
    Event event;
    event.attribute = attribute;
    event.causes = measure::causes_of(knowledge).causes;
    event.is_once =
        knowledge.event && events::caused_once_by(knowledge.cpu, *knowledge.event).has_value();
    event.correction = describe_event(attribute, source, std::move(described));
    event.correction.skid = skid_of({.attribute = attribute,
                                     .pmu_name = pmu,
                                     .knowledge = knowledge,
                                     .machine = cpu.machine(),
                                     .of_run = source.run != nullptr,
                                     .synthetic = result.synthetic,
                                     .exact = exact[index]},
                                    choices.measured);
    corrector.add(index, std::move(event));
  }
  result.events = corrector.correct();
  if (!choices.output.empty() && !corrector.moves().empty()) {
    write_corrected(recording, digest.spaces, corrector.moves(), choices.output);
    result.is_written = true;
  }
  const machine::CpuIdentity& identity = cpu.machine().cpu;
  result.cpu = {identity.vendor,   identity.model_name, identity.family, identity.model,
                identity.stepping, identity.microcode,  identity.arch,   identity.hypervisor};
  result.kernel = cpu.machine().kernel;
  for (const auto& remark : modules.remarks()) result.remarks.push_back(remark.text);
  result.faults = recording.faults();
  result.read_in_part = recording.read_in_part();
  result.particulars.push_back(fmt::format("{}: {}", result.file, cpu.catalogue_name()));
  return result;
}

}  // namespace skid::correct
