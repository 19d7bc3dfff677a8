#include "src/audit/audit.h"

#include "runway/target.h"
#include "src/audit/branches.h"
#include "src/audit/function_code.h"
#include "src/locate/digest.h"
#include "src/locate/mapping_name.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/event_warnings.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/symbols/disassembler.h"

#include <algorithm>
#include <map>
#include <span>
#include <tuple>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace skid::audit {
namespace {

using events::Verdict;
using instructions::Categories;
using perfdata::CpuMode;

/// What an event's samples are held against.
struct EventToJudge {
  perfdata::Attribute attribute;
  EventRule rule;
  std::vector<events::Cause> causes;  ///< of Rule::sampled and Rule::predecessor
};

/// Samples of one event that are judged by one rule at one place of a file.
struct PlaceToJudge {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;
  std::uint32_t attribute = 0;
  Rule rule = Rule::none;
  std::uint64_t samples = 0;

  auto key() const { return std::tie(file, offset, attribute, rule); }
};

/// Whether perf calls a mode the kernel's or a process's on the machine itself.
std::optional<Reason> reason_of_mode(CpuMode mode) {
  switch (mode) {
    case CpuMode::user:
      return std::nullopt;
    case CpuMode::kernel:
      return Reason::kernel;
    default:
      return Reason::guest;
  }
}

/// The rule of one sample's kind.
std::variant<Rule, Reason> rule_of_sample(const EventToJudge& event, perfdata::SampleKind kind) {
  if (event.rule.rule == Rule::none) return event.rule.reason;
  if (event.rule.rule == Rule::execute_breakpoint) {
    // Compares addresses, and no code.
    if (kind.mode() != CpuMode::user && kind.mode() != CpuMode::kernel) return Reason::guest;
    return event.rule.rule;
  }
  if (const auto reason = reason_of_mode(kind.mode())) return *reason;
  if (event.rule.rule == Rule::sampled && !kind.exact()) return Reason::not_exact;
  // IBS and its like are exact at level 1 already.
  if (event.rule.rule == Rule::predecessor && kind.exact()) return Rule::sampled;
  return event.rule.rule;
}

/// Instructions that were one operation, or one instruction alone.
struct Suspects {
  std::size_t first = 0, last = 0;
};

/// A verdict, and on which instructions; or why there is none.
struct Judgement {
  Verdict verdict = Verdict::unknown;
  std::uint64_t address = 0;  ///< of the first instruction judged
  std::uint64_t end = 0;      ///< behind the last one
  Categories categories;
};
using Answer = std::variant<Judgement, Reason>;

/// The code around one sampled address.
struct CodeAround {
  const FunctionCode* code = nullptr;  ///< null: where its function begins is not known
  std::string function;
  std::size_t index = 0;  ///< of the sampled instruction
};

Suspects fused_with(const FunctionCode& code, std::size_t index) {
  const auto& steps = code.steps();
  Suspects suspects{index, index};
  if (index > 0 && fuses(steps[index - 1].fusion, steps[index].fusion)) suspects.first = index - 1;
  if (index + 1 < steps.size() && fuses(steps[index].fusion, steps[index + 1].fusion)) {
    suspects.last = index + 1;
  }
  return suspects;
}

Judgement judgement_on(const FunctionCode& code, Suspects suspects) {
  Judgement judgement;
  judgement.address = code.address_of(suspects.first);
  judgement.end = code.address_of(suspects.last) + code.steps()[suspects.last].length;
  for (std::size_t i = suspects.first; i <= suspects.last; ++i) {
    judgement.categories |= code.steps()[i].categories;
  }
  return judgement;
}

/// Whether instructions did what a breakpoint on data waits for. Accesses that are no operands, as
/// of the system's instructions and of cache line flushes, are not known.
Verdict touches(const FunctionCode& code, Suspects suspects, bool writes_only) {
  Verdict verdict = Verdict::never;
  for (std::size_t i = suspects.first; i <= suspects.last; ++i) {
    const Step& step = code.steps()[i];
    if (writes_only ? step.stores : step.accesses_memory()) return Verdict::conditional;
    if (step.categories.contains(instructions::Category::other) ||
        step.categories.contains(instructions::Category::flush)) {
      verdict = Verdict::unknown;
    }
  }
  return verdict;
}

/// Judges the places of one file. Remembers the function that was asked for last.
class FileJudge {
 public:
  /// `loop`: of a target that skidscan built, the iteration, whose labels are entered by nothing
  /// but the instructions in front of them and by direct branches; nullopt for all other files.
  FileJudge(const symbols::Module& module, std::optional<AddressRange> loop)
      : module_(module), loop_(loop) {}

  /// Of the function at a place; the place's own address where there is none.
  std::uint64_t begin_of_function(std::uint64_t file_offset) const {
    const auto address = module_.address_at(file_offset);
    if (!address) return 0;
    const auto function = module_.function_at(*address);
    return function ? function->range.begin : *address;
  }

  Answer judge(const EventToJudge& event, Rule rule, std::uint64_t file_offset) {
    const auto address = module_.address_at(file_offset);
    if (!address || !module_.has_code()) return Reason::no_code;
    if (module_.arch() != Arch::x86_64) return Reason::architecture;
    if (const auto reason = go_to(*address)) return *reason;
    const FunctionCode& code = *around_.code;
    if (!code.steps()[around_.index].decodes) return Reason::not_decoded;
    switch (rule) {
      case Rule::sampled:
        return by_catalogue(event, around_.index);
      case Rule::predecessor:
        return by_predecessor(event);
      case Rule::data_breakpoint:
      case Rule::write_breakpoint:
        return by_breakpoint(rule == Rule::write_breakpoint);
      case Rule::page_fault: {
        Judgement judgement = judgement_on(code, {around_.index, around_.index});
        // Any instruction can be on a page that is not there; where data are, is not recorded here.
        if (code.steps()[around_.index].accesses_memory()) judgement.verdict = Verdict::conditional;
        return judgement;
      }
      case Rule::execute_breakpoint:
      case Rule::none:
        break;
    }
    return Reason::unknown_cause;
  }

 private:
  /// Finds the instruction at `address` in `around_`; or why it cannot be found.
  std::optional<Reason> go_to(std::uint64_t address) {
    auto function = module_.function_at(address);
    if (function && loop_ && loop_->contains(address)) function->range = *loop_;
    has_function_ = function && function->range.size() <= FunctionCode::kLargest;
    // Two instructions and what may be fused with the second.
    constexpr std::uint64_t kAlone = 32;
    const AddressRange range =
        has_function_ ? function->range : AddressRange{address, address + kAlone};
    if (!decoded_ || decoded_range_ != range) {
      decoded_.emplace(range.begin, module_.code(range));
      decoded_range_ = range;
    }
    around_.code = &*decoded_;
    around_.function = function ? function->name : std::string();
    const auto& steps = decoded_->steps();
    if (steps.empty() || address >= decoded_->address_of(steps.size() - 1) + steps.back().length) {
      return Reason::no_code;
    }
    const auto index = decoded_->find(address);
    if (!index) return Reason::inside_instruction;
    around_.index = *index;
    return std::nullopt;
  }

  std::optional<std::size_t> predecessor() {
    if (around_.code->computes_jumps()) return std::nullopt;
    if (!branches_) branches_.emplace(module_);
    // A symbol is there to be entered by, also from where no branch is seen.
    const std::uint64_t address = around_.code->address_of(around_.index);
    const bool is_in_loop = loop_ && loop_->contains(address);
    if (!is_in_loop && branches_->is_labelled(address)) return std::nullopt;
    return only_predecessor(*around_.code, around_.index, *branches_, around_.function);
  }

  Answer by_predecessor(const EventToJudge& event) {
    const std::size_t sampled = around_.index;
    if (around_.code->steps()[sampled].is_in_parts) {
      const Answer itself = by_catalogue(event, sampled);
      const auto* judgement = std::get_if<Judgement>(&itself);
      if (judgement != nullptr && judgement->verdict != Verdict::never) return itself;
    }
    if (!has_function_) return Reason::no_function;
    if (const auto before = predecessor()) return by_catalogue(event, *before);
    return Reason::no_only_predecessor;
  }

  Answer by_catalogue(const EventToJudge& event, std::size_t index) const {
    const FunctionCode& code = *around_.code;
    Judgement judgement = judgement_on(code, fused_with(code, index));
    judgement.verdict = events::verdict_on(event.causes, judgement.categories);
    // What a jump in the first place may be fused with lies in front: where no function is known,
    // and behind a label of assembly, which looks like a function of its own.
    const bool may_be_second = index == 0 && can_be_second(code.steps()[index].fusion);
    if (may_be_second && judgement.verdict == Verdict::never) {
      return Reason::no_function;
    }
    return judgement;
  }

  Answer by_breakpoint(bool writes_only) {
    const FunctionCode& code = *around_.code;
    const auto& steps = code.steps();
    const Step& sampled = steps[around_.index];
    if (sampled.is_in_parts &&
        touches(code, {around_.index, around_.index}, writes_only) == Verdict::conditional) {
      Judgement judgement = judgement_on(code, {around_.index, around_.index});
      judgement.verdict = Verdict::conditional;
      return judgement;
    }
    if (!has_function_) return Reason::no_function;
    const auto before = predecessor();
    if (!before) return Reason::no_only_predecessor;
    Suspects suspects = fused_with(code, *before);
    // CPUs of all makers have breakpoints, and fuse other pairs than Intel's: a conditional jump
    // counts with what is in front of it, whatever that is.
    const bool is_jump = steps[suspects.first].flow == instructions::Flow::conditional;
    if (is_jump && suspects.first > 0) --suspects.first;
    Judgement judgement = judgement_on(code, suspects);
    judgement.verdict = touches(code, suspects, writes_only);
    if (is_jump && *before == 0 && judgement.verdict == Verdict::never) return Reason::no_function;
    const bool may_be_late = suspects.first > 0 && steps[suspects.first - 1].delays_traps;
    if (may_be_late && judgement.verdict == Verdict::never) judgement.verdict = Verdict::unknown;
    return judgement;
  }

  const symbols::Module& module_;
  std::optional<AddressRange> loop_;
  std::optional<FunctionCode> decoded_;  ///< the function that was asked for last
  AddressRange decoded_range_;
  bool has_function_ = false;
  CodeAround around_;
  std::optional<Branches> branches_;  ///< once they are asked for
};

/// The iteration of a target that skidscan built.
std::optional<AddressRange> loop_of(const std::filesystem::path& file) {
  try {
    const auto target = runway::read_target(file);
    return target ? std::optional(target->description.layout.loop) : std::nullopt;
  } catch (const InputError&) {
    return std::nullopt;  // "[vdso]"
  }
}

/// Why there is no module to believe behind a file.
Reason reason_without_module(const symbols::MappedFile& file,
                             const locate::ModuleStore::Found& found) {
  if (found.problem == locate::ModuleStore::Problem::rebuilt) return Reason::refused;
  const bool has_none = locate::is_pseudo_file(file.path) && file.build_id.empty();
  return has_none && file.path != locate::kVdsoName ? Reason::anonymous : Reason::no_file;
}

class Auditor {
 public:
  Auditor(const locate::Digest& digest, locate::ModuleStore& modules, const Choices& choices)
      : digest_(digest), modules_(modules), choices_(choices) {}

  void add(std::uint32_t attribute, EventToJudge event, EventAudit audit) {
    Event& added = events_[attribute];
    added.to_judge = std::move(event);
    added.audit = std::move(audit);
  }

  std::vector<EventAudit> audit() {
    digest_.located.for_each([&](const locate::LocatedSamples& located) { take(located); });
    judge_places();
    std::vector<EventAudit> audits;
    for (auto& [attribute, event] : events_) audits.push_back(finish(event));
    return audits;
  }

 private:
  struct Found {
    symbols::FileIndex file = 0;
    std::uint64_t offset = 0;  ///< sampled, in the file; of an execute breakpoint the address
    bool is_place = true;      ///< whether `file` and `offset` tell of one
    Judgement judgement;
    std::uint64_t samples = 0;
  };
  struct Event {
    EventToJudge to_judge;
    EventAudit audit;
    std::vector<Found> found;  ///< one a place that was judged
  };

  void leave_out(EventAudit& audit, Reason reason, std::uint64_t samples) {
    audit.not_judged[static_cast<std::size_t>(reason)] += samples;
    if (reason == Reason::unknown_cause) {
      audit.verdicts[static_cast<std::size_t>(Verdict::unknown)] += samples;
    }
  }

  /// Judges what takes no code, and notes the places of the rest.
  void take(const locate::LocatedSamples& located) {
    const auto entry = events_.find(located.attribute);
    if (entry == events_.end()) return;
    Event& event = entry->second;
    event.audit.samples += located.samples;
    const auto rule = rule_of_sample(event.to_judge, located.kind);
    if (const Reason* reason = std::get_if<Reason>(&rule)) {
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
      leave_out(event.audit, Reason::unmapped, located.samples);
    } else {
      places_.push_back({located.location->file, located.location->offset, located.attribute,
                         std::get<Rule>(rule), located.samples});
    }
  }

  void enter(Event& event, const Found& found) {
    if (found.judgement.verdict == Verdict::unknown) {
      leave_out(event.audit, Reason::unknown_cause, found.samples);
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
      const Reason reason = reason_without_module(file, found);
      for (const PlaceToJudge& place : places) {
        leave_out(events_.at(place.attribute).audit, reason, place.samples);
      }
      return;
    }
    FileJudge judge(*found.module, loop_of(found.path));
    // Functions can lie in each other; each is decoded once.
    std::vector<std::pair<std::uint64_t, const PlaceToJudge*>> by_function;
    by_function.reserve(places.size());
    for (const PlaceToJudge& place : places) {
      by_function.emplace_back(judge.begin_of_function(place.offset), &place);
    }
    std::stable_sort(by_function.begin(), by_function.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    for (const auto& [begin, one] : by_function) {
      const PlaceToJudge& place = *one;
      Event& event = events_.at(place.attribute);
      const Answer answer = judge.judge(event.to_judge, place.rule, place.offset);
      if (const Reason* reason = std::get_if<Reason>(&answer)) {
        leave_out(event.audit, *reason, place.samples);
      } else {
        enter(event, {place.file, place.offset, true, std::get<Judgement>(answer), place.samples});
      }
    }
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
  const Choices& choices_;
  std::map<std::uint32_t, Event> events_;  ///< by attribute
  std::vector<PlaceToJudge> places_;
};

/// The tracepoint that `record` has perf write down beside page faults.
bool is_witness(const perfdata::Attribute& attribute, const measure::Source& source) {
  return source.planned != nullptr && !source.planned->witness.empty() &&
         attribute.type == perfdata::PERF_TYPE_TRACEPOINT;
}

EventAudit describe_event(const perfdata::Attribute& attribute, const measure::Source& source,
                          analysis::Measurement described) {
  EventAudit audit;
  audit.recorded = attribute.name;
  audit.requested = described.event.requested.value_or("");
  audit.event = std::move(described.event.label);
  audit.level = static_cast<int>(attribute.precise_ip);
  if (source.planned != nullptr) {
    audit.period = source.planned->period;
  } else if (!attribute.frequency) {
    audit.period = attribute.period_or_frequency;
  }
  audit.warnings = std::move(described.warnings);
  return audit;
}

}  // namespace

Audit audit(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.file);
  const auto digest = locate::digest(recording);
  locate::ModuleStore modules(choices.places);
  if (source.run != nullptr) {
    for (const auto& target : source.run->targets) {
      modules.add_candidate(source.run_directory / target.file);
    }
  }
  measure::RecordedCpu cpu(measure::recorded_machine(recording.features(), source.run),
                           choices.perfmon);
  const auto& attributes = recording.attributes();
  const auto counters = static_cast<std::size_t>(
      std::count_if(attributes.begin(), attributes.end(), [&](const auto& attribute) {
        return measure::takes_counter(attribute,
                                      measure::pmu_name(recording.features(), attribute.type));
      }));
  const auto requested = measure::requested_by_attribute(recording);

  Auditor auditor(digest, modules, choices);
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    const perfdata::Attribute& attribute = attributes[index];
    if (attribute.is_dummy() || is_witness(attribute, source)) continue;
    const std::string pmu = measure::pmu_name(recording.features(), attribute.type);
    const auto knowledge = cpu.know(attribute, pmu);
    EventAudit event = describe_event(
        attribute, source,
        measure::describe_measurement(source, recording, cpu.machine(), index, requested[index]));
    EventToJudge to_judge{attribute, rule_of(attribute, knowledge), {}};
    event.rule = to_judge.rule.rule;
    event.catalogue = knowledge.catalogue;
    if (knowledge.core) {
      to_judge.causes = events::causes_of(knowledge.cpu.core, knowledge.core->config);
    }
    for (std::string& warning : measure::event_warnings({.attribute = attribute,
                                .pmu_name = pmu,
                                .knowledge = knowledge,
                                .machine = cpu.machine(),
                                .period = event.period,
                                .counters = counters})) {
      event.warnings.push_back(std::move(warning));
    }
    auditor.add(index, std::move(to_judge), std::move(event));
  }

  Audit result;
  result.events = auditor.audit();
  result.run = source.run_directory.string();
  result.file = source.file.string();
  result.synthetic = perfdata::is_synthetic(recording.features()) ||
                     (source.run != nullptr && source.run->synthetic);
  const machine::CpuIdentity& identity = cpu.machine().cpu;
  result.cpu = {identity.vendor,   identity.model_name, identity.family, identity.model,
                identity.stepping, identity.microcode,  identity.arch,   identity.hypervisor};
  result.kernel = cpu.machine().kernel;
  for (const auto& remark : modules.remarks()) result.remarks.push_back(remark.text);
  if (digest.uncertain > 0) {
    result.remarks.push_back(
        fmt::format("{} samples came through the pipe long before a mapping of that time; which "
                    "file they were in is uncertain",
                    digest.uncertain));
  }
  result.faults = recording.faults();
  result.read_in_part = recording.read_in_part();
  return result;
}

}  // namespace skid::audit
