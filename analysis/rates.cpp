#include "analysis/rates.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <stdexcept>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// A point of the simplex: the shares of HIT_LFB that L2 and L3 served.
struct Corner {
  double a, b;
};

/// constant + lfb * HIT_LFB, where lfb = one + a_part * a + b_part * b.
struct Term {
  double one = 0, a_part = 0, b_part = 0;
  double share(Corner corner) const { return one + a_part * corner.a + b_part * corner.b; }
};
constexpr Term kNone{}, kAll{1, 0, 0}, kByL2{0, 1, 0}, kByL3{0, 0, 1};
constexpr Term kPastL2{1, -1, 0}, kPastL3{1, -1, -1};

/// One side of a fraction: a share of HIT_LFB and counts in full.
struct Side {
  Term lfb;
  std::vector<Quantity> counts;
};

struct LoadRate {
  const char* name;
  const char* formula;
  Side numerator, denominator;
};

/// The corners that pinned shares leave of the triangle (0,0), (1,0), (0,1).
std::vector<Corner> corners_of(const LfbShares& shares) {
  const auto check = [](double share) {
    if (!(share >= 0 && share <= 1)) throw std::invalid_argument("a share outside 0 to 1");
  };
  if (shares.l2) check(*shares.l2);
  if (shares.l3) check(*shares.l3);
  if (shares.l2 && shares.l3) {
    // Decimal fractions that add up to 1 need not do so in binary.
    if (*shares.l2 + *shares.l3 > 1 + 1e-9) throw std::invalid_argument("shares above 1 in sum");
    return {{*shares.l2, *shares.l3}};
  }
  if (shares.l2) return {{*shares.l2, 0}, {*shares.l2, 1 - *shares.l2}};
  if (shares.l3) return {{0, *shares.l3}, {1 - *shares.l3, *shares.l3}};
  return {{0, 0}, {1, 0}, {0, 1}};
}

/// What of `needed` is not in `counts`, each once.
std::vector<std::string> missing_of(const Counts& counts, std::vector<Quantity> needed) {
  std::sort(needed.begin(), needed.end());
  needed.erase(std::unique(needed.begin(), needed.end()), needed.end());
  std::vector<std::string> missing;
  for (const Quantity quantity : needed) {
    if (!counts[quantity]) missing.emplace_back(name_of(quantity));
  }
  return missing;
}

double sum_of(const Counts& counts, const std::vector<Quantity>& quantities) {
  double sum = 0;
  for (const Quantity quantity : quantities) sum += counts[quantity].value_or(0);
  return sum;
}

bool uses_lfb(const Side& side) {
  return side.lfb.one != 0 || side.lfb.a_part != 0 || side.lfb.b_part != 0;
}

Rate load_rate(const LoadRate& definition, const Counts& counts,
               const std::vector<Corner>& corners) {
  Rate rate{definition.name, definition.formula, {}, {}, {}};
  std::vector<Quantity> needed = definition.numerator.counts;
  needed.insert(needed.end(), definition.denominator.counts.begin(),
                definition.denominator.counts.end());
  if (uses_lfb(definition.numerator) || uses_lfb(definition.denominator)) {
    needed.push_back(Quantity::hit_lfb);
  }
  rate.missing = missing_of(counts, std::move(needed));
  if (!rate.missing.empty()) return rate;

  const double lfb = counts[Quantity::hit_lfb].value_or(0);
  const auto at = [&](const Side& side, Corner corner) {
    // Rounding must not turn a share that is used up into a little less than nothing.
    return std::max(0.0, side.lfb.share(corner)) * lfb + sum_of(counts, side.counts);
  };
  for (const Corner corner : corners) {
    const double numerator = at(definition.numerator, corner);
    const double denominator = at(definition.denominator, corner);
    if (denominator == 0) {
      // Where both vanish in a corner, the quotient is constant on each straight line into it, and
      // the other corners have its extremes. Where only the denominator does, it has no bound.
      if (numerator == 0) continue;
      rate.value.reset();
      rate.remark = "the denominator can be 0 and the numerator cannot: the counts disagree";
      return rate;
    }
    const double value = numerator / denominator;
    if (!rate.value) rate.value = Bounds{value, value};
    rate.value->low = std::min(rate.value->low, value);
    rate.value->high = std::max(rate.value->high, value);
  }
  if (!rate.value) rate.remark = "the denominator is 0";
  return rate;
}

/// The rates of loads of the article by Hadi Brais on cache hit and miss events.
std::vector<LoadRate> load_rates() {
  using enum Quantity;
  const Side loads{kAll, {l1_miss, l1_hit}};
  const Side past_l1{kAll, {l1_miss}};
  const Side past_l2{kPastL2, {l2_miss}};
  const Side past_l3{kPastL3, {l3_miss}};
  const Side in_l2{kByL2, {l2_hit}};
  const Side in_l3{kByL3, {l3_hit}};
  return {
      {"L1 miss", "(HIT_LFB + L1_MISS) / (HIT_LFB + L1_MISS + L1_HIT)", past_l1, loads},
      {"L1 hit", "L1_HIT / (HIT_LFB + L1_MISS + L1_HIT)", {kNone, {l1_hit}}, loads},
      {"local L2 miss", "((1-a) HIT_LFB + L2_MISS) / (HIT_LFB + L1_MISS)", past_l2, past_l1},
      {"local L2 hit", "(a HIT_LFB + L2_HIT) / (HIT_LFB + L1_MISS)", in_l2, past_l1},
      {"global L2 miss", "((1-a) HIT_LFB + L2_MISS) / (HIT_LFB + L1_MISS + L1_HIT)", past_l2,
       loads},
      {"global L2 hit", "(a HIT_LFB + L2_HIT) / (HIT_LFB + L1_MISS + L1_HIT)", in_l2, loads},
      {"local L3 miss", "((1-a-b) HIT_LFB + L3_MISS) / ((1-a) HIT_LFB + L2_MISS)", past_l3,
       past_l2},
      {"local L3 hit", "(b HIT_LFB + L3_HIT) / ((1-a) HIT_LFB + L2_MISS)", in_l3, past_l2},
      {"global L3 miss", "((1-a-b) HIT_LFB + L3_MISS) / (HIT_LFB + L1_MISS + L1_HIT)", past_l3,
       loads},
      {"global L3 hit", "(b HIT_LFB + L3_HIT) / (HIT_LFB + L1_MISS + L1_HIT)", in_l3, loads},
  };
}

/// The same for lines filled into L1, of which HIT_LFB counts none.
std::vector<LoadRate> line_rates() {
  using enum Quantity;
  const auto quotient = [](const char* name, const char* formula, Quantity part, Quantity whole) {
    return LoadRate{name, formula, {kNone, {part}}, {kNone, {whole}}};
  };
  return {
      quotient("L2 miss", "L2_MISS / L1_MISS", l2_miss, l1_miss),
      quotient("L2 hit", "L2_HIT / L1_MISS", l2_hit, l1_miss),
      quotient("local L3 miss", "L3_MISS / L2_MISS", l3_miss, l2_miss),
      quotient("local L3 hit", "L3_HIT / L2_MISS", l3_hit, l2_miss),
      quotient("global L3 miss", "L3_MISS / L1_MISS", l3_miss, l1_miss),
      quotient("global L3 hit", "L3_HIT / L1_MISS", l3_hit, l1_miss),
  };
}

Identity identity(const Counts& counts, const char* formula, Quantity left,
                  const std::vector<Quantity>& right) {
  Identity result{formula, {}, {}};
  std::vector<Quantity> needed = right;
  needed.push_back(left);
  result.missing = missing_of(counts, std::move(needed));
  if (!result.missing.empty()) return result;
  Identity::Residual residual;
  residual.left = counts[left].value_or(0);
  residual.right = sum_of(counts, right);
  residual.difference = residual.left - residual.right;
  const double larger = std::max(residual.left, residual.right);
  if (larger > 0) residual.of_larger = std::abs(residual.difference) / larger;
  result.residual = residual;
  return result;
}

std::vector<Identity> identities(const Counts& counts) {
  using enum Quantity;
  return {
      identity(counts, "ALL_LOADS = HIT_LFB + L1_HIT + L2_HIT + L3_HIT + L3_MISS", all_loads,
               {hit_lfb, l1_hit, l2_hit, l3_hit, l3_miss}),
      identity(counts, "L1_MISS = L2_HIT + L2_MISS", l1_miss, {l2_hit, l2_miss}),
      identity(counts, "L2_MISS = L3_HIT + L3_MISS", l2_miss, {l3_hit, l3_miss}),
  };
}

/// The hierarchy of stalls of the wspy article, each over cycles.
std::vector<Rate> backend_rates(const Counts& counts) {
  using enum Quantity;
  const double cycle_count = counts[cycles].value_or(0);
  const double stall = counts[cycles_no_execute].value_or(0);
  const double loads = counts[stalls_l1d_pending].value_or(0);
  const double stores = counts[resource_stalls_sb].value_or(0);
  const double memory = std::max(loads, stores);
  const double bandwidth = sum_of(counts, {fb_full, sq_full});
  std::vector<Rate> rates;
  const auto add = [&](const char* name, const char* formula, double part,
                       std::vector<Quantity> needed) -> Rate& {
    needed.push_back(cycles);
    Rate& rate = rates.emplace_back(Rate{name, formula, {}, {}, {}});
    rate.missing = missing_of(counts, std::move(needed));
    if (!rate.missing.empty()) return rate;
    if (cycle_count == 0) {
      rate.remark = "the denominator is 0";
    } else {
      const double share = part / cycle_count;
      rate.value = Bounds{share, share};
    }
    return rate;
  };
  add("productive", "(cycles - cycles_no_execute) / cycles", cycle_count - stall,
      {cycles_no_execute});
  add("stalled", "cycles_no_execute / cycles", stall, {cycles_no_execute});
  Rate& bound = add("memory", "max(stalls_l1d_pending, resource_stalls.sb) / cycles", memory,
                    {stalls_l1d_pending});
  if (bound.value) {
    if (!counts[resource_stalls_sb]) {
      bound.remark = "by loads alone: resource_stalls.sb was not counted";
    } else {
      bound.remark =
          stores > loads ? "resource_stalls.sb is the larger" : "stalls_l1d_pending is the larger";
    }
  }
  add("bandwidth", "(fb_full + sq_full) / cycles", bandwidth, {fb_full, sq_full});
  add("latency", "memory - bandwidth", memory - bandwidth, {stalls_l1d_pending, fb_full, sq_full});
  add("other", "stalled - memory", stall - memory, {cycles_no_execute, stalls_l1d_pending});
  return rates;
}

// L2_RQSTS: a request is counted when its origin and its result are both in the umask.
constexpr std::uint8_t kOrigins = 0x1f, kMiss = 0x20, kHitShared = 0x40, kHitModified = 0x80;
constexpr std::uint8_t kHit = kHitShared | kHitModified, kResults = kHit | kMiss;

std::string name_of_origins(std::uint8_t origins) {
  switch (origins) {
    case 0x01:
      return "demand data read";
    case 0x02:
      return "RFO";
    case 0x04:
      return "code read";
    case 0x07:
      return "all demand";
    case 0x08:
      return "L1 or software prefetch";
    case 0x0f:
      return "all but L2 prefetcher";
    case 0x10:
      return "L2 prefetcher";
    case 0x18:
      return "prefetch";
    case 0x1f:
      return "all";
    default:
      return fmt::format("origins {:#04x}", origins);
  }
}

/// A number and its formula of counts: "r2124", "r41e1 + ...".
struct Derived {
  double value = 0;
  std::string from;
};

std::string code_of(unsigned umask) {
  return fmt::format("r{:02x}24", umask);
}

/// The requests of some origins with some results: counted, or the sum of counts that share them
/// out.
std::optional<Derived> sum_of_parts(const L2Requests& counts, std::uint8_t origins,
                                    unsigned results) {
  const auto found = counts.find(static_cast<std::uint8_t>(origins | results));
  if (found != counts.end()) return Derived{found->second, code_of(found->first)};
  for (const unsigned part : {kMiss, kHitShared, kHitModified}) {
    const unsigned rest = results & ~part;
    if ((results & part) == 0 || rest == 0) continue;
    const auto one = sum_of_parts(counts, origins, part);
    const auto other = sum_of_parts(counts, origins, rest);
    if (one && other) return Derived{one->value + other->value, one->from + " + " + other->from};
  }
  return std::nullopt;
}

/// The same, or else what is left of a count when others of the same origins are taken from it.
std::optional<Derived> requests(const L2Requests& counts, std::uint8_t origins, unsigned results) {
  if (auto sum = sum_of_parts(counts, origins, results)) return sum;
  for (unsigned whole = kMiss; whole <= kResults; whole += kMiss) {
    if ((whole & results) != results || whole == results) continue;
    const auto all = sum_of_parts(counts, origins, whole);
    const auto others = sum_of_parts(counts, origins, whole & ~results);
    if (!all || !others) continue;
    const bool several = others->from.find('+') != std::string::npos;
    return Derived{all->value - others->value,
                   all->from + " - " + (several ? "(" + others->from + ")" : others->from)};
  }
  return std::nullopt;
}

/// Adds the share of some results among the requests of some origins; what cannot be derived is
/// missed by the code that counts it.
void add_l2_rate(std::vector<Rate>& rates, const L2Requests& counts, std::uint8_t origins,
                 std::uint8_t results, const char* name) {
  Rate rate{fmt::format("{} {}", name_of_origins(origins), name), {}, {}, {}, {}};
  const auto part = requests(counts, origins, results);
  const auto whole = requests(counts, origins, kResults);
  const auto side = [&](const std::optional<Derived>& derived, unsigned wanted) {
    if (!derived) return code_of(origins | wanted);
    const bool one = derived->from.find(' ') == std::string::npos;
    return one ? derived->from : "(" + derived->from + ")";
  };
  rate.formula = fmt::format("{} / {}", side(part, results), side(whole, kResults));
  if (!part) rate.missing.push_back(code_of(origins | results));
  if (!whole) rate.missing.push_back(code_of(origins | kResults));
  if (part && whole) {
    if (whole->value == 0) {
      rate.remark = "the denominator is 0";
    } else {
      const double share = part->value / whole->value;
      rate.value = Bounds{share, share};
    }
  }
  rates.push_back(std::move(rate));
}

std::vector<Rate> l2_rates(const L2Requests& counts) {
  std::vector<Rate> rates;
  for (std::uint8_t origins = 1; origins <= kOrigins; ++origins) {
    const bool spoken_of = std::any_of(counts.begin(), counts.end(), [&](const auto& entry) {
      return (entry.first & kOrigins) == origins && (entry.first & kResults) != 0;
    });
    if (!spoken_of) continue;
    add_l2_rate(rates, counts, origins, kMiss, "miss");
    add_l2_rate(rates, counts, origins, kHit, "hit");
  }
  return rates;
}

void check(double count) {
  if (!std::isfinite(count) || count < 0) throw std::invalid_argument("a count below 0");
}

}  // namespace

std::string_view name_of(Quantity quantity) {
  switch (quantity) {
    case Quantity::cycles:
      return "cycles";
    case Quantity::all_loads:
      return "ALL_LOADS";
    case Quantity::hit_lfb:
      return "HIT_LFB";
    case Quantity::l1_hit:
      return "L1_HIT";
    case Quantity::l1_miss:
      return "L1_MISS";
    case Quantity::l2_hit:
      return "L2_HIT";
    case Quantity::l2_miss:
      return "L2_MISS";
    case Quantity::l3_hit:
      return "L3_HIT";
    case Quantity::l3_miss:
      return "L3_MISS";
    case Quantity::cycles_no_execute:
      return "cycle_activity.cycles_no_execute";
    case Quantity::stalls_l1d_pending:
      return "cycle_activity.stalls_l1d_pending";
    case Quantity::resource_stalls_sb:
      return "resource_stalls.sb";
    case Quantity::fb_full:
      return "l1d_pend_miss.fb_full";
    case Quantity::sq_full:
      return "offcore_requests_buffer.sq_full";
  }
  return {};
}

Rates compute_rates(const Counts& counts, const LfbShares& shares) {
  for (std::size_t i = 0; i < kQuantities; ++i) {
    check(counts[static_cast<Quantity>(i)].value_or(0));
  }
  for (const auto& [umask, count] : counts.l2_requests) check(count);
  const std::vector<Corner> corners = corners_of(shares);
  Rates rates;
  for (const LoadRate& definition : load_rates()) {
    rates.loads.push_back(load_rate(definition, counts, corners));
  }
  for (const LoadRate& definition : line_rates()) {
    rates.lines.push_back(load_rate(definition, counts, corners));
  }
  rates.l2 = l2_rates(counts.l2_requests);
  rates.backend = backend_rates(counts);
  rates.identities = identities(counts);
  return rates;
}

bool impossible(const Rate& rate) {
  // What rounding leaves of exactly 0% and 100% is none.
  constexpr double kRounding = 1e-12;
  return rate.value && (rate.value->low < -kRounding || rate.value->high > 1 + kRounding);
}

std::vector<std::string> warnings_of(const Rates& rates) {
  std::vector<std::string> warnings;
  const auto add = [&](const char* group, const std::vector<Rate>& all) {
    for (const Rate& rate : all) {
      if (!rate.value || !impossible(rate)) continue;
      const auto& [low, high] = *rate.value;
      warnings.push_back(fmt::format(
          "{} {}: {:.2f}% is {}: the counts are not of the same time (multiplexing, another run), "
          "or do not contain each other",
          group, rate.name, 100 * (low < 0 ? low : high), low < 0 ? "below 0%" : "above 100%"));
    }
  };
  add("loads:", rates.loads);
  add("lines:", rates.lines);
  add("L2 requests:", rates.l2);
  add("backend:", rates.backend);
  return warnings;
}

}  // namespace skid::analysis
