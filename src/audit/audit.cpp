#include "src/audit/audit.h"

#include "src/audit/auditor.h"
#include "src/audit/data_address.h"
#include "src/audit/data_source.h"
#include "src/audit/ordered_samples.h"
#include "src/locate/digest.h"
#include "src/measure/data_addresses.h"
#include "src/measure/event_description.h"
#include "src/measure/event_identity.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/matching_run.h"
#include "src/measure/precision_lost.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"

#include <algorithm>
#include <map>
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

/// The narrowest delay that a run measured of the event; nullopt with a warning if none holds for
/// it.
std::optional<DelayRange> measured_delay(const measure::ProfiledEvent& event,
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

}  // namespace

Audit audit(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.file);
  const auto digest =
      locate::digest(recording, {.cores = choices.cores, .filter = &choices.filter});
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
  Audit result;
  result.filtered = digest.filtered;
  const std::vector<std::uint64_t> exact = locate::exact_samples(digest);
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    const perfdata::Attribute& attribute = attributes[index];
    if (attribute.is_dummy() || measure::is_cross_check(attribute, source)) continue;
    const std::string pmu = measure::pmu_name(recording.features(), attribute);
    const auto knowledge = cpu.know(attribute, pmu);
    auto described =
        measure::describe_measurement(source, recording, cpu.machine(), index, requested[index]);
    if (!measure::select_event(described.event, choices.filter, digest.totals[index].samples,
                               result.filtered)) {
      continue;
    }
    std::string lost = measure::precision_lost({attribute, described, pmu,
                                                measure::exact_ip_of(attribute, pmu, cpu.machine()),
                                                digest.totals[index].samples, exact[index]});
    if (!lost.empty()) described.warnings.push_back(std::move(lost));
    EventAudit event(measure::event_summary(attribute, source, described.event));
    event.warnings = std::move(described.warnings);
    const bool most_are_exact = 2 * exact[index] >= digest.totals[index].samples;
    BlockRule blocks(attribute, knowledge, most_are_exact);
    std::optional<DelayRange> delay;
    if (choices.delay) delay = {*choices.delay, *choices.delay};
    if (!delay && choices.measured && blocks.judges()) {
      delay = measured_delay({.attribute = attribute,
                              .pmu_name = pmu,
                              .knowledge = knowledge,
                              .machine = cpu.machine(),
                              .of_run = source.run != nullptr,
                              .synthetic = described.synthetic},
                             *choices.measured, event.warnings);
    }
    const bool is_pebs = measure::is_pebs(attribute, knowledge, cpu.machine());
    EventToJudge to_judge{
        attribute,
        rule_of(attribute, knowledge, arch),
        {},
        EventBlocks(std::move(blocks), is_pebs ? event.period.value_or(0) : 0, delay)};
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

  result.events = auditor.audit(ordered_samples(recording, digest, auditor.rules_of_order()));
  result.run = source.run_directory.string();
  result.file = source.file.string();
  result.synthetic = perfdata::is_synthetic(recording.features()) ||
                     (source.run != nullptr && source.run->synthetic);
  result.cpu = cpu.machine().cpu;
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
