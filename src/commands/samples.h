// `skidscan samples`: every sample on a line of its own.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_samples_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
