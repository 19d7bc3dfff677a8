// Suggestions for misspelled names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid {

/// Returns at most `most` of the names in `known` that are similar to `name`: one is part of the
/// other, or at most a third of the letters differ (two transposed neighbours count as one; case is
/// ignored). The nearest is first; of equally near ones the most frequent, by the counts in
/// `known`.
std::vector<std::string> near_names(std::string_view name,
                                    const std::map<std::string, std::uint64_t>& known,
                                    std::size_t most);

/// Returns "; did you mean record?" with the nearest of `known`; empty if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// Returns "; did you mean record?" with the nearest of `known`; if none is near, "; expected
/// record, report" with all of them.
std::string did_you_mean_or_all(std::string_view name, const std::vector<std::string>& known);

/// Returns at most `most` names, the most frequent first. `known` has the count of each.
std::vector<std::string> most_frequent(const std::map<std::string, std::uint64_t>& known,
                                       std::size_t most);

}  // namespace skid
