// The events, with their levels, that a sentence is about.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace skid::output {

/// Collects events with their levels: "access p, pp; faults none". If there are many, the text
/// names the first ones.
class EventLevels {
 public:
  void add(const std::string& event, const std::string& level);
  /// Lists the events with their levels. `most`: events to be named.
  std::string text(std::size_t most = 6) const;
  /// Lists the events without levels: "access, faults".
  std::string names(std::size_t most = 6) const;

 private:
  std::vector<std::pair<std::string, std::vector<std::string>>> events_;
};

}  // namespace skid::output
