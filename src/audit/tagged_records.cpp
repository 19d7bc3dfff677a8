#include "src/audit/tagged_records.h"

#include "analysis/share.h"
#include "src/audit/contradictions.h"
#include "src/code/by_function.h"
#include "src/code/file_code.h"
#include "src/code/function_code.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/measure/event_description.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/ibs_record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/perfdata/spe_record.h"
#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

using events::Verdict;
using instructions::Access;
using instructions::Category;
using instructions::Flow;
using instructions::Instruction;
using perfdata::IbsRecord;
using perfdata::SpeEvent;
using perfdata::SpeRecord;

/// What a tagged operation can be recorded to have done.
enum class Done : std::uint8_t { load, store, lock, prefetch, branch, near_return };

/// What the hardware recorded of one operation, as far as it can be compared.
struct TaggedOperation {
  /// Address of the instruction; nullopt: the hardware reports it as invalid.
  std::optional<std::uint64_t> ip = {};
  bool is_compared = true;  ///< false: microcode, whose operations are not those of the instruction
  bool load = false, store = false, locked = false, prefetch = false;
  unsigned width = 0;  ///< bytes of the access; 0: not known
  std::optional<std::uint64_t> data_address = {};
  bool branches = false;
  std::optional<bool> taken = {}, returns = {};  ///< of a branch; nullopt: not known
  std::optional<bool> conditional = {}, indirect = {};
  std::optional<std::uint64_t> target = {};  ///< of a taken branch
};

TaggedOperation operation_of(const IbsRecord& record) {
  TaggedOperation operation{.ip = record.rip,
                            .is_compared = !record.microcode,
                            .load = record.load,
                            .store = record.store,
                            .locked = record.locked,
                            .prefetch = record.prefetch,
                            .width = record.width};
  if (record.branch) {
    operation.branches = true;
    operation.taken = record.branch->taken;
    operation.returns = record.branch->returns;
    if (record.branch->taken) operation.target = record.branch->target;
  }
  return operation;
}

TaggedOperation operation_of(const SpeRecord& record) {
  TaggedOperation operation{.ip = record.pc};
  if (!record.operation) return operation;
  operation.load = record.operation->loads();
  operation.store = record.operation->stores();
  if (operation.load) operation.data_address = record.data_address;
  operation.branches = record.operation->branches();
  if (!operation.branches) return operation;
  // Later versions of SPE have further bits, and then others may mean something else.
  constexpr std::uint8_t kOfAllVersions = 3;
  if (record.operation->bits <= kOfAllVersions) {
    operation.conditional = record.operation->is_conditional();
    operation.indirect = record.operation->is_indirect();
  }
  // What a branch did is known once it retired.
  if (!record.has(SpeEvent::retired)) return operation;
  operation.taken = !record.has(SpeEvent::not_taken);
  if (*operation.taken) operation.target = record.target;
  return operation;
}

/// Returns what does it on x86-64: the causes of the events that count it.
std::span<const events::Cause> causes_of(Done done) {
  // In the order of the values of Done.
  static const std::array kCauses{events::causes_by_name("MEM_INST_RETIRED.ALL_LOADS"),
                                  events::causes_by_name("MEM_INST_RETIRED.ALL_STORES"),
                                  events::causes_by_name("MEM_INST_RETIRED.LOCK_LOADS"),
                                  events::causes_by_name("MEM_INST_RETIRED.ALL_SWPF"),
                                  events::causes_by_name("BR_INST_RETIRED.NEAR_TAKEN"),
                                  events::causes_by_name("BR_INST_RETIRED.NEAR_RETURN")};
  return kCauses.at(static_cast<std::size_t>(done));
}

/// Returns the verdict on an instruction of aarch64. Prefetches are not documented to be loads or
/// not, and instructions of Category::other may access memory or branch.
Verdict verdict_on_aarch64(Done done, const instructions::Categories& categories) {
  const Category needed = done == Done::load    ? Category::load
                          : done == Done::store ? Category::store
                                                : Category::branch;
  if (categories.contains(needed)) return Verdict::can;
  const bool is_known = !categories.contains(Category::other) &&
                        !(done != Done::branch && categories.contains(Category::prefetch));
  return is_known ? Verdict::never : Verdict::unknown;
}

/// What the instruction at a place can do, with the one that it may be fused with.
struct Abilities {
  Arch arch = Arch::x86_64;
  instructions::Categories categories;
  /// A fused partner may precede the known code, so that nothing is impossible.
  bool is_partial = false;
  unsigned widest = 0;  ///< bytes of the largest access; 0: not known
  /// Bytes from the instruction to the target of its direct branch, or to that of its partner.
  std::optional<std::uint64_t> jump = {};
  /// Bytes from the instruction to the data that it loads, if it is at a distance.
  std::optional<std::uint64_t> literal = {};
  /// Whether its branch, or that of its partner, is conditional, and indirect; nullopt: it has
  /// none, or not known.
  std::optional<bool> conditional = {}, indirect = {};

  Verdict can(Done done) const {
    const Verdict verdict = arch == Arch::aarch64 ? verdict_on_aarch64(done, categories)
                                                  : events::verdict_on(causes_of(done), categories);
    return is_partial && verdict == Verdict::never ? Verdict::unknown : verdict;
  }
  bool has_any(std::initializer_list<Category> some) const {
    return std::ranges::any_of(some, [this](Category one) { return categories.contains(one); });
  }
};

using AbilitiesOfPlaces = std::map<symbols::FileLocation, std::optional<Abilities>>;

/// Returns the bytes of the widest operation that an instruction can need, a power of two; 0 if it
/// has none, its effect or the size of an operand is not known, or is that of many elements or
/// repetitions.
unsigned widest_access(const Instruction& instruction) {
  constexpr std::uint64_t kMost = 64;
  if (instruction.categories.contains(Category::other)) return 0;
  std::uint64_t widest = 0;
  for (const instructions::MemoryOperand& operand : instruction.memory) {
    if (operand.access == Access::none) continue;
    if (instruction.repeats || operand.vector_of_addresses || !operand.formula) return 0;
    widest = std::max(widest, operand.formula->bytes);
  }
  return widest == 0 || widest > kMost ? 0 : static_cast<unsigned>(std::bit_ceil(widest));
}

/// Decodes the instruction at a link-time address of a module whose architecture is known.
std::optional<Instruction> classified_at(const symbols::Module& module, std::uint64_t address) {
  return instructions::classify(
      *module.arch(), module.code({address, address + instructions::kLongestInstruction}), address);
}

/// Returns the target of a direct branch; nullopt also for one with an operand-size prefix, by
/// which AMD's CPUs jump elsewhere than Intel's (docs/instructions.md).
std::optional<std::uint64_t> direct_target(const symbols::Module& module,
                                           const std::optional<Instruction>& instruction,
                                           std::uint64_t address) {
  constexpr std::byte kOperandSize{0x66};
  if (!instruction || !instruction->target) return std::nullopt;
  const auto code = module.code({address, address + instruction->length});
  if (std::ranges::find(code, kOperandSize) == code.begin()) return std::nullopt;
  return instruction->target;
}

/// Whether two neighbours may be one operation. Which of both has the address is not documented.
bool may_be_fused(const std::optional<Instruction>& first,
                  const std::optional<Instruction>& second) {
  return first && second && first->may_fuse && second->flow == Flow::conditional;
}

/// Returns the abilities of the instruction at a link-time address; nullopt where none is known.
std::optional<Abilities> abilities_at(const symbols::Module& module, code::FileCode& file,
                                      std::uint64_t address) {
  const auto [function, problem] = file.function_at(address);
  std::optional<std::size_t> index;
  if (function) {
    index = function->code.find(address);
    if (!index) return std::nullopt;  // inside of an instruction
  }
  const auto instruction = classified_at(module, address);
  if (!instruction) return std::nullopt;
  Abilities abilities{.categories = instruction->categories};
  abilities.widest = widest_access(*instruction);
  const std::uint64_t next = address + instruction->length;
  auto target = direct_target(module, instruction, address);
  if (instruction->flow == Flow::conditional) {
    abilities.is_partial = !index || *index == 0;
    if (abilities.is_partial) {
      abilities.widest = 0;
    } else if (const auto before = classified_at(module, function->code.address_of(*index - 1));
               may_be_fused(before, instruction)) {
      abilities.categories |= before->categories;
      abilities.widest = widest_access(*before);
    }
  } else if (const auto after = classified_at(module, next); may_be_fused(instruction, after)) {
    abilities.categories |= after->categories;
    target = direct_target(module, after, next);
  }
  if (target) abilities.jump = *target - address;
  return abilities;
}

/// Returns the abilities of the instruction of aarch64 at a link-time address.
std::optional<Abilities> abilities_on_aarch64(const symbols::Module& module,
                                              std::uint64_t address) {
  const auto instruction = classified_at(module, address);
  if (!instruction) return std::nullopt;
  Abilities abilities{.arch = Arch::aarch64, .categories = instruction->categories};
  const auto add_branch = [&](const Instruction& branch) {
    if (branch.target) abilities.jump = *branch.target - address;
    if (!branch.categories.contains(Category::branch) ||
        branch.categories.contains(Category::other)) {
      return;
    }
    abilities.conditional = branch.flow == Flow::conditional;
    abilities.indirect = !branch.target;
  };
  add_branch(*instruction);
  if (instruction->literal) abilities.literal = *instruction->literal - address;
  // CPUs fuse a comparison with a branch, and the computation of an address with its access
  // (FeatureArithmeticBccFusion and FeatureFuseAddress in LLVM's AArch64Features.td).
  if (abilities.categories.contains(Category::no_memory)) {
    if (const auto after = classified_at(module, address + instruction->length)) {
      abilities.categories |= after->categories;
      add_branch(*after);
    } else {
      abilities.is_partial = true;
    }
  }
  return abilities;
}

/// Whether the samples of an event have the raw data of IBS op.
bool has_ibs_records(const measure::RecordedEvent& event) {
  return measure::is_ibs(event) && event.pmu_name != "ibs_fetch" &&
         event.attribute.has(PERF_SAMPLE_RAW);
}

/// Whether the samples of an event have records of SPE: they are made of them.
bool has_spe_records(const measure::RecordedEvent& event) {
  return measure::is_spe(event) && event.attribute.has(PERF_SAMPLE_RAW);
}

bool has_records(const measure::RecordedEvent& event) {
  return has_ibs_records(event) || has_spe_records(event);
}

bool takes_record(const measure::RecordedEvent& event, perfdata::SampleKind kind) {
  const bool is_exact = has_spe_records(event) || (has_ibs_records(event) && kind.exact());
  return is_exact && kind.mode() == perfdata::CpuMode::user;
}

/// `missing` gets the samples with records of each file that is missing.
AbilitiesOfPlaces find_abilities(const measure::Profile& profile, code::CodeBudget& budget,
                                 SamplesByFile& missing) {
  AbilitiesOfPlaces places;
  profile.digest.located.for_each([&](const locate::LocatedSamples& located) {
    if (located.location && takes_record(profile.events[located.attribute], located.kind)) {
      places[*located.location];
      missing[located.location->file] += located.samples;
    }
  });
  std::erase_if(missing, [&](const auto& file) {
    return profile.modules.find(profile.digest.spaces.file(file.first)).module != nullptr;
  });
  code::for_each_file(places, [&](symbols::FileIndex index, auto begin, auto end) {
    const symbols::MappedFile& mapped = profile.digest.spaces.file(index);
    const symbols::Module* module = profile.modules.find(mapped).module;
    // Without a build-id the file may be another build.
    const bool is_known = module != nullptr && !mapped.build_id.empty() && module->has_code() &&
                          module->arch() &&
                          module->arch() == profile.arch().value_or(*module->arch());
    if (!is_known) return;
    code::FileCode file(*module, *module->arch(), std::nullopt, budget);
    code::visit_by_function(file, begin, end, [&](auto& place, std::uint64_t address) {
      place.second = module->arch() == Arch::aarch64 ? abilities_on_aarch64(*module, address)
                                                     : abilities_at(*module, file, address);
    });
  });
  return places;
}

/// What a record says of the instruction that it is at.
enum class Answer : std::uint8_t { undecided, agrees, contradicts };

/// Compares the parts of a record with an instruction.
class Comparison {
 public:
  explicit Comparison(const Abilities& abilities) : abilities_(abilities) {}

  void require(Done done) {
    const Verdict verdict = abilities_.can(done);
    if (verdict != Verdict::unknown) add(verdict != Verdict::never);
  }
  void add(bool is_possible) {
    if (answer_ != Answer::contradicts)
      answer_ = is_possible ? Answer::agrees : Answer::contradicts;
  }
  Answer answer() const { return answer_; }

 private:
  const Abilities& abilities_;
  Answer answer_ = Answer::undecided;
};

void compare_branch(const TaggedOperation& recorded, const Abilities& abilities, std::uint64_t ip,
                    Comparison& comparison) {
  using enum Category;
  comparison.require(Done::branch);
  if (recorded.returns == true) comparison.require(Done::near_return);
  if (abilities.has_any({return_near}) && recorded.returns == false) comparison.add(false);
  const auto compare = [&](std::optional<bool> one, std::optional<bool> other) {
    if (one && other) comparison.add(*one == *other);
  };
  compare(recorded.conditional, abilities.conditional);
  compare(recorded.indirect, abilities.indirect);
  const bool always_taken =
      abilities.conditional == false ||
      abilities.has_any({jump, indirect_jump, call, indirect_call, return_near});
  if (always_taken && recorded.taken == false) comparison.add(false);
  if (recorded.target && abilities.jump) {
    comparison.add(*recorded.target == ip + *abilities.jump);
  }
}

Answer compare(const TaggedOperation& recorded, const Abilities& abilities, std::uint64_t ip) {
  Comparison comparison(abilities);
  if (recorded.prefetch) {
    comparison.require(Done::prefetch);
  } else if (recorded.load || recorded.store) {
    if (recorded.load) comparison.require(Done::load);
    if (recorded.store) comparison.require(Done::store);
    if (recorded.locked) comparison.require(Done::lock);
    // A narrower operation can be a part of a wide access.
    if (recorded.width > 0 && abilities.widest > 0) {
      comparison.add(recorded.width <= abilities.widest);
    }
    if (recorded.data_address && abilities.literal) {
      comparison.add(*recorded.data_address == ip + *abilities.literal);
    }
  }
  if (recorded.branches) compare_branch(recorded, abilities, ip, comparison);
  return comparison.answer();
}

/// Reads the record of a sample; nullopt if its raw data is none.
std::optional<TaggedOperation> record_of(const measure::RecordedEvent& event,
                                         std::span<const std::byte> raw, ByteOrder order) {
  if (has_spe_records(event)) {
    const auto record = perfdata::parse_spe_record(raw);
    return record ? std::optional(operation_of(*record)) : std::nullopt;
  }
  const auto record = perfdata::parse_ibs_record(raw, order);
  return record ? std::optional(operation_of(*record)) : std::nullopt;
}

/// Compares the records of tagged operations with the code at their places.
class TaggedRecordCheck {
 public:
  TaggedRecordCheck(const measure::Profile& profile, code::CodeBudget& budget)
      : profile_(profile), places_(find_abilities(profile, budget, found_.missing)) {}

  void add(const locate::VisitedRecord& visited) {
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr) return;
    const measure::RecordedEvent& event = profile_.events[sample->attribute];
    if (!takes_record(event, {sample->mode, sample->exact})) return;
    Contradictions& finding = found_.events[sample->attribute];
    const perfdata::Recording& recording = profile_.recording;
    const auto details = recording.decoder().details(visited.record, *sample);
    const auto record =
        details ? record_of(event, details->raw, recording.byte_order()) : std::nullopt;
    if (!record) {
      ++finding.without;
      return;
    }
    ++finding.samples;
    const Answer answer = compared(*record, visited);
    if (answer == Answer::undecided) return;
    ++finding.share.total;
    if (answer != Answer::contradicts) return;
    ++finding.share.count;
    if (visited.location) ++finding.places[*visited.location].contradicted;
  }

  TaggedRecords finish() { return std::move(found_); }

 private:
  Answer compared(const TaggedOperation& record, const locate::VisitedRecord& visited) const {
    const std::uint64_t ip = visited.sample->ip;
    // Of IBS the kernel takes the address from the record (set_linear_ip() in
    // perf_ibs_handle_irq()); samples of SPE are made of it.
    if (record.ip != ip) return Answer::contradicts;
    if (!record.is_compared || !visited.location) return Answer::undecided;
    const auto place = places_.find(*visited.location);
    if (place == places_.end() || !place->second) return Answer::undecided;
    return compare(record, *place->second, ip);
  }

  const measure::Profile& profile_;
  TaggedRecords found_;
  AbilitiesOfPlaces places_;
};

}  // namespace

locate::RecordCheck<TaggedRecords> check_tagged_records(const measure::Profile& profile,
                                                        code::CodeBudget& budget) {
  if (std::ranges::none_of(profile.events, has_records)) {
    return {{}, [] { return TaggedRecords(); }};
  }
  const auto check = std::make_shared<TaggedRecordCheck>(profile, budget);
  return {[check](const auto& visited) { check->add(visited); },
          [check] { return check->finish(); }};
}

}  // namespace skid::audit
