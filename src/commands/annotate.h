// `skidscan annotate`: sampled code, instruction by instruction, with counts per precise level.
#pragma once

namespace CLI {
class App;
}

namespace skid::commands {

void add_annotate_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
