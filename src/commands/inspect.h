// `skidscan inspect`: what a recording says of itself.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_inspect_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
