// `skidscan rates`: cache rates and the backend hierarchy from the counts of perf stat.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_rates_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
