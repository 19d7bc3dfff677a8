// What an event counts other than documented.
#pragma once

#include "src/events/cpu.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

struct Event;

/// A published error in what an event counts.
struct Erratum {
  std::string ids;           ///< "SKL128, SKW118"; from a file: not escaped
  std::string_view effect;   ///< a sentence without full stop; empty: the source has the id alone
  bool of_one_mode = false;  ///< true if it needs user mode or kernel mode alone to be counted
  bool of_smt = false;  ///< true if only SMT shows it: while the other thread of the core is online
};

/// Lists the errata of an event: those that its event file has, with their effect where one is
/// known here, and those of the specification updates that no event file has. An empty answer does
/// not mean that there is none. Effects: Hadi Brais, "An introduction to the cache hit and miss
/// performance monitoring events".
std::vector<Erratum> errata_of(const Event& event);

/// What event 0x24 counts: the completed requests to the L2 whose origin and whose result are both
/// in the umask. Observed on Skylake by Travis Downs ("perf stat recipes"), whose text is the
/// source here.
struct L2Requests {
  std::uint8_t umask = 0;
  std::vector<std::string_view> origins, results;
  /// Without an origin or without a result no request can match.
  bool always_zero() const noexcept { return origins.empty() || results.empty(); }
};

/// Decodes an umask of event 0x24; nullopt on cores other than Haswell to Coffee Lake, where
/// the bits mean something else or is not documented, and for other events.
/// `config`: perf_event_attr.config in Intel's layout.
std::optional<L2Requests> l2_requests(Core core, std::uint64_t config);

/// Returns the umask that counts what the manual documents for `umask`, where the manual is wrong:
/// its
/// *_HIT at 41, 42, 44 leave out modified lines (C1, C2, C4), its REFERENCES at EF the L2
/// prefetcher (FF). Other umasks give
/// nullopt.
std::optional<std::uint8_t> corrected_umask(std::uint8_t umask);

/// Describes the manual's error on these requests in a sentence; empty where the manual is right.
std::string manual_error(const L2Requests& requests);

}  // namespace skid::events
