#include "src/measure/data_addresses.h"

#include "src/perfdata/format.h"

namespace skid::measure {
namespace {

using analysis::AddressSource;
using perfdata::Attribute;

}  // namespace

bool is_page_fault(const Attribute& attribute) {
  return attribute.type == PERF_TYPE_SOFTWARE &&
         (attribute.config == PERF_COUNT_SW_PAGE_FAULTS ||
          attribute.config == PERF_COUNT_SW_PAGE_FAULTS_MIN ||
          attribute.config == PERF_COUNT_SW_PAGE_FAULTS_MAJ);
}

std::optional<AddressSource> address_source(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  const EventKnowledge& knowledge = event.knowledge;
  if (!attribute.has(PERF_SAMPLE_ADDR)) return std::nullopt;
  if (attribute.type == PERF_TYPE_BREAKPOINT) return AddressSource::request;
  if (attribute.type == PERF_TYPE_TRACEPOINT) return AddressSource::none;
  // do_user_addr_fault() in arch/x86/mm/fault.c and its counterparts give the kernel's
  // perf_sw_event() the faulting address.
  if (is_page_fault(attribute)) return AddressSource::page_fault;
  if (attribute.type == PERF_TYPE_SOFTWARE) return AddressSource::none;
  if (event.pmu_name == "ibs_op" || event.pmu_name.starts_with("arm_spe")) {
    return AddressSource::tagged;
  }
  if (knowledge.of_arm) return AddressSource::none;
  if (!knowledge.core_pmu) return AddressSource::unknown;
  if (attribute.precise_ip == 0) return AddressSource::none;
  if (machine::is_amd(event.machine.cpu)) return AddressSource::tagged;
  if (!knowledge.event || !knowledge.event->data_la) return AddressSource::unknown;
  return *knowledge.event->data_la ? AddressSource::pebs : AddressSource::none;
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

}  // namespace skid::measure
