// Places of files in the order in which their code is decoded.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>

namespace skid::code {

/// Calls `visit(place)` for the places of one file, from `begin` to `end`, one function after the
/// other, so that each function is decoded once, though functions can overlap. `begin_of(place)`:
/// the address at which the function of a place begins; nullopt: the place is left out.
template <typename Iterator, typename BeginOf, typename Visit>
void visit_by_function(Iterator begin, Iterator end, const BeginOf& begin_of, const Visit& visit) {
  std::multimap<std::uint64_t, Iterator> by_function;
  for (; begin != end; ++begin) {
    const std::optional<std::uint64_t> function = begin_of(*begin);
    if (function) by_function.emplace(*function, begin);
  }
  for (const auto& [function, place] : by_function) visit(*place);
}

/// Calls `visit(file, begin, end)` for the places of each file of a map whose keys are ordered by
/// file first. `file_of(key)`: the file of a place.
template <typename Map, typename FileOf, typename Visit>
void for_each_file(Map& map, const FileOf& file_of, const Visit& visit) {
  for (auto begin = map.begin(); begin != map.end();) {
    const auto file = file_of(begin->first);
    const auto end = std::find_if(begin, map.end(),
                                  [&](const auto& place) { return file_of(place.first) != file; });
    visit(file, begin, end);
    begin = end;
  }
}

}  // namespace skid::code
