// `skidscan synth`: recordings with a known skid distribution, made from a model.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_synth_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
