// Data addresses of an event's samples.
#pragma once

#include "src/support/address.h"
#include "src/support/names.h"

#include <algorithm>
#include <cstdint>
#include <vector>

namespace skid::analysis {

struct Classified;

/// How the data address of an event's samples comes about, which decides what it shows.
enum class AddressSource : std::uint8_t {
  page_fault,  ///< the exact faulting address
  pebs,        ///< address of the access, in a PEBS event that records it
  tagged,      ///< address of the operation that IBS or SPE tagged; 0 if it accesses no memory
  request,     ///< address of a breakpoint, which repeats perf_event_attr.bp_addr
  none,        ///< the event records no data address
  unknown,     ///< whether the CPU records one is not known
};
/// Names of the sources, as reports have them in JSON.
SKID_NAMES(AddressSource, "page fault", "PEBS", "tagged operation", "request", "none", "unknown")

/// Whether the address is that of the access that caused the event. IBS and SPE tag an operation
/// whatever it accesses.
constexpr bool identifies_cause(AddressSource source) {
  return source == AddressSource::page_fault || source == AddressSource::pebs;
}

/// Data that an instruction of the loop accesses: addresses at run time.
struct DeclaredData {
  /// True for data of the trigger; false for data of another instruction that causes the event
  /// (`other_trigger`).
  bool of_trigger = true;
  AddressRange range;
  friend bool operator==(const DeclaredData&, const DeclaredData&) = default;
};

/// Whether an address is valid: not 0, and canonical in 57 bits, which means that the bits above
/// repeat bit 56 (Intel SDM Vol. 1, "Canonical Addressing", with LA57; user addresses of aarch64
/// are shorter).
bool is_data_address(std::uint64_t address);

/// Whether an address is in the kernel's half of the address space: bit 63 is set.
constexpr bool is_of_kernel(std::uint64_t address) {
  return address >> 63 != 0;
}

/// Counts samples by the owner of the data that they accessed.
struct OwnerCounts {
  std::uint64_t trigger = 0, other_trigger = 0;
  std::uint64_t other = 0;  ///< samples whose address is outside all declared data
  std::uint64_t none = 0;   ///< samples without a valid address

  /// Counts an address. `data` is what the target declares; where ranges overlap, that of the
  /// trigger takes precedence.
  void add(std::uint64_t address, const std::vector<DeclaredData>& data);
  std::uint64_t sum() const { return trigger + other_trigger + other + none; }
  OwnerCounts& operator+=(const OwnerCounts& more);
};

/// Counts data addresses by owner and by the place where their samples were taken.
struct AddressTable {
  OwnerCounts trigger = {};     ///< hits
  OwnerCounts successor = {};   ///< samples at +1, the next instruction executed
  OwnerCounts elsewhere = {};   ///< the other judged samples
  OwnerCounts not_judged = {};  ///< samples at other triggers, in other code and in the kernel

  OwnerCounts& at(const Classified& place);
  /// Returns the sum of trigger, successor and elsewhere.
  OwnerCounts judged() const;
  AddressTable& operator+=(const AddressTable& more);
};

/// The data addresses of one event's samples.
struct Addresses {
  AddressSource source = AddressSource::unknown;
  /// Empty if it is not known which data the triggers access, or if they access none.
  std::vector<DeclaredData> declared = {};
  AddressTable samples = {};  ///< all 0 unless `is_tabulated`

  bool is_tabulated() const {
    return !declared.empty() && source != AddressSource::request && source != AddressSource::none;
  }
};

}  // namespace skid::analysis
