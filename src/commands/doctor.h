// `skidscan doctor`: what can be sampled on this machine.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_doctor_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
