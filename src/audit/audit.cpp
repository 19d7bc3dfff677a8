#include "src/audit/audit.h"

#include "src/audit/data_address.h"
#include "src/audit/data_source.h"
#include "src/audit/file_judge.h"
#include "src/audit/ordered_samples.h"
#include "src/audit/sampled_file.h"
#include "src/locate/digest.h"
#include "src/measure/data_addresses.h"
#include "src/measure/event_description.h"
#include "src/measure/event_identity.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/precision_lost.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/symbols/disassembler.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace skid::audit {
namespace {

using events::Verdict;
using perfdata::CpuMode;

/// An event, its rule and its causes.
struct EventToJudge {
  perfdata::Attribute attribute;
  EventRule rule;
  std::vector<events::Cause> causes;  ///< of Rule::sampled and Rule::predecessor
  BlockRule blocks = {};
  bool is_pebs = false;
};

enum class InBlocks : std::uint8_t {
  no,
  judged,
  inexact,  ///< blocks with such samples are not judged
};

/// Samples of one event that are judged by one rule at one place of a file.
struct PlaceToJudge {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;
  std::uint32_t attribute = 0;
  Rule rule = Rule::none;  ///< none: the samples are judged by their blocks alone
  InBlocks in_blocks = InBlocks::no;
  std::uint64_t samples = 0;

  auto key() const { return std::tie(file, offset, attribute, rule, in_blocks); }
};

/// The rule of one sample's kind.
std::variant<Rule, NotJudged> rule_of_sample(const EventToJudge& event, perfdata::SampleKind kind) {
  if (event.rule.rule == Rule::none) return event.rule.reason;
  if (event.rule.rule == Rule::execute_breakpoint) {
    // Compares addresses, and no code.
    if (kind.mode() != CpuMode::user && kind.mode() != CpuMode::kernel) return NotJudged::guest;
    return event.rule.rule;
  }
  if (const auto reason = reason_of_mode(kind.mode())) return *reason;
  if (event.rule.rule == Rule::sampled && !kind.exact()) return NotJudged::not_exact;
  // IBS and its like are exact at level 1 already.
  if (event.rule.rule == Rule::predecessor && kind.exact()) return Rule::sampled;
  return event.rule.rule;
}

class Auditor {
 public:
  /// `arch`: as recorded; nullopt: not recorded.
  Auditor(const locate::Digest& digest, locate::ModuleStore& modules, std::optional<Arch> arch,
          const Choices& choices)
      : digest_(digest), modules_(modules), arch_(arch), choices_(choices) {}

  /// Of events with a fixed period.
  std::map<std::uint32_t, BlockRule> rules_of_order() const {
    std::map<std::uint32_t, BlockRule> rules;
    for (const auto& [attribute, event] : events_) {
      const bool is_fixed = event.audit.period.value_or(0) > 0;
      if (is_fixed && event.to_judge.blocks.judges()) rules[attribute] = event.to_judge.blocks;
    }
    return rules;
  }

  void add(std::uint32_t attribute, EventToJudge event, EventAudit audit) {
    Event& added = events_[attribute];
    added.to_judge = std::move(event);
    added.audit = std::move(audit);
  }

  /// Samples that were not judged for want of a file with code.
  const std::map<symbols::FileIndex, std::uint64_t>& missing() const { return missing_; }

  /// `ordered`: of the events of rules_of_order().
  std::vector<EventAudit> audit(std::span<const OrderedSample> ordered) {
    digest_.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
    judge_places();
    while (!ordered.empty()) {
      const std::uint32_t attribute = ordered.front().attribute;
      const auto end = std::find_if(ordered.begin(), ordered.end(), [&](const auto& sample) {
        return sample.attribute != attribute;
      });
      const auto size = static_cast<std::size_t>(end - ordered.begin());
      add_order(events_.at(attribute), ordered.first(size));
      ordered = ordered.subspan(size);
    }
    std::vector<EventAudit> audits;
    for (auto& [attribute, event] : events_) audits.push_back(finish(event));
    return audits;
  }

 private:
  struct Found {
    symbols::FileIndex file = 0;
    std::uint64_t offset = 0;  ///< sampled, in the file; of an execute breakpoint the address
    bool is_place = true;      ///< whether `file` and `offset` are set
    Judgement judgement;
    std::uint64_t samples = 0;
  };
  struct PlaceNumber {
    std::size_t loop = 0;
    std::uint32_t place = 0;
  };
  struct Event {
    EventToJudge to_judge;
    EventAudit audit;
    std::vector<Found> found;  ///< one a place that was judged
    std::vector<BlockFinding> blocks;
    std::vector<LoopFinding> loops;
    /// Of the places of `loops` that have samples.
    std::map<std::pair<symbols::FileIndex, std::uint64_t>, PlaceNumber> numbers;
    /// Samples to be judged by their blocks, by what is wanting for it; none: nothing.
    std::map<NotJudged, std::uint64_t> by_want;
  };

  static bool needs_code(const PlaceToJudge& place) {
    return place.rule != Rule::none || place.in_blocks == InBlocks::judged;
  }

  /// Places of a file by where their functions begin.
  using ByFunction = std::vector<std::pair<std::uint64_t, const PlaceToJudge*>>;

  void leave_out(EventAudit& audit, NotJudged reason, std::uint64_t samples) {
    audit.not_judged[static_cast<std::size_t>(reason)] += samples;
    if (reason == NotJudged::unknown_cause) {
      audit.verdicts[static_cast<std::size_t>(Verdict::unknown)] += samples;
    }
  }

  /// Judges samples that need no code, and collects the places of the rest.
  void take(const locate::LocatedSamples& located) {
    const auto entry = events_.find(located.attribute);
    if (entry == events_.end()) return;
    Event& event = entry->second;
    event.audit.samples += located.samples;
    const auto rule = rule_of_sample(event.to_judge, located.kind);
    const InBlocks in_blocks = in_blocks_of(event.to_judge.blocks, located);
    const bool is_judged = std::holds_alternative<Rule>(rule);
    if (in_blocks != InBlocks::no && !is_judged) add_place(located, Rule::none, in_blocks);
    if (const NotJudged* reason = std::get_if<NotJudged>(&rule)) {
      leave_out(event.audit, *reason, located.samples);
    } else if (std::get<Rule>(rule) == Rule::execute_breakpoint) {
      Judgement judgement;
      const bool is_there = located.ip == event.to_judge.attribute.config1;
      judgement.verdict = is_there ? Verdict::can : Verdict::never;
      judgement.address = located.ip;
      Found found{0, located.ip, false, judgement, located.samples};
      if (located.location) {
        found.file = located.location->file;
        found.offset = located.location->offset;
        found.is_place = true;
      }
      enter(event, found);
    } else if (!located.location) {
      leave_out(event.audit, NotJudged::unmapped, located.samples);
    } else {
      add_place(located, std::get<Rule>(rule), in_blocks);
    }
  }

  static InBlocks in_blocks_of(const BlockRule& rule, const locate::LocatedSamples& located) {
    if (!located.location) return InBlocks::no;
    if (rule.takes(located.kind)) return InBlocks::judged;
    return rule.lacks_exact(located.kind) ? InBlocks::inexact : InBlocks::no;
  }

  void add_place(const locate::LocatedSamples& located, Rule rule, InBlocks in_blocks) {
    places_.push_back({located.location->file, located.location->offset, located.attribute, rule,
                       in_blocks, located.samples});
  }

  void enter(Event& event, const Found& found) {
    if (found.judgement.verdict == Verdict::unknown) {
      leave_out(event.audit, NotJudged::unknown_cause, found.samples);
      return;
    }
    event.audit.judged += found.samples;
    event.audit.verdicts[static_cast<std::size_t>(found.judgement.verdict)] += found.samples;
    event.found.push_back(found);
  }

  /// By file, so that one file's branches and one function's code are in memory at a time.
  void judge_places() {
    std::sort(places_.begin(), places_.end(),
              [](const PlaceToJudge& a, const PlaceToJudge& b) { return a.key() < b.key(); });
    merge_equal_places();
    for (auto begin = places_.begin(); begin != places_.end();) {
      const auto end = std::find_if(begin, places_.end(), [&](const PlaceToJudge& place) {
        return place.file != begin->file;
      });
      judge_file({begin, end});
      begin = end;
    }
    places_ = {};
  }

  void merge_equal_places() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < places_.size(); ++i) {
      if (kept > 0 && places_[kept - 1].key() == places_[i].key()) {
        places_[kept - 1].samples += places_[i].samples;
      } else {
        places_[kept++] = places_[i];
      }
    }
    places_.resize(kept);
  }

  void judge_file(std::span<const PlaceToJudge> places) {
    const symbols::MappedFile& file = digest_.spaces.file(places.front().file);
    const auto found = modules_.find(file);
    if (found.module == nullptr) {
      const NotJudged reason = reason_without_module(file, found);
      for (const PlaceToJudge& place : places) {
        Event& event = events_.at(place.attribute);
        if (needs_code(place)) {
          if (reason != NotJudged::anonymous) missing_[place.file] += place.samples;
          if (place.in_blocks == InBlocks::judged) event.by_want[reason] += place.samples;
        }
        if (place.rule != Rule::none) leave_out(event.audit, reason, place.samples);
      }
      return;
    }
    FileJudge judge(*found.module, arch_, loop_of(found.path));
    // Functions can overlap; each is decoded once.
    ByFunction by_function;
    by_function.reserve(places.size());
    for (const PlaceToJudge& place : places) {
      by_function.emplace_back(judge.begin_of_function(place.offset), &place);
      if (found.module->has_code() || !needs_code(place)) continue;
      missing_[place.file] += place.samples;
      if (place.in_blocks == InBlocks::judged) {
        events_.at(place.attribute).by_want[NotJudged::no_code] += place.samples;
      }
    }
    std::stable_sort(by_function.begin(), by_function.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto first = by_function.begin(); first != by_function.end();) {
      const auto last = std::find_if(
          first, by_function.end(), [&](const auto& place) { return place.first != first->first; });
      const std::span<const ByFunction::value_type> function(first, last);
      judge_function(judge, function);
      find_blocks(judge, function, file.path, *found.module);
      first = last;
    }
  }

  void judge_function(FileJudge& judge, std::span<const ByFunction::value_type> places) {
    for (const auto& [begin, one] : places) {
      const PlaceToJudge& place = *one;
      if (place.rule == Rule::none) continue;
      Event& event = events_.at(place.attribute);
      const Answer answer = judge.judge(event.to_judge.causes, place.rule, place.offset);
      if (const NotJudged* reason = std::get_if<NotJudged>(&answer)) {
        leave_out(event.audit, *reason, place.samples);
      } else {
        if (!arch_) event.audit.rule = judge.rule_here(event.audit.rule);
        enter(event, {place.file, place.offset, true, std::get<Judgement>(answer), place.samples});
      }
    }
  }

  /// Collects the blocks of a function for all events at once.
  void find_blocks(FileJudge& judge, std::span<const ByFunction::value_type> places,
                   const std::string& path, const symbols::Module& module) {
    std::map<std::uint32_t, SamplesByAddress> by_event;
    std::map<std::uint32_t, std::uint64_t> sums;
    for (const auto& [begin, place] : places) {
      const auto at_address = module.address_at(place->offset);
      if (place->in_blocks == InBlocks::no || !at_address) continue;
      SampledAt& at = by_event[place->attribute][*at_address];
      if (place->in_blocks == InBlocks::inexact) {
        at.has_inexact = true;
        continue;
      }
      at.samples += place->samples;
      sums[place->attribute] += place->samples;
      if (module.has_code())
        events_.at(place->attribute).by_want[NotJudged::none] += place->samples;
    }
    const auto address = module.address_at(places.front().second->offset);
    if (!address) return;
    std::optional<FileJudge::Blocks> blocks;
    for (const auto& [attribute, at] : by_event) {
      if (sums[attribute] < kFewestOfBlock) continue;
      if (!blocks) blocks = judge.blocks_around(*address);
      if (!blocks) return;
      Event& event = events_.at(attribute);
      const EvenEvent even = event.to_judge.blocks.event();
      auto judged = samples_of_blocks(*blocks->code, blocks->blocks, even, at);
      if (judged.empty()) continue;
      const std::size_t first_loop = event.loops.size();
      for (LoopSamples& loop : samples_of_loops(*blocks->code, blocks->blocks, even, at)) {
        event.loops.push_back({std::move(loop)});
      }
      const std::size_t end_loop = event.loops.size();
      for (BlockSamples& block : judged) {
        std::size_t loop = loop_of_block(event.loops, first_loop, end_loop, block.range);
        if (loop == end_loop) {
          loop = event.loops.size();
          event.loops.push_back({{block, {}}});
        }
        event.blocks.push_back({path, blocks->function, std::move(block), {}, loop});
      }
      std::map<std::uint64_t, PlaceNumber> numbers;  // by sampled address
      for (std::size_t loop = first_loop; loop < event.loops.size(); ++loop) {
        const auto& of_loop = event.loops[loop].samples.all.places;
        for (std::uint32_t i = 0; i < of_loop.size(); ++i) {
          std::uint64_t sampled = of_loop[i].address;
          if (even.rule == Rule::predecessor) {
            sampled += blocks->code->steps()[*blocks->code->find(sampled)].length;
          }
          numbers[sampled] = {loop, i};
        }
      }
      for (const auto& [begin, place] : places) {
        const auto number = numbers.find(module.address_at(place->offset).value_or(0));
        if (place->attribute != attribute || number == numbers.end()) continue;
        event.numbers[{place->file, place->offset}] = number->second;
      }
    }
  }

  /// The loop that contains a block, of those from `first` to `end`, which are disjoint and
  /// ascending; `end`: none does.
  static std::size_t loop_of_block(const std::vector<LoopFinding>& loops, std::size_t first,
                                   std::size_t end, const AddressRange& block) {
    const auto at = [&](std::size_t i) { return loops.begin() + static_cast<std::ptrdiff_t>(i); };
    const auto after = std::upper_bound(at(first), at(end), block.begin,
                                        [](std::uint64_t address, const LoopFinding& loop) {
                                          return address < loop.samples.all.range.begin;
                                        });
    if (after == at(first)) return end;
    const auto loop = after - 1;
    if (block.end > loop->samples.all.range.end) return end;
    return static_cast<std::size_t>(loop - loops.begin());
  }

  /// What the order of samples shows of the loops.
  void add_order(Event& event, std::span<const OrderedSample> samples) {
    std::vector<analysis::SampleOrderTest> tests(event.loops.size());
    for (LoopFinding& loop : event.loops) {
      if (!event.to_judge.is_pebs) break;
      const auto& distances = loop.samples.distances;
      loop.pairs.distances = distances;
      loop.pairs.iteration = std::accumulate(distances.begin(), distances.end(), std::uint64_t{0});
    }
    std::vector<std::uint32_t> run;
    std::size_t of_loop = 0;
    const auto end_run = [&] {
      if (run.empty()) return;
      tests[of_loop].add(run);
      analysis::SamplePairs& pairs = event.loops[of_loop].pairs;
      for (std::size_t i = 1; i < run.size() && !pairs.distances.empty(); ++i) {
        pairs.add(run[i - 1], run[i], *event.audit.period);
      }
      run.clear();
    };
    const OrderedSample* last = nullptr;
    for (const OrderedSample& sample : samples) {
      const auto number = event.numbers.find({sample.location.file, sample.location.offset});
      const bool is_place = number != event.numbers.end();
      const bool goes_on = last != nullptr && last->tid == sample.tid &&
                           last->stretch == sample.stretch && is_place &&
                           number->second.loop == of_loop;
      if (!goes_on) end_run();
      last = &sample;
      if (!is_place) continue;
      of_loop = number->second.loop;
      run.push_back(number->second.place);
    }
    end_run();
    for (std::size_t i = 0; i < tests.size(); ++i) event.loops[i].order = tests[i].finish();
  }

  struct Position {
    std::string function;
    std::uint64_t begin = 0;  ///< of the function; of the file without one
    std::uint64_t address = 0;
    const symbols::Module* module = nullptr;
    std::string path;
  };

  Position position_of(const Found& found) {
    Position position;
    position.address = found.offset;
    if (!found.is_place) return position;
    const symbols::MappedFile& file = digest_.spaces.file(found.file);
    position.path = file.path;
    position.module = modules_.find(file).module;
    if (position.module == nullptr) return position;
    const auto address = position.module->address_at(found.offset);
    if (!address) return position;
    position.address = *address;
    if (auto function = position.module->function_at(*address)) {
      position.function = std::move(function->name);
      position.begin = function->range.begin;
    }
    return position;
  }

  bool is_shown(const EventAudit& audit, std::uint64_t impossible) const {
    return static_cast<double>(impossible) >=
           choices_.min_share * static_cast<double>(audit.judged);
  }

  EventAudit finish(Event& event) {
    EventAudit& audit = event.audit;
    const std::uint64_t impossible = audit.verdicts[static_cast<std::size_t>(Verdict::never)];
    audit.impossible = analysis::wilson_interval(impossible, audit.judged);
    std::sort(event.found.begin(), event.found.end(), [](const Found& a, const Found& b) {
      const bool first = a.judgement.verdict == Verdict::never;
      const bool second = b.judgement.verdict == Verdict::never;
      if (first != second) return first;
      return std::tie(b.samples, a.file, a.offset, a.judgement.verdict) <
             std::tie(a.samples, b.file, b.offset, b.judgement.verdict);
    });
    add_functions(event);
    add_instructions(event);
    const auto want = std::max_element(
        event.by_want.begin(), event.by_want.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    audit.bias = judge_blocks(
        std::move(event.blocks), std::move(event.loops), event.to_judge.blocks,
        want == event.by_want.end() ? NotJudged::none : want->first, choices_.delay, choices_.top);
    return std::move(audit);
  }

  void add_functions(Event& event) {
    EventAudit& audit = event.audit;
    std::map<std::tuple<std::string, std::string, std::uint64_t>, FunctionFinding> functions;
    for (const Found& found : event.found) {
      Position position = position_of(found);
      FunctionFinding& function = functions[{position.path, position.function, position.begin}];
      function.judged += found.samples;
      if (found.judgement.verdict == Verdict::never) function.impossible += found.samples;
    }
    audit.all_functions = functions.size();
    for (auto& [key, function] : functions) {
      std::tie(function.module, function.function, std::ignore) = key;
      if (function.impossible > 0) ++audit.impossible_functions;
      if (is_shown(audit, function.impossible)) audit.functions.push_back(std::move(function));
    }
    std::stable_sort(audit.functions.begin(), audit.functions.end(),
                     [](const FunctionFinding& a, const FunctionFinding& b) {
                       return std::tie(b.impossible, b.judged) < std::tie(a.impossible, a.judged);
                     });
    if (audit.functions.size() > choices_.top) audit.functions.resize(choices_.top);
  }

  void add_instructions(Event& event) {
    EventAudit& audit = event.audit;
    for (const Found& found : event.found) {
      const bool is_impossible = found.judgement.verdict == Verdict::never;
      if (is_impossible) ++audit.impossible_instructions;
      if (!is_impossible && !choices_.all) continue;
      if (audit.instructions.size() >= choices_.top) continue;
      if (!is_shown(audit, is_impossible ? found.samples : 0)) continue;
      audit.instructions.push_back(describe(found));
    }
  }

  InstructionFinding describe(const Found& found) {
    const Position position = position_of(found);
    InstructionFinding instruction;
    instruction.module = position.path;
    instruction.function = position.function;
    instruction.address = position.address;
    instruction.offset = position.address - position.begin;
    instruction.categories = found.judgement.categories;
    instruction.verdict = found.judgement.verdict;
    instruction.samples = found.samples;
    const bool has_code = found.judgement.end != 0;
    instruction.judged_address = has_code ? found.judgement.address : position.address;
    if (position.module == nullptr) return instruction;
    if (auto line = position.module->line_at(instruction.judged_address)) {
      instruction.source_file = std::move(line->file);
      instruction.source_line = line->line;
    }
    if (const auto arch = position.module->arch()) {
      const std::uint64_t begin = instruction.judged_address;
      constexpr std::uint64_t kLongest = 15;
      const std::uint64_t end = has_code ? found.judgement.end : begin + kLongest;
      const auto code = position.module->code({begin, end});
      const std::size_t most = has_code ? 2 : 1;
      for (const auto& one : symbols::Disassembler(*arch).decode(code, begin, most)) {
        instruction.text += (instruction.text.empty() ? "" : "; ") + one.text;
      }
    }
    return instruction;
  }

  const locate::Digest& digest_;
  locate::ModuleStore& modules_;
  std::optional<Arch> arch_;
  const Choices& choices_;
  std::map<std::uint32_t, Event> events_;  ///< by attribute
  std::vector<PlaceToJudge> places_;
  std::map<symbols::FileIndex, std::uint64_t> missing_;
};

/// The files that samples and branch records lack, each once.
std::vector<MissingFile> missing_files(const locate::Digest& digest,
                                       const std::vector<locate::ModuleStore::Remark>& remarks,
                                       const std::map<symbols::FileIndex, std::uint64_t>& samples,
                                       const std::map<symbols::FileIndex, std::uint64_t>& records) {
  std::map<symbols::FileIndex, MissingFile> files;
  for (const auto& [file, count] : samples) files[file].samples = count;
  for (const auto& [file, count] : records) files[file].branch_records = count;
  std::vector<MissingFile> missing;
  for (auto& [file, counts] : files) {
    const symbols::MappedFile& mapped = digest.spaces.file(file);
    counts.file = mapped.path;
    counts.build_id = mapped.build_id;
    const auto remark = std::find_if(remarks.begin(), remarks.end(), [&](const auto& one) {
      return one.mapped == mapped.path && one.build_id == mapped.build_id;
    });
    if (remark != remarks.end()) counts.remark = remark->text;
    missing.push_back(std::move(counts));
  }
  std::stable_sort(missing.begin(), missing.end(), [](const MissingFile& a, const MissingFile& b) {
    return std::tie(b.samples, b.branch_records) < std::tie(a.samples, a.branch_records);
  });
  return missing;
}

/// By attribute, as measure::address_source(). The record of an event that is not precise can be of
/// another instruction than its data address.
std::vector<std::optional<analysis::AddressSource>> address_sources(
    const perfdata::Recording& recording, measure::RecordedCpu& cpu) {
  std::vector<std::optional<analysis::AddressSource>> sources;
  for (const perfdata::Attribute& attribute : recording.attributes()) {
    auto& source = sources.emplace_back();
    if (!attribute.has(PERF_SAMPLE_ADDR) || attribute.is_dummy()) continue;
    const std::string pmu = measure::pmu_name(recording.features(), attribute);
    const auto knowledge = cpu.know(attribute, pmu);
    if (knowledge.imprecise()) continue;
    source = measure::address_source(attribute, pmu, knowledge, cpu.machine());
  }
  return sources;
}

}  // namespace

Audit audit(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.file);
  const auto digest = locate::digest(recording, {.cores = choices.cores});
  locate::ModuleStore modules(choices.places);
  modules.expect_machine(measure::recorded_machine(recording.features(), source.run).cpu.arch);
  measure::add_targets(source, modules);
  measure::RecordedCpu cpu(measure::recorded_machine(recording.features(), source.run),
                           choices.perfmon, choices.catalogues);
  const auto& attributes = recording.attributes();
  const auto counters = static_cast<std::size_t>(
      std::count_if(attributes.begin(), attributes.end(), [&](const auto& attribute) {
        return measure::takes_counter(attribute,
                                      measure::pmu_name(recording.features(), attribute));
      }));
  const auto requested = measure::requested_by_attribute(recording);

  const auto arch = measure::arch_of(cpu.machine().cpu);
  const auto data_sources = check_data_sources(recording, digest, modules, cpu.machine().cpu, arch);
  const auto data_addresses =
      check_data_addresses(recording, digest, modules, address_sources(recording, cpu), arch);
  BranchAudit branches =
      audit_branch_records(recording, digest, modules, cpu.machine().cpu, arch, choices.top);
  Auditor auditor(digest, modules, arch, choices);
  const std::vector<std::uint64_t> exact = locate::exact_samples(digest);
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    const perfdata::Attribute& attribute = attributes[index];
    if (attribute.is_dummy() || measure::is_cross_check(attribute, source)) continue;
    const std::string pmu = measure::pmu_name(recording.features(), attribute);
    const auto knowledge = cpu.know(attribute, pmu);
    auto described =
        measure::describe_measurement(source, recording, cpu.machine(), index, requested[index]);
    std::string lost = measure::precision_lost({attribute, described, pmu,
                                                measure::exact_ip_of(attribute, pmu, cpu.machine()),
                                                digest.totals[index].samples, exact[index]});
    if (!lost.empty()) described.warnings.push_back(std::move(lost));
    EventAudit event(measure::event_summary(attribute, source, described.event));
    event.warnings = std::move(described.warnings);
    const bool most_are_exact = 2 * exact[index] >= digest.totals[index].samples;
    EventToJudge to_judge{attribute,
                          rule_of(attribute, knowledge, arch),
                          {},
                          BlockRule(attribute, knowledge, most_are_exact),
                          measure::is_pebs(attribute, knowledge, cpu.machine())};
    event.rule = to_judge.rule.rule;
    event.catalogue = knowledge.catalogue;
    if (const auto found = data_sources.find(index); found != data_sources.end()) {
      event.data_source = found->second;
    }
    if (const auto found = data_addresses.find(index); found != data_addresses.end()) {
      event.data_address = found->second;
    }
    to_judge.causes = measure::causes_of(knowledge).causes;
    for (std::string& warning : measure::event_warnings({.attribute = attribute,
                                .pmu_name = pmu,
                                .knowledge = knowledge,
                                .machine = cpu.machine(),
                                .period = event.period,
                                .counters = counters})) {
      event.warnings.push_back(std::move(warning));
    }
    if (const auto records = branches.events.find(index); records != branches.events.end()) {
      event.branch_records = std::move(records->second);
    }
    auditor.add(index, std::move(to_judge), std::move(event));
  }

  Audit result;
  result.events = auditor.audit(ordered_samples(recording, digest, auditor.rules_of_order()));
  result.run = source.run_directory.string();
  result.file = source.file.string();
  result.synthetic = perfdata::is_synthetic(recording.features()) ||
                     (source.run != nullptr && source.run->synthetic);
  const machine::CpuIdentity& identity = cpu.machine().cpu;
  result.cpu = {identity.vendor,   identity.model_name, identity.family, identity.model,
                identity.stepping, identity.microcode,  identity.arch,   identity.hypervisor};
  result.kernel = cpu.machine().kernel;
  result.missing = missing_files(digest, modules.remarks(), auditor.missing(), branches.missing);
  if (digest.repeated.blocks > 0) result.remarks.push_back(digest.repeated.warning());
  for (const auto& remark : modules.remarks()) result.remarks.push_back(remark.text);
  result.faults = recording.faults();
  result.read_in_part = recording.read_in_part();
  result.particulars.push_back(fmt::format("{}: {}", result.file, cpu.catalogue_name()));
  return result;
}

}  // namespace skid::audit
