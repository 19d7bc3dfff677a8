#include "src/measure/page_fault_check.h"

#include "src/measure/data_addresses.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/tracepoint.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

namespace skid::measure {
namespace {

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

}  // namespace

struct PageFaultChecker::Comparing {
  /// The last fault of a thread that the tracepoint recorded.
  struct Traced {
    std::uint64_t time = 0;  ///< ns; 0 where the recording has no times
    std::uint64_t ip = 0;
  };

  /// One page-fault event against the tracepoint.
  class Comparison {
   public:
    void trace(std::int32_t tid, const Traced& traced) {
      // As many threads as fault at the same time; a recording may claim any number.
      constexpr std::size_t kMostThreads = 65'536;
      if (traced_.size() >= kMostThreads) traced_.clear();
      traced_.insert_or_assign(tid, traced);
    }

    void forget() { traced_.clear(); }

    void compare(const perfdata::Sample& sample) {
      const auto found = traced_.find(sample.tid);
      if (found == traced_.end() || found->second.time > sample.time) {
        ++result.unpaired;
        return;
      }
      const Traced traced = found->second;
      traced_.erase(found);
      ++result.compared;
      if (traced.ip == sample.ip) {
        ++result.agreeing;
      } else if (!result.first_difference) {
        result.first_difference = {sample.ip, traced.ip, sample.tid, sample.time};
      }
    }

    IpCheck result{std::string(kPageFaultTracepoint), 0, 0, 0, std::nullopt};

   private:
    std::map<std::int32_t, Traced>
        traced_;  ///< by thread, until compared; no hash: any ids may come
  };

  const perfdata::Recording& recording;
  Tracepoints tracepoints;
  std::uint32_t tracepoint = 0;                       ///< index of its attribute
  std::map<std::uint32_t, Comparison> comparisons{};  ///< by index of a page-fault attribute

  void visit(const locate::VisitedRecord& visited) {
    if (visited.record.type == PERF_RECORD_LOST) {
      for (auto& [index, comparison] : comparisons) comparison.forget();
    }
    if (visited.sample == nullptr) return;
    const perfdata::Sample& sample = *visited.sample;
    if (sample.attribute == tracepoint) {
      trace(visited.record, sample);
    } else if (sample.mode == perfdata::CpuMode::user) {  // the tracepoint records no others
      const auto found = comparisons.find(sample.attribute);
      if (found != comparisons.end()) found->second.compare(sample);
    }
  }

  void trace(const perfdata::Record& record, const perfdata::Sample& sample) {
    const auto& format = *tracepoints.format(recording.attributes()[tracepoint].config);
    const auto details = recording.decoder().details(record, sample);
    if (!details || !tracepoints.fits(format, details->raw)) return;
    const auto address = tracepoints.number(*format.field("ip"), details->raw);
    if (!address) return;
    for (auto& [index, comparison] : comparisons) {
      comparison.trace(sample.tid, {sample.time, *address});
    }
  }
};

PageFaultChecker::PageFaultChecker() = default;
PageFaultChecker::~PageFaultChecker() = default;

locate::Visitor PageFaultChecker::visitor(const perfdata::Recording& recording) {
  const auto& attributes = recording.attributes();
  if (std::ranges::none_of(attributes, is_comparable)) return {};
  std::string problem;
  Comparing comparing{recording, Tracepoints::parse(recording.features().tracing_data, problem)};
  std::optional<std::uint32_t> tracepoint;
  for (std::uint32_t index = 0; index < attributes.size(); ++index) {
    if (is_comparable(attributes[index])) comparing.comparisons.try_emplace(index);
    if (!tracepoint && is_cross_check(attributes[index], comparing.tracepoints)) tracepoint = index;
  }
  if (!tracepoint) return {};
  comparing.tracepoint = *tracepoint;
  comparing_ = std::make_unique<Comparing>(std::move(comparing));
  return [this](const locate::VisitedRecord& visited) { comparing_->visit(visited); };
}

std::optional<PageFaultCheck> PageFaultChecker::finish() {
  if (!comparing_) return std::nullopt;
  PageFaultCheck check{comparing_->tracepoint, {}};
  for (auto& [index, comparison] : comparing_->comparisons) {
    check.by_event.emplace(index, std::move(comparison.result));
  }
  return check;
}

std::optional<std::string> warning_of(const IpCheck& check) {
  if (check.compared == 0) {
    return fmt::format("No sampled page fault could be compared with {}.", check.tracepoint);
  }
  if (!check.first_difference) return std::nullopt;
  const auto& first = *check.first_difference;
  return fmt::format(
      "{} of {} page faults were sampled at another address than {} recorded: the first, in thread "
      "{} "
      "at {} ns, at {:#x} instead of {:#x}.",
      check.compared - check.agreeing, check.compared, check.tracepoint, first.tid, first.time,
      first.sampled, first.traced);
}

void add_page_fault_check(const PageFaultCheck& check, std::uint32_t index,
                          analysis::Measurement& measurement) {
  const auto found = check.by_event.find(index);
  if (found == check.by_event.end()) return;
  measurement.ip_check = found->second;
  if (auto warning = warning_of(found->second)) measurement.warnings.push_back(std::move(*warning));
}

}  // namespace skid::measure
