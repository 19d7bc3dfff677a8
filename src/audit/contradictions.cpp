#include "src/audit/contradictions.h"

#include "analysis/addresses.h"
#include "analysis/not_judged.h"
#include "src/audit/file_judge.h"
#include "src/audit/rule.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/measure/data_source.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/profile.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_kind.h"
#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <linux/perf_event.h>

namespace skid::audit {
namespace {

/// Calls `judge(FileJudge&, const symbols::Module&, entry)` for each entry of `places` in a file of
/// x86-64 code, one file after the other, and within a file one function after the other, so that
/// each is decoded once: functions can overlap. `Places`: a map whose keys have `file` and
/// `offset`, by file.
template <typename Places, typename Judge>
void judge_by_function(Places& places, const measure::Profile& profile, code::CodeBudget& budget,
                       const Judge& judge) {
  for (auto place = places.begin(); place != places.end();) {
    const symbols::FileIndex file = place->first.file;
    const symbols::Module* module = profile.modules.find(profile.digest.spaces.file(file)).module;
    const bool is_judged = module != nullptr && module->arch() == Arch::x86_64;
    std::optional<FileJudge> in_file;
    if (is_judged) in_file.emplace(*module, profile.arch(), std::nullopt, budget);
    std::multimap<std::uint64_t, typename Places::value_type*> by_function;
    for (; place != places.end() && place->first.file == file; ++place) {
      if (is_judged) by_function.emplace(in_file->begin_of_function(place->first.offset), &*place);
    }
    for (const auto& [function, entry] : by_function) judge(*in_file, *module, *entry);
  }
}

using Findings = std::map<std::uint32_t, Contradictions>;

/// Sets the intervals of the shares.
Findings finished(Findings findings) {
  for (auto& [attribute, finding] : findings) {
    finding.share = analysis::wilson_interval(finding.share.count, finding.share.total);
  }
  return findings;
}

using measure::Operation;

struct AccessPlace : symbols::FileLocation {
  std::uint32_t attribute = 0;
  Operation operation = Operation::load;

  friend auto operator<=>(const AccessPlace&, const AccessPlace&) = default;
};

using AccessPlaces = std::map<AccessPlace, std::uint64_t>;  ///< samples by place

AccessPlaces access_places(const measure::Profile& profile, Findings& findings) {
  AccessPlaces places;
  profile.visit([&](const locate::VisitedRecord& visited) {
    const auto operation = measure::operation_of(profile, visited);
    if (!operation) return;
    const std::uint32_t attribute = visited.sample->attribute;
    ++findings[attribute].samples;
    if (visited.location) ++places[{*visited.location, attribute, *operation}];
  });
  return places;
}

using analysis::AddressSource;
using instructions::Access;
using instructions::AddressFormula;
using perfdata::Attribute;

/// The one memory operand of an instruction, and the instruction's length in bytes.
struct Operand {
  AddressFormula formula;
  unsigned length = 0;
};

/// The operand at each place; nullopt: samples there are undecided.
using OperandPlaces = std::map<symbols::FileLocation, std::optional<Operand>>;

/// The registers of a sample; empty: none were recorded.
struct Registers {
  std::uint64_t mask = 0;  ///< perf_event_attr.sample_regs_user or sample_regs_intr
  std::span<const std::byte> values;
  perfdata::ByteOrder order = perfdata::ByteOrder::little;

  /// Returns the value of a register; nullopt: it was not recorded. `number`: see AddressFormula.
  std::optional<std::uint64_t> value_of(std::uint8_t number) const {
    // PERF_REG_X86_*, arch/x86/include/uapi/asm/perf_regs.h.
    constexpr std::array<unsigned, 16> kBits{0,  2,  3,  1,  7,  6,  4,  5,
                                             16, 17, 18, 19, 20, 21, 22, 23};
    const std::uint64_t bit = std::uint64_t{1} << kBits.at(number);
    if (values.empty() || (mask & bit) == 0) return std::nullopt;
    constexpr std::size_t kWord = sizeof(std::uint64_t);
    const auto before = static_cast<std::size_t>(std::popcount(mask & (bit - 1)));
    return perfdata::ByteReader(values.subspan(before * kWord), order).u64();
  }
};

/// Whether samples have the address of an access.
bool has_addresses(const std::optional<AddressSource>& source) {
  return source && (analysis::identifies_cause(*source) || *source == AddressSource::tagged);
}

/// Whether samples of a kind are compared. A page fault is at its instruction, without EXACT_IP.
bool takes(const std::optional<AddressSource>& source, perfdata::SampleKind kind) {
  return has_addresses(source) && kind.mode() == perfdata::CpuMode::user &&
         (kind.exact() || *source == AddressSource::page_fault);
}

/// Returns the operand of the instruction at `address`. nullopt unless it does one access, of a
/// known size, to an operand in its assembly. String instructions, gathers, and instructions that
/// also access the stack are left out.
std::optional<Operand> operand_at(const symbols::Module& module, std::uint64_t address) {
  const auto code = module.code({address, address + instructions::kLongestInstruction});
  const auto instruction = instructions::classify(Arch::x86_64, code, address);
  if (!instruction || instruction->repeats || instruction->enters_system ||
      instruction->memory.size() != 1 ||
      instruction->categories.contains(instructions::Category::other)) {
    return std::nullopt;
  }
  const instructions::MemoryOperand& operand = instruction->memory.front();
  if (operand.implicit || operand.access == Access::none || !operand.formula) return std::nullopt;
  return Operand{*operand.formula, instruction->length};
}

/// Returns the registers as they were when the operand's address was computed; empty: the sample
/// does not have them. A fault leaves them as they were before the instruction. A PEBS record has
/// them as they were after it (Intel SDM Vol. 3B, "PEBS Record Format"), and perf delivers those of
/// the record as REGS_INTR alone (setup_pebs_fixed_sample_data() and
/// setup_pebs_adaptive_sample_data() in arch/x86/events/intel/ds.c). IBS records none: those of its
/// samples are of the interrupt.
Registers registers_of(const perfdata::SampleDetails& details, const Attribute& attribute,
                       AddressSource source, const AddressFormula& formula,
                       perfdata::ByteOrder order) {
  const bool is_fault = source == AddressSource::page_fault;
  if (!is_fault && (source != AddressSource::pebs || formula.writes_registers)) return {};
  if (!details.interrupt_registers.empty()) {
    return {attribute.sample_regs_intr, details.interrupt_registers, order};
  }
  if (!is_fault) return {};
  return {attribute.sample_regs_user, details.user_registers, order};
}

/// Returns where the operand began when the instruction at `ip` was executed; nullopt: a register
/// was not recorded.
std::optional<std::uint64_t> begin_of(const AddressFormula& formula, std::uint64_t ip,
                                      const Registers& registers) {
  std::uint64_t begin = formula.displacement + (formula.from_instruction ? ip : 0);
  const std::array<std::pair<std::optional<std::uint8_t>, std::uint64_t>, 2> parts{
      {{formula.base, 1}, {formula.index, formula.scale}}};
  for (const auto& [number, scale] : parts) {
    if (!number) continue;
    const auto value = registers.value_of(*number);
    if (!value) return std::nullopt;
    begin += *value * scale;
  }
  return begin;
}

/// Whether the CPU may have faulted at `address` because it fetched the instruction.
bool may_be_fetch(std::uint64_t address, std::uint64_t ip, unsigned length) {
  constexpr unsigned kPageBits = 12;
  const std::uint64_t page = address >> kPageBits;
  return page == ip >> kPageBits || page == (ip + length - 1) >> kPageBits;
}

OperandPlaces operand_places(const locate::Digest& digest,
                             const std::vector<std::optional<AddressSource>>& sources) {
  OperandPlaces places;
  digest.located.for_each([&](const locate::LocatedSamples& located) {
    if (!located.location || !takes(sources[located.attribute], located.kind)) return;
    // Without a build-id the file may be another build, whose data is elsewhere.
    if (digest.spaces.file(located.location->file).build_id.empty()) return;
    places[*located.location];
  });
  return places;
}

/// Returns measure::address_source() by attribute; nullopt for dummies, and for events that are not
/// precise, because their record can be of another instruction than their data address.
std::vector<std::optional<AddressSource>> address_sources(
    const std::vector<measure::RecordedEvent>& events) {
  std::vector<std::optional<AddressSource>> sources;
  for (const measure::RecordedEvent& event : events) {
    auto& source = sources.emplace_back();
    if (event.attribute.is_dummy() || event.knowledge.imprecise()) continue;
    source = measure::address_source(event);
  }
  return sources;
}

}  // namespace

std::map<std::uint32_t, Contradictions> check_data_sources(const measure::Profile& profile,
                                                           code::CodeBudget& budget) {
  Findings findings;
  if (std::ranges::none_of(profile.events, [](const auto& event) {
        return event.attribute.has(PERF_SAMPLE_DATA_SRC);
      })) {
    return findings;
  }
  AccessPlaces places = access_places(profile, findings);
  judge_by_function(
      places, profile, budget,
      [&](FileJudge& judge, const symbols::Module&, const AccessPlaces::value_type& entry) {
        const auto& [place, samples] = entry;
        const Judgement judgement =
            judge.judge(measure::causes_of(place.operation), Rule::sampled, place.offset);
        if (judgement.verdict == events::Verdict::unknown) return;
        analysis::Share& share = findings[place.attribute].share;
        share.total += samples;
        if (judgement.verdict == events::Verdict::never) share.count += samples;
      });
  return finished(std::move(findings));
}

std::map<std::uint32_t, Contradictions> check_data_addresses(const measure::Profile& profile,
                                                             code::CodeBudget& budget) {
  const perfdata::Recording& recording = profile.recording;
  const locate::Digest& digest = profile.digest;
  const auto sources = address_sources(profile.events);
  Findings findings;
  if (std::ranges::none_of(sources, has_addresses)) return findings;
  OperandPlaces places = operand_places(digest, sources);
  judge_by_function(
      places, profile, budget,
      [](FileJudge& judge, const symbols::Module& module, OperandPlaces::value_type& entry) {
        const Judgement judgement = judge.judge({}, Rule::page_fault, entry.first.offset);
        if (judgement.not_judged != NotJudged::none) return;
        entry.second = operand_at(module, judgement.address);
      });
  profile.visit([&](const locate::VisitedRecord& visited) {
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr) return;
    const auto& source = sources[sample->attribute];
    if (!takes(source, {sample->mode, sample->exact})) return;
    if (!analysis::is_data_address(sample->addr)) {
      // Not every operation that IBS tags accesses memory, and a fault may be at address 0.
      const bool is_missing = sample->addr == 0 && *source == AddressSource::pebs;
      if (is_missing) ++findings[sample->attribute].without;
      return;
    }
    Contradictions& finding = findings[sample->attribute];
    ++finding.samples;
    if (!visited.location) return;
    const auto place = places.find(*visited.location);
    if (place == places.end() || !place->second) return;
    const auto& [formula, length] = *place->second;
    if (*source == AddressSource::page_fault && may_be_fetch(sample->addr, sample->ip, length)) {
      return;
    }
    Registers registers;
    const bool by_registers = formula.base || formula.index;
    if (by_registers) {
      const auto details = recording.decoder().details(visited.record, *sample);
      if (!details) return;
      registers = registers_of(*details, recording.attributes()[sample->attribute], *source,
                               formula, recording.byte_order());
    }
    const auto begin = begin_of(formula, sample->ip, registers);
    if (!begin) return;
    ++finding.share.total;
    // With linear address masking, programs keep data in the bits above (Intel SDM Vol. 1, "Linear
    // Address Masking").
    constexpr std::uint64_t kUserBits = (std::uint64_t{1} << 47) - 1;
    const std::uint64_t distance =
        (sample->addr - *begin) & (by_registers ? kUserBits : UINT64_MAX);
    if (distance >= formula.bytes) ++finding.share.count;
  });
  return finished(std::move(findings));
}

}  // namespace skid::audit
