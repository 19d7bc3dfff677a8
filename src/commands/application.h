// The whole command line, as it is parsed and as the manual tells it.
#pragma once

#include <memory>

namespace CLI {
class App;
}

namespace skid::commands {

/// skidscan with all its commands. Parsing runs the one that is named, which leaves its status in
/// `exit_status`; it must live as long as the result.
std::unique_ptr<CLI::App> make_application(int& exit_status);

}  // namespace skid::commands
