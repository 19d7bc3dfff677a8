// What a sample shows about the instruction that caused it.
#pragma once

#include "src/correct/candidates.h"
#include "src/measure/address_event.h"

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace skid::locate {
struct VisitedRecord;
}  // namespace skid::locate

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::correct {

/// Some candidates of a place: bit i is the i-th one, bit kMostCandidates one that is not known.
using CandidateSet = std::uint64_t;
inline constexpr CandidateSet kUnknownCandidate = CandidateSet{1} << kMostCandidates;

/// Returns all candidates of a place.
constexpr CandidateSet all_of(const Candidates& candidates) {
  const CandidateSet known = (CandidateSet{1} << candidates.known.size()) - 1;
  return known | (candidates.unknown ? kUnknownCandidate : 0);
}

/// The candidates that agree with a sample.
struct Agreement {
  CandidateSet by_address = 0;  ///< with its data address and registers
  /// With its newest branch record, which counts if Evidence::trusts_branches(). All, if it fits
  /// none.
  CandidateSet by_branch = 0;

  friend auto operator<=>(const Agreement&, const Agreement&) = default;
};

/// The evidence in the samples of a recording of x86-64: data addresses with registers
/// (measure::address_event()), and branch records (PERF_SAMPLE_BRANCH_STACK, newest branch first).
///
/// The newest branch record of a sample shows by which way this very sample came to its
/// instruction: by a branch to it, or without a branch from the target of one. The kernel assumes
/// the same where it rewinds PEBS samples (intel_pmu_pebs_fixup_ip() in
/// arch/x86/events/intel/ds.c). But the interrupt handler reads the records, which can be newer
/// than the sample, and in a loop that cannot be seen. So a record shows what is likely, and
/// nothing if more than 1% of the samples of the event precede the target of their newest record.
/// Events that did not record all branches
/// (`-j any_call`, `--call-graph lbr`) are left out, and so are records that were not retired, by
/// the rules of audits (audit::branch_filter(), audit::is_run()).
class Evidence {
 public:
  /// `profile` must outlive this.
  explicit Evidence(const measure::Profile& profile);

  /// Whether samples of an event have evidence.
  bool has(std::uint32_t attribute) const { return events_.contains(attribute); }

  /// Returns how a sample agrees with the candidates of its place, whose link-time address is
  /// `address`: with all if its event has no evidence.
  Agreement agreement(const locate::VisitedRecord& visited, const Candidates& candidates,
                      std::uint64_t address);

  /// Decides whether branch records are trusted, by the samples whose agreement() was asked for.
  void conclude();
  /// Whether the branch records of an event are in step with its samples, after conclude().
  bool trusts_branches(std::uint32_t attribute) const { return trusted_.contains(attribute); }

 private:
  struct Event {
    std::optional<measure::AddressEvent> addresses;
    bool has_branches = false;
    std::uint64_t in_step = 0, out_of_step = 0;  ///< samples
  };

  CandidateSet agreeing_with_branch(Event& event, const locate::VisitedRecord& visited,
                                    const Candidates& candidates, std::uint64_t address) const;

  const measure::Profile& profile_;
  std::map<std::uint32_t, Event> events_;
  std::set<std::uint32_t> trusted_;  ///< events whose branch records are trusted
};

}  // namespace skid::correct
