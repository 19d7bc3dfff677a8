// What Intel's events count other than documented: errata, and L2_RQSTS (event 0x24).
#pragma once

#include "src/events/cpu.h"
#include "src/events/event.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

struct Erratum {
  std::string ids;           ///< "SKL128, SKW118"; from a file: not escaped
  std::string_view effect;   ///< a sentence without full stop; empty: the source has the id alone
  bool of_one_mode = false;  ///< only while user mode or kernel mode alone is counted
  bool of_smt = false;       ///< only while the other thread of the core is online
};

/// The errata of an event: those that its event file has, with their effect where one is known
/// here, and those of the specification updates that no event file has. An empty answer does not
/// mean that there is none. Effects: Hadi Brais, "An introduction to the cache hit and miss
/// performance monitoring events".
std::vector<Erratum> errata_of(Core core, const Event& event);

/// The event counts the completed requests to the L2 whose origin and whose result are both in the
/// umask. Observed on Skylake by Travis Downs ("perf stat recipes"), whose text is the source here.
struct L2Requests {
  std::uint8_t umask = 0;
  std::vector<std::string_view> origins, results;
  /// Without an origin or without a result no request can match.
  bool always_zero() const noexcept { return origins.empty() || results.empty(); }
};

/// What an umask of event 0x24 counts; nullopt on cores other than Haswell to Coffee Lake, where
/// the bits mean something else or is not documented, and for other events.
/// `config`: perf_event_attr.config in Intel's layout.
std::optional<L2Requests> l2_requests(Core core, std::uint64_t config);

/// The umask that counts what the manual documents for `umask`, where the manual is wrong: its
/// *_HIT at 41, 42, 44 leave out modified lines (C1, C2, C4), its REFERENCES at EF the L2
/// prefetcher (FF). nullopt for the others.
std::optional<std::uint8_t> corrected_umask(std::uint8_t umask);

/// A sentence on that; empty where the manual is right.
std::string manual_error(const L2Requests& requests);

}  // namespace skid::events
