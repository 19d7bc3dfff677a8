#include "src/measure/page_fault_check.h"

#include "src/measure/event_identity.h"
#include "src/perfdata/format.h"

#include <algorithm>

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
      "{} "
      "at {} ns, at {:#x} instead of {:#x}.",
      check.compared - check.agreeing, check.compared, check.tracepoint, first.tid, first.time,
      first.sampled, first.traced);
}

}  // namespace skid::measure
