// Suggestions for misspelled names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace skid {

/// At most `most` of the names in `known` (with how often they occur) that are like `name`: it or
/// they are part of the other, or a third of the letters or fewer differ (transposed neighbours as
/// one); nearest first, of equally near ones the most frequent first. Letters count alike in either
/// case.
std::vector<std::string> near_names(std::string_view name,
                                    const std::map<std::string, std::uint64_t>& known,
                                    std::size_t most);

/// "; did you mean record?" with the nearest of `known`, or empty if none is near.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// The same, or "; expected record, report" with all of `known` where none is near.
std::string did_you_mean_or_all(std::string_view name, const std::vector<std::string>& known);

/// At most `most` names, the most frequent first.
std::vector<std::string> most_frequent(const std::map<std::string, std::uint64_t>& known,
                                       std::size_t most);

}  // namespace skid
