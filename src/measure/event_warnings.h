// What changes the meaning of an event's samples on the recorded CPU, as sentences.
#pragma once

#include <string>
#include <vector>

namespace skid::measure {

struct RecordedEvent;

/// Lists warnings as sentences, most important first: only counted, not precise at its level,
/// cycles counted by another event, errata of counting one mode and of SMT, an unsupported period,
/// shared counters.
std::vector<std::string> event_warnings(const RecordedEvent& event);

}  // namespace skid::measure
