#include "src/correct/sampled_code.h"

#include "analysis/not_judged.h"
#include "src/code/control_flow.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/profile.h"
#include "src/perfdata/attribute.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/module.h"
#include "src/witness/judgement.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace skid::correct {
namespace {

const symbols::Module* find_module(const measure::Profile& profile, symbols::FileIndex file) {
  return profile.modules.find(profile.digest.spaces.file(file)).module;
}

}  // namespace

void FileBiases::add(const SampledAt& at) {
  const auto* module = find_module(profile_, at.location.file);
  const auto address = module ? module->address_at(at.location.offset) : std::nullopt;
  if (address && at.ip != 0) biases_[at.location.file].insert(at.ip - *address);
}

bool FileBiases::is_data_of_file(std::uint64_t byte, symbols::FileIndex file,
                                 std::uint64_t bias) const {
  const auto contains = [&](symbols::FileIndex other, std::uint64_t at) {
    const auto* module = find_module(profile_, other);
    if (module == nullptr) return false;
    const auto ranges = module->loaded_ranges();
    return std::ranges::any_of(
        ranges, [&](const AddressRange& range) { return range.contains(byte - at); });
  };
  return contains(file, bias) || std::ranges::any_of(biases_, [&](const auto& other) {
           return other.second.size() == 1 && contains(other.first, *other.second.begin());
         });
}

SampledCode::SampledCode(const measure::Profile& profile, const FileBiases& biases,
                         const symbols::Module& module, code::ControlFlow& flow,
                         code::CodeBudget& budget)
    : profile_(profile),
      biases_(biases),
      module_(module),
      flow_(flow),
      accesses_(module, flow, budget) {}

void SampledCode::note_sample(const SampledAt& at, std::span<const events::Cause> causes) {
  const auto address = module_.address_at(at.location.offset);
  const bool is_trap = profile_.events[at.attribute].attribute.type == PERF_TYPE_BREAKPOINT;
  if (!is_trap || !address || flow_.problem_at(*address) != analysis::NotJudged::none) return;
  const auto jump = flow_.instruction_at(*address);
  if (!jump || jump->flow != instructions::Flow::conditional) return;
  const auto candidates = candidates_of(at, *address, causes);
  if (candidates.unknown || candidates.known.size() != 1) return;
  if (candidates.known.front().falls_through) unfused_.insert(*address);
}

Candidates SampledCode::candidates_of(const SampledAt& at, std::uint64_t address,
                                      std::span<const events::Cause> causes) {
  const perfdata::Attribute& attribute = profile_.events[at.attribute].attribute;
  Suspicion suspicion{.causes = causes,
                      .fuses_as_intel = profile_.machine().cpu.vendor == "GenuineIntel",
                      .unfused = &unfused_};
  if (attribute.type == PERF_TYPE_BREAKPOINT) {
    constexpr std::uint32_t kWrite = 2;  // HW_BREAKPOINT_W
    const std::uint64_t bias = at.ip - address;
    const auto [known, is_new] = is_data_of_file_.try_emplace({at.attribute, bias});
    if (is_new) {
      known->second = biases_.is_data_of_file(attribute.config1, at.location.file, bias);
    }
    suspicion.watched = {.ip = at.ip,
                         .address = attribute.config1,
                         .bytes = std::max<std::uint64_t>(attribute.config2, 1)};
    suspicion.writes_only = attribute.bp_type == kWrite;
    suspicion.stack_is_elsewhere = known->second;
  }
  return find_candidates(flow_, accesses_, address, suspicion);
}

}  // namespace skid::correct
