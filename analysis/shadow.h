// The delay between a counter's overflow and the event that is sampled, from the samples of
// triggers at known distances.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace skid::analysis {

/// The model: each trigger overflows the counter equally often, the hardware is ready some retired
/// instructions later, and the first trigger from there on is sampled. A trigger closer than that
/// to the ones before it is in their shadow. The delay is uniform from `length - spread` to `length
/// + spread`. Estimated by maximum likelihood.
struct ShadowLength {
  double value = 0;                 ///< instructions; the middle where several are as likely
  std::uint64_t low = 0, high = 0;  ///< of the mean delay, whatever its spread: profile likelihood
  double confidence = 0.95;
  std::uint64_t spread = 0;  ///< instructions, of the most likely delay
};

struct Shadow {
  std::optional<ShadowLength> length;  ///< nullopt: no delay explains the samples
  std::vector<double> shares;  ///< by trigger, for the most likely delay; empty without a length
  double chi_square = 0;       ///< Pearson's statistic of the most likely delay
  int degrees = 0;             ///< of freedom
  double p = 0;                ///< of a statistic at least as large where the model holds
};

/// p below which the samples are not explained by a delay.
inline constexpr double kShadowFit = 0.01;

/// The share of samples of each trigger for a delay of `length` instructions. `distances`: retired
/// instructions from each trigger to the next, from the last one to the first of the next
/// iteration, each at least 1.
std::vector<double> shadowed_shares(std::span<const std::uint64_t> distances, std::uint64_t length);

/// Estimates the shadow of up to half an iteration; longer ones cannot be distinguished from short
/// ones. `hits`: samples at each trigger. nullopt for fewer than two triggers or more than 16, and
/// where fewer than five samples are to be expected of each.
std::optional<Shadow> shadow_of(std::span<const std::uint64_t> distances,
                                std::span<const std::uint64_t> hits);

}  // namespace skid::analysis
