#include "src/machine/file_tree.h"

#include "src/machine/cpuinfo.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <system_error>

namespace skid::machine {
namespace {

namespace fs = std::filesystem;

/// The CPU numbers that Linux can be built for end well below this.
constexpr int kMostCpus = 65536;

}  // namespace

std::string FileTree::content_of(const fs::path& path, std::uint64_t limit) const {
  try {
    return std::string(trimmed(read_file(root_ / path, limit)));
  } catch (const Error&) {
    return {};
  }
}

bool FileTree::exists(const fs::path& path) const {
  std::error_code ignored;
  return fs::exists(root_ / path, ignored);
}

std::vector<std::string> FileTree::names_in(const fs::path& path) const {
  std::vector<std::string> names;
  std::error_code error;
  fs::directory_iterator entry(root_ / path, error);
  for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
    if (names.size() == kMostNames) break;
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names;
}

std::vector<int> parse_cpu_list(std::string_view text) {
  std::vector<bool> listed;  // up to the highest
  while (!text.empty()) {
    const std::string_view range = trimmed(take_until(',', text));
    const std::size_t dash = range.find('-');
    const auto first = parse_integer(range.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_integer(range.substr(dash + 1));
    if (!first || !last || *first < 0 || *first > *last || *last >= kMostCpus) continue;
    listed.resize(std::max(listed.size(), static_cast<std::size_t>(*last) + 1));
    std::fill(listed.begin() + *first, listed.begin() + *last + 1, true);
  }
  std::vector<int> cpus;
  for (std::size_t cpu = 0; cpu < listed.size(); ++cpu) {
    if (listed[cpu]) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

std::string_view status_value(std::string_view status, std::string_view key) {
  while (!status.empty()) {
    const std::string_view line = take_until('\n', status);
    if (line.starts_with(key) && line.substr(key.size()).starts_with(':')) {
      return trimmed(line.substr(key.size() + 1));
    }
  }
  return {};
}

}  // namespace skid::machine
