// Which events have samples whose data address can be compared with their instructions.
#pragma once

#include "analysis/addresses.h"
#include "src/perfdata/format.h"
#include "src/perfdata/sample_kind.h"
#include "src/witness/accesses.h"
#include "src/witness/judgement.h"

#include <cstdint>
#include <optional>

namespace skid::perfdata {
class Recording;
struct Record;
struct Sample;
}  // namespace skid::perfdata

namespace skid::measure {

struct RecordedEvent;

/// Which samples of an event are compared, and how.
struct AddressEvent {
  analysis::AddressSource source = analysis::AddressSource::none;
  witness::Moment moment = witness::Moment::unrelated;
  std::uint64_t other_time = 0;  ///< see witness::Registers

  /// Whether samples of a kind are compared. Level 1 does not state that the address is exact.
  bool takes(perfdata::SampleKind kind) const {
    return kind.mode() == perfdata::CpuMode::user &&
           (kind.exact() || source == analysis::AddressSource::page_fault ||
            moment == witness::Moment::successor);
  }
};

/// Returns how the samples of an event are compared. nullopt for dummies, for events without the
/// address of an access, on other CPUs than x86, and for those that are not precise, because their
/// record can be of another instruction than their data address.
std::optional<AddressEvent> address_event(const RecordedEvent& event);

/// Returns what a sample of an event recorded. The registers are those of the event: of PEBS
/// REGS_INTR alone (setup_pebs_fixed_sample_data() and setup_pebs_adaptive_sample_data() in
/// arch/x86/events/intel/ds.c); traps and faults have them in REGS_USER, too. The address of a
/// breakpoint is that of the event. The result refers to `record`, that of `sample`.
witness::Record address_record(const perfdata::Recording& recording, const perfdata::Record& record,
                               const perfdata::Sample& sample, const AddressEvent& event);

/// Judges a sample of an event by the accesses of the instruction that caused it if its IP is
/// right. What contradicts them can also be a fetch that faulted, or at level 1 the kernel's last
/// instruction before the program went on: such a sample is undecided.
witness::Judgement judge(const witness::Accesses& accesses, const witness::Record& record,
                         const AddressEvent& event);

}  // namespace skid::measure
