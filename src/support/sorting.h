// Sorting what is mostly sorted already.
#pragma once

#include <algorithm>
#include <vector>

namespace skid {

/// Sorts `values` by `key` and keeps the order of equal ones, as std::ranges::stable_sort does.
/// Values of which only some at the end are out of order take little more than one pass.
template <class Values, class Key>
void stable_sort_rest(Values& values, Key key) {
  const auto rest = std::ranges::is_sorted_until(values, {}, key);
  std::ranges::stable_sort(rest, values.end(), {}, key);
  std::ranges::inplace_merge(values, rest, {}, key);
}

}  // namespace skid
