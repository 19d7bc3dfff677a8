#include "src/measure/single_samples.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/classified.h"
#include "analysis/delay.h"
#include "analysis/geometry.h"
#include "analysis/ip_check.h"
#include "analysis/offset_counts.h"
#include "analysis/skid_in_events.h"
#include "analysis/target_map.h"
#include "runway/instructions.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "src/events/causes.h"
#include "src/events/kernel_rules.h"
#include "src/instructions/counted.h"
#include "src/locate/visit_records.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/contradicted_hits.h"
#include "src/measure/event_description.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/overshoot_counter.h"
#include "src/measure/page_fault_checker.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/counter_values.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/tracepoint.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::measure {
namespace {

using analysis::Contradiction;
using analysis::IpCheck;
using perfdata::Attribute;
using perfdata::Tracepoints;

bool is_comparable(const Attribute& attribute) {
  return is_page_fault(attribute) && attribute.has(PERF_SAMPLE_IP | PERF_SAMPLE_TID);
}

bool is_cross_check(const Attribute& attribute, const Tracepoints& tracepoints) {
  if (attribute.type != PERF_TYPE_TRACEPOINT || !attribute.has(PERF_SAMPLE_TID | PERF_SAMPLE_RAW)) {
    return false;
  }
  const auto* format = tracepoints.format(attribute.config);
  return format != nullptr && format->field("ip") != nullptr &&
         format->system + ":" + format->name == kPageFaultTracepoint;
}

/// Explains why an event that counts in software has no skid in events, by kernel/events/core.c.
std::string refusal_of_software(const Attribute& attribute) {
  // perf_swevent_hrtimer()
  if (is_clock(attribute))
    return "a timer takes the samples of a clock, whatever its counter is at";
  // perf_swevent_event()
  if (attribute.has(PERF_SAMPLE_PERIOD)) {
    return "where samples contain their period, the kernel takes one of every event";
  }
  return {};
}

/// Explains why an event of a PMU has no skid in events.
std::string refusal_of_pmu(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  const machine::CpuIdentity& cpu = event.machine.cpu;
  if (!is_core_event(event)) return "this PMU has no counter that interrupts at each period";
  if (attribute.precise_ip > 0 && !is_of_arm(event)) {
    return "at a precise level the counter is read at the interrupt, not at the record";
  }
  // arch/s390/kernel/perf_cpum_sf.c
  if (cpu.arch.starts_with("s390")) return "the CPU samples at intervals, without a counter";
  // amd_pmu_limit_period() in arch/x86/events/perf_event.h
  if (machine::is_amd(cpu) && attribute.has(PERF_SAMPLE_BRANCH_STACK)) {
    return "the kernel shortens periods for branch stacks (BRS)";
  }
  const auto rule = period_rule_of(event);
  if (!rule || rule->takes(attribute.period_or_frequency)) return {};
  return fmt::format("the kernel rounds this period of {}", rule->who);
}

/// Counts pairs of consecutive samples of PEBS events with a fixed period on a generated target.
/// The triggers alone must cause the event, once each, or it counts all instructions. Counters with
/// precise distribution (PDist), or perhaps with it, do not delay records and are left out.
class SamplePairReader {
 public:
  /// `geometry`: of the target; null where none was found. `bases`, by attribute, get the pairs.
  /// Both must outlive the reader.
  SamplePairReader(const std::vector<RecordedEvent>& events, const TargetGeometry* geometry,
                   std::vector<analysis::Basis>& bases)
      : geometry_(geometry) {
    if (geometry == nullptr || !geometry->description) return;
    const runway::Specification& specification = geometry->description->specification;
    const auto iteration =
        runway::events_per_iteration(specification, instructions::Counted::instructions);
    if (!iteration) return;
    const analysis::Geometry shape = geometry->map.geometry();
    std::uint64_t begin = static_cast<std::uint64_t>(-shape.lowest_offset);
    std::vector<std::uint64_t> distances = shape.trigger_distances;
    for (const std::uint64_t distance : distances) {
      begins_.push_back(begin);
      begin += distance;
    }
    const auto instructions = static_cast<std::uint64_t>(*iteration);
    const std::uint64_t before_last = begins_.back() - begins_.front();
    if (instructions <= before_last) return;
    distances.back() = instructions - before_last;  // with those of the loop

    for (const RecordedEvent& recorded : events) {
      const perfdata::Attribute& attribute = recorded.attribute;
      if (attribute.frequency || attribute.period_or_frequency == 0 || attribute.exclude_user ||
          !recorded.entry || !is_pebs(recorded) || events_to_record(recorded) != 1) {
        continue;
      }
      analysis::SamplePairs pairs{.iteration = instructions};
      if (recorded.counted != instructions::Counted::instructions) {
        const auto expected = events::expected_events(*recorded.entry, specification);
        if (distances.size() < 2 || expected != static_cast<double>(distances.size())) continue;
        pairs.distances = distances;
      }
      auto& counted = bases[recorded.index].sample_pairs;
      counted = std::move(pairs);
      events_.emplace(recorded.index,
                      Event{recorded.landing, attribute.period_or_frequency, *counted, {}});
    }
  }

  /// Whether records are to be added.
  bool reads() const noexcept { return !events_.empty(); }

  /// `is_contradicted`: by ContradictedHits.
  void add(const locate::VisitedRecord& visited, bool is_contradicted) {
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr) {
      if (!perfdata::hides_samples(visited.record.type)) return;
      for (auto& [attribute, event] : events_) {
        event.pairs.left_out += event.last.size();
        event.last.clear();
      }
      return;
    }
    const auto found = events_.find(sample->attribute);
    if (found == events_.end()) return;
    Event& event = found->second;
    const auto number = is_contradicted ? std::nullopt : event_of(visited, event);
    const auto before = event.last.find(sample->tid);
    if (before != event.last.end()) {
      if (number && before->second.cpu == sample->cpu) {
        event.pairs.add(before->second.event, *number, event.period);
      } else {
        ++event.pairs.left_out;
      }
    }
    if (number) {
      event.last[sample->tid] = {sample->cpu, *number};
    } else {
      event.last.erase(sample->tid);
    }
  }

 private:
  struct Last {
    std::uint32_t cpu = 0;
    std::uint64_t event = 0;  ///< number in the iteration
  };
  struct Event {
    analysis::Landing landing = analysis::Landing::at_cause;
    std::uint64_t period = 0;
    analysis::SamplePairs& pairs;
    std::map<std::int32_t, Last> last;  ///< samples by thread; no hash: any ids may come
  };

  /// The number of the event that a sample is of; nullopt: not known.
  std::optional<std::uint64_t> event_of(const locate::VisitedRecord& visited,
                                        const Event& event) const {
    // Level 1 samples the instruction that is executed next.
    const std::int64_t successor = event.landing == analysis::Landing::next_executed ? 1 : 0;
    if (visited.sample->mode != perfdata::CpuMode::user) return std::nullopt;
    const auto place =
        geometry_->classify(visited.location, event.landing).value_or(analysis::Classified{});
    if (!place.offset) return std::nullopt;
    if (!event.pairs.distances.empty()) {
      if (!place.trigger || place.offset->instructions != successor) return std::nullopt;
      return *place.trigger;
    }
    const auto instruction = static_cast<std::int64_t>(begins_[place.trigger.value_or(0)]) +
                             place.offset->instructions - successor;
    if (instruction < 0) return std::nullopt;
    return static_cast<std::uint64_t>(instruction);
  }

  const TargetGeometry* geometry_;
  std::vector<std::uint64_t> begins_;      ///< instructions of an iteration before each trigger
  std::map<std::uint32_t, Event> events_;  ///< events by attribute
};

/// Makes a counter, by attribute, for each event whose samples have counter values. `bases`, by
/// attribute, get the skids in events and must outlive the counters.
std::map<std::uint32_t, OvershootCounter> overshoot_counters(
    const std::vector<RecordedEvent>& events, std::vector<analysis::Basis>& bases) {
  std::map<std::uint32_t, OvershootCounter> counters;
  for (const RecordedEvent& event : events) {
    const Attribute& attribute = event.attribute;
    const std::uint64_t period = attribute.period_or_frequency;
    // Without a period it takes no samples: another event of its group does.
    if (!attribute.has(PERF_SAMPLE_READ) || attribute.is_dummy() || period == 0) continue;
    auto& skid = bases[event.index].skid_in_events.emplace();
    skid.refused = no_skid_in_events(event);
    if (skid.refused.empty()) counters.emplace(event.index, OvershootCounter(period, skid));
  }
  return counters;
}

/// Adds a sample to the table of data addresses of its event, unless its data address contradicts
/// its IP: it is not known where it belongs.
void tabulate(const locate::VisitedRecord& visited, Contradiction contradiction,
              const TargetGeometry& geometry, const Profile& profile,
              std::vector<analysis::Basis>& bases) {
  if (visited.sample == nullptr) return;
  const perfdata::Sample& sample = *visited.sample;
  auto& addresses = bases[sample.attribute].addresses;
  if (!addresses || !addresses->is_tabulated()) return;
  // A sample of IBS without EXACT_IP has the address of the interrupt (IbsRipInvalid;
  // perf_ibs_handle_irq() in arch/x86/events/amd/ibs.c).
  const bool is_ibs = addresses->source == analysis::AddressSource::tagged &&
                      geometry.description->specification.arch == Arch::x86_64;
  if ((is_ibs && !sample.exact) || contradiction == Contradiction::data_address) return;
  const analysis::Landing landing = profile.events[sample.attribute].landing;
  analysis::Classified place;  // other code
  if (sample.mode == perfdata::CpuMode::user) {
    place = contradiction != Contradiction::none
                ? analysis::contradicted_by(contradiction)
                : geometry.classify(visited.location, landing).value_or(place);
  }
  addresses->samples.at(place).add(sample.addr, addresses->declared);
}

}  // namespace

PageFaultChecker::PageFaultChecker(const perfdata::Recording& recording) : recording_(recording) {
  const auto& attributes = recording.attributes();
  if (std::ranges::none_of(attributes, is_comparable)) return;
  std::string problem;
  tracepoints_ = Tracepoints::parse(recording.features().tracing_data, problem);
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    if (is_comparable(attributes[index])) {
      comparisons_[index].check.tracepoint = kPageFaultTracepoint;
    }
    if (!tracepoint_ && is_cross_check(attributes[index], tracepoints_)) tracepoint_ = index;
  }
}

void PageFaultChecker::add(const locate::VisitedRecord& visited) {
  if (visited.record.type == PERF_RECORD_LOST) {
    for (auto& [index, comparison] : comparisons_) comparison.traced.clear();
  }
  if (visited.sample == nullptr) return;
  const perfdata::Sample& sample = *visited.sample;
  if (sample.attribute == tracepoint_) {
    trace(visited.record, sample);
  } else if (sample.mode == perfdata::CpuMode::user) {  // the tracepoint records no others
    const auto found = comparisons_.find(sample.attribute);
    if (found != comparisons_.end()) compare(sample, found->second);
  }
}

void PageFaultChecker::trace(const perfdata::Record& record, const perfdata::Sample& sample) {
  // As many threads as fault at the same time; a recording may claim any number.
  constexpr std::size_t kMostThreads = 65'536;
  const auto& format = *tracepoints_.format(recording_.attributes()[*tracepoint_].config);
  const auto details = recording_.decoder().details(record, sample);
  if (!details || !tracepoints_.fits(format, details->raw)) return;
  const auto address = tracepoints_.number(*format.field("ip"), details->raw);
  if (!address) return;
  for (auto& [index, comparison] : comparisons_) {
    if (comparison.traced.size() >= kMostThreads) comparison.traced.clear();
    comparison.traced[sample.tid] = {sample.time, *address};
  }
}

void PageFaultChecker::compare(const perfdata::Sample& sample, Comparison& comparison) {
  auto& [check, traced] = comparison;
  const auto found = traced.find(sample.tid);
  if (found == traced.end() || found->second.time > sample.time) {
    ++check.unpaired;
    return;
  }
  const std::uint64_t ip = found->second.ip;
  traced.erase(found);
  ++check.compared;
  if (ip == sample.ip) {
    ++check.agreeing;
  } else if (!check.first_difference) {
    check.first_difference = {sample.ip, ip, sample.tid, sample.time};
  }
}

const IpCheck* PageFaultChecker::check_of(std::uint32_t index) const {
  const auto found = comparisons_.find(index);
  return reads() && found != comparisons_.end() ? &found->second.check : nullptr;
}

std::optional<std::string> warning_of(const IpCheck& check) {
  if (check.compared == 0) {
    return fmt::format("No sampled page fault could be compared with {}.", check.tracepoint);
  }
  if (!check.first_difference) return std::nullopt;
  const auto& first = *check.first_difference;
  return fmt::format(
      "{} of {} page faults were sampled at another address than {} recorded: the first, in thread "
      "{} at {} ns, at {:#x} instead of {:#x}.",
      check.compared - check.agreeing, check.compared, check.tracepoint, first.tid, first.time,
      first.sampled, first.traced);
}

std::string no_skid_in_events(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  if (attribute.frequency) return "with a frequency the kernel changes the period";
  if (attribute.inherit) {
    return "counters of several tasks have one id; record without inheritance (perf record -i)";
  }
  const bool has_ids = attribute.has(PERF_SAMPLE_ID) || attribute.has(PERF_SAMPLE_IDENTIFIER) ||
                       (attribute.read_format & PERF_FORMAT_ID) != 0;
  if (!has_ids) return "the samples do not contain the id of their counter";
  if (is_ibs(event)) return "IBS tags operations and randomizes its period";
  return ignores_level(attribute) ? refusal_of_software(attribute) : refusal_of_pmu(event);
}

void OvershootCounter::add(const std::optional<perfdata::CounterValue>& value) {
  if (!value) {
    ++result_.left_out;
    return;
  }
  Counter& counter = counters_[value->id];
  const std::uint64_t multiple = value->value / period_;
  const bool is_next = value->lost >= counter.lost && multiple > counter.multiple &&
                       multiple - counter.multiple - 1 == value->lost - counter.lost;
  const bool is_multiplexed = value->time_enabled != 0 && value->time_running != 0 &&
                              value->time_running != value->time_enabled;
  if (!is_next || is_multiplexed) counter.is_known = false;
  if (!counter.is_known) {
    ++result_.left_out;
    return;
  }
  counter.multiple = multiple;
  counter.lost = value->lost;
  result_.overshoots.add(static_cast<std::int64_t>(value->value % period_), 1);
}

locate::Visitor count_single_samples(const Profile& profile, const TargetGeometry* geometry,
                                     PageFaultChecker& checker, ContradictedHits& contradicted,
                                     std::vector<analysis::Basis>& bases) {
  const bool tabulates = std::ranges::any_of(bases, [](const analysis::Basis& basis) {
    return basis.addresses && basis.addresses->is_tabulated();
  });
  auto counters = overshoot_counters(profile.events, bases);
  SamplePairReader sample_pairs(profile.events, geometry, bases);
  if (!checker.reads() && !tabulates && counters.empty() && !sample_pairs.reads() &&
      !contradicted.reads()) {
    return {};
  }
  return [&profile, geometry, &checker, &contradicted, &bases, tabulates,
          counters = std::move(counters),
          sample_pairs = std::move(sample_pairs)](const locate::VisitedRecord& visited) mutable {
    if (checker.reads()) checker.add(visited);
    const auto contradiction =
        contradicted.reads() ? contradicted.add(visited) : Contradiction::none;
    if (tabulates) tabulate(visited, contradiction, *geometry, profile, bases);
    if (sample_pairs.reads()) {
      sample_pairs.add(visited, /*is_contradicted=*/contradiction != Contradiction::none);
    }
    if (visited.sample == nullptr) return;
    const auto counter = counters.find(visited.sample->attribute);
    if (counter == counters.end()) return;
    const auto details = profile.recording.decoder().details(visited.record, *visited.sample);
    counter->second.add(details ? details->counter : std::nullopt);
  };
}

}  // namespace skid::measure
