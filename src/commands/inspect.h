// `skidscan inspect`: the contents of a recording.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_inspect_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
