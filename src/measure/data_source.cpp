#include "src/measure/data_source.h"

#include "analysis/wording.h"
#include "src/events/causes.h"
#include "src/events/counted.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/locate/visit_records.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"

#include <array>
#include <cstddef>
#include <functional>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::measure {
namespace {

constexpr std::uint64_t kEventAndUmask = 0xffff;

/// Whether the kernel gives stores of an event the operation of a load: __grt_latency_data() in
/// arch/x86/events/intel/ds.c, which it uses on E-cores for store latencies, too.
bool gives_stores_loads(const perfdata::Attribute& attribute, const machine::CpuIdentity& cpu) {
  constexpr std::uint64_t kStoreLatency = 0x06d0;
  return cpu.vendor == "GenuineIntel" && (attribute.config & kEventAndUmask) == kStoreLatency;
}

/// Returns the threshold of a load latency event in core cycles (perf's term ldlat); 0: none, or
/// the weight of the samples is not known to be compared with it. The CPU counts loads with a
/// latency above it (Intel's event files, MEM_TRANS_RETIRED.LOAD_LATENCY_GT_N; SDM volume 3B, "Load
/// Latency"), and the kernel records this latency as the weight up to Ice Lake
/// (setup_pebs_fixed_sample_data() and __setup_pebs_meminfo_group() in
/// arch/x86/events/intel/ds.c). Later cores have two latencies (PMU_FL_INSTR_LATENCY).
std::uint64_t latency_threshold(const RecordedEvent& event) {
  constexpr std::uint64_t kThreshold = 0xffff;  // config1:0-15
  constexpr std::uint64_t kNehalem = 0x100b, kSandyBridge = 0x01cd;
  const perfdata::Attribute& attribute = event.attribute;
  const auto core = event.entry ? event.entry->core : events::Core::other;
  if (!is_pebs(event) || core < events::Core::nehalem || core > events::Core::icelake ||
      (!attribute.has(PERF_SAMPLE_WEIGHT) && !attribute.has(PERF_SAMPLE_WEIGHT_STRUCT))) {
    return 0;
  }
  const bool is_old = core <= events::Core::westmere;
  const bool is_latency = (attribute.config & kEventAndUmask) == (is_old ? kNehalem : kSandyBridge);
  return is_latency ? attribute.config1 & kThreshold : 0;
}

/// Whether a sample has a latency that is below the threshold. 0 is none, or the kernel takes the
/// cycles of a transaction instead.
bool is_below(std::uint64_t threshold, const perfdata::Attribute& attribute, std::uint64_t weight) {
  constexpr std::uint64_t kFirstOfStruct = 0xffff'ffff;  // perf_sample_weight.var1_dw
  const std::uint64_t latency =
      attribute.has(PERF_SAMPLE_WEIGHT_STRUCT) ? weight & kFirstOfStruct : weight;
  return latency != 0 && latency < threshold;
}

/// Returns the level that the loads of an event missed; nullopt: it does not count such loads, or
/// its samples have no data source of PEBS.
std::optional<int> missed_by(const RecordedEvent& event) {
  if (!is_pebs(event) || !event.attribute.has(PERF_SAMPLE_DATA_SRC) || event.imprecise())
    return std::nullopt;
  return events::missed_level(event.counted);
}

/// Returns the level of the cache of its own node that a load hit, by perf_mem_data_src
/// (include/uapi/linux/perf_event.h). nullopt: none, several, or not known; a fill buffer is none.
std::optional<int> hit_level(std::uint64_t source) {
  constexpr unsigned kHops = 43;  // since Linux 5.16
  constexpr std::uint64_t kOperations = 0x1f;
  constexpr std::array<std::uint64_t, 3> kBits{PERF_MEM_LVL_L1, PERF_MEM_LVL_L2, PERF_MEM_LVL_L3};
  const std::uint64_t levels = source >> PERF_MEM_LVL_SHIFT & 0x3fff,
                      number = source >> PERF_MEM_LVLNUM_SHIFT & 0xf;
  if ((source & kOperations) != PERF_MEM_OP_LOAD || (levels & PERF_MEM_LVL_HIT) == 0 ||
      (source >> PERF_MEM_REMOTE_SHIFT & 1) != 0 || (source >> kHops & 0x7) != 0) {
    return std::nullopt;
  }
  std::optional<int> level;
  for (std::size_t i = 0; i < kBits.size(); ++i) {
    if ((levels & kBits.at(i)) == 0 && number != i + 1) continue;
    if (level) return std::nullopt;
    level = static_cast<int>(i) + 1;
  }
  return level;
}

/// What is checked of an event's records, and the samples whose records cannot be right.
struct CheckedRecords {
  std::uint64_t threshold = 0;  ///< of latencies; 0: none
  std::optional<int> missed;    ///< the cache that its loads missed
  std::uint64_t below = 0, hits = 0;
};

}  // namespace

std::optional<Operation> operation_of(const Profile& profile,
                                      const locate::VisitedRecord& visited) {
  const perfdata::Sample* sample = visited.sample;
  if (sample == nullptr || !sample->exact || sample->mode != perfdata::CpuMode::user) {
    return std::nullopt;
  }
  const perfdata::Attribute& attribute = profile.events[sample->attribute].attribute;
  if (!attribute.has(PERF_SAMPLE_DATA_SRC)) return std::nullopt;
  const auto details = profile.recording.decoder().details(visited.record, *sample);
  if (!details) return std::nullopt;
  const bool loads = (details->data_source & (PERF_MEM_OP_LOAD | PERF_MEM_OP_PFETCH)) != 0;
  const bool stores = (details->data_source & PERF_MEM_OP_STORE) != 0;
  if (loads && (stores || gives_stores_loads(attribute, profile.machine().cpu))) {
    return Operation::either;
  }
  if (loads) return Operation::load;
  return stores ? std::optional(Operation::store) : std::nullopt;
}

std::span<const events::Cause> causes_of(Operation operation) {
  // In the order of the values of Operation.
  static const std::array kCauses{events::causes_by_name("MEM_INST_RETIRED.ALL_LOADS"),
                                  events::causes_by_name("MEM_INST_RETIRED.ALL_STORES"),
                                  events::causes_by_name("MEM_INST_RETIRED.ANY")};
  return kCauses.at(static_cast<std::size_t>(operation));
}

locate::RecordCheck<RecordWarnings> impossible_records(const Profile& profile) {
  auto checked = std::make_shared<std::map<std::uint32_t, CheckedRecords>>();
  for (const RecordedEvent& event : profile.events) {
    const CheckedRecords one{latency_threshold(event), missed_by(event)};
    if (one.threshold != 0 || one.missed) checked->emplace(event.index, one);
  }
  const auto visit = [&profile, checked](const locate::VisitedRecord& visited) {
    if (visited.sample == nullptr) return;
    const auto found = checked->find(visited.sample->attribute);
    if (found == checked->end()) return;
    const auto details = profile.recording.decoder().details(visited.record, *visited.sample);
    if (!details) return;
    auto& [threshold, missed, below, hits] = found->second;
    const auto& attribute = profile.events[found->first].attribute;
    if (is_below(threshold, attribute, details->weight)) ++below;
    const auto level = hit_level(details->data_source);
    if (missed && level && *level <= *missed) ++hits;
  };
  const auto finish = [&profile, checked] {
    RecordWarnings sentences;
    for (const auto& [attribute, one] : *checked) {
      const std::string all = analysis::counted(profile.events[attribute].samples, "sample");
      if (one.below > 0) {
        sentences[attribute].push_back(
            fmt::format("Impossible records: {} of {} have a latency below the threshold of {} "
                        "cycles (ldlat), above which alone the event counts a load.",
                        one.below, all, one.threshold));
      }
      if (one.hits > 0) {
        sentences[attribute].push_back(
            fmt::format("Impossible records: {} of {} have the data source of a hit in the L1{}, "
                        "though the event counts loads that missed there.",
                        one.hits, all, *one.missed > 1 ? fmt::format(" to L{}", *one.missed) : ""));
      }
    }
    return sentences;
  };
  return {checked->empty() ? locate::Visitor() : visit, finish};
}

}  // namespace skid::measure
