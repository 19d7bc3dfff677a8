#include "src/locate/filter.h"

#include "src/locate/mapping_name.h"
#include "src/locate/sample_filter.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/features.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_times.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/support/text.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/region.h"
#include "src/symbols/thread_names.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <filesystem>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::locate {
namespace {

/// Parses seconds with up to nine decimals; in ns.
std::optional<std::uint64_t> nanoseconds(std::string_view text) {
  constexpr std::uint64_t kSecond = 1'000'000'000;
  constexpr std::size_t kDecimals = 9;
  const auto seconds = whole_number<std::uint64_t>(take_until('.', text));
  if (!seconds || *seconds >= UINT64_MAX / kSecond || text.size() > kDecimals) return std::nullopt;
  const auto fraction = whole_number<std::uint64_t>(fmt::format("{:0<9}", text));
  if (!fraction) return std::nullopt;
  return *seconds * kSecond + *fraction;
}

/// Parses "START,STOP", of which either may be missing.
std::optional<TimeSlice> slice_of_seconds(std::string_view text) {
  const std::string_view start = take_until(',', text);
  const auto begin = start.empty() ? 0 : nanoseconds(start);
  const auto end = text.empty() ? UINT64_MAX : nanoseconds(text);
  if (!begin || !end || *end < *begin) return std::nullopt;
  return TimeSlice{*begin, *end};
}

/// Parses "10%-20%", "10%/2" or "10%".
std::optional<TimeSlice> slice_of_shares(std::string_view text) {
  const auto share = [](std::string_view percent) {
    if (!percent.ends_with('%')) return -1.0;
    percent.remove_suffix(1);
    return whole_number<double>(percent).value_or(-1) / 100;
  };
  const bool is_range = text.find('-') != std::string_view::npos;
  double first = share(take_until(is_range ? '-' : '/', text)), last = first;
  if (is_range) {
    last = share(text);
  } else {
    const auto number = whole_number<std::uint32_t>(text.empty() ? "1" : text).value_or(0);
    last = first * number;
    first *= number - 1.0;
  }
  if (!(0 <= first && first <= last && last <= 1)) return std::nullopt;
  return TimeSlice{.shares = std::pair(first, last)};
}

/// Returns the times in the header of a recording. perf 7 writes 0 for both unless it reads the
/// samples again (--buildid-all, --timestamp-boundary), and in pipe mode there are none: then the
/// samples are read here, and the recording is at its beginning afterwards.
perfdata::SampleTimes times_of_samples(perfdata::Recording& recording) {
  const auto& recorded = recording.features().sample_time;
  if (recorded && recorded->second != 0 && recorded->second >= recorded->first) {
    return {recorded->first, recorded->second};
  }
  perfdata::SampleTimes times;
  recording.rewind();
  perfdata::Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    const auto decoded = recording.decoder().decode(record);
    if (decoded.problem == perfdata::SampleDecoder::Problem::none) times.add(decoded.sample.time);
  }
  recording.rewind();
  return times;
}

/// Converts shares to times, as set_percent_time() of tools/perf/util/time-utils.c does.
TimeSlice in_time(const TimeSlice& slice, const perfdata::SampleTimes& times) {
  if (!slice.shares) return slice;
  const auto at = [&](double share) {
    const std::uint64_t length = times.last - times.first;
    const double offset = std::round(share * static_cast<double>(length));
    return offset < static_cast<double>(length) ? times.first + static_cast<std::uint64_t>(offset)
                                                : times.last;
  };
  TimeSlice result{at(slice.shares->first), at(slice.shares->second)};
  if (result.end > result.begin && result.end != times.last) --result.end;
  return result;
}

bool is_one_of(const std::vector<std::string>& list, Filter::Kind kind, const std::string& value) {
  return std::ranges::any_of(list, [&](const std::string& wanted) {
    return kind == Filter::dso ? is_dso_named(value, wanted) : value == wanted;
  });
}

}  // namespace

bool Filter::divides_events() const noexcept {
  return !times.empty() ||
         std::ranges::any_of(lists, [](const auto& list) { return !list.empty(); });
}

bool Filter::has_shares() const noexcept {
  return std::ranges::any_of(times,
                             [](const TimeSlice& slice) { return slice.shares.has_value(); });
}

std::optional<std::vector<std::string>> parse_numbers(std::string_view list) {
  std::vector<std::string> numbers;
  for (std::string_view rest = list; !rest.empty() || numbers.empty();) {
    std::string_view last = take_until(',', rest);
    const bool is_range = last.find('-') != std::string_view::npos;
    const auto first = whole_number<std::uint32_t>(take_until('-', last));
    const auto end = is_range ? whole_number<std::uint32_t>(last) : first;
    if (!first || !end || *end < *first || *end - *first >= kMostNumbers - numbers.size()) {
      return std::nullopt;
    }
    for (std::uint64_t one = *first; one <= *end; ++one) numbers.push_back(std::to_string(one));
  }
  return numbers;
}

std::optional<std::vector<TimeSlice>> parse_times(std::string_view text) {
  std::vector<TimeSlice> slices;
  const bool is_share = text.find('%') != std::string_view::npos;
  for (std::string_view rest = text; !rest.empty() || slices.empty();) {
    const auto one = take_until(is_share ? ',' : ' ', rest);
    const auto slice = is_share ? slice_of_shares(one) : slice_of_seconds(one);
    if (!slice) return std::nullopt;
    slices.push_back(*slice);
  }
  return slices;
}

void Filtered::add(const Filtered& other) {
  selected += other.selected;
  all += other.all;
  has_event |= other.has_event;
  events.insert(other.events.begin(), other.events.end());
  first = std::min(first, other.first);
  last = std::max(last, other.last);
  for (std::size_t kind = 0; kind < values.size(); ++kind) {
    for (const auto& [value, samples] : other.values[kind]) values[kind][value] += samples;
  }
}

std::vector<std::string> Filtered::unmatched(const Filter& filter) const {
  constexpr std::size_t kMostNamed = 5;
  std::vector<std::string> messages;
  for (const auto kind : {Filter::pid, Filter::tid, Filter::cpu, Filter::comm, Filter::dso}) {
    std::size_t found = 0;
    for (const std::string& wanted : filter.lists[kind]) {
      if (all == 0 || std::ranges::any_of(values[kind], [&](const auto& one) {
            return is_one_of({wanted}, kind, one.first);
          })) {
        continue;
      }
      if (++found > kMostNamed) break;
      auto names = near_names(wanted, values[kind], kMostNamed);
      if (names.empty()) names = most_frequent(values[kind], kMostNamed);
      messages.push_back(fmt::format("{} {}: no sample matches; sampled: {}", Filter::kNames[kind],
                                     wanted, fmt::join(names, ", ")));
    }
  }
  if (selected == 0 && !filter.times.empty() && first <= last) {
    constexpr double kSecond = 1e9;  // ns
    messages.push_back(
        fmt::format("no sample in these times; the samples are from {:.9f} to {:.9f}",
                    static_cast<double>(first) / kSecond, static_cast<double>(last) / kSecond));
  }
  return messages;
}

void SampleFilter::begin(perfdata::Recording& recording, const symbols::AddressSpaces& spaces) {
  const auto& lists = filter_.lists;
  const bool needs_tid =
      !(lists[Filter::pid].empty() && lists[Filter::tid].empty() && lists[Filter::comm].empty());
  for (const perfdata::Attribute& attribute : recording.attributes()) {
    const auto require = [&](bool is_needed, std::uint64_t bit, std::string_view field,
                             std::string_view option) {
      if (!is_needed || attribute.has(bit) || attribute.is_dummy()) return;
      throw InputError({recording.path().string(), std::nullopt,
                        fmt::format("samples of {} without {}", attribute.name, field), "it",
                        fmt::format("record it with 'perf record{}'", option)});
    };
    require(needs_tid, PERF_SAMPLE_TID, "PERF_SAMPLE_TID", "");
    require(!lists[Filter::cpu].empty(), PERF_SAMPLE_CPU, "PERF_SAMPLE_CPU", " --sample-cpu");
    require(!filter_.times.empty(), PERF_SAMPLE_TIME, "PERF_SAMPLE_TIME", " --timestamp");
  }
  if (filter_.has_shares()) {
    const perfdata::SampleTimes times = times_of_samples(recording);
    for (TimeSlice& slice : filter_.times) slice = in_time(slice, times);
  }
  if (lists[Filter::dso].empty()) return;
  for (symbols::FileIndex file = 0; file < spaces.file_count(); ++file) {
    files_.push_back(spaces.file(file).path);
  }
}

bool SampleFilter::selects(const perfdata::Sample& sample, std::uint64_t time,
                           symbols::FileIndex file, Filtered* filtered) const {
  // As in perf, a sample without a time is in any slice.
  bool is_selected = filter_.times.empty() || sample.time == 0 ||
                     std::ranges::any_of(filter_.times, [&](const TimeSlice& slice) {
                       return slice.begin <= sample.time && sample.time <= slice.end;
                     });
  const auto check = [&](Filter::Kind kind, const auto& value_of) {
    if (filter_.lists[kind].empty()) return;
    if (filtered == nullptr && !is_selected) return;
    const std::string value = value_of();
    const bool is_wanted = is_one_of(filter_.lists[kind], kind, value);
    is_selected = is_selected && is_wanted;
    if (filtered == nullptr) return;
    constexpr std::size_t kMostValues = 100'000;
    auto& values = filtered->values[kind];
    if (is_wanted || values.size() < kMostValues) ++values[value];
  };
  check(Filter::pid, [&] { return std::to_string(sample.pid); });
  check(Filter::tid, [&] { return std::to_string(sample.tid); });
  check(Filter::cpu, [&] { return std::to_string(sample.cpu); });
  check(Filter::comm, [&] { return names_.at(sample.tid, time); });
  check(Filter::dso,
        [&] { return file == symbols::Region::kNoFile ? std::string("[unknown]") : files_[file]; });
  if (filtered != nullptr) {
    ++filtered->all;
    filtered->first = std::min(filtered->first, sample.time);
    filtered->last = std::max(filtered->last, sample.time);
    filtered->selected += is_selected ? 1 : 0;
  }
  return is_selected;
}

}  // namespace skid::locate
