// `skidscan events`: what is known of an event, by name or code, and lists of events.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_events_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
