// `skidscan report`: what runs and recordings say about skid.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_report_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
