// `skidscan merge`: reports, runs and recordings of one configuration added up to one report.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_merge_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
