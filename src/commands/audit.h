// skidscan audit: how many samples are at instructions that cannot have caused their event.
#pragma once

#include <CLI/CLI.hpp>

namespace skid::commands {

void add_audit_command(CLI::App& app, int& exit_status);

}  // namespace skid::commands
