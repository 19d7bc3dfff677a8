#include "src/audit/ibs_records.h"

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
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
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

/// What a tagged operation can be recorded to have done.
enum class Done : std::uint8_t { load, store, lock, prefetch, branch, near_return };

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

/// What the instruction at a place can do, with the one that it may be fused with.
struct Abilities {
  instructions::Categories categories;
  /// A fused partner may precede the known code, so that nothing is impossible.
  bool is_partial = false;
  unsigned widest = 0;  ///< bytes of the largest access; 0: not known
  /// Bytes from the instruction to the target of its direct branch, or to that of its partner.
  std::optional<std::uint64_t> jump = {};

  Verdict can(Done done) const {
    const Verdict verdict = events::verdict_on(causes_of(done), categories);
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

std::optional<Instruction> classified_at(const symbols::Module& module, std::uint64_t address) {
  return instructions::classify(
      Arch::x86_64, module.code({address, address + instructions::kLongestInstruction}), address);
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

/// Whether the samples of an event have the raw data of IBS op.
bool has_ibs_records(const measure::RecordedEvent& event) {
  return measure::is_ibs(event) && event.pmu_name != "ibs_fetch" &&
         event.attribute.has(PERF_SAMPLE_RAW);
}

bool takes_record(const measure::RecordedEvent& event, perfdata::SampleKind kind) {
  return has_ibs_records(event) && kind.exact() && kind.mode() == perfdata::CpuMode::user;
}

AbilitiesOfPlaces find_abilities(const measure::Profile& profile, code::CodeBudget& budget) {
  AbilitiesOfPlaces places;
  profile.digest.located.for_each([&](const locate::LocatedSamples& located) {
    if (located.location && takes_record(profile.events[located.attribute], located.kind)) {
      places[*located.location];
    }
  });
  const auto file_of = [](const symbols::FileLocation& place) { return place.file; };
  code::for_each_file(places, file_of, [&](symbols::FileIndex index, auto begin, auto end) {
    const symbols::MappedFile& mapped = profile.digest.spaces.file(index);
    const symbols::Module* module = profile.modules.find(mapped).module;
    // Without a build-id the file may be another build.
    const bool is_known = module != nullptr && !mapped.build_id.empty() && module->has_code() &&
                          module->arch() == Arch::x86_64 &&
                          profile.arch().value_or(Arch::x86_64) == Arch::x86_64;
    if (!is_known) return;
    code::FileCode file(*module, Arch::x86_64, std::nullopt, budget);
    const auto begin_of = [&](const auto& place) {
      const auto address = module->address_at(place.first.offset);
      return address ? std::optional(file.range_around(*address).begin) : std::nullopt;
    };
    code::visit_by_function(begin, end, begin_of, [&](auto& place) {
      place.second = abilities_at(*module, file, *module->address_at(place.first.offset));
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

void compare_branch(const perfdata::IbsBranch& recorded, const Abilities& abilities,
                    std::uint64_t ip, Comparison& comparison) {
  using enum Category;
  comparison.require(Done::branch);
  if (recorded.returns) comparison.require(Done::near_return);
  if (abilities.has_any({return_near}) && !recorded.returns) comparison.add(false);
  const bool always_taken =
      abilities.has_any({jump, indirect_jump, call, indirect_call, return_near});
  if (always_taken && !recorded.taken) comparison.add(false);
  if (recorded.taken && recorded.target && abilities.jump) {
    comparison.add(*recorded.target == ip + *abilities.jump);
  }
}

Answer compare(const IbsRecord& record, const Abilities& abilities, std::uint64_t ip) {
  Comparison comparison(abilities);
  if (record.prefetch) {
    comparison.require(Done::prefetch);
  } else if (record.load || record.store) {
    if (record.load) comparison.require(Done::load);
    if (record.store) comparison.require(Done::store);
    if (record.locked) comparison.require(Done::lock);
    // A narrower operation can be a part of a wide access.
    if (record.width > 0 && abilities.widest > 0) {
      comparison.add(record.width <= abilities.widest);
    }
  }
  if (record.branch) compare_branch(*record.branch, abilities, ip, comparison);
  return comparison.answer();
}

}  // namespace

std::map<std::uint32_t, Contradictions> check_ibs_records(const measure::Profile& profile,
                                                          code::CodeBudget& budget) {
  std::map<std::uint32_t, Contradictions> findings;
  if (std::ranges::none_of(profile.events, has_ibs_records)) return findings;
  const AbilitiesOfPlaces places = find_abilities(profile, budget);
  const perfdata::Recording& recording = profile.recording;
  const auto compared = [&](const IbsRecord& record, const locate::VisitedRecord& visited) {
    const std::uint64_t ip = visited.sample->ip;
    // The kernel takes the address from the record (set_linear_ip() in perf_ibs_handle_irq()).
    if (record.rip != ip) return Answer::contradicts;
    if (record.microcode || !visited.location) return Answer::undecided;
    const auto place = places.find(*visited.location);
    if (place == places.end() || !place->second) return Answer::undecided;
    return compare(record, *place->second, ip);
  };
  profile.visit([&](const locate::VisitedRecord& visited) {
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr) return;
    if (!takes_record(profile.events[sample->attribute], {sample->mode, sample->exact})) return;
    Contradictions& finding = findings[sample->attribute];
    const auto details = recording.decoder().details(visited.record, *sample);
    const auto record =
        details ? perfdata::parse_ibs_record(details->raw, recording.byte_order()) : std::nullopt;
    if (!record) {
      ++finding.without;
      return;
    }
    ++finding.samples;
    const Answer answer = compared(*record, visited);
    if (answer == Answer::undecided) return;
    ++finding.share.total;
    if (answer == Answer::contradicts) ++finding.share.count;
  });
  for (auto& [attribute, finding] : findings) {
    finding.share = analysis::wilson_interval(finding.share.count, finding.share.total);
  }
  return findings;
}

}  // namespace skid::audit
