#include "analysis/remedy.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/confidence.h"
#include "analysis/contract.h"
#include "analysis/geometry.h"
#include "analysis/sample_class.h"
#include "analysis/share.h"
#include "analysis/tally.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace skid::analysis {
namespace {

/// The largest number of samples that a remedy names. A share that takes more is too near the
/// required one to be decided.
constexpr double kMostToRecord = 1e8;

/// Other triggers are sampled as often as the trigger, or twice. If they have more than this many
/// times its samples, the period resonates with the loop.
constexpr std::uint64_t kMostOfOthers = 4;

/// Rounds up to two digits: 3838 to 3900.
std::uint64_t rounded_up(double number) {
  const double unit = std::pow(10.0, std::max(0.0, std::floor(std::log10(number)) - 1));
  return static_cast<std::uint64_t>(std::ceil(number / unit - 1e-9) * unit);
}

/// Returns the remedy if no sample can be judged, by the class that most samples are in.
Remedy remedy_of_unjudged(const Basis& basis) {
  const Breakdown& samples = basis.tally.breakdown;
  constexpr std::array kUnjudged{SampleClass::other_trigger, SampleClass::kernel,
                                 SampleClass::guest, SampleClass::other_user,
                                 SampleClass::unmapped};
  const SampleClass most = *std::ranges::max_element(
      kUnjudged, {}, [&](SampleClass sample_class) { return samples[sample_class]; });
  if (samples.judged() > 0) return {Remedy::Kind::level_1};
  if (most == SampleClass::kernel) return {Remedy::Kind::user_mode};
  if (most != SampleClass::other_trigger) return {Remedy::Kind::longer_run};
  return {basis.geometry->trigger_addresses.size() > 1 ? Remedy::Kind::period_or_gaps
                                                       : Remedy::Kind::another_period};
}

}  // namespace

std::optional<std::uint64_t> samples_to_decide(const Share& share) {
  const double distance = share.value - kRequiredShare;
  if (share.total == 0) return samples_to_show(kRequiredShare);
  if (distance == 0) return std::nullopt;
  const double z = two_sided_z();
  double needed = z * z * kRequiredShare * (1 - kRequiredShare) / (distance * distance);
  needed = std::max(needed, static_cast<double>(samples_to_show(kRequiredShare)));
  if (needed > kMostToRecord) return std::nullopt;
  const auto as_many = [&share](double samples) {
    const auto total = static_cast<std::uint64_t>(std::ceil(samples));
    const auto misses = static_cast<std::uint64_t>(std::llround((1 - share.value) * samples));
    return wilson_interval(total - std::min(total, misses), total);
  };
  // The binomial distribution and whole misses take somewhat more than the interval.
  while (verdict_of(as_many(needed)) == Verdict::undecided && needed < kMostToRecord) {
    needed *= 1.01;
  }
  return static_cast<std::uint64_t>(std::ceil(needed));
}

Remedy remedy_of(const Contract& contract, const Basis& basis, bool tagged) {
  const Share& share = contract.share;
  const Breakdown& samples = basis.tally.breakdown;
  const std::uint64_t others = samples[SampleClass::other_trigger];
  if (!tagged && share.total == 0) return remedy_of_unjudged(basis);
  double judged = static_cast<double>(share.total);
  if (!tagged && basis.addresses && identifies_cause(basis.addresses->source)) {
    if (cause_of(*basis.addresses).verdict == Verdict::broken) return {Remedy::Kind::another_cause};
    const std::uint64_t foreign = basis.addresses->samples.judged().other;
    judged = static_cast<double>(std::max(share.total, foreign + 1) - foreign);
  }
  if (!tagged && others / kMostOfOthers > samples.judged()) {
    return {.kind = Remedy::Kind::resonating_period, .others = others, .read = samples.read()};
  }
  const auto needed = samples_to_decide(share);
  const double rate = judged / static_cast<double>(samples.read() - others);
  const double recorded = needed ? static_cast<double>(*needed) / rate : 2 * kMostToRecord;
  if (!(recorded <= kMostToRecord)) {
    return {tagged ? Remedy::Kind::fewer_nops : Remedy::Kind::sum_of_recordings};
  }
  return {tagged ? Remedy::Kind::more_of_tagged : Remedy::Kind::more_samples, rounded_up(recorded)};
}

}  // namespace skid::analysis
