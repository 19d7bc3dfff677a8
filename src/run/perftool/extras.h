// Options of `perf record` that change how samples are taken.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace skid::perftool {

/// How samples are taken beside the event, its level and period.
struct Extras {
  std::optional<std::uint64_t> frequency = {};  ///< samples per second (-F) instead of a period
  std::string call_graph = {};                  ///< --call-graph: "fp", "dwarf", "lbr"; empty: none
  std::string branch_filter = {};  ///< -j: "any", "any_call,u"; empty: no branch stacks
  bool per_cpu = false;            ///< -C: all tasks of the CPU, not the target alone

  friend bool operator==(const Extras&, const Extras&) = default;
};

}  // namespace skid::perftool
