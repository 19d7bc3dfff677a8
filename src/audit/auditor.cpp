#include "src/audit/auditor.h"

#include "src/audit/sampled_file.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <utility>
#include <variant>

namespace skid::audit {
namespace {

using events::Verdict;
using perfdata::CpuMode;

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

void leave_out(EventAudit& audit, NotJudged reason, std::uint64_t samples) {
  audit.not_judged[static_cast<std::size_t>(reason)] += samples;
  if (reason == NotJudged::unknown_cause) {
    audit.verdicts[static_cast<std::size_t>(Verdict::unknown)] += samples;
  }
}

}  // namespace

void Auditor::add(std::uint32_t attribute, EventToJudge event, EventAudit audit) {
  Event& added = events_[attribute];
  added.to_judge = std::move(event);
  added.audit = std::move(audit);
}

std::map<std::uint32_t, BlockRule> Auditor::rules_of_order() const {
  std::map<std::uint32_t, BlockRule> rules;
  for (const auto& [attribute, event] : events_) {
    const BlockRule& rule = event.to_judge.blocks.rule();
    if (event.audit.period.value_or(0) > 0 && rule.judges()) rules[attribute] = rule;
  }
  return rules;
}

std::vector<EventAudit> Auditor::audit(std::span<const OrderedSample> ordered) {
  profile_.digest.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
  judge_places();
  while (!ordered.empty()) {
    const std::uint32_t attribute = ordered.front().attribute;
    const auto end = std::ranges::find_if(
        ordered, [&](const auto& sample) { return sample.attribute != attribute; });
    const auto size = static_cast<std::size_t>(end - ordered.begin());
    events_.at(attribute).to_judge.blocks.add_order(ordered.first(size));
    ordered = ordered.subspan(size);
  }
  std::vector<EventAudit> audits;
  for (auto& [attribute, event] : events_) audits.push_back(finish(event));
  return audits;
}

/// Judges samples that need no code, and collects the places of the rest.
void Auditor::take(const locate::LocatedSamples& located) {
  const auto entry = events_.find(located.attribute);
  if (entry == events_.end()) return;
  Event& event = entry->second;
  event.audit.samples += located.samples;
  const auto rule = rule_of_sample(event.to_judge, located.kind);
  const InBlocks in_blocks = in_blocks_of(event.to_judge.blocks.rule(), located);
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

Auditor::InBlocks Auditor::in_blocks_of(const BlockRule& rule,
                                        const locate::LocatedSamples& located) {
  if (!located.location) return InBlocks::no;
  if (rule.takes(located.kind)) return InBlocks::judged;
  return rule.lacks_exact(located.kind) ? InBlocks::inexact : InBlocks::no;
}

void Auditor::add_place(const locate::LocatedSamples& located, Rule rule, InBlocks in_blocks) {
  places_.push_back({located.location->file, located.location->offset, located.attribute, rule,
                     in_blocks, located.samples});
}

void Auditor::enter(Event& event, const Found& found) {
  if (found.judgement.verdict == Verdict::unknown) {
    leave_out(event.audit, NotJudged::unknown_cause, found.samples);
    return;
  }
  event.audit.judged += found.samples;
  event.audit.verdicts[static_cast<std::size_t>(found.judgement.verdict)] += found.samples;
  event.found.push_back(found);
}

/// By file, so that one file's branches and one function's code are in memory at a time.
void Auditor::judge_places() {
  std::ranges::sort(places_, {}, &PlaceToJudge::key);
  merge_equal_places();
  for (auto begin = places_.begin(); begin != places_.end();) {
    const auto end = std::find_if(
        begin, places_.end(), [&](const PlaceToJudge& place) { return place.file != begin->file; });
    judge_file({begin, end});
    begin = end;
  }
  places_ = {};
}

void Auditor::merge_equal_places() {
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

void Auditor::judge_file(std::span<const PlaceToJudge> places) {
  const symbols::MappedFile& file = profile_.digest.spaces.file(places.front().file);
  const auto found = profile_.modules.find(file);
  if (found.module == nullptr) {
    const NotJudged reason = reason_without_module(file, found);
    for (const PlaceToJudge& place : places) {
      Event& event = events_.at(place.attribute);
      if (place.needs_code()) {
        if (reason != NotJudged::anonymous) missing_[place.file] += place.samples;
        if (place.in_blocks == InBlocks::judged) event.to_judge.blocks.count(reason, place.samples);
      }
      if (place.rule != Rule::none) leave_out(event.audit, reason, place.samples);
    }
    return;
  }
  FileJudge judge(*found.module, profile_.arch(), loop_of(found.path), budget_);
  // Functions can overlap; each is decoded once.
  ByFunction by_function;
  by_function.reserve(places.size());
  for (const PlaceToJudge& place : places) {
    by_function.emplace_back(judge.begin_of_function(place.offset), &place);
    if (found.module->has_code() || !place.needs_code()) continue;
    missing_[place.file] += place.samples;
    if (place.in_blocks == InBlocks::judged) {
      events_.at(place.attribute).to_judge.blocks.count(NotJudged::no_code, place.samples);
    }
  }
  std::ranges::stable_sort(by_function, {}, [](const auto& one) { return one.first; });
  for (auto first = by_function.begin(); first != by_function.end();) {
    const auto last = std::find_if(first, by_function.end(),
                                   [&](const auto& place) { return place.first != first->first; });
    const std::span<const ByFunction::value_type> function(first, last);
    judge_function(judge, function);
    find_blocks(judge, function, file.path, *found.module);
    first = last;
  }
}

void Auditor::judge_function(FileJudge& judge, std::span<const ByFunction::value_type> places) {
  for (const auto& [begin, one] : places) {
    const PlaceToJudge& place = *one;
    if (place.rule == Rule::none) continue;
    Event& event = events_.at(place.attribute);
    const Answer answer = judge.judge(event.to_judge.causes, place.rule, place.offset);
    if (const NotJudged* reason = std::get_if<NotJudged>(&answer)) {
      leave_out(event.audit, *reason, place.samples);
    } else {
      if (!profile_.arch()) event.audit.rule = judge.rule_here(event.audit.rule);
      enter(event, {place.file, place.offset, true, std::get<Judgement>(answer), place.samples});
    }
  }
}

/// Collects the blocks of a function for all events at once.
void Auditor::find_blocks(FileJudge& judge, std::span<const ByFunction::value_type> places,
                          const std::string& path, const symbols::Module& module) {
  std::map<std::uint32_t, SamplesByAddress> by_event;
  std::map<std::uint32_t, std::uint64_t> sums;
  for (const auto& [begin, place] : places) {
    const auto at_address = module.address_at(place->offset);
    if (place->in_blocks == InBlocks::no || !at_address) continue;
    SampledAt& at = by_event[place->attribute][*at_address];
    at.offset = place->offset;
    if (place->in_blocks == InBlocks::inexact) {
      at.has_inexact = true;
      continue;
    }
    at.samples += place->samples;
    sums[place->attribute] += place->samples;
  }
  const auto address = module.address_at(places.front().second->offset);
  if (!address) return;
  std::optional<FileJudge::Blocks> function;
  bool is_sought = false;
  for (const auto& [attribute, samples] : by_event) {
    EventBlocks& blocks = events_.at(attribute).to_judge.blocks;
    const bool is_enough = sums[attribute] >= kFewestOfBlock;
    if (is_enough && !std::exchange(is_sought, true)) function = judge.blocks_around(*address);
    if (module.has_code()) {
      const bool is_cut = is_sought && !function && judge.is_cut();
      blocks.count(is_cut ? NotJudged::too_much_code : NotJudged::none, sums[attribute]);
    }
    if (!is_enough || !function) continue;
    budget_.take(function->code->steps().size());
    blocks.add(path, places.front().second->file, *function, samples);
  }
}

Auditor::Position Auditor::position_of(const Found& found) {
  Position position;
  position.address = found.offset;
  if (!found.is_place) return position;
  const symbols::MappedFile& file = profile_.digest.spaces.file(found.file);
  position.path = file.path;
  position.module = profile_.modules.find(file).module;
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

bool Auditor::is_shown(const EventAudit& audit, std::uint64_t impossible) const {
  return static_cast<double>(impossible) >= choices_.min_share * static_cast<double>(audit.judged);
}

EventAudit Auditor::finish(Event& event) {
  EventAudit& audit = event.audit;
  const std::uint64_t impossible = audit.verdicts[static_cast<std::size_t>(Verdict::never)];
  audit.impossible = analysis::wilson_interval(impossible, audit.judged);
  std::ranges::sort(event.found, [](const Found& a, const Found& b) {
    const bool first = a.judgement.verdict == Verdict::never;
    const bool second = b.judgement.verdict == Verdict::never;
    if (first != second) return first;
    return std::tie(b.samples, a.file, a.offset, a.judgement.verdict) <
           std::tie(a.samples, b.file, b.offset, b.judgement.verdict);
  });
  add_functions(event);
  add_instructions(event);
  audit.bias = event.to_judge.blocks.judge(choices_.top);
  return std::move(audit);
}

void Auditor::add_functions(Event& event) {
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
  std::ranges::stable_sort(audit.functions, [](const FunctionFinding& a, const FunctionFinding& b) {
    return std::tie(b.impossible, b.judged) < std::tie(a.impossible, a.judged);
  });
  if (audit.functions.size() > choices_.top) audit.functions.resize(choices_.top);
}

void Auditor::add_instructions(Event& event) {
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

InstructionFinding Auditor::describe(const Found& found) {
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
    const std::uint64_t end =
        has_code ? found.judgement.end : begin + instructions::kLongestInstruction;
    const auto code = position.module->code({begin, end});
    const std::size_t most = has_code ? 2 : 1;
    for (const auto& one : symbols::Disassembler(*arch).decode(code, begin, most)) {
      instruction.text += (instruction.text.empty() ? "" : "; ") + one.text;
    }
  }
  return instruction;
}

}  // namespace skid::audit
