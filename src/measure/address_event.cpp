#include "src/measure/address_event.h"

#include "src/instructions/instruction.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/measure/event_description.h"
#include "src/measure/recorded_event.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/support/since.h"

#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include <linux/perf_event.h>

namespace skid::measure {
namespace {

using analysis::AddressSource;
using perfdata::Attribute;
using witness::Moment;

/// Whether the CPU may have faulted at `address` because it fetched the instruction at `ip`.
bool may_be_fetch(std::uint64_t address, std::uint64_t ip) {
  constexpr unsigned kPageBits = 12;
  const std::uint64_t page = address >> kPageBits;
  return page == ip >> kPageBits ||
         page == (ip + instructions::kLongestInstruction - 1) >> kPageBits;
}

/// Returns when the registers of an event's samples were saved. A fault leaves them as they were
/// before the instruction. A PEBS record has them as they were after the instruction that caused
/// the event (Intel SDM Vol. 3B, "PEBS Record Format"), and the kernel reports at level 1 the IP of
/// the record, which is that of the next one (setup_pebs_fixed_sample_data() in
/// arch/x86/events/intel/ds.c). A breakpoint traps after the access (Intel SDM Vol. 3, "Debug
/// Exceptions"). Those of IBS are of the interrupt.
Moment moment_of(AddressSource source, const Attribute& attribute) {
  if (source == AddressSource::page_fault) return Moment::before;
  if (source == AddressSource::request) return Moment::successor;
  if (source != AddressSource::pebs) return Moment::unrelated;
  return attribute.precise_ip == 1 ? Moment::successor : Moment::after;
}

/// Returns the registers that old kernels took from the interrupt: before Linux 4.18 BP and SP,
/// where a call chain was recorded (setup_pebs_sample_data() in arch/x86/events/intel/ds.c).
std::uint64_t registers_of_interrupt(AddressSource source, const Attribute& attribute,
                                     const std::string& kernel) {
  constexpr std::uint64_t kBpAndSp = 1U << 6U | 1U << 7U;  // PERF_REG_X86_BP, _SP
  const bool is_concerned = source == AddressSource::pebs && attribute.has(PERF_SAMPLE_CALLCHAIN) &&
                            version_of(kernel) < Since{4, 18};
  return is_concerned ? kBpAndSp : 0;
}

}  // namespace

std::optional<AddressEvent> address_event(const RecordedEvent& event) {
  const Attribute& attribute = event.attribute;
  if (attribute.is_dummy() || event.imprecise()) return std::nullopt;
  const bool is_x86 = arch_of_kernel(event.machine.cpu.arch).value_or(Arch::x86_64) == Arch::x86_64;
  if (!is_x86) return std::nullopt;  // operands of other code are not compared
  const auto source =
      attribute.type == PERF_TYPE_BREAKPOINT ? AddressSource::request : address_source(event);
  const bool has_addresses =
      source && (analysis::identifies_cause(*source) || *source == AddressSource::tagged ||
                 *source == AddressSource::request);
  if (!has_addresses) return std::nullopt;
  return AddressEvent{*source, moment_of(*source, attribute),
                      registers_of_interrupt(*source, attribute, event.machine.kernel)};
}

witness::Record address_record(const perfdata::Recording& recording, const perfdata::Record& record,
                               const perfdata::Sample& sample, const AddressEvent& event) {
  const Attribute& attribute = recording.attributes()[sample.attribute];
  witness::Record result{.ip = sample.ip, .address = sample.addr};
  if (event.source == AddressSource::request) {
    result.address = attribute.config1;
    result.bytes = std::max<std::uint64_t>(attribute.config2, 1);
  }
  if (!attribute.has(PERF_SAMPLE_REGS_INTR) && !attribute.has(PERF_SAMPLE_REGS_USER)) return result;
  const auto details = recording.decoder().details(record, sample);
  if (!details) return result;
  const auto order = recording.byte_order();
  if (!details->interrupt_registers.empty()) {
    result.registers = {attribute.sample_regs_intr, details->interrupt_registers, order,
                        event.other_time};
  } else if (event.source != AddressSource::pebs && event.source != AddressSource::tagged) {
    result.registers = {attribute.sample_regs_user, details->user_registers, order};
  }
  return result;
}

witness::Judgement judge(const witness::Accesses& accesses, const witness::Record& record,
                         const AddressEvent& event) {
  using witness::Verdict, witness::Unknown;
  const witness::Judgement judgement = witness::judge(accesses, record);
  if (judgement.verdict != Verdict::contradicted) return judgement;
  if (event.source == AddressSource::page_fault && may_be_fetch(record.address, record.ip)) {
    return {Verdict::undecided, Unknown::fetch};
  }
  if (event.moment == Moment::successor && analysis::is_of_kernel(record.address)) {
    return {Verdict::undecided, Unknown::predecessor};
  }
  return judgement;
}

}  // namespace skid::measure
