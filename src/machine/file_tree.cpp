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

bool is_within(const fs::path& path, const fs::path& directory) {
  const auto [end, ignored] =
      std::mismatch(directory.begin(), directory.end(), path.begin(), path.end());
  return end == directory.end();
}

}  // namespace

FileTree::FileTree(fs::path root) : here_(root == "/") {
  std::error_code ignored;
  root_ = fs::canonical(root, ignored);
}

fs::path FileTree::resolve(const fs::path& path) const {
  if (root_.empty()) return {};
  if (here_) return root_ / path;
  std::error_code error;
  const fs::path resolved = fs::canonical(root_ / path, error);
  return !error && is_within(resolved, root_) ? resolved : fs::path();
}

std::string FileTree::content_of(const fs::path& path, std::uint64_t limit) const {
  const fs::path resolved = resolve(path);
  if (resolved.empty()) return {};
  try {
    return std::string(trimmed(read_file(resolved, limit)));
  } catch (const Error&) {
    return {};
  }
}

bool FileTree::exists(const fs::path& path) const {
  std::error_code ignored;
  const fs::path resolved = resolve(path);
  return !resolved.empty() && fs::exists(resolved, ignored);
}

std::vector<std::string> FileTree::names_in(const fs::path& path) const {
  std::vector<std::string> names;
  const fs::path resolved = resolve(path);
  if (resolved.empty()) return names;
  std::error_code error;
  fs::directory_iterator entry(resolved, error);
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
