#include "src/commands/page_file.h"

#include <cstddef>
#include <fstream>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace skid::commands {

html::Origin page_origin() {
  // proc(5): the arguments, each ended by a zero byte.
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string arguments{std::istreambuf_iterator<char>(file), {}};
  std::vector<std::string> line;
  for (std::size_t at = 0; at < arguments.size();) {
    const std::size_t end = arguments.find('\0', at);
    line.push_back(arguments.substr(at, end - at));
    if (end == std::string::npos) break;
    at = end + 1;
  }
  // From wherever it was started.
  if (!line.empty()) line.front() = "skidscan";
  return {SKIDSCAN_VERSION, {std::move(line)}};
}

}  // namespace skid::commands
