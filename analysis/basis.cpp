#include "analysis/basis.h"

#include "analysis/distributions.h"
#include "analysis/wording.h"

#include <algorithm>
#include <map>
#include <stdexcept>
#include <tuple>
#include <utility>

#include <boost/histogram/axis/integer.hpp>
#include <boost/histogram/axis/option.hpp>
#include <boost/histogram/detail/optional_index.hpp>
#include <boost/histogram/fwd.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <boost/histogram/weight.hpp>
#include <fmt/format.h>

namespace skid::analysis {
namespace {

namespace bh = boost::histogram;

/// Numbers of bins, with under- and overflow.
using BinAxis = bh::axis::integer<std::int64_t>;
/// Numbers of the located classes.
using ClassAxis = bh::axis::integer<int, bh::axis::null_type, bh::axis::option::none_t>;
/// Only bins with samples take memory: a report may claim any runway.
using SparseCells = bh::storage_adaptor<std::map<std::size_t, std::uint64_t>>;

/// Boost counts the bins of an axis, two of them for under- and overflow, as int.
constexpr std::uint64_t kMostBins = std::uint64_t{1} << 30;

void check_axis(const OffsetAxis& axis) {
  if (axis.width < 1) throw std::invalid_argument("a bin is at least one instruction wide");
  if (axis.lowest > axis.highest) throw std::invalid_argument("an axis ends before it begins");
  const auto bins = static_cast<std::uint64_t>(bin_of(axis.highest, axis.width)) -
                    static_cast<std::uint64_t>(bin_of(axis.lowest, axis.width));
  if (bins > kMostBins) throw std::invalid_argument("an axis has too many bins");
}

/// Of a sample that is not censored.
SampleClass class_of(std::int64_t offset) {
  if (offset == 0) return SampleClass::hit;
  return offset < 0 ? SampleClass::before : SampleClass::skid;
}

}  // namespace

std::uint64_t Breakdown::judged() const {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    if (is_judged(static_cast<SampleClass>(i))) samples += counts_[i];
  }
  return samples;
}

std::uint64_t Breakdown::located() const {
  return (*this)[SampleClass::hit] + (*this)[SampleClass::skid] + (*this)[SampleClass::before] +
         (*this)[SampleClass::censored];
}

Breakdown& Breakdown::operator+=(const Breakdown& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

std::optional<Bias> bias_of(std::span<const TriggerCount> triggers) {
  if (triggers.size() < 2) return std::nullopt;
  std::vector<std::uint64_t> samples;
  for (const TriggerCount& trigger : triggers) samples.push_back(trigger.samples);
  const auto all = std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  if (static_cast<double>(all) < kFewestExpected * static_cast<double>(samples.size())) {
    return std::nullopt;
  }
  return pearson_of(samples);
}

Tally& Tally::operator+=(const Tally& other) {
  breakdown += other.breakdown;
  instructions += other.instructions;
  bytes += other.bytes;
  censored += other.censored;
  exact_samples += other.exact_samples;
  exact_hits += other.exact_hits;
  exact_off_trigger += other.exact_off_trigger;
  inside_instruction += other.inside_instruction;
  if (triggers.size() < other.triggers.size()) triggers.resize(other.triggers.size());
  for (std::size_t i = 0; i < other.triggers.size(); ++i) triggers[i] += other.triggers[i];
  return *this;
}

void Tally::add(const Classified& place, std::uint64_t samples, bool exact) {
  const bool is_hit = place.sample_class == SampleClass::hit;
  breakdown.add(place.sample_class, samples);
  if (place.offset) {
    instructions.add(place.offset->instructions, samples);
    bytes.add(place.offset->bytes, samples);
    if (place.sample_class == SampleClass::censored) {
      censored.add(place.offset->instructions, samples);
    }
  }
  if (place.trigger) {
    if (triggers.size() <= *place.trigger) triggers.resize(*place.trigger + 1);
    triggers[*place.trigger] += {is_hit ? samples : 0, samples};
  }
  if (place.inside_instruction) inside_instruction += samples;
  if (!exact) return;
  exact_samples += samples;
  if (is_hit) {
    exact_hits += samples;
  } else if (is_judged(place.sample_class)) {
    exact_off_trigger += samples;
  }
}

std::optional<double> expected_hit_share(const Basis& basis) {
  if (!basis.geometry || !basis.geometry->even_hit_share) return std::nullopt;
  const double even = *basis.geometry->even_hit_share;
  if (!basis.ticks_per_instruction || !basis.ticks_per_iteration) return even;
  const auto triggers = static_cast<double>(basis.geometry->trigger_addresses.size());
  const double nops = triggers / even - triggers;
  // What NOPs take is measured to some percent, so that a trigger of a few cycles can get lost.
  return std::max(even, 1 - nops * *basis.ticks_per_instruction / *basis.ticks_per_iteration);
}

bool is_data_address(std::uint64_t address) {
  constexpr unsigned kSignificant = 57;
  const std::uint64_t above = address >> (kSignificant - 1);  // bit 56 and those that repeat it
  return address != 0 && (above == 0 || above == UINT64_MAX >> (kSignificant - 1));
}

void OwnerCounts::add(std::uint64_t address, const std::vector<DeclaredData>& data) {
  if (!is_data_address(address)) {
    ++none;
    return;
  }
  bool is_of_other_trigger = false;
  for (const DeclaredData& declared : data) {
    if (!declared.range.contains(address)) continue;
    if (declared.of_trigger) {
      ++trigger;
      return;
    }
    is_of_other_trigger = true;
  }
  ++(is_of_other_trigger ? other_trigger : other);
}

OwnerCounts& OwnerCounts::operator+=(const OwnerCounts& more) {
  trigger += more.trigger;
  other_trigger += more.other_trigger;
  other += more.other;
  none += more.none;
  return *this;
}

OwnerCounts& AddressTable::at(const Classified& place) {
  if (!is_judged(place.sample_class)) return not_judged;
  if (place.sample_class == SampleClass::hit) return trigger;
  return place.offset && place.offset->instructions == 1 ? successor : elsewhere;
}

OwnerCounts AddressTable::judged() const {
  OwnerCounts sum = trigger;
  sum += successor;
  return sum += elsewhere;
}

AddressTable& AddressTable::operator+=(const AddressTable& more) {
  trigger += more.trigger;
  successor += more.successor;
  elsewhere += more.elsewhere;
  not_judged += more.not_judged;
  return *this;
}

SkidInEvents& SkidInEvents::operator+=(const SkidInEvents& more) {
  overshoots += more.overshoots;
  left_out += more.left_out;
  return *this;
}

std::string describe(const SkidInEvents& skid) {
  if (!skid.refused.empty()) return "not derived: " + skid.refused;
  const OffsetCounts& overshoots = skid.overshoots;
  const std::string left_out =
      skid.left_out == 0
          ? std::string()
          : fmt::format(", {} left out: the multiple of the period is not known", skid.left_out);
  if (overshoots.empty()) return fmt::format("no samples{}", left_out);
  return fmt::format("p50 {}, p99 {}, max {} events past the overflow ({}{})",
                     overshoots.quantile(0.50), overshoots.quantile(0.99), overshoots.quantile(1),
                     counted(overshoots.total(), "sample"), left_out);
}

Histogram histogram_of(const Tally& tally, const OffsetAxis& axis) {
  check_axis(axis);
  const std::int64_t first = bin_of(axis.lowest, axis.width);
  const std::int64_t last = bin_of(axis.highest, axis.width);
  // An offset beyond the axis can share the first or last bin's multiples.
  const auto number_of = [&](std::int64_t offset) {
    if (offset < axis.lowest) return first - 1;
    return offset > axis.highest ? last + 1 : bin_of(offset, axis.width);
  };
  auto cells = bh::make_histogram_with(SparseCells(), BinAxis(first, last + 1),
                                       ClassAxis(0, static_cast<int>(kLocatedClasses)));
  for (const auto& [offset, count] : tally.instructions.counts()) {
    // An offset can be censored after one of several triggers and not after another.
    const std::uint64_t censored = std::min(count, tally.censored.count_at(offset));
    const std::int64_t number = number_of(offset);
    cells(number, static_cast<int>(class_of(offset)), bh::weight(count - censored));
    cells(number, static_cast<int>(SampleClass::censored), bh::weight(censored));
  }

  const auto bin_at = [&](std::int64_t number) {
    Bin bin{number * axis.width, (number + 1) * axis.width};
    for (std::size_t i = 0; i < kLocatedClasses; ++i) {
      bin.by_class.at(i) = cells.at(static_cast<int>(number - first), static_cast<int>(i));
    }
    bin.count = std::accumulate(bin.by_class.begin(), bin.by_class.end(), std::uint64_t{0});
    return bin;
  };
  Histogram histogram;
  histogram.underflow = bin_at(first - 1).count;
  histogram.overflow = bin_at(last + 1).count;
  for (const auto& entry : tally.instructions.counts()) {
    const std::int64_t number = number_of(entry.first);
    if (number < first || number > last) continue;
    if (!histogram.bins.empty() && histogram.bins.back().lo == number * axis.width) continue;
    histogram.bins.push_back(bin_at(number));
  }
  return histogram;
}

}  // namespace skid::analysis
