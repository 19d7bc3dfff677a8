#include "src/commands/commands.h"
#include "src/commands/inputs.h"

#include <string>

#include <fmt/format.h>

namespace skid::commands {

std::string first_steps() {
  const std::string here = default_input();
  return "skidscan measures how far sampled instructions are from those that caused the event.\n\n"
         "  skidscan doctor                        what this machine can sample\n"
         "  skidscan record                        sample a target of known instructions\n"
         "  skidscan report                        its skid at each event and precise level\n"
         "  skidscan compare A.run B.run           what differs between two machines\n"
         "  skidscan audit perf.data               which samples of a profile are wrong\n"
         "  skidscan annotate perf.data --by line  the most sampled lines of a profile\n"
         "  skidscan events --for \"L3 misses\"      which event to record on this CPU\n\n" +
         (here.empty() ? "" : fmt::format("report, audit and annotate read {} here. ", here)) +
         "'skidscan --help' lists all commands.\n";
}

}  // namespace skid::commands
