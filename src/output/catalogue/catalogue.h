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

/// Everything about each event; lines for a terminal, all names escaped.
std::string events_text(const events::Cpu& cpu, const std::vector<events::Event>& events,
                        const Page& page);
/// A line for each event: code, whether it is precise, name.
std::string event_list_text(const events::Cpu& cpu, const std::vector<events::Event>& events,
                            const Page& page);

/// Schema skidscan.events/1, documented in docs/formats.md. Ends with a newline.
std::string events_json(const events::Cpu& cpu, const std::vector<events::Event>& events);

}  // namespace skid::output
