#include "src/output/listing/listing_answer.h"

#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/measurement.h"
#include "analysis/wording.h"
#include "src/listing/sampled_code.h"
#include "src/output/listing/listing.h"
#include "src/output/listing/places.h"
#include "src/output/name_list.h"
#include "src/output/number_text.h"
#include "src/support/escape.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using listing::Code;

/// Returns "760 of 766 samples of cycles (99.22%) are in deflate", without the event where there is
/// no other. `columns`: those of the event.
std::string samples_in(const listing::Listing& listing, const std::vector<std::size_t>& columns,
                       std::uint64_t part, const std::string& where) {
  std::uint64_t read = 0;
  for (const std::size_t column : columns) read += listing.columns[column].read();
  const std::string& label = listing.columns[columns.front()].described.event.label;
  return fmt::format(
      "{} of {} sample{}{} ({}) {} in {}", analysis::in_thousands(part),
      analysis::in_thousands(read), read == 1 ? "" : "s",
      columns.size() < listing.columns.size() ? " of " + escape_for_terminal(label) : std::string(),
      percent_of(part, std::max<std::uint64_t>(read, 1)), part == 1 ? "is" : "are", where);
}

/// Returns the sentence on the samples in the code of the event with the most of them there.
std::string samples_in_code(const listing::Listing& listing) {
  std::set<std::string> names;
  for (const Code& code : listing.codes) {
    names.insert(code.kind == listing::Kind::target ? "the loop of the target"
                                                    : escape_for_terminal(code.name));
  }
  const auto samples_of = [&](std::size_t column) {
    std::uint64_t sum = 0;
    for (const Code& code : listing.codes) sum += code.total(column).samples;
    return sum;
  };
  const auto columns = listing.most_sampled_event(samples_of);
  std::uint64_t in_code = 0;
  for (const std::size_t column : columns) in_code += samples_of(column);
  return samples_in(listing, columns, in_code, list_of({names.begin(), names.end()}, 3));
}

/// Returns what the first sentence begins with: that recordings were read in part, and which
/// events perf replaced by a clock.
std::string reservations(const std::vector<Measurement>& described) {
  std::set<std::string> substituted;
  for (const Measurement& m : described) {
    const bool is_clock = m.event.type == 1 && m.event.config <= 1;
    if (m.event.substituted && is_clock) substituted.insert(escape_for_terminal(m.event.label));
  }
  std::string text =
      std::ranges::any_of(described, &Measurement::read_in_part) ? "read in part: " : "";
  if (!substituted.empty()) {
    text += analysis::no_pmu_counts(joined({substituted.begin(), substituted.end()})) +
            ", so that a timer took samples: ";
  }
  return text;
}

}  // namespace

std::string most_sampled_place(const listing::Listing& listing, listing::By by) {
  const auto columns = listing.most_sampled_event();
  const auto places = most_sampled(listing, columns);
  if (!places.empty()) {
    return samples_in(listing, columns, places.front().sum, place_text(*places.front().place, by));
  }
  const std::string& label = listing.columns[columns.front()].described.event.label;
  return columns.size() < listing.columns.size()
             ? fmt::format("no sample of {} is there", escape_for_terminal(label))
             : "no sample is there";
}

std::string listing_answer(const listing::Listing& listing, const ListingChoices& choices,
                           const std::vector<Measurement>& described) {
  std::string answer = reservations(described);
  if (!choices.most_sampled.empty()) answer += choices.most_sampled + "; ";
  return answer +
         (choices.by ? most_sampled_place(listing, *choices.by) : samples_in_code(listing));
}

}  // namespace skid::output
