#include "src/measure/measure.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/classified.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/geometry.h"
#include "analysis/ip_check.h"
#include "analysis/not_judged.h"
#include "analysis/recording_path.h"
#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "analysis/target_map.h"
#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/target_report.h"
#include "runway/trigger.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/kernel_rules.h"
#include "src/instructions/counted.h"
#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/machine/machine.h"
#include "src/measure/contradicted_hits.h"
#include "src/measure/data_source.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/event_warnings.h"
#include "src/measure/no_samples.h"
#include "src/measure/page_fault_checker.h"
#include "src/measure/precision.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/measure/single_samples.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/repeated_records.h"
#include "src/perfdata/sample_kind.h"
#include "src/run/run.h"
#include "src/support/losses.h"
#include "src/symbols/address_space.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::measure {
namespace {

using analysis::Measurement;
using analysis::SampleClass;
using perfdata::Attribute;
using perfdata::CpuMode;

/// Where a sample's CPU mode and mapping put it; which user code is the target's is not asked here.
SampleClass class_of(const locate::LocatedSamples& located) {
  const CpuMode mode = located.kind.mode();
  if (mode == CpuMode::kernel) return SampleClass::kernel;
  if (mode == CpuMode::user) {
    return located.location ? SampleClass::other_user : SampleClass::unmapped;
  }
  return mode == CpuMode::unknown ? SampleClass::unmapped : SampleClass::guest;
}

/// What is counted for each event, by attribute.
using Bases = std::vector<analysis::Basis>;

void tally_events(const Profile& profile, const TargetGeometry* geometry,
                  ContradictedHits& contradicted, Bases& bases) {
  profile.digest.located.for_each([&](const locate::LocatedSamples& located) {
    analysis::Classified place{class_of(located), {}, {}};
    if (geometry != nullptr && place.sample_class == SampleClass::other_user) {
      const analysis::Landing landing = profile.events[located.attribute].landing;
      place = geometry->classify(located.location, landing).value_or(place);
    }
    analysis::Tally& tally = bases[located.attribute].tally;
    std::uint64_t left = located.samples;
    for (const auto& [by, samples] : contradicted.take(located)) {
      tally.add(analysis::contradicted_by(by), samples, located.kind.exact());
      left -= samples;
    }
    if (left > 0) tally.add(place, left, located.kind.exact());
  });
}

void describe_period(const RecordedEvent& event, const locate::Digest& digest,
                     Measurement& measurement) {
  const Attribute& attribute = event.attribute;
  measurement.period.requested = event.period;
  if (attribute.has(PERF_SAMPLE_PERIOD)) {
    measurement.basis.period_sum = digest.totals[event.index].period_sum;
  } else if (!attribute.frequency) {
    measurement.period.effective = static_cast<double>(attribute.period_or_frequency);
  }
}

/// Null: of functions, or none.
const runway::TargetDescription* description_of(const TargetGeometry* geometry) {
  return geometry != nullptr && geometry->description ? &*geometry->description : nullptr;
}

/// Null: the target reported nothing, or is not known.
const runway::TargetReport* report_of(const run::PlannedMeasurement* planned) {
  return planned != nullptr && planned->target_report ? &*planned->target_report : nullptr;
}

/// The share of a chase's elements that the caches of the target's CPU can hold up to the level
/// whose misses an event counts, victim caches included; 1 where they are not known. nullopt: the
/// event does not depend on it.
std::optional<double> cached_share(events::Counted counted,
                                   const runway::Specification& specification,
                                   const Source& source) {
  const std::optional<int> level = events::missed_level(counted);
  if (!level || !runway::is_chase(specification.trigger)) return std::nullopt;
  if (source.run == nullptr || source.planned == nullptr) return 1;
  const auto& all = source.run->machine.data_caches;
  const auto caches = all.find(source.planned->cpu.value_or(source.run->cpu));
  if (caches == all.end()) return 1;
  std::uint64_t bytes = 0;
  bool is_known = false;
  for (const machine::DataCache& cache : caches->second) {
    if (cache.level > *level) continue;
    is_known = is_known || cache.level == *level;
    bytes += std::min(cache.bytes, specification.working_set_bytes);  // bounded: run.json is input
  }
  return is_known ? runway::share_in_caches(specification, bytes) : 1;
}

/// Events per iteration, where the target counted its iterations while perf counted events.
void count_events(const RecordedEvent& event, const TargetGeometry* geometry, const Source& source,
                  Measurement& measurement) {
  const auto* target = description_of(geometry);
  if (target == nullptr) return;
  const Attribute& attribute = event.attribute;
  const runway::Specification& specification = target->specification;
  auto& per_iteration = measurement.events_per_iteration;
  if (const auto builtin = builtin_event_of(attribute, *target)) {
    if (const auto* expected = target->expectation_of(*builtin)) {
      per_iteration.expected = expected->events_per_iteration;
    }
  } else if (event.entry && !attribute.exclude_user &&
             (attribute.exclude_kernel ||
              !runway::kind_of(specification.trigger).gives_back_page)) {
    // The kernel executes most of an iteration with a fault.
    per_iteration.expected = events::expected_events(*event.entry, specification);
    per_iteration.cached_share = cached_share(event.counted, specification, source);
  }
  const auto* report = report_of(source.planned);
  if (measurement.basis.not_judged != analysis::NotJudged::timer && report != nullptr) {
    measurement.basis.iterations = report->iterations;
  }
}

/// Notes which events have data addresses, and what their target declares; none is tabulated yet.
void describe_addresses(const Profile& profile, const TargetGeometry* geometry, Bases& bases) {
  const auto* target = description_of(geometry);
  for (const RecordedEvent& event : profile.events) {
    const auto source = address_source(event);
    if (!source) continue;
    auto& addresses = bases[event.index].addresses.emplace(analysis::Addresses{*source, {}, {}});
    // Other instructions of the loop access the same bytes of a stack slot, and IBS samples them.
    if (target == nullptr || (*source == analysis::AddressSource::tagged &&
                              runway::touches_stack(target->specification.trigger))) {
      continue;
    }
    addresses.declared = declared_data(*target, report_of(profile.source.planned));
  }
}

/// Everything that the measurements of one recording share.
struct Reading {
  const Profile& profile;
  const TargetGeometry* geometry;                            ///< null: no trigger address
  std::shared_ptr<const std::vector<std::string>> warnings;  ///< warnings of the whole recording
  std::int64_t bin_width;                                    ///< instructions
};

/// A recording can have many events, each with its measurement: more of one kind than these are
/// counted instead of shown.
constexpr std::size_t kMostWarnings = 10;

void append_bounded(const std::vector<std::string>& some, std::string_view where_the_rest_is,
                    std::vector<std::string>& all) {
  const std::size_t shown = some.size() > kMostWarnings ? kMostWarnings - 1 : some.size();
  all.insert(all.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(shown));
  if (shown < some.size()) {
    all.push_back(fmt::format("{} more: {}.", some.size() - shown, where_the_rest_is));
  }
}

/// The remarks of the module store that matter to the measurement. Where the target was found
/// these are what was taken for it unverified, and files that were refused: what was sampled in
/// them may have been a target too. Where none was found, every file might have been it.
void append_remarks(const std::vector<locate::ModuleStore::Remark>& all,
                    const locate::Digest& digest, const TargetGeometry* geometry,
                    std::vector<std::string>& remarks) {
  using Kind = locate::ModuleStore::Remark::Kind;
  std::set<std::string> targets;  // as they were mapped
  if (geometry != nullptr) {
    for (const auto file : geometry->mappings) targets.insert(digest.spaces.file(file).path);
  }
  for (const auto& remark : all) {
    const bool matters = geometry == nullptr || remark.kind == Kind::refused ||
                         (remark.kind == Kind::unverified && targets.contains(remark.mapped));
    if (matters) remarks.push_back(remark.text);
  }
}

std::vector<std::string> warnings_of(const perfdata::Recording& recording,
                                     const std::vector<std::string>& remarks) {
  std::vector<std::string> warnings;
  std::vector<std::string> faults;
  for (const auto& fault : recording.faults()) faults.push_back(describe(fault));
  append_bounded(faults, "'skidscan inspect' lists all damage", warnings);
  append_bounded(remarks, "'skidscan samples' lists all problems with mapped files", warnings);
  return warnings;
}

/// The target's own report: the ticks of a NOP, and warnings.
std::optional<double> read_target_report(const runway::TargetReport* report,
                                         std::vector<std::string>& warnings) {
  if (report == nullptr) return std::nullopt;
  for (const auto& warning : report->warnings) warnings.push_back("target: " + warning);
  return report->ticks_per_nop > 0 ? std::optional(report->ticks_per_nop) : std::nullopt;
}

/// The ticks of an iteration while it was sampled.
std::optional<double> ticks_per_iteration(const runway::TargetReport* report) {
  if (report == nullptr) return std::nullopt;
  const double ticks = report->elapsed_seconds * report->ticks_per_second;
  if (report->iterations == 0 || ticks <= 0) return std::nullopt;
  return ticks / static_cast<double>(report->iterations);
}

/// Returns the path, as it was mapped, of the file that was taken for the target.
std::string target_name(const TargetGeometry& geometry, const locate::Digest& digest) {
  const auto& mappings = geometry.mappings;
  return mappings.empty() ? "of the run" : digest.spaces.file(mappings.front()).path;
}

/// `counted`: of the event.
Measurement measure_event(const Reading& reading, const RecordedEvent& event,
                          analysis::Basis counted) {
  const auto& [profile, geometry, warnings, bin_width] = reading;
  const Source& source = profile.source;
  const locate::Digest& digest = profile.digest;
  const Attribute& attribute = event.attribute;
  Measurement measurement = profile.described(event);
  analysis::Basis& basis = measurement.basis;
  basis = std::move(counted);
  static_cast<Losses&>(measurement) = digest;
  measurement.unknown_ids = digest.unknown_ids;
  const auto* description = description_of(geometry);
  if (geometry != nullptr) measurement.trigger = geometry->trigger;
  describe_period(event, digest, measurement);
  measurement.path = recording_path(event);
  basis.events_to_record = events_to_record(event);
  basis.random_period = is_ibs(event);
  // What the samples show is among the figures.
  std::string lost = not_as_requested(event);
  if (!lost.empty()) measurement.warnings.push_back(std::move(lost));
  for (std::string& warning : event_warnings(event)) {
    measurement.warnings.push_back(std::move(warning));
  }

  basis.ignores_level = ignores_level(attribute);
  basis.exact_ip = event.exact_ip;
  if (event.entry) basis.level_three = events::level_3_of(*event.entry);
  if (geometry != nullptr) {
    basis.geometry = geometry->map.geometry();
    // What a filter passes is not any instruction of the loop.
    if (is_spe(event) && !tags_any_operation(event.pmu_name, attribute)) {
      basis.geometry->even_hit_share.reset();
    }
    basis.known_offset = known_offset(event, description);
    basis.not_judged = reason_not_judged(event, description, geometry->categories);
    if (description != nullptr) {
      basis.equal_triggers = triggers_are_equal(event, *description);
      basis.trigger_repeats = runway::kind_of(description->specification.trigger).repeats;
    }
    measurement.event.remark = remark_on(event, basis.not_judged);
  }
  if (event.samples == 0) {
    measurement.event.remark = profile.digest.filtered.all == 0
                                   ? why_no_samples(profile.recording)
                                   : trace_of(event, profile.recording);
  }
  count_events(event, geometry, source, measurement);
  basis.ticks_per_instruction = read_target_report(report_of(source.planned), measurement.warnings);
  const bool counts_time = is_clock(attribute) || event.counted == events::Counted::cycles ||
                           is_generic_cycles(attribute);
  const bool is_in_kernel =
      description != nullptr && runway::has_page_fault(description->specification.trigger);
  if (counts_time && !is_in_kernel) {
    basis.ticks_per_iteration = ticks_per_iteration(report_of(source.planned));
  }
  const auto rule = period_rule_of(event);
  const bool keeps_period = !rule || rule->takes(measurement.period.requested.value_or(0));
  if (event.counted == events::Counted::instructions && description != nullptr && event.entry &&
      events::has_precise_distribution(*event.entry) && keeps_period) {
    basis.instructions_per_iteration =
        runway::events_per_iteration(description->specification, events::Counted::instructions);
  }
  measurement.bin_width = bin_width;
  measurement.recording_warnings = warnings;
  analysis::complete(measurement);
  return measurement;
}

}  // namespace

Measured measure(const Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.content(), source.file);
  locate::ModuleStore modules(choices.places);
  const Profile profile(source, recording, modules, choices);
  const locate::Digest& digest = profile.digest;
  std::vector<std::string> remarks;
  std::optional<TargetGeometry> geometry;
  if (choices.hit_function && choices.runway_function) {
    geometry = find_functions(profile, *choices.hit_function, *choices.runway_function);
  } else {
    geometry = find_recorded_target(profile, remarks);
    if (!geometry) {
      remarks.emplace(
          remarks.begin(),
          "No generated target is among the sampled files; of a target of your own, name "
          "the hit function and the runway function.");
    }
  }
  const std::string no_samples =
      digest.filtered.all == 0 ? why_no_samples(recording) : std::string();
  if (!no_samples.empty()) remarks.insert(remarks.begin(), no_samples + '.');
  if (auto trace = trace_beside(digest.filtered.all, recording); !trace.empty()) {
    remarks.insert(remarks.begin(), std::move(trace));
  }
  if (digest.repeated.blocks > 0) remarks.insert(remarks.begin(), digest.repeated.warning());
  const auto* known_geometry = geometry ? &*geometry : nullptr;
  append_remarks(modules.remarks(), digest, known_geometry, remarks);

  PageFaultChecker checker(recording);
  Bases bases(profile.events.size());
  describe_addresses(profile, known_geometry, bases);
  ContradictedHits contradicted(profile, known_geometry);
  const auto impossible_check = impossible_records(profile);
  profile.visit({count_single_samples(profile, known_geometry, checker, contradicted, bases),
                 impossible_check.visitor});
  tally_events(profile, known_geometry, contradicted, bases);
  const auto impossible = impossible_check.finish();
  const Reading reading{
      profile, known_geometry,
      std::make_shared<const std::vector<std::string>>(warnings_of(recording, remarks)),
      choices.bin_width};

  Measured result;
  for (const RecordedEvent& event : profile.events) {
    if (event.attribute.is_dummy()) continue;
    if (event.index == checker.tracepoint()) continue;
    Measurement& measured = result.measurements.emplace_back(
        measure_event(reading, event, std::move(bases[event.index])));
    if (const auto found = impossible.find(event.index); found != impossible.end()) {
      measured.warnings.insert(measured.warnings.begin(), found->second.begin(),
                               found->second.end());
    }
    if (const analysis::IpCheck* check = checker.check_of(event.index)) {
      measured.ip_check = *check;
      if (auto warning = warning_of(*check)) measured.warnings.push_back(std::move(*warning));
    }
  }
  result.unused = modules.unused();
  result.no_samples = no_samples;
  result.faults = recording.faults();
  result.read_in_part = recording.read_in_part();
  result.particulars.push_back(known_geometry == nullptr
                                   ? fmt::format("{}: no target was found", source.file.string())
                                   : fmt::format("{}: target {}, build-id {}", source.file.string(),
                                                 target_name(*known_geometry, digest),
                                                 known_geometry->module->build_id()));
  result.particulars.push_back(
      fmt::format("{}: {}", source.file.string(), profile.cpu.catalogue_name()));
  return result;
}

}  // namespace skid::measure
