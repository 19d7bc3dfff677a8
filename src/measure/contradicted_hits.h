// Samples at a trigger whose data source or data address refutes their address.
#pragma once

#include "analysis/classified.h"
#include "src/code/code_budget.h"
#include "src/code/control_flow.h"
#include "src/measure/address_event.h"
#include "src/symbols/file_location.h"
#include "src/witness/accesses.h"

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace skid::locate {
struct LocatedSamples;
struct VisitedRecord;
}  // namespace skid::locate

namespace skid::measure {

struct Profile;
struct TargetGeometry;

/// Finds samples at the trigger whose data source or data address refutes their address; at level
/// 1, by the data address, samples at the next instruction. They do not count as hits. Code of
/// aarch64 is not judged.
class ContradictedHits {
 public:
  /// `geometry`: of the target; null where none was found. Both must outlive this.
  ContradictedHits(const Profile& profile, const TargetGeometry* geometry);
  ContradictedHits(const ContradictedHits&) = delete;
  ContradictedHits& operator=(const ContradictedHits&) = delete;

  /// Whether records are to be added.
  bool reads() const noexcept { return accesses_.has_value(); }
  /// Counts a sample if it is contradicted. Returns by what.
  analysis::Contradiction add(const locate::VisitedRecord& visited);
  /// Returns how many of these samples are contradicted, by what, and counts them no longer:
  /// samples of one place can come in several parts.
  std::vector<std::pair<analysis::Contradiction, std::uint64_t>> take(
      const locate::LocatedSamples& located);

 private:
  /// Samples of one kind at one place.
  struct Key {
    symbols::FileLocation location;
    std::uint32_t attribute = 0;
    bool exact = false;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  bool contradicts_source(const locate::VisitedRecord& visited, std::uint64_t address);
  bool contradicts_address(const locate::VisitedRecord& visited, std::uint64_t address);

  const Profile& profile_;
  const TargetGeometry* geometry_;
  std::vector<std::optional<AddressEvent>> events_;  ///< by attribute
  code::CodeBudget budget_;
  // Without values if no event has what is needed.
  std::optional<code::ControlFlow> flow_;
  std::optional<witness::FileAccesses> accesses_;
  /// What the instruction accessed that caused samples at a link-time address, by their moment.
  std::map<std::pair<std::uint64_t, witness::Moment>, witness::Accesses> known_;
  std::map<Key, std::map<analysis::Contradiction, std::uint64_t>> samples_;
};

}  // namespace skid::measure
