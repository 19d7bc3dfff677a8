// Finds the trigger and the runway that the samples of a recording are measured from. An iteration
// of a target (runway/note.h has the addresses, docs/method.md the classes):
//
//   | head | lead-in NOPs | trigger | runway NOPs | setup | trigger | runway NOPs | rest |
//    loop begins           offset 0  1, 2, 3, ...   |      offset 0  1, 2, 3, ...
//                                                   head of the next trigger, if it has one
//
// 1. The files with user-mode samples are opened and verified; a file may have several mappings.
// 2. The first one with a note is the target. Without any user-mode sample, the run names the
//    target, so that the expected samples are known. For other programs the user names two
//    functions, hit and runway.
// 3. Trigger, lead-in and runway are decoded, because offsets are in instructions, not in bytes.
// 4. Other triggers are instructions of the loop that can cause the event, too; what is executed
//    directly after them is where their samples may be. The categories of all other instructions
//    decide whether samples can be judged (reason_not_judged() in event_knowledge.h).
//
// A note or a symbol table may be hostile: kLongestPart and kLargestFunction bound what is decoded.

#include "src/measure/target_geometry.h"

#include "analysis/addresses.h"
#include "analysis/classified.h"
#include "runway/specification.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/instructions/category.h"
#include "src/instructions/instruction.h"
#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/measure.h"
#include "src/measure/profile.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample_kind.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/text.h"
#include "src/symbols/address_space.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::measure {
namespace {

using symbols::FileIndex;

/// A verified file and its mappings (by name), ascending.
struct SampledModule {
  locate::ModuleStore::Found found;
  std::vector<FileIndex> mappings;
};

/// Files with user-mode samples, a flag each.
std::vector<bool> sampled_files(const locate::Digest& digest) {
  std::vector<bool> sampled(digest.spaces.file_count());
  digest.located.for_each([&](const locate::LocatedSamples& located) {
    if (located.location && located.kind.mode() == perfdata::CpuMode::user) {
      sampled[located.location->file] = true;
    }
  });
  return sampled;
}

/// Files with user-mode samples that could be opened and verified.
std::vector<SampledModule> sampled_modules(const Profile& profile) {
  const std::vector<bool> sampled = sampled_files(profile.digest);
  std::vector<SampledModule> result;
  for (FileIndex file = 0; file < sampled.size(); ++file) {
    if (!sampled[file]) continue;
    const auto found = profile.modules.find(profile.digest.spaces.file(file));
    if (found.module == nullptr) continue;
    const auto known = std::ranges::find_if(
        result, [&](const auto& module) { return module.found.module == found.module; });
    if (known != result.end()) {
      known->mappings.push_back(file);
    } else {
      result.push_back({found, {file}});
    }
  }
  return result;
}

analysis::CodeRegion region(const symbols::Module& module, Arch arch, AddressRange range) {
  return {range, instructions::starts_in(arch, module.code(range), range.begin)};
}

/// Bytes of another trigger, or of the code before a trigger: a few instructions. Bounds what a
/// hostile note can make us decode.
constexpr std::uint64_t kLongestPart = 4096;

/// What is executed directly after the instructions of a range: the targets of its branches and
/// calls, and what follows it unless its last instruction goes elsewhere. Returns are left out: no
/// target has one that is not a trigger.
void append_successors(const symbols::Module& module, Arch arch, AddressRange range,
                       std::vector<std::uint64_t>& successors) {
  bool falls_through = false;
  instructions::for_each_instruction(
      arch, module.code(range), range.begin, [&](std::uint64_t, const auto& found) {
        falls_through = found && instructions::falls_through(found->flow);
        if (found && found->target) successors.push_back(*found->target);
      });
  if (falls_through) successors.push_back(range.end);
}

/// The categories of a range; for code that is too long or not decoded `other`, which says nothing.
instructions::Categories categories_in(const symbols::Module& module, Arch arch,
                                       AddressRange range) {
  const instructions::Categories unknown{instructions::Category::other};
  if (range.size() > kLongestPart) return unknown;
  instructions::Categories categories;
  instructions::for_each_instruction(
      arch, module.code(range), range.begin,
      [&](std::uint64_t, const auto& found) { categories |= found ? found->categories : unknown; });
  return categories;
}

/// The categories of a loop of triggers, other triggers, NOPs and a few more instructions.
LoopCategories categories_of(const symbols::Module& module, Arch arch,
                             const runway::Layout& layout) {
  using instructions::Category;
  LoopCategories categories;
  categories.others = {Category::nop};
  std::vector<AddressRange> known = layout.other_triggers;
  known.push_back(layout.lead_in);
  for (const auto& [trigger, runway] : layout.trigger_blocks()) {
    known.insert(known.end(), {trigger, runway});
  }
  std::ranges::sort(known, {}, &AddressRange::begin);
  known.push_back({layout.loop.end, layout.loop.end});
  std::uint64_t begin = layout.loop.begin;
  for (const AddressRange& range : known) {
    if (begin < range.begin) categories.others |= categories_in(module, arch, {begin, range.begin});
    begin = std::max(begin, range.end);
  }
  categories.trigger = categories_in(module, arch, layout.trigger);
  return categories;
}

AddressRange only_function(const SampledModule& module, const std::string& name) {
  const auto functions = module.found.module->functions_named(name);
  if (functions.size() > 1) {
    throw Error("{}: has {} functions named '{}'; expected one", module.found.path.string(),
                functions.size(), name);
  }
  return functions.front().range;
}

/// The most files that are named in a message.
constexpr std::size_t kMostNamed = 16;

/// No function of a runway is larger; bounds what a hostile symbol table can make us decode.
constexpr std::uint64_t kLargestFunction = std::uint64_t{64} << 20;

std::string named(const std::vector<std::string>& names, std::string_view separator) {
  const auto first = std::span(names).first(std::min(names.size(), kMostNamed));
  std::string text = fmt::format("{}", fmt::join(first, separator));
  if (names.size() > first.size()) {
    text += fmt::format("{}and {} more", separator, names.size() - first.size());
  }
  return text;
}

/// The target that a file's note describes; nullopt when it has none. A note that cannot be read
/// is added to `remarks`.
std::optional<TargetGeometry> geometry_of(const SampledModule& module,
                                          std::vector<std::string>& remarks) {
  std::optional<runway::Target> target;
  try {
    target = runway::read_target(module.found.path);
  } catch (const InputError& error) {
    remarks.emplace_back(error.what());
  }
  if (!target) return std::nullopt;
  const auto& layout = target->description.layout;
  const symbols::Module& elf = *module.found.module;
  const Arch arch = target->description.specification.arch;
  std::vector<analysis::TriggerBlock> trigger_blocks;
  std::vector<std::uint64_t> successors;
  for (const auto& [trigger, runway] : layout.trigger_blocks()) {
    if (!trigger_blocks.empty()) {
      const AddressRange setup{trigger_blocks.back().runway.range.end, trigger.begin};
      if (setup.size() <= kLongestPart) {
        trigger_blocks.back().setup = region(elf, arch, setup).starts.size();
      }
      // Level 1 samples the setup where no NOP precedes it.
      if (trigger_blocks.back().runway.range.empty()) successors.push_back(setup.begin);
    }
    trigger_blocks.push_back({region(elf, arch, trigger), region(elf, arch, runway)});
  }
  for (const AddressRange& other : layout.other_triggers) {
    if (other.size() <= kLongestPart) append_successors(elf, arch, other, successors);
  }
  return TargetGeometry{
      module.mappings,
      &elf,
      analysis::TargetMap::of_target(region(elf, arch, layout.lead_in), std::move(trigger_blocks),
                                     layout.loop, layout.other_triggers, std::move(successors)),
      analysis::Trigger{std::string(runway::name_of(target->description.specification.trigger)),
                        layout.trigger.begin, "skid_trigger"},
      target->description,
      categories_of(elf, arch, layout)};
}

}  // namespace

std::optional<analysis::Classified> TargetGeometry::classify(
    const std::optional<symbols::FileLocation>& location, analysis::Landing landing) const {
  if (!location || !is_mapped_by(location->file)) return std::nullopt;
  const auto address = module->address_at(location->offset);
  return address ? std::optional(map.classify(*address, landing)) : std::nullopt;
}

std::vector<analysis::DeclaredData> declared_data(const runway::TargetDescription& target,
                                                  const runway::TargetReport* report) {
  std::vector<analysis::DeclaredData> declared;
  for (const runway::TouchedData& data : target.data) {
    const std::uint64_t begin = target.layout.datum + data.offset;
    declared.push_back({data.of_trigger, {begin, begin + data.bytes}});
  }
  if (declared.empty() || !runway::is_chase(target.specification.trigger)) return declared;
  // Nearly all that it accesses is elsewhere: half a declaration would contradict each sample.
  if (report == nullptr || !report->chase) return {};
  declared.push_back({true, *report->chase});
  return declared;
}

std::optional<TargetGeometry> find_recorded_target(const Profile& profile,
                                                   std::vector<std::string>& remarks) {
  const Source& source = profile.source;
  for (const auto& module : sampled_modules(profile)) {
    if (auto geometry = geometry_of(module, remarks)) return geometry;
  }
  if (source.run == nullptr || source.planned == nullptr) return std::nullopt;
  const auto* ran = find_by(source.run->targets, &run::RunTarget::file, source.planned->target);
  const std::vector<bool> sampled = sampled_files(profile.digest);
  if (ran == nullptr || std::ranges::find(sampled, true) != sampled.end()) return std::nullopt;
  const auto found =
      profile.modules.find({(source.directory() / ran->file).string(), ran->build_id});
  return found.module == nullptr ? std::nullopt : geometry_of({found, {}}, remarks);
}

TargetGeometry find_functions(const Profile& profile, const std::string& hit,
                              const std::string& runway) {
  std::vector<SampledModule> with_both;
  std::vector<std::string> looked_in;
  std::string missing = hit;
  for (auto& module : sampled_modules(profile)) {
    looked_in.push_back(module.found.path.string());
    const bool has_hit = !module.found.module->functions_named(hit).empty();
    const bool has_runway = !module.found.module->functions_named(runway).empty();
    if (has_hit && has_runway) with_both.push_back(std::move(module));
    if (has_hit && !has_runway) missing = runway;
  }
  if (with_both.empty()) {
    std::string message =
        fmt::format("function '{}': not found together with '{}' in any sampled file ", missing,
                    missing == hit ? runway : hit);
    message += looked_in.empty() ? "(none of them could be opened)"
                                 : fmt::format("(looked in {})", named(looked_in, ", "));
    std::vector<std::string> remarks;
    for (const auto& remark : profile.modules.remarks()) remarks.push_back(remark.text);
    for (const auto& [path, text] : profile.modules.unused()) remarks.push_back(text);
    if (!remarks.empty()) message += "; " + named(remarks, "; ");
    throw Error(message);
  }
  if (with_both.size() > 1) {
    throw Error("functions '{}' and '{}': both in {} and in {}; expected one file", hit, runway,
                with_both[0].found.path.string(), with_both[1].found.path.string());
  }
  const auto& module = with_both.front();
  const symbols::Module& elf = *module.found.module;
  const auto arch = elf.arch();
  if (!arch) throw Error("{}: unsupported architecture", module.found.path.string());
  const AddressRange hit_range = only_function(module, hit);
  const AddressRange runway_range = only_function(module, runway);
  if (runway_range.empty() || runway_range.size() > kLargestFunction) {
    throw Error("{}: function '{}' is {} bytes long; expected 1 to {}", module.found.path.string(),
                runway, runway_range.size(), kLargestFunction);
  }
  return {module.mappings, &elf,
          analysis::TargetMap::of_functions(hit_range, region(elf, *arch, runway_range)),
          analysis::Trigger{"function", hit_range.begin, hit}, std::nullopt};
}

}  // namespace skid::measure
