// Whether the data sources of samples agree with the instructions that they are at.
#include "src/audit/contradictions.h"
#include "src/events/causes.h"
#include "src/locate/visit.h"
#include "src/perfdata/format.h"

#include <algorithm>
#include <array>
#include <compare>
#include <utility>
#include <variant>
#include <vector>

namespace skid::audit {
namespace {

enum class Operation : std::uint8_t { load, store, either };

/// Whether the kernel gives stores of an event the operation of a load: __grt_latency_data() in
/// arch/x86/events/intel/ds.c, which it uses on E-cores for store latencies, too.
bool gives_stores_loads(const perfdata::Attribute& attribute, const machine::CpuIdentity& cpu) {
  constexpr std::uint64_t kEventAndUmask = 0xffff, kStoreLatency = 0x06d0;
  return cpu.vendor == "GenuineIntel" && (attribute.config & kEventAndUmask) == kStoreLatency;
}

/// Of perf_mem_data_src.mem_op (include/uapi/linux/perf_event.h); nullopt: neither loads nor
/// stores. A prefetch loads as an instruction that may.
std::optional<Operation> operation_of(std::uint64_t data_source, bool stores_are_loads) {
  constexpr std::uint64_t kLoad = 2, kStore = 4, kPrefetch = 8;
  const bool loads = (data_source & (kLoad | kPrefetch)) != 0;
  const bool stores = (data_source & kStore) != 0;
  if (loads && (stores || stores_are_loads)) return Operation::either;
  if (loads) return Operation::load;
  return stores ? std::optional(Operation::store) : std::nullopt;
}

struct AccessPlace {
  symbols::FileIndex file = 0;
  std::uint64_t offset = 0;
  std::uint32_t attribute = 0;
  Operation operation = Operation::load;

  friend auto operator<=>(const AccessPlace&, const AccessPlace&) = default;
};

using AccessPlaces = std::map<AccessPlace, std::uint64_t>;  ///< samples

AccessPlaces places_of(const measure::Profile& profile,
                       std::map<std::uint32_t, Contradictions>& findings) {
  AccessPlaces places;
  const perfdata::Recording& recording = profile.recording;
  const machine::CpuIdentity& cpu = profile.machine().cpu;
  locate::visit_records(
      profile.recording, profile.digest, [&](const locate::VisitedRecord& visited) {
        const perfdata::Sample* sample = visited.sample;
        if (sample == nullptr || !sample->exact || sample->mode != perfdata::CpuMode::user) return;
        const perfdata::Attribute& attribute = recording.attributes()[sample->attribute];
        if (!attribute.has(PERF_SAMPLE_DATA_SRC)) return;
        const auto details = recording.decoder().details(visited.record, *sample);
        if (!details) return;
        const auto operation =
            operation_of(details->data_source, gives_stores_loads(attribute, cpu));
        if (!operation) return;
        ++findings[sample->attribute].samples;
        if (!visited.location) return;
        const auto& [file, offset] = *visited.location;
        ++places[{file, offset, sample->attribute, *operation}];
      });
  return places;
}

}  // namespace

std::map<std::uint32_t, Contradictions> check_data_sources(const measure::Profile& profile,
                                                           CodeBudget& budget) {
  std::map<std::uint32_t, Contradictions> findings;
  if (std::ranges::none_of(profile.events, [](const auto& event) {
        return event.attribute.has(PERF_SAMPLE_DATA_SRC);
      })) {
    return findings;
  }
  // In the order of Operation.
  const std::array causes{events::causes_by_name("MEM_INST_RETIRED.ALL_LOADS"),
                          events::causes_by_name("MEM_INST_RETIRED.ALL_STORES"),
                          events::causes_by_name("MEM_INST_RETIRED.ANY")};
  AccessPlaces places = places_of(profile, findings);
  judge_by_function(
      places, profile, budget,
      [&](FileJudge& judge, const symbols::Module&, const AccessPlaces::value_type& entry) {
        const auto& [place, samples] = entry;
        const Answer answer = judge.judge(causes.at(static_cast<std::size_t>(place.operation)),
                                          Rule::sampled, place.offset);
        const auto* judgement = std::get_if<Judgement>(&answer);
        if (judgement == nullptr || judgement->verdict == events::Verdict::unknown) return;
        analysis::Share& share = findings[place.attribute].share;
        share.total += samples;
        if (judgement->verdict == events::Verdict::never) share.count += samples;
      });
  for (auto& [attribute, finding] : findings) {
    finding.share = analysis::wilson_interval(finding.share.count, finding.share.total);
  }
  return findings;
}

}  // namespace skid::audit
