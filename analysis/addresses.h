// Data addresses of samples: whose data was accessed, which is independent of the sampled IP.
#pragma once

#include "analysis/target_map.h"
#include "src/support/address.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace skid::analysis {

/// What the data address of an event's samples is worth.
enum class AddressSource : std::uint8_t {
  page_fault,  ///< the exact faulting address
  pebs,        ///< of a PEBS event that records it
  tagged,      ///< of the tagged operation, by IBS or SPE; 0 where it accesses no memory
  request,     ///< of a breakpoint: perf_event_attr.bp_addr again
  none,        ///< the event records no data address
  unknown,     ///< whether the CPU records one is not known
};
/// As reports have them in JSON, in the order of AddressSource.
inline constexpr std::array<std::string_view, 6> kAddressSources{
    "page fault", "PEBS", "tagged operation", "request", "none", "unknown"};

/// Whether the address is of the access that caused the event. An operation is tagged whatever it
/// accesses.
constexpr bool identifies_cause(AddressSource source) {
  return source == AddressSource::page_fault || source == AddressSource::pebs;
}

/// Data that an instruction of the loop accesses: addresses at run time.
struct DeclaredData {
  bool of_trigger = true;  ///< else of an instruction that causes the event too (`other_trigger`)
  AddressRange range;
  friend bool operator==(const DeclaredData&, const DeclaredData&) = default;
};

/// Not 0, and canonical in 57 bits: those above repeat bit 56 (Intel SDM Vol. 1, "Canonical
/// Addressing", with LA57; user addresses of aarch64 are shorter).
bool is_data_address(std::uint64_t address);

/// Samples by whose data they accessed.
struct OwnerCounts {
  std::uint64_t trigger = 0, other_trigger = 0;
  std::uint64_t other = 0;  ///< of something else: outside all declared data
  std::uint64_t none = 0;   ///< no valid address

  /// `data`: declared; where ranges overlap the trigger's goes first.
  void add(std::uint64_t address, const std::vector<DeclaredData>& data);
  std::uint64_t sum() const { return trigger + other_trigger + other + none; }
  OwnerCounts& operator+=(const OwnerCounts& more);
};

/// The same by where they were sampled.
struct AddressTable {
  OwnerCounts trigger = {};     ///< hits
  OwnerCounts successor = {};   ///< at +1, the next instruction executed
  OwnerCounts elsewhere = {};   ///< the other judged samples
  OwnerCounts not_judged = {};  ///< other triggers, other code, the kernel

  OwnerCounts& at(const Classified& place);
  /// Of the first three.
  OwnerCounts judged() const;
  AddressTable& operator+=(const AddressTable& more);
};

/// The data addresses of one event's samples.
struct Addresses {
  AddressSource source = AddressSource::unknown;
  /// Empty: it is not known which data the triggers access, or they access none.
  std::vector<DeclaredData> declared = {};
  AddressTable samples = {};  ///< all 0 unless `is_tabulated`

  bool is_tabulated() const {
    return !declared.empty() && source != AddressSource::request && source != AddressSource::none;
  }
};

}  // namespace skid::analysis
