// `skidscan record`: measures the events at their precise levels and leaves a run.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_record_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
