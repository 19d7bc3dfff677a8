// Places of files in the order in which their code is decoded.
#pragma once

#include "src/code/file_code.h"
#include "src/symbols/file_location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>

namespace skid::code {

/// Calls `visit(place, address)` with the link-time address of each of the places [begin, end) of
/// a file, one function after the other, so that each function is decoded once, though functions
/// can overlap. Places without an address are left out. The keys of places are FileLocations.
template <typename Iterator, typename Visit>
void visit_by_function(const FileCode& file, Iterator begin, Iterator end, const Visit& visit) {
  std::multimap<std::uint64_t, std::pair<Iterator, std::uint64_t>> by_function;
  for (; begin != end; ++begin) {
    const auto address = file.module().address_at(begin->first.offset);
    if (!address) continue;
    by_function.emplace(file.range_around(*address).begin, std::pair(begin, *address));
  }
  for (const auto& [function, place] : by_function) visit(*place.first, place.second);
}

/// Calls `visit(file, begin, end)` for the places of each file of a map whose keys are
/// FileLocations.
template <typename Map, typename Visit>
void for_each_file(Map& map, const Visit& visit) {
  for (auto begin = map.begin(); begin != map.end();) {
    const symbols::FileIndex file = begin->first.file;
    const auto end =
        std::find_if(begin, map.end(), [&](const auto& place) { return place.first.file != file; });
    visit(file, begin, end);
    begin = end;
  }
}

}  // namespace skid::code
