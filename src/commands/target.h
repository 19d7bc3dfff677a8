// `skidscan target`: builds a runway target alone and prints its layout.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_target_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
