// Adds up measurements of the same configuration, so that the sum equals the report of one
// recording with all samples. Counts are added as whole numbers and the figures are computed from
// the sums, never from figures, so that the order and merging in steps make no difference.
//
// A configuration is a list of names and values: event, level, period, CPU, microcode, kernel,
// trigger, geometry and more (configuration_of()). Three inputs with two repetitions each become
// these repetitions by each policy. Those with the same number and kernel are added up.
//
//   input  kernel  repetition   pair  pool  apart
//   a      6.1.0   1            1     1     1
//   a      6.1.0   2            2     1     2
//   b      6.1.0   1            1     1     3
//   b      6.1.0   2            2     1     4
//   c      6.2.0   1            1     1     1
//   c      6.2.0   2            2     1     2
//
// c has another kernel, so it is not added to a and b; the difference "kernel: 6.1.0 and 6.2.0" is
// reported.
//
// Three things could make a sum wrong:
// - One recording can have the same configuration twice, and its events may have counted the same
//   instructions. The n-th measurement of a recording is only added to the n-th of another.
// - The same recording can be in two inputs, which commands refuse (DistinctRecordings).
// - What does not follow from sums is dropped if it differs: ticks per instruction, for example.
//
// Definitions: docs/merge.md.
#include "analysis/merge.h"

#include "analysis/addresses.h"
#include "analysis/basis.h"
#include "analysis/command_line.h"
#include "analysis/delay.h"
#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/events_per_iteration.h"
#include "analysis/geometry.h"
#include "analysis/ip_check.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/part.h"
#include "analysis/recording_path.h"
#include "analysis/skid_in_events.h"
#include "analysis/tally.h"
#include "src/support/error.h"
#include "src/support/losses.h"
#include "src/support/precise_level.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::analysis {
namespace {

/// The most samples of a sum. Every reader of JSON has whole numbers exact up to here.
constexpr std::uint64_t kMostSamples = std::uint64_t{1} << 53;
constexpr std::size_t kMostWarnings = 20;
constexpr std::size_t kMostDifferences = 20;
constexpr const char* kOtherTicks =
    "The merged recordings measured different ticks per instruction: no distance in ticks follows.";

constexpr const char* kFurther =
    "Further warnings of the merged recordings are left out: report them one by one.";

template <typename T>
std::string text_of(const std::optional<T>& value) {
  return value ? fmt::format("{}", *value) : "unknown";
}
std::string text_of(const std::string& value) {
  return value.empty() ? "unknown" : value;
}

/// Adds numbers up to the largest one of 64 bits: a damaged recording can contain any number of
/// losses.
void add_saturated(std::uint64_t more, std::uint64_t& sum) {
  constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
  sum = more > kMost - sum ? kMost : sum + more;
}

void add_known(const std::optional<std::uint64_t>& more, std::optional<std::uint64_t>& sum) {
  if (!more || !sum) {
    sum.reset();
    return;
  }
  add_saturated(*more, *sum);
}

std::string name_of_data(const Addresses& addresses) {
  return fmt::format("{}, {}", name_of(addresses.source),
                     addresses.declared.empty() ? "nothing declared" : "declared");
}

std::string title_of(const Measurement& m) {
  return m.event.requested.value_or(m.event.recorded);
}

/// Returns the name of the first part with the number of other names: "a.run", "a.run and 2 more".
std::string name_of(const std::vector<Part>& parts, std::string Part::*name, std::uint64_t all) {
  std::set<std::string_view> names;
  for (const Part& part : parts) names.insert(part.*name);
  if (names.contains("")) return {};
  const std::string& first = parts.front().*name;
  const std::uint64_t more = names.size() - 1 + (all - parts.size());
  return more == 0 ? first : fmt::format("{} and {} more", first, more);
}

void unite(const std::vector<std::string>& more, std::vector<std::string>& all) {
  for (const std::string& warning : more) {
    if (std::ranges::find(all, warning) != all.end()) continue;
    if (all.size() < kMostWarnings) {
      all.push_back(warning);
    } else if (all.back() != kFurther) {
      all.emplace_back(kFurther);
    }
  }
}

std::string name_of_pairs(const std::optional<SamplePairs>& pairs) {
  if (!pairs) return "none";
  return fmt::format("{} instructions, events after {}", pairs->iteration,
                     fmt::join(pairs->distances, ", "));
}

std::string name_of_skid(const std::optional<SkidInEvents>& skid) {
  if (!skid) return "not recorded";
  return skid->refused.empty() ? "recorded" : skid->refused;
}

constexpr std::size_t kMostDeclared = 64;

/// Adds data addresses to a sum. The declared data of each run is listed, up to a limit, if it
/// differs from run to run: the kernel places a pointer chase at any address.
void add_addresses(const std::optional<Addresses>& more, std::optional<Addresses>& sum) {
  if (!more || !sum) return;  // neither has any, as in equal configurations
  sum->samples += more->samples;
  for (const DeclaredData& data : more->declared) {
    if (sum->declared.size() < kMostDeclared &&
        std::ranges::find(sum->declared, data) == sum->declared.end()) {
      sum->declared.push_back(data);
    }
  }
}

/// Sums up a group of measurements. The figures are computed once, at the end, so that the time
/// grows with the counts.
class Sum {
 public:
  Sum(Measurement first, int repeat)
      : sum_(std::move(first)),
        parts_(parts_of(sum_)),
        known_lines_(sum_.command_lines.begin(), sum_.command_lines.end()) {
    sum_.repeat = repeat;
  }

  void add(const Measurement& other) {
    if (other.samples.read() > kMostSamples - sum_.basis.tally.breakdown.read()) {
      throw Error("{}: together more samples than can be counted exactly", title_of(other));
    }
    for (Part& part : parts_of(other)) parts_.push_back(std::move(part));
    add_saturated(other.parts, sum_.parts);
    add_command_lines(other);
    sum_.time.reset();
    sum_.read_in_part = sum_.read_in_part || other.read_in_part;
    for (const auto count : {&Losses::lost_records, &Losses::lost_samples, &Losses::throttled}) {
      add_saturated(other.*count, sum_.*count);
    }
    sum_.throttled_share = std::max(sum_.throttled_share, other.throttled_share);
    add_saturated(other.unknown_ids, sum_.unknown_ids);
    add_basis(other.basis);
    add_check(other);
    unite(other.warnings, sum_.warnings);
    if (other.recording_warnings) unite(*other.recording_warnings, of_recordings_);
    is_sum_ = true;
  }

  Measurement finish() {
    if (!is_sum_) return std::move(sum_);
    sum_.run = name_of(parts_, &Part::run, sum_.parts);
    sum_.file = name_of(parts_, &Part::file, sum_.parts);
    if (parts_.size() > kMostParts) parts_.resize(kMostParts);
    sum_.merged_from = std::move(parts_);
    std::vector<std::string> warnings;
    if (sum_.recording_warnings) warnings = *sum_.recording_warnings;
    unite(of_recordings_, warnings);
    sum_.recording_warnings = std::make_shared<const std::vector<std::string>>(std::move(warnings));
    complete(sum_);
    return std::move(sum_);
  }

 private:
  void add_command_lines(const Measurement& other) {
    auto& all = sum_.command_lines;
    for (const CommandLine& line : other.command_lines) {
      if (all.size() < kMostParts && known_lines_.insert(line).second) all.push_back(line);
    }
  }

  void add_basis(const Basis& other) {
    Basis& basis = sum_.basis;
    basis.tally += other.tally;
    add_known(other.period_sum, basis.period_sum);
    add_known(other.iterations, basis.iterations);
    add_addresses(other.addresses, basis.addresses);
    // Both have them or neither: the configurations are equal.
    if (basis.skid_in_events && other.skid_in_events) {
      *basis.skid_in_events += *other.skid_in_events;
    }
    if (basis.sample_pairs && other.sample_pairs) *basis.sample_pairs += *other.sample_pairs;
    if (basis.instructions_per_iteration != other.instructions_per_iteration) {
      basis.instructions_per_iteration.reset();
    }
    if (!basis.iterations) sum_.events_per_iteration.measured.reset();
    if (basis.ticks_per_iteration != other.ticks_per_iteration) basis.ticks_per_iteration.reset();
    if (basis.ticks_per_instruction != other.ticks_per_instruction) {
      basis.ticks_per_instruction.reset();
      basis.ticks_per_iteration.reset();
      unite({kOtherTicks}, sum_.warnings);
    }
  }

  void add_check(const Measurement& other) {
    if (!sum_.ip_check || !other.ip_check) return;  // neither has one, as in equal configurations
    IpCheck& check = *sum_.ip_check;
    for (const auto count : {&IpCheck::compared, &IpCheck::agreeing, &IpCheck::unpaired}) {
      add_saturated((*other.ip_check).*count, check.*count);
    }
    if (!check.first_difference) check.first_difference = other.ip_check->first_difference;
  }

  Measurement sum_;
  std::vector<Part> parts_;
  std::set<CommandLine> known_lines_;
  std::vector<std::string> of_recordings_;
  bool is_sum_ = false;
};

using machine::Configuration;

/// Gathers measurements by configuration.
class Groups {
 public:
  explicit Groups(RepeatPolicy repeats) : repeats_(repeats) {}

  void add(Measurement measurement, std::size_t input) {
    const std::size_t configuration = number_of(measurement);
    const std::size_t occurrence = occurrences_[{configuration, measurement.repeat, input,
                                                 measurement.run, measurement.file}]++;
    const int repeat = repeats_ == RepeatPolicy::pair ? measurement.repeat : 1;
    Group& group = groups_[{configuration, occurrence, repeat}];
    const bool is_apart = repeats_ == RepeatPolicy::apart;
    if (!is_apart && !group.empty()) {
      sums_[group.front()].add(measurement);
      return;
    }
    group.push_back(sums_.size());
    sums_.emplace_back(std::move(measurement), is_apart ? static_cast<int>(group.size()) : repeat);
  }

  Merged finish() {
    Merged merged;
    merged.measurements.reserve(sums_.size());
    for (Sum& sum : sums_) merged.measurements.push_back(sum.finish());
    merged.differences = std::move(differences_);
    return merged;
  }

 private:
  /// The numbers of the sums of a group: one, or several if nothing is added up.
  using Group = std::vector<std::size_t>;

  /// Returns the number of a measurement's configuration. Configurations of the same event and
  /// level are distinguished by their first difference, which is noted.
  std::size_t number_of(const Measurement& measurement) {
    const auto [found, is_new] =
        configurations_.try_emplace(configuration_of(measurement), configurations_.size());
    if (!is_new) return found->second;
    const std::string title = title_of(measurement);
    const auto [same_title, is_first] = by_title_.try_emplace(title, &found->first);
    if (!is_first && differences_.size() < kMostDifferences) {
      const auto [one, other] = machine::differences(*same_title->second, found->first).front();
      std::string difference =
          fmt::format("{}: {}: {} and {}", title, one.name, one.value, other.value);
      if (std::ranges::find(differences_, difference) == differences_.end()) {
        differences_.push_back(std::move(difference));
      }
    }
    return found->second;
  }

  RepeatPolicy repeats_;
  std::map<Configuration, std::size_t> configurations_;
  std::map<std::string, const Configuration*> by_title_;
  /// Counts how often one recording has the same configuration.
  std::map<std::tuple<std::size_t, int, std::size_t, std::string, std::string>, std::size_t>
      occurrences_;
  std::map<std::tuple<std::size_t, std::size_t, int>, Group> groups_;
  std::vector<Sum> sums_;  ///< sums in the order of their first parts
  std::vector<std::string> differences_;
};

}  // namespace

std::vector<Part> parts_of(const Measurement& m) {
  if (m.parts > 1) return m.merged_from;
  return {Part{m.run, m.file, m.repeat, m.samples.read(), m.time}};
}

Configuration configuration_of(const Measurement& m) {
  const EventIdentity& event = m.event;
  const Basis& basis = m.basis;
  Configuration all{{"event", event.label},
                    {"event requested", text_of(event.requested)},
                    {"event recorded", event.recorded},
                    {"type", fmt::format("{}", event.type)},
                    {"config", fmt::format("{:#x}", event.config)},
                    {"config1", fmt::format("{:#x}", event.config1)},
                    {"config2", fmt::format("{:#x}", event.config2)},
                    {"kind of breakpoint", fmt::format("{}", event.breakpoint_type)},
                    {"modes left out", excluded_modes(event)},
                    {"level requested", text_of(m.precise.requested)},
                    {"level recorded", fmt::format("{}", m.precise.recorded)},
                    {"period requested", text_of(m.period.requested)},
                    // If the samples contain their periods, these are added up.
                    {"period", basis.period_sum ? "of each sample" : text_of(m.period.effective)},
                    {"path of recording", m.path ? describe(*m.path) : "unknown"},
                    {"tracepoint beside it", m.ip_check ? m.ip_check->tracepoint : "none"},
                    {"synthetic", m.synthetic ? "yes" : "no"},
                    {"CPU", text_of(m.cpu.model_name)}};
  for (const auto& [name, value] : machine::configuration_of(m.cpu, m.kernel)) {
    all.push_back({name, text_of(value)});
  }
  all.insert(all.end(), {{"trigger", m.trigger ? m.trigger->kind : "unknown"},
                         {"trigger's symbol", m.trigger ? text_of(m.trigger->symbol) : "unknown"},
                         {"trigger's address",
                          m.trigger ? fmt::format("{:#x}", m.trigger->address) : "unknown"},
                         {"geometry", basis.geometry ? "known" : "unknown"}});
  if (basis.geometry) {
    const Geometry& geometry = *basis.geometry;
    all.insert(all.end(),
               {{"lead-in", fmt::format("{}", -geometry.lowest_offset)},
                {"runway", fmt::format("{}", geometry.highest_offset)},
                {"censored from", text_of(geometry.censored_from)},
                {"censored from, in bytes", text_of(geometry.censored_from_bytes)},
                {"even share of hits", text_of(geometry.even_hit_share)},
                {"triggers", fmt::format("{:#x}", fmt::join(geometry.trigger_addresses, ", "))}});
  }
  all.insert(all.end(),
             {{"judged", judgeable_name(basis.not_judged)},
              {"data addresses", basis.addresses ? name_of_data(*basis.addresses) : "not recorded"},
              {"skid in events", name_of_skid(basis.skid_in_events)},
              {"pairs of samples", name_of_pairs(basis.sample_pairs)},
              {"level ignored", basis.ignores_level ? "yes" : "no"},
              {"known offset", text_of(basis.known_offset)},
              {"EXACT_IP means", std::string(name_of(basis.exact_ip))},
              {"level 3", std::string(name_of(basis.level_three))},
              {"triggers cause it equally often", basis.equal_triggers ? "yes" : "no"},
              {"events expected", text_of(m.events_per_iteration.expected)}});
  return all;
}

Merged merge(std::vector<Measurement> measurements, const std::vector<std::size_t>& input_of,
             RepeatPolicy repeats) {
  Groups groups(repeats);
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    groups.add(std::move(measurements[i]), input_of[i]);
  }
  return groups.finish();
}

void pool_periods(std::vector<Measurement>& measurements, std::vector<std::size_t>& input_of) {
  using Key = std::tuple<std::size_t, std::string, std::string, int>;
  std::map<Key, std::vector<std::size_t>> groups;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    const Measurement& m = measurements[i];
    if (m.run.empty() || !m.period.requested) continue;
    groups[{input_of[i], m.run, text_of(m.event.requested), m.precise.recorded}].push_back(i);
  }
  std::vector<bool> is_pooled(measurements.size());
  for (const auto& [key, group] : groups) {
    const auto first_period = measurements[group.front()].period.requested;
    const bool varies = std::ranges::any_of(
        group, [&](std::size_t i) { return measurements[i].period.requested != first_period; });
    if (!varies) continue;
    std::vector<Measurement> parts;
    for (const std::size_t i : group) {
      Measurement& part = parts.emplace_back(measurements[i]);
      // The sum over the samples stands for the different periods.
      if (!part.basis.period_sum) {
        part.basis.period_sum = part.basis.tally.breakdown.read() * *part.period.requested;
      }
      part.period.requested = first_period;
      // Ticks are measured anew for each recording, but the target is the same.
      const Basis& first = parts.front().basis;
      part.basis.ticks_per_instruction = first.ticks_per_instruction;
      part.basis.ticks_per_iteration = first.ticks_per_iteration;
      is_pooled[i] = i != group.front();
    }
    const std::vector<std::size_t> inputs(parts.size(), input_of[group.front()]);
    auto pooled = merge(std::move(parts), inputs, RepeatPolicy::pool).measurements;
    if (pooled.size() == 1) {
      measurements[group.front()] = std::move(pooled.front());
    } else {
      for (const std::size_t i : group) is_pooled[i] = false;
    }
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    if (is_pooled[i]) continue;
    if (kept != i) measurements[kept] = std::move(measurements[i]);
    input_of[kept++] = input_of[i];
  }
  measurements.resize(kept);
  input_of.resize(kept);
}

}  // namespace skid::analysis
