#include "src/audit/audit.h"

#include "src/audit/auditor.h"
#include "src/audit/contradictions.h"
#include "src/audit/ordered_samples.h"
#include "src/measure/matching_run.h"
#include "src/measure/precision_lost.h"
#include "src/measure/profile.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::audit {
namespace {

/// The files that samples and branch records lack, each once.
std::vector<MissingFile> missing_files(const locate::Digest& digest,
                                       const std::vector<locate::ModuleStore::Remark>& remarks,
                                       const std::map<symbols::FileIndex, std::uint64_t>& samples,
                                       const std::map<symbols::FileIndex, std::uint64_t>& records) {
  using Key = std::pair<std::string_view, std::string_view>;
  std::map<Key, std::string_view> texts;
  for (const auto& remark : remarks) {
    texts.emplace(Key{remark.mapped, remark.build_id}, remark.text);
  }
  std::map<symbols::FileIndex, MissingFile> files;
  for (const auto& [file, count] : samples) files[file].samples = count;
  for (const auto& [file, count] : records) files[file].branch_records = count;
  std::vector<MissingFile> missing;
  for (auto& [file, counts] : files) {
    const symbols::MappedFile& mapped = digest.spaces.file(file);
    counts.file = mapped.path;
    counts.build_id = mapped.build_id;
    const auto text = texts.find({mapped.path, mapped.build_id});
    if (text != texts.end()) counts.remark = text->second;
    missing.push_back(std::move(counts));
  }
  std::ranges::stable_sort(missing, [](const MissingFile& a, const MissingFile& b) {
    return std::tie(b.samples, b.branch_records) < std::tie(a.samples, a.branch_records);
  });
  return missing;
}

/// The narrowest delay that a run measured of the event. nullopt, with a warning: the run measured
/// none that holds for it.
std::optional<DelayRange> measured_delay(const measure::RecordedEvent& event,
                                         std::span<const analysis::Measurement> runs,
                                         std::vector<std::string>& warnings) {
  std::optional<DelayRange> delay;
  std::string reason =
      fmt::format("no delay of this event was measured at level {}", event.attribute.precise_ip);
  for (const analysis::Measurement& run : runs) {
    if (!run.delay || !measure::measures(run, event.attribute)) continue;
    const auto differing = measure::differing_from_run(measure::compare_with_run(event, run));
    if (!differing.empty()) {
      reason = fmt::format("{} does not match the profile: {}",
                           run.run.empty() ? run.file : run.run, fmt::join(differing, ", "));
    } else if (!delay || run.delay->high - run.delay->low < delay->high - delay->low) {
      delay = {run.delay->low, run.delay->high};
    }
  }
  if (delay) return delay;
  warnings.push_back(fmt::format(
      "--skid: {}; measure it on the machine of the profile, with its modifiers: skidscan record "
      "--delay -e EVENT",
      reason));
  return std::nullopt;
}

std::optional<DelayRange> delay_of(const measure::RecordedEvent& event, const Choices& choices,
                                   std::vector<std::string>& warnings) {
  if (choices.delay) return DelayRange{*choices.delay, *choices.delay};
  return choices.measured ? measured_delay(event, *choices.measured, warnings) : std::nullopt;
}

/// The result of an attribute; nullopt: `results` has none.
template <typename T>
std::optional<T> result_of(std::uint32_t attribute, const std::map<std::uint32_t, T>& results) {
  const auto found = results.find(attribute);
  return found != results.end() ? std::optional(found->second) : std::nullopt;
}

/// The event with its rule, and its audit before any sample is judged.
std::pair<EventToJudge, EventAudit> begin_audit(const measure::RecordedEvent& recorded,
                                                const Choices& choices) {
  EventAudit event(measure::event_summary(recorded));
  event.catalogue = recorded.knowledge.catalogue;
  if (std::string lost = measure::precision_lost(recorded); !lost.empty()) {
    event.warnings.push_back(std::move(lost));
  }
  BlockRule blocks(recorded);
  std::optional<DelayRange> delay;
  if (choices.delay || blocks.judges()) delay = delay_of(recorded, choices, event.warnings);
  const std::uint64_t pebs_period = measure::is_pebs(recorded) ? event.period.value_or(0) : 0;
  EventToJudge to_judge{recorded.attribute, rule_of(recorded),
                        measure::causes_of(recorded.knowledge).causes,
                        EventBlocks(std::move(blocks), pebs_period, delay)};
  event.rule = to_judge.rule.rule;
  for (std::string& warning : measure::event_warnings(recorded)) {
    event.warnings.push_back(std::move(warning));
  }
  return {std::move(to_judge), std::move(event)};
}

}  // namespace

Audit audit(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.file);
  locate::ModuleStore modules(choices.places);
  const measure::Profile profile(source, recording, modules, choices);
  CodeBudget budget;
  const auto data_sources = check_data_sources(profile, budget);
  const auto data_addresses = check_data_addresses(profile, budget);
  const BranchAudit branches = audit_branch_records(profile, choices.top);
  Auditor auditor(profile, choices, budget);
  Audit result;
  const locate::Digest& digest = profile.digest;
  result.filtered = digest.filtered;
  for (const measure::RecordedEvent& recorded : profile.events) {
    if (!profile.selects(recorded, choices.filter, result.filtered)) continue;
    auto [to_judge, event] = begin_audit(recorded, choices);
    event.data_source = result_of(recorded.index, data_sources);
    event.data_address = result_of(recorded.index, data_addresses);
    event.branch_records = result_of(recorded.index, branches.events);
    auditor.add(recorded.index, std::move(to_judge), std::move(event));
  }

  result.events = auditor.audit(ordered_samples(recording, digest, auditor.rules_of_order()));
  result.missing = missing_files(digest, modules.remarks(), auditor.missing(), branches.missing);
  if (digest.repeated.blocks > 0) result.remarks.push_back(digest.repeated.warning());
  profile.summarize(result);
  return result;
}

}  // namespace skid::audit
