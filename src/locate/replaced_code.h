// Code of a file that its process replaced by memory.
#pragma once

#include <string>
#include <vector>

namespace skid::locate {

struct Digest;

/// Returns a line for each file of which a process replaced a part by executable memory in which
/// samples are, as programs do that copy their code to huge pages. Such samples have no file, so
/// that its functions lack them.
std::vector<std::string> remarks_on_replaced_code(const Digest& digest);

}  // namespace skid::locate
