#include "src/audit/audit.h"

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "analysis/share.h"
#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/branch_audit.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/data_addresses.h"
#include "src/audit/event_blocks.h"
#include "src/audit/file_judge.h"
#include "src/audit/measured_delay.h"
#include "src/audit/missing_files.h"
#include "src/audit/rule.h"
#include "src/audit/sampled_file.h"
#include "src/audit/tagged_records.h"
#include "src/code/code_budget.h"
#include "src/code/file_code.h"
#include "src/code/function_code.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/filter.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/measure/data_source.h"
#include "src/measure/event_description.h"
#include "src/measure/event_warnings.h"
#include "src/measure/precision.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/file_location.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::audit {
namespace {

using events::Verdict;

std::optional<DelayRange> delay_of(const measure::RecordedEvent& event, const Choices& choices,
                                   std::optional<MissingDelay>& missing) {
  if (choices.delay) return DelayRange{*choices.delay, *choices.delay};
  return choices.measured ? measured_delay(event, *choices.measured, missing) : std::nullopt;
}

/// Returns the rule for samples of one kind and place.
EventRule rule_of_sample(EventRule rule, const locate::LocatedSamples& located,
                         std::optional<Arch> arch) {
  if (rule.rule == Rule::none) return rule;
  const bool is_exact = located.kind.exact();
  const NotJudged reason = reason_of_mode(located, arch);
  if (rule.rule == Rule::execute_breakpoint) {
    // This rule compares addresses, and no code.
    return reason == NotJudged::guest ? EventRule{Rule::none, reason} : rule;
  }
  if (reason != NotJudged::none) return {Rule::none, reason};
  if (rule.rule == Rule::sampled && !is_exact) return {Rule::none, NotJudged::not_exact};
  // IBS sets EXACT_IP at level 1, too.
  return rule.rule == Rule::predecessor && is_exact ? EventRule{Rule::sampled, {}} : rule;
}

void leave_out(EventAudit& audit, NotJudged reason, std::uint64_t samples) {
  audit.not_judged[static_cast<std::size_t>(reason)] += samples;
  if (reason == NotJudged::unknown_cause) {
    audit.verdicts[static_cast<std::size_t>(Verdict::unknown)] += samples;
  }
}

/// What was found in single samples, by attribute.
struct RecordFindings {
  Findings data_sources;
  TaggedRecords tagged_records;
  AddressAudits data_addresses;
  measure::RecordWarnings impossible;
  BranchAudit branches;
};

/// Returns the result for an attribute; nullopt: `results` has none.
template <typename T>
std::optional<T> result_of(std::uint32_t attribute, const std::map<std::uint32_t, T>& results) {
  const auto found = results.find(attribute);
  return found != results.end() ? std::optional(found->second) : std::nullopt;
}

/// Fills in the module, function, offset and address of a location. Returns its module; null: the
/// file is missing, or none was mapped.
const symbols::Module* name_place(const measure::Profile& profile,
                                  const symbols::FileLocation& location, SampledPlace& place) {
  place.address = place.offset = location.offset;
  if (location.file == symbols::Region::kNoFile) return nullptr;
  const symbols::MappedFile& file = profile.digest.spaces.file(location.file);
  place.module = file.path;
  const symbols::Module* module = profile.modules.find(file).module;
  const auto address = module ? module->address_at(location.offset) : std::nullopt;
  if (!address) return module;
  place.address = place.offset = *address;
  if (auto function = module->function_at(*address)) {
    place.function = std::move(function->name);
    place.offset -= function->range.begin;
  }
  return module;
}

/// Adds the interval of the share, keeps the places with contradicted samples, and names the `most`
/// with most of them.
void complete(const measure::Profile& profile, std::size_t most, Contradictions& finding) {
  finding.share = analysis::wilson_interval(finding.share.count, finding.share.total);
  std::erase_if(finding.places, [](const auto& place) { return place.second.contradicted == 0; });
  std::vector<std::pair<std::uint64_t, symbols::FileLocation>> places;
  for (const auto& [location, samples] : finding.places) {
    places.emplace_back(samples.contradicted, location);
  }
  std::ranges::stable_sort(places, std::greater{}, [](const auto& place) { return place.first; });
  places.resize(std::min(places.size(), most));
  for (const auto& [samples, location] : places) {
    SampledPlace& place = finding.worst.emplace_back();
    place.samples = samples;
    name_place(profile, location, place);
  }
}

/// Judges the samples of a recording, event by event, at the code that they are at.
class Auditor {
 public:
  /// The arguments must outlive the auditor.
  Auditor(const measure::Profile& profile, const Choices& choices, code::CodeBudget& budget)
      : profile_(profile), choices_(choices), budget_(budget) {}

  /// Adds an event of the profile.
  void add(const measure::RecordedEvent& recorded) {
    Event& event = events_[recorded.index];
    event.recorded = &recorded;
    event.rule = rule_of(recorded);
    event.blocks = EventBlocks(recorded);
    EventAudit& audit = event.audit;
    audit.identity = recorded.identity;
    audit.level = recorded.precise.recorded;
    audit.period = recorded.period;
    audit.catalogue = recorded.catalogue;
    audit.rule = event.rule.rule;
    const std::string request = measure::precise_request(recorded);
    const bool is_judged_then = recorded.unknown_causes == NotJudged::none;
    if (event.rule.reason == NotJudged::level_0 && !request.empty() && is_judged_then) {
      audit.advice = fmt::format(
          "the recorded CPU records the event precisely: perf record -e {} (in a guest, if "
          "'skidscan doctor' there finds that it may)",
          request);
    }
    if (std::string lost = measure::precision_lost(recorded); !lost.empty()) {
      audit.warnings.push_back(std::move(lost));
    }
    if (choices_.delay || event.blocks.judges()) {
      event.blocks.set_delay(delay_of(recorded, choices_, audit.missing_delay));
    }
    for (std::string& warning : measure::event_warnings(recorded)) {
      audit.warnings.push_back(std::move(warning));
    }
  }

  /// Returns what notes the order of samples while the records are read; empty: no event needs it.
  locate::Visitor visitor() {
    if (std::ranges::none_of(events_,
                             [](const auto& entry) { return entry.second.blocks.needs_order(); })) {
      return {};
    }
    return [this](const locate::VisitedRecord& visited) { note_order(visited); };
  }

  /// Judges the samples, after all records were read. `findings`: what else was found in them.
  std::vector<EventAudit> audit(const RecordFindings& findings) {
    profile_.digest.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
    // One file's branches and one function's code are in memory at a time.
    for (auto& [file, places] : places_) judge_file(file, places);
    std::vector<EventAudit> audits;
    for (auto& [attribute, event] : events_) audits.push_back(finish(attribute, event, findings));
    return audits;
  }

  /// Returns the numbers of samples that were not judged because no file with their code was found.
  const SamplesByFile& missing() const { return missing_; }

 private:
  /// Samples of one event that are judged by one rule at one place of a file.
  struct PlaceToJudge {
    std::uint64_t offset = 0;
    std::uint32_t attribute = 0;
    Rule rule = Rule::none;  ///< none: the samples are judged by their blocks alone
    InBlocks in_blocks = InBlocks::no;

    friend auto operator<=>(const PlaceToJudge&, const PlaceToJudge&) = default;
    bool needs_code() const { return rule != Rule::none || in_blocks == InBlocks::judged; }
  };
  using Places = std::map<PlaceToJudge, std::uint64_t>;  ///< samples by place
  using PlacesOfFunction = std::vector<const Places::value_type*>;

  struct Found {
    symbols::FileLocation location;  ///< sampled place; without a file (kNoFile) the address
    Judgement judgement;
    std::uint64_t samples = 0;
  };
  struct Event {
    const measure::RecordedEvent* recorded = nullptr;
    EventRule rule;
    EventBlocks blocks;
    EventAudit audit;
    std::vector<Found> found;  ///< one for each place that was judged
  };

  /// Notes one of the first million samples of events with a fixed period.
  void note_order(const locate::VisitedRecord& visited) {
    constexpr std::uint64_t kMost = std::uint64_t{1} << 20;
    // A sample that a filter leaves out still separates its neighbours.
    const perfdata::Sample* sample = visited.left_out ? visited.left_out : visited.sample;
    if (sample == nullptr) {
      if (perfdata::hides_samples(visited.record.type)) ++gaps_;
      return;
    }
    const auto event = events_.find(sample->attribute);
    if (event == events_.end() || noted_ == kMost) return;
    EventBlocks& blocks = event->second.blocks;
    if (!blocks.needs_order()) return;
    ++noted_;
    OrderedSample ordered{
        sample->tid, gaps_ << 16U | (sample->cpu & 0xffffU), {symbols::Region::kNoFile, 0}};
    const bool is_judged = blocks.in_blocks({sample->mode, sample->exact}) == InBlocks::judged;
    if (visited.location && is_judged) ordered.location = *visited.location;
    blocks.add_ordered(ordered);
  }

  /// Judges samples that need no code, and collects the places of the rest.
  void take(const locate::LocatedSamples& located) {
    const auto entry = events_.find(located.attribute);
    if (entry == events_.end()) return;
    Event& event = entry->second;
    event.audit.samples += located.samples;
    const EventRule rule = rule_of_sample(event.rule, located, profile_.arch());
    const InBlocks in_blocks =
        located.location ? event.blocks.in_blocks(located.kind) : InBlocks::no;
    if (rule.rule == Rule::none) {
      if (in_blocks != InBlocks::no) add_place(located, Rule::none, in_blocks);
      leave_out(event.audit, rule.reason, located.samples);
    } else if (rule.rule == Rule::execute_breakpoint) {
      const bool is_at_breakpoint = located.ip == event.recorded->attribute.config1;
      const symbols::FileLocation nowhere{symbols::Region::kNoFile, located.ip};
      enter(event,
            {located.location.value_or(nowhere),
             {.verdict = is_at_breakpoint ? Verdict::can : Verdict::never, .address = located.ip},
             located.samples});
    } else if (!located.location) {
      leave_out(event.audit, NotJudged::unmapped, located.samples);
    } else {
      add_place(located, rule.rule, in_blocks);
    }
  }

  void add_place(const locate::LocatedSamples& located, Rule rule, InBlocks in_blocks) {
    places_[located.location->file]
           [{located.location->offset, located.attribute, rule, in_blocks}] += located.samples;
  }

  static void enter(Event& event, const Found& found) {
    const Judgement& judgement = found.judgement;
    if (judgement.not_judged != NotJudged::none || judgement.verdict == Verdict::unknown) {
      leave_out(
          event.audit,
          judgement.not_judged == NotJudged::none ? NotJudged::unknown_cause : judgement.not_judged,
          found.samples);
      return;
    }
    event.audit.judged += found.samples;
    event.audit.verdicts[static_cast<std::size_t>(judgement.verdict)] += found.samples;
    event.found.push_back(found);
  }

  void judge_file(symbols::FileIndex index, Places& places) {
    const symbols::MappedFile& file = profile_.digest.spaces.file(index);
    const auto found = profile_.modules.find(file);
    if (const NotJudged reason = reason_of_file(file, found); reason != NotJudged::none) {
      for (const auto& [place, samples] : places) {
        if (!place.needs_code()) continue;
        if (reason != NotJudged::anonymous) missing_[index] += samples;
        Event& event = events_.at(place.attribute);
        if (place.in_blocks == InBlocks::judged) event.blocks.count(reason, samples);
        if (place.rule != Rule::none) leave_out(event.audit, reason, samples);
      }
      return;
    }
    FileJudge judge(*found.module, profile_.arch(), loop_of(found.path), budget_);
    // Functions can overlap; each is decoded once.
    std::map<std::uint64_t, PlacesOfFunction> by_function;
    for (const auto& entry : places) {
      const auto address = found.module->address_at(entry.first.offset);
      by_function[address ? judge.file().range_around(*address).begin : 0].push_back(&entry);
    }
    for (const auto& [begin, of_function] : by_function) {
      judge_function(judge, index, of_function);
      find_blocks(judge, index, *found.module, of_function);
    }
    places = {};
  }

  void judge_function(FileJudge& judge, symbols::FileIndex file, const PlacesOfFunction& places) {
    for (const auto* entry : places) {
      const auto& [place, samples] = *entry;
      if (place.rule == Rule::none) continue;
      Event& event = events_.at(place.attribute);
      const Judgement judgement = judge.judge(event.recorded->causes, place.rule, place.offset);
      if (!profile_.arch() && judgement.not_judged == NotJudged::none) {
        event.audit.rule = judge.rule_here(event.audit.rule);
      }
      enter(event, {{file, place.offset}, judgement, samples});
    }
  }

  /// Collects the blocks of a function for all events at once.
  void find_blocks(FileJudge& judge, symbols::FileIndex file, const symbols::Module& module,
                   const PlacesOfFunction& places) {
    std::map<std::uint32_t, SamplesByAddress> by_event;
    std::map<std::uint32_t, std::uint64_t> sums;
    for (const auto* entry : places) {
      const auto& [place, of_place] = *entry;
      const auto at_address = module.address_at(place.offset);
      if (place.in_blocks == InBlocks::no || !at_address) continue;
      SampledAt& at = by_event[place.attribute][*at_address];
      at.offset = place.offset;
      if (place.in_blocks == InBlocks::inexact) {
        at.has_inexact = true;
        continue;
      }
      at.samples += of_place;
      sums[place.attribute] += of_place;
    }
    const auto address = module.address_at(places.front()->first.offset);
    if (!address) return;
    std::optional<FileJudge::Blocks> function;
    bool is_sought = false;
    for (const auto& [attribute, samples] : by_event) {
      EventBlocks& blocks = events_.at(attribute).blocks;
      const bool is_enough = sums[attribute] >= kFewestOfBlock;
      if (is_enough && !std::exchange(is_sought, true)) function = judge.blocks_around(*address);
      const bool is_cut = is_sought && !function && judge.is_cut();
      blocks.count(is_cut ? NotJudged::too_much_code : NotJudged::none, sums[attribute]);
      if (!is_enough || !function) continue;
      budget_.take(function->code->steps().size());
      blocks.add(profile_.digest.spaces.file(file).path, file, *function, samples);
    }
  }

  bool is_shown(const EventAudit& audit, std::uint64_t impossible) const {
    return static_cast<double>(impossible) >=
           choices_.min_share * static_cast<double>(audit.judged);
  }

  EventAudit finish(std::uint32_t attribute, Event& event, const RecordFindings& findings) {
    EventAudit& audit = event.audit;
    if (const auto impossible = result_of(attribute, findings.impossible)) {
      audit.warnings.insert(audit.warnings.begin(), impossible->begin(), impossible->end());
    }
    audit.data_source = result_of(attribute, findings.data_sources);
    auto& tagged = measure::is_spe(*event.recorded) ? audit.spe_record : audit.ibs_record;
    tagged = result_of(attribute, findings.tagged_records.events);
    audit.branch_records = result_of(attribute, findings.branches.events);
    const std::uint64_t impossible = audit.verdicts[static_cast<std::size_t>(Verdict::never)];
    audit.impossible = analysis::wilson_interval(impossible, audit.judged);
    std::ranges::sort(event.found, [](const Found& a, const Found& b) {
      const bool first = a.judgement.verdict == Verdict::never;
      const bool second = b.judgement.verdict == Verdict::never;
      if (first != second) return first;
      return std::tie(b.samples, a.location, a.judgement.verdict) <
             std::tie(a.samples, b.location, b.judgement.verdict);
    });
    add_functions(event);
    add_instructions(event);
    audit.data_address = result_of(attribute, findings.data_addresses);
    audit.wrong =
        audit.data_address ? share_of_wrong(event, *audit.data_address) : audit.impossible;
    for (auto* finding : {&audit.data_source, &audit.ibs_record, &audit.spe_record}) {
      if (*finding) complete(profile_, choices_.top, **finding);
    }
    if (audit.data_address) complete(profile_, choices_.top, *audit.data_address);
    audit.bias = event.blocks.judge(choices_.top);
    return std::move(audit);
  }

  /// Adds up what the instructions and the data addresses of samples show, place by place.
  static analysis::Share share_of_wrong(const Event& event, const DataAddresses& addresses) {
    std::map<symbols::FileLocation, Verdict> judged;
    for (const Found& found : event.found) {
      const auto [known, is_new] = judged.try_emplace(found.location, found.judgement.verdict);
      known->second = std::max(known->second, found.judgement.verdict);
    }
    std::uint64_t wrong = event.audit.impossible.count, all = event.audit.judged;
    for (const auto& [place, samples] : addresses.places) {
      const auto found = judged.find(place);
      if (found == judged.end()) all += samples.decided;
      const bool is_impossible = found != judged.end() && found->second == Verdict::never;
      if (!is_impossible) wrong += samples.contradicted;
    }
    return analysis::wilson_interval(wrong, all);
  }

  void add_functions(Event& event) {
    EventAudit& audit = event.audit;
    std::map<std::tuple<std::string, std::string, std::uint64_t>, FunctionFinding> functions;
    for (const Found& found : event.found) {
      SampledPlace at;
      name_place(profile_, found.location, at);
      FunctionFinding& function = functions[{at.module, at.function, at.address - at.offset}];
      function.judged += found.samples;
      if (found.judgement.verdict == Verdict::never) function.impossible += found.samples;
    }
    audit.all_functions = functions.size();
    for (auto& [key, function] : functions) {
      std::tie(function.module, function.function, std::ignore) = key;
      if (function.impossible > 0) ++audit.impossible_functions;
      if (is_shown(audit, function.impossible)) audit.functions.push_back(std::move(function));
    }
    std::ranges::stable_sort(
        audit.functions, [](const FunctionFinding& a, const FunctionFinding& b) {
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

  InstructionFinding describe(const Found& found) const {
    InstructionFinding instruction;
    const symbols::Module* module = name_place(profile_, found.location, instruction);
    instruction.samples = found.samples;
    instruction.verdict = found.judgement.verdict;
    instruction.categories = found.judgement.categories;
    const bool has_code = found.judgement.end != 0;
    instruction.judged_address = has_code ? found.judgement.address : instruction.address;
    if (module == nullptr) return instruction;
    const std::uint64_t begin = instruction.judged_address;
    if (auto line = module->line_at(begin)) {
      instruction.source_file = std::move(line->file);
      instruction.source_line = line->line;
    }
    if (const auto arch = module->arch()) {
      const std::uint64_t end =
          has_code ? found.judgement.end : begin + instructions::kLongestInstruction;
      const auto code = module->code({begin, end});
      const std::size_t most = has_code ? 2 : 1;
      for (const auto& one : symbols::Disassembler(*arch).decode(code, begin, most)) {
        instruction.text += (instruction.text.empty() ? "" : "; ") + one.text;
      }
    }
    return instruction;
  }

  const measure::Profile& profile_;
  const Choices& choices_;
  std::map<std::uint32_t, Event> events_;  ///< events by attribute
  std::map<symbols::FileIndex, Places> places_;
  code::CodeBudget& budget_;
  SamplesByFile missing_;
  std::uint64_t gaps_ = 0, noted_ = 0;  ///< in note_order()
};

}  // namespace

Audit audit(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.content(), source.file);
  locate::ModuleStore modules(choices.places);
  const measure::Profile profile(source, recording, modules, choices);
  perfdata::refuse_corrected(recording.features(), source.file.string(), "audit the original");
  code::CodeBudget budget;
  Auditor auditor(profile, choices, budget);
  Audit result;
  result.filtered = profile.digest.filtered;
  for (const measure::RecordedEvent& recorded : profile.events) {
    if (profile.selects(recorded, choices.filter, result.filtered)) auditor.add(recorded);
  }
  const auto data_sources = check_data_sources(profile, budget);
  const auto data_addresses = audit_data_addresses(profile, budget);
  const auto tagged_records = check_tagged_records(profile, budget);
  const auto impossible = measure::impossible_records(profile);
  const auto branches = audit_branch_records(profile, choices.top);
  profile.visit({data_sources.visitor, data_addresses.visitor, tagged_records.visitor,
                 impossible.visitor, branches.visitor, auditor.visitor()});
  const RecordFindings findings{data_sources.finish(), tagged_records.finish(),
                                data_addresses.finish(), impossible.finish(), branches.finish()};
  result.events = auditor.audit(findings);
  SamplesByFile missing = auditor.missing();
  for (const auto& [file, samples] : findings.tagged_records.missing) {
    missing[file] = std::max(missing[file], samples);  // their event may be judged, too
  }
  result.missing = missing_files(profile.digest, modules, missing, findings.branches.missing);
  profile.summarize(result);
  return result;
}

}  // namespace skid::audit
