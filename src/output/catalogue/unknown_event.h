// Why `skidscan events` has no answer on an event.
#pragma once

#include <string>
#include <string_view>

namespace skid::events {
class Catalogue;
}  // namespace skid::events

namespace skid::output {

/// Explains why Catalogue::find() finds nothing for `spelling`, a line with what to do instead: it
/// is no event of a CPU, is not spelled as one, or the catalogue does not have it.
std::string explain_unknown_event(std::string_view spelling, const events::Catalogue& catalogue);

}  // namespace skid::output
