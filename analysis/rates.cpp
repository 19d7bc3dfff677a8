#include "analysis/rates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string_view>
#include <utility>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// A point of the simplex: the shares of HIT_LFB that L2 and L3 served.
struct Corner {
  double a, b;
};

/// A share of HIT_LFB: one + a_part * a + b_part * b.
struct Term {
  const char* name = nullptr;  ///< nullptr: the share is 0
  double one = 0, a_part = 0, b_part = 0;
  double share(Corner corner) const { return one + a_part * corner.a + b_part * corner.b; }
};
constexpr Term kNone{}, kAll{"HIT_LFB", 1, 0, 0}, kByL2{"a HIT_LFB", 0, 1, 0};
constexpr Term kByL3{"b HIT_LFB", 0, 0, 1}, kPastL2{"(1-a) HIT_LFB", 1, -1, 0};
constexpr Term kPastL3{"(1-a-b) HIT_LFB", 1, -1, -1};

/// One side of a fraction: the sum of a share of HIT_LFB and of counts.
struct Terms {
  Term lfb;
  std::vector<Quantity> counts;

  /// Writes the sum: "L1_HIT", "(HIT_LFB + L1_MISS)".
  std::string text() const {
    std::vector<std::string_view> terms;
    if (lfb.name != nullptr) terms.emplace_back(lfb.name);
    for (const Quantity quantity : counts) terms.push_back(name_of(quantity));
    const std::string sum = fmt::format("{}", fmt::join(terms, " + "));
    return terms.size() == 1 ? sum : "(" + sum + ")";
  }
};

struct LoadRate {
  const char* name;
  Terms numerator, denominator;
  Headline headline = Headline::none;
};

/// Returns the corners of the part of the triangle (0,0), (1,0), (0,1) that has the given shares.
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

/// Lists the counts in `needed` that are missing in `counts`, each once.
std::vector<std::string> missing_of(const Counts& counts, std::vector<Quantity> needed) {
  std::ranges::sort(needed);
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

void divide(double part, double whole, Rate& rate) {
  if (whole == 0) {
    rate.remark += rate.remark.empty() ? "the denominator is 0" : "; the denominator is 0";
  } else {
    rate.value = Bounds{part / whole, part / whole};
  }
}

Rate load_rate(const LoadRate& definition, const Counts& counts,
               const std::vector<Corner>& corners) {
  const auto& [name, numerator_side, denominator_side, headline] = definition;
  Rate rate{name, numerator_side.text() + " / " + denominator_side.text(), {}, {}, {}};
  rate.headline = headline;
  std::vector<Quantity> needed;
  for (const Terms* side : {&numerator_side, &denominator_side}) {
    needed.insert(needed.end(), side->counts.begin(), side->counts.end());
    if (side->lfb.name != nullptr) needed.push_back(Quantity::hit_lfb);
  }
  rate.missing = missing_of(counts, std::move(needed));
  if (!rate.missing.empty()) return rate;

  const double lfb = counts[Quantity::hit_lfb].value_or(0);
  const auto at = [&](const Terms& side, Corner corner) {
    // Rounding must not make a share of 0 slightly negative.
    return std::max(0.0, side.lfb.share(corner)) * lfb + sum_of(counts, side.counts);
  };
  for (const Corner corner : corners) {
    const double numerator = at(numerator_side, corner);
    const double denominator = at(denominator_side, corner);
    if (denominator == 0) {
      // If both are 0 in a corner, the quotient is constant on each straight line into it, and the
      // other corners have its extremes. If only the denominator is 0, the quotient has no bound.
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

/// Returns the rates of loads, from the article by Hadi Brais on cache hit and miss events.
std::vector<LoadRate> load_rates() {
  using enum Quantity;
  const Terms loads{kAll, {l1_miss, l1_hit}};
  const Terms past_l1{kAll, {l1_miss}};
  const Terms past_l2{kPastL2, {l2_miss}};
  const Terms past_l3{kPastL3, {l3_miss}};
  const Terms in_l2{kByL2, {l2_hit}};
  const Terms in_l3{kByL3, {l3_hit}};
  return {{"L1 miss", past_l1, loads, Headline::loads_miss_l1},
          {"L1 hit", {kNone, {l1_hit}}, loads},
          {"local L2 miss", past_l2, past_l1},
          {"local L2 hit", in_l2, past_l1},
          {"global L2 miss", past_l2, loads},
          {"global L2 hit", in_l2, loads},
          {"local L3 miss", past_l3, past_l2},
          {"local L3 hit", in_l3, past_l2},
          {"global L3 miss", past_l3, loads, Headline::loads_miss_l3},
          {"global L3 hit", in_l3, loads}};
}

/// Returns the rates of lines filled into L1, none of which HIT_LFB counts.
std::vector<LoadRate> line_rates() {
  using enum Quantity;
  const auto only = [](Quantity quantity) { return Terms{kNone, {quantity}}; };
  return {{"L2 miss", only(l2_miss), only(l1_miss), Headline::lines_miss_l2},
          {"L2 hit", only(l2_hit), only(l1_miss)},
          {"local L3 miss", only(l3_miss), only(l2_miss)},
          {"local L3 hit", only(l3_hit), only(l2_miss)},
          {"global L3 miss", only(l3_miss), only(l1_miss)},
          {"global L3 hit", only(l3_hit), only(l1_miss)}};
}

/// Returns the quotients of generic events, which perf stat prints in its own text.
std::vector<Rate> general_rates(const Counts& counts) {
  using enum Quantity;
  struct Quotient {
    const char* name;
    Quantity part, whole;
    const char* remark = "";
    Headline headline = Headline::general;
  };
  constexpr std::array kQuotients = {
      Quotient{"instructions per cycle", instructions, cycles, "",
               Headline::instructions_per_cycle},
      Quotient{"branches mispredicted", branch_misses, branches, "",
               Headline::branches_mispredicted},
      Quotient{"cache miss", cache_misses, cache_references,
               "generic events: of the last-level cache on Intel, of requests to L2 on AMD Zen"},
      Quotient{"L1 data cache load miss", l1d_load_misses, l1d_loads},
      Quotient{"last-level cache load miss", llc_load_misses, llc_loads},
      Quotient{"data TLB load miss", dtlb_load_misses, dtlb_loads},
      Quotient{"instruction TLB load miss", itlb_load_misses, itlb_loads},
      Quotient{"stalled in the frontend", stalled_frontend, cycles},
      Quotient{"stalled in the backend", stalled_backend, cycles},
  };
  std::vector<Rate> rates;
  for (const auto& [name, part, whole, remark, headline] : kQuotients) {
    Rate& rate = rates.emplace_back(
        Rate{name, fmt::format("{} / {}", name_of(part), name_of(whole)), {}, {}, remark});
    rate.is_share = part != instructions;
    rate.headline = headline;
    rate.missing = missing_of(counts, {part, whole});
    if (rate.missing.empty()) divide(*counts[part], *counts[whole], rate);
  }
  return rates;
}

Identity identity(const Counts& counts, Quantity left, const std::vector<Quantity>& right) {
  std::vector<std::string_view> names;
  for (const Quantity quantity : right) names.push_back(name_of(quantity));
  Identity result{fmt::format("{} = {}", name_of(left), fmt::join(names, " + ")), {}, {}};
  std::vector<Quantity> needed = right;
  needed.push_back(left);
  result.missing = missing_of(counts, std::move(needed));
  if (!result.missing.empty()) return result;
  const double of_left = counts[left].value_or(0), of_right = sum_of(counts, right);
  const double difference = of_left - of_right, larger = std::max(of_left, of_right);
  result.residual = Identity::Residual{of_left, of_right, difference, {}};
  if (larger > 0) result.residual->of_larger = std::abs(difference) / larger;
  return result;
}

std::vector<Identity> identities(const Counts& counts) {
  using enum Quantity;
  return {identity(counts, all_loads, {hit_lfb, l1_hit, l2_hit, l3_hit, l3_miss}),
          identity(counts, l1_miss, {l2_hit, l2_miss}),
          identity(counts, l2_miss, {l3_hit, l3_miss})};
}

/// Computes the hierarchy of stalls of the wspy article, each divided by cycles.
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
    if (rate.missing.empty()) divide(part, cycle_count, rate);
    return rate;
  };
  add("productive", "(cycles - cycles_no_execute) / cycles", cycle_count - stall,
      {cycles_no_execute});
  add("stalled", "cycles_no_execute / cycles", stall, {cycles_no_execute}).headline =
      Headline::stalled;
  Rate& bound = add("memory", "max(stalls_l1d_pending, resource_stalls.sb) / cycles", memory,
                    {stalls_l1d_pending});
  bound.headline = Headline::stalled_by_memory;
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
  static const std::map<std::uint8_t, std::string> kNames{{0x01, "demand data read"},
                                                          {0x02, "RFO"},
                                                          {0x04, "code read"},
                                                          {0x07, "all demand"},
                                                          {0x08, "L1 or software prefetch"},
                                                          {0x0f, "all but L2 prefetcher"},
                                                          {0x10, "L2 prefetcher"},
                                                          {0x18, "prefetch"},
                                                          {0x1f, "all"}};
  const auto found = kNames.find(origins);
  return found != kNames.end() ? found->second : fmt::format("origins {:#04x}", origins);
}

/// A number and its formula of counts: "r2124", "r4124 + r8124".
struct Derived {
  double value = 0;
  std::string from;
};

std::string code_of(unsigned umask) {
  return fmt::format("r{:02x}24", umask);
}

/// Returns the requests of some origins with some results: a count, or the sum of counts of parts
/// of the results.
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

/// Returns the requests of some origins with some results as sum_of_parts() does, or else as the
/// rest of a count from which others of the same origins are subtracted.
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

/// Adds the share of some results among the requests of some origins. Where it cannot be derived,
/// the missing count is named by its code.
void add_l2_rate(std::vector<Rate>& rates, const L2Requests& counts, std::uint8_t origins,
                 std::uint8_t results, const char* name) {
  Rate& rate = rates.emplace_back();
  rate.name = fmt::format("{} {}", name_of_origins(origins), name);
  if (results == kMiss) rate.headline = Headline::l2_miss;
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
  if (part && whole) divide(part->value, whole->value, rate);
}

std::vector<Rate> l2_rates(const L2Requests& counts) {
  std::vector<Rate> rates;
  for (std::uint8_t origins = 1; origins <= kOrigins; ++origins) {
    const bool spoken_of = std::ranges::any_of(counts, [&](const auto& entry) {
      return (entry.first & kOrigins) == origins && (entry.first & kResults) != 0;
    });
    if (!spoken_of) continue;
    add_l2_rate(rates, counts, origins, kMiss, "miss");
    add_l2_rate(rates, counts, origins, kHit, "hit");
  }
  return rates;
}

void check_count(double count) {
  if (!std::isfinite(count) || count < 0) throw std::invalid_argument("a count below 0");
}

}  // namespace

Rates compute_rates(const Counts& counts, const LfbShares& shares) {
  for (std::size_t i = 0; i < kQuantities; ++i) {
    check_count(counts[static_cast<Quantity>(i)].value_or(0));
  }
  for (const auto& [umask, count] : counts.l2_requests) check_count(count);
  const std::vector<Corner> corners = corners_of(shares);
  Rates rates;
  rates.general = general_rates(counts);
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
  // Rounding leaves a little of exactly 0% and 100%, which counts as none.
  constexpr double kRounding = 1e-12;
  return rate.value && rate.is_share &&
         (rate.value->low < -kRounding || rate.value->high > 1 + kRounding);
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
  add("generic events:", rates.general);
  add("loads:", rates.loads);
  add("lines:", rates.lines);
  add("L2 requests:", rates.l2);
  add("backend:", rates.backend);
  return warnings;
}

}  // namespace skid::analysis
