// Rates of cache hits, misses and stalls from counts, with bounds where the counts leave something
// open. docs/rates.md has the formulas and their sources.
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
  instructions,
  branches,
  branch_misses,
  cache_references,
  cache_misses,
  l1d_loads,
  l1d_load_misses,
  llc_loads,
  llc_load_misses,
  dtlb_loads,
  dtlb_load_misses,
  itlb_loads,
  itlb_load_misses,
  stalled_frontend,
  stalled_backend,
};
inline constexpr std::size_t kQuantities = 29;

/// Names of the counts, as formulas and JSON have them.
SKID_NAMES(Quantity, "cycles", "ALL_LOADS", "HIT_LFB", "L1_HIT", "L1_MISS", "L2_HIT", "L2_MISS",
           "L3_HIT", "L3_MISS", "cycle_activity.cycles_no_execute",
           "cycle_activity.stalls_l1d_pending", "resource_stalls.sb", "l1d_pend_miss.fb_full",
           "offcore_requests_buffer.sq_full", "instructions", "branches", "branch-misses",
           "cache-references", "cache-misses", "L1-dcache-loads", "L1-dcache-load-misses",
           "LLC-loads", "LLC-load-misses", "dTLB-loads", "dTLB-load-misses", "iTLB-loads",
           "iTLB-load-misses", "stalled-cycles-frontend", "stalled-cycles-backend")

/// Counts of L2_RQSTS (event 0x24) by umask: origins (bits 0 to 4) and results (bits 5 to 7).
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

/// The shares of HIT_LFB that L2 (a) and L3 (b) served, if they are given.
struct LfbShares {
  std::optional<double> l2, l3;
};

/// Bounds of a rate, low <= high. They are equal if the counts leave nothing open.
struct Bounds {
  double low = 0;
  double high = 0;
};

/// The rates that say most, in the order of a summary.
enum class Headline {
  instructions_per_cycle,
  branches_mispredicted,
  loads_miss_l1,
  loads_miss_l3,
  lines_miss_l2,
  stalled,
  stalled_by_memory,
  general,  ///< other generic events
  l2_miss,  ///< requests to L2
  none,
};

struct Rate {
  std::string name;     ///< "local L2 miss"
  std::string formula;  ///< "((1-a) HIT_LFB + L2_MISS) / (HIT_LFB + L1_MISS)"
  /// The rate as a share, 1 for 100%; nullopt if counts are missing, if the denominator
  /// is 0, or if the counts disagree (see `remark`).
  std::optional<Bounds> value;
  std::vector<std::string> missing;  ///< names of needed counts that are missing
  std::string remark;                ///< text; may be empty
  bool is_share = true;              ///< false: a quotient that can be above 1
  Headline headline = Headline::none;
};

/// A sum that should come out equal on both sides.
struct Identity {
  std::string formula;  ///< "L1_MISS = L2_HIT + L2_MISS"
  struct Residual {
    double left = 0, right = 0;       ///< events
    double difference = 0;            ///< left - right
    std::optional<double> of_larger;  ///< |difference| / the larger side; nullopt if both are 0
  };
  std::optional<Residual> residual;
  std::vector<std::string> missing;
};

struct Rates {
  std::vector<Rate> general;  ///< quotients of perf's generic events
  std::vector<Rate> loads;    ///< shares of loads: instructions or uops, with HIT_LFB
  std::vector<Rate> lines;    ///< shares of lines filled into L1
  std::vector<Rate> l2;       ///< shares of requests to L2, if these were counted
  std::vector<Rate> backend;  ///< shares of cycles
  std::vector<Identity> identities;
};

/// Computes all rates. The rates of loads range over the simplex a, b >= 0, a + b <= 1, which given
/// shares narrow. Each rate is a quotient of linear functions there, so its bounds are reached at
/// corners. Throws std::invalid_argument if a share is outside 0 to 1, if the two add up to more
/// than 1, or if a count is negative or not finite.
Rates compute_rates(const Counts& counts, const LfbShares& shares = {});

/// Whether a share is below 0 or above 1, which counts of one run cannot give.
bool impossible(const Rate& rate);

/// Writes one line of text for each impossible rate.
std::vector<std::string> warnings_of(const Rates& rates);

}  // namespace skid::analysis
