// `skidscan events --for`: what a CPU has for something to be sampled, as text and as JSON.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skid::events {
struct Answer;
struct Cpu;
}  // namespace skid::events

namespace skid::output {

struct Page;

/// Returns the answers as lines for a terminal, each with the argument of perf record -e, what is
/// sampled, its level 3 and errata. All names are escaped.
std::string answers_text(const events::Cpu& cpu, std::string_view question,
                         const std::vector<events::Answer>& answers, const Page& page);

/// Returns JSON of schema skidscan.events/1 with the keys `question` and `answers`, documented in
/// docs/formats.md. Ends with a newline.
std::string answers_json(const events::Cpu& cpu, std::string_view question,
                         const std::vector<events::Answer>& answers);

}  // namespace skid::output
