#include "src/output/listing/places.h"

#include "src/listing/sampled_code.h"
#include "src/output/cell.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/output/page.h"
#include "src/output/report/grouping.h"
#include "src/output/table.h"
#include "src/support/escape.h"
#include "src/symbols/location.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

namespace {

using listing::By;
using listing::Place;

/// The places of one screen.
constexpr std::size_t kMostPlaces = 20;
constexpr std::size_t kLongestName = 60;  ///< of a function in a sentence, and on a page
constexpr std::size_t kLongestSymbol = std::size_t{64} << 10;  ///< of a function: all of it
constexpr std::size_t kLongestOuter = 32;   ///< of a function in which others are inlined
constexpr std::size_t kLongestLine = 34;    ///< of a line beside such functions
constexpr std::size_t kLongestModule = 24;  ///< of a file beside its function

/// Returns a path, or only its last part.
std::string path_text(const std::string& path, bool whole) {
  return escape_for_terminal(whole ? path : path.substr(path.rfind('/') + 1));
}

std::string module_text(const Place& place, bool whole) {
  return place.module.empty() ? "no mapping" : path_text(place.module, whole);
}

/// Returns "copy in main" for `copy` that is inlined in `main`. `mark`: what follows its name;
/// `longest`: columns for the function that is not inlined.
std::string function_text(const Place& place, std::string_view mark = "",
                          std::size_t longest = kLongestSymbol) {
  std::string text;
  for (const std::string& name : place.inlined) {
    text += fmt::format("{}{} in ", escape_for_terminal(name), mark);
  }
  if (!place.function.empty()) return text + shorten(escape_for_terminal(place.function), longest);
  return text + (place.address ? place.label() : "no symbol");
}

std::string line_text(const Place& place, bool whole) {
  if (!place.source) return "no line";
  return fmt::format("{}:{}", path_text(place.source->file, whole), place.source->line);
}

std::uint64_t samples_of(const PlaceCounts& of_place, std::size_t column) {
  const auto found = of_place.counts->find(column);
  return found == of_place.counts->end() ? 0 : found->second.samples;
}

}  // namespace

std::vector<std::size_t> all_columns(const listing::Listing& listing) {
  std::vector<std::size_t> all(listing.columns.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

std::vector<PlaceCounts> most_sampled(const listing::Listing& listing,
                                      const std::vector<std::size_t>& columns) {
  std::vector<PlaceCounts> places;
  for (const auto& [place, counts] : listing.places) {
    PlaceCounts of_place{&place, &counts};
    for (const std::size_t column : columns) of_place.sum += samples_of(of_place, column);
    if (of_place.sum > 0) places.push_back(of_place);
  }
  std::ranges::stable_sort(places, std::ranges::greater(), &PlaceCounts::sum);
  return places;
}

std::string place_text(const Place& place, By by) {
  if (by == By::module || place.module.empty()) return module_text(place, true);
  const std::string module = module_text(place, false);
  const std::string function =
      place.function.empty() && !place.address
          ? "code of " + module + " whose symbols are not known"
          : shorten(function_text(place, " (inlined)"), kLongestName) + " of " + module;
  return by == By::line && place.source ? line_text(place, false) + ", " + function : function;
}

std::string places_table(const Page& page, const listing::Listing& listing, By by,
                         const EventGroup& event, const std::vector<std::size_t>& columns,
                         bool all) {
  using Kind = ListColumn::Kind;
  List list;
  std::vector<std::uint64_t> read;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    list.columns.push_back({event.columns[i].label});
    list.columns.push_back({"%", Kind::number, columns.size() > 1 ? 1 : 0});
    read.push_back(listing.columns[columns[i]].read());
  }
  list.columns.push_back({"line", Kind::front_shortened, 0, by == By::line});
  const bool has_inlined = std::ranges::any_of(
      listing.places, [](const auto& place) { return !place.first.inlined.empty(); });
  list.columns.push_back({has_inlined ? "function, in which inlined" : "function", Kind::shortened,
                          by == By::line ? 1 : 0, by != By::module});
  list.columns.push_back(
      {"module", by == By::module ? Kind::front_shortened : Kind::text, by == By::module ? 0 : 2});
  const auto add = [&](const std::vector<std::uint64_t>& samples, std::string line,
                       std::string function, std::string module) {
    std::vector<Cell> row;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      row.push_back({fmt::format("{}", samples[i])});
      row.push_back({percent_of(samples[i], std::max<std::uint64_t>(read[i], 1))});
    }
    for (std::string* text : {&line, &function, &module}) row.push_back({std::move(*text)});
    list.rows.push_back(std::move(row));
  };
  const std::vector<PlaceCounts> places = most_sampled(listing, columns);
  const std::size_t shown = all ? places.size() : std::min(places.size(), kMostPlaces);
  std::vector<std::uint64_t> in_others(columns.size()), elsewhere = read;
  for (std::size_t at = 0; at < places.size(); ++at) {
    std::vector<std::uint64_t> samples;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      samples.push_back(samples_of(places[at], columns[i]));
      elsewhere[i] -= samples[i];
      if (at >= shown) in_others[i] += samples[i];
    }
    if (at >= shown) continue;
    const Place& place = *places[at].place;
    std::string function =
        function_text(place, "", place.inlined.empty() ? kLongestSymbol : kLongestOuter);
    if (page.html) function = shorten(function, kLongestName);
    std::string line = line_text(place, true);
    if (has_inlined && !page.html) line = shorten_front(line, kLongestLine);
    add(samples, std::move(line), std::move(function),
        by == By::module ? module_text(place, true)
                         : shorten(module_text(place, false), kLongestModule));
  }
  if (places.size() > shown) {
    const std::size_t others = places.size() - shown;
    add(in_others, {}, {}, fmt::format("{} {}", others, others == 1 ? "other" : "others"));
  }
  if (std::ranges::any_of(elsewhere, [](std::uint64_t samples) { return samples > 0; })) {
    add(elsewhere, {}, {}, "other modules");
  }
  return page.list(list);
}

std::string unnamed_remedy() {
  return "compile with -g and without strip, install the debug file (found by build-id or "
         ".gnu_debuglink below /usr/lib/debug and --debug-dir), or request it with --debuginfod";
}

std::string note_on_files(const Page& page, const listing::Listing& listing, By by) {
  struct File {
    bool is_missing = false, has_names = false;
  };
  std::map<std::string, File> files;
  for (const auto& [place, counts] : listing.places) {
    if (place.in_kernel || !place.module.starts_with('/')) continue;
    File& file = files[place.module];
    file.is_missing |= place.is_missing;
    file.has_names |= by == By::line ? place.source.has_value() : !place.function.empty();
  }
  std::vector<std::string> missing, unnamed;
  for (const auto& [name, file] : files) {
    if (file.has_names) continue;
    (file.is_missing ? missing : unnamed).push_back(escape_for_terminal(name));
  }
  std::string text;
  if (!missing.empty()) {
    text +=
        page.note(fmt::format("missing: {}; --binary FILE and --symfs DIR take a copy, "
                              "--debuginfod requests it",
                              list_of(missing, 3)));
  }
  if (!unnamed.empty()) {
    text += page.note(fmt::format("no {} for the samples in {}: {}",
                                  by == By::line ? "line table" : "symbol", list_of(unnamed, 3),
                                  unnamed_remedy()));
  }
  return text.empty() ? text : '\n' + text;
}

}  // namespace skid::output
