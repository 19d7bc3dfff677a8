// `skidscan events`: the knowledge of events, as text and as JSON.
#pragma once

#include <string>
#include <vector>

namespace skid::events {
struct Cpu;
struct Event;
}  // namespace skid::events

namespace skid::output {

struct Page;

/// Returns everything about each event, as lines for a terminal. All names are escaped.
std::string events_text(const events::Cpu& cpu, const std::vector<events::Event>& events,
                        const Page& page);
/// Returns a line for each event: code, whether it is precise, name.
std::string event_list_text(const events::Cpu& cpu, const std::vector<events::Event>& events,
                            const Page& page);

/// Returns JSON of schema skidscan.events/1, documented in docs/formats.md. Ends with a newline.
std::string events_json(const events::Cpu& cpu, const std::vector<events::Event>& events);

}  // namespace skid::output
