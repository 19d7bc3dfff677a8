// `skidscan kit`: packs what `record` would do for a machine that has perf and a shell.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

/// Registers the command; running it sets `exit_status`.
void add_kit_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
