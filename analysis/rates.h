// Cache hit and miss rates and the backend hierarchy from counts: what the counts give, and the
// interval where they leave something open. docs/rates.md has the formulas and their sources.
#pragma once

#include "src/support/names.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skid::analysis {

/// A count that a rate is made from.
enum class Quantity {
  cycles,
  all_loads,
  hit_lfb,
  l1_hit,
  l1_miss,
  l2_hit,
  l2_miss,
  l3_hit,
  l3_miss,
  cycles_no_execute,
  stalls_l1d_pending,
  resource_stalls_sb,
  fb_full,
  sq_full,
};
inline constexpr std::size_t kQuantities = 14;

/// As in formulas and JSON.
SKID_NAMES(Quantity, "cycles", "ALL_LOADS", "HIT_LFB", "L1_HIT", "L1_MISS", "L2_HIT", "L2_MISS",
           "L3_HIT", "L3_MISS", "cycle_activity.cycles_no_execute",
           "cycle_activity.stalls_l1d_pending", "resource_stalls.sb", "l1d_pend_miss.fb_full",
           "offcore_requests_buffer.sq_full")

/// Events of L2_RQSTS (event 0x24) by umask: origins (bits 0 to 4) and results (bits 5 to 7).
using L2Requests = std::map<std::uint8_t, double>;

/// Counts of one program run, in events; nullopt for what was not counted.
class Counts {
 public:
  std::optional<double>& operator[](Quantity quantity) {
    return counts_[static_cast<std::size_t>(quantity)];
  }
  const std::optional<double>& operator[](Quantity quantity) const {
    return counts_[static_cast<std::size_t>(quantity)];
  }

  L2Requests l2_requests;

 private:
  std::array<std::optional<double>, kQuantities> counts_{};
};

/// The shares of HIT_LFB that L2 (a) and L3 (b) served, where given.
struct LfbShares {
  std::optional<double> l2, l3;
};

/// low <= high. Equal ends: the counts leave nothing open.
struct Bounds {
  double low = 0;
  double high = 0;
};

struct Rate {
  std::string name;     ///< "local L2 miss"
  std::string formula;  ///< "((1-a) HIT_LFB + L2_MISS) / (HIT_LFB + L1_MISS)"
  /// Shares, 1 for 100%; nullopt where counts are missing or the denominator can be nothing but 0.
  std::optional<Bounds> value;
  std::vector<std::string> missing;  ///< counts that it needs and that are missing
  std::string remark;                ///< text; may be empty
};

/// A sum that should come out equal on both sides.
struct Identity {
  std::string formula;  ///< "L1_MISS = L2_HIT + L2_MISS"
  struct Residual {
    double left = 0, right = 0;       ///< events
    double difference = 0;            ///< left - right
    std::optional<double> of_larger;  ///< |difference| / the larger side; nullopt where both are 0
  };
  std::optional<Residual> residual;
  std::vector<std::string> missing;
};

struct Rates {
  std::vector<Rate> loads;    ///< of loads: instructions or uops, with HIT_LFB
  std::vector<Rate> lines;    ///< of lines filled into L1
  std::vector<Rate> l2;       ///< of requests to L2, only those with a count
  std::vector<Rate> backend;  ///< of cycles
  std::vector<Identity> identities;
};

/// All rates. Pinned shares narrow the simplex a, b >= 0, a + b <= 1 over which the rates of loads
/// range; each is a quotient of linear functions there, so its bounds are reached at corners.
/// Throws std::invalid_argument when a share is outside 0 to 1 or the two add up to more than 1, or
/// a count is negative or not finite.
Rates compute_rates(const Counts& counts, const LfbShares& shares = {});

/// Whether counts of one run cannot give such a share: it is below 0 or above 1.
bool impossible(const Rate& rate);

/// One line of text for each impossible rate.
std::vector<std::string> warnings_of(const Rates& rates);

}  // namespace skid::analysis
