// `skidscan compare`: runs side by side, and what differs between them.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_compare_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
