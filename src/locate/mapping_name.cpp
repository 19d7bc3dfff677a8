#include "src/locate/mapping_name.h"

#include "src/perfdata/record.h"
#include "src/symbols/mapped_file.h"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

namespace skid::locate {
namespace {

constexpr std::string_view kPerfMapPrefix = "/tmp/perf-";
constexpr std::string_view kPerfMapSuffix = ".map";

bool is_memory_without_file(std::string_view path) {
  constexpr std::array<std::string_view, 6> kPrefixes = {"//anon", "/dev/zero", "/anon_hugepage",
                                                         "[stack", "/SYSV",     "[heap]"};
  return std::ranges::any_of(kPrefixes,
                             [path](std::string_view prefix) { return path.starts_with(prefix); });
}

}  // namespace

KernelMappingName kernel_mapping_name(std::string_view path) {
  // Without the closing bracket, because old perf wrote "[kernel.kallsyms._stext]".
  constexpr std::string_view kKernelPrefix = "[kernel.kallsyms";
  if (path.starts_with(kKernelPrefix)) {
    const auto reference = path.substr(std::min(path.size(), kKernelName.size()));
    return {std::string(kKernelName), std::string(reference), true};
  }
  return {std::string(path), {}, false};
}

std::string module_name(std::string_view dso) {
  if (dso.size() > 2 && dso.front() == '[' && dso.back() == ']') {
    return std::string(dso.substr(1, dso.size() - 2));
  }
  if (!dso.starts_with('/')) return {};
  const std::string_view file = dso.substr(dso.rfind('/') + 1);
  const std::size_t extension = file.find(".ko");
  if (extension == std::string_view::npos) return {};
  std::string module(file.substr(0, extension));
  std::ranges::replace(module, '-', '_');
  return module;
}

bool is_dso_named(std::string_view path, std::string_view name) {
  if (name.empty()) return false;
  if (path == name || path.substr(path.rfind('/') + 1) == name) return true;
  if (path == kKernelName) return name == "[kernel]";
  const std::string module = module_name(path);
  return module == name || (!module.empty() && name == fmt::format("[{}]", module));
}

std::string kernel_dso_name(const symbols::MappedFile& file) {
  const std::string module = module_name(file.path);
  if (!file.path.starts_with('/') || !file.build_id.empty() || module.empty()) return file.path;
  return fmt::format("[{}]", module);
}

std::string user_mapping_name(const perfdata::MappingRecord& mapping) {
  if (!mapping.executable || !is_memory_without_file(mapping.path)) return mapping.path;
  return fmt::format("{}{}{}", kPerfMapPrefix, mapping.pid, kPerfMapSuffix);
}

bool is_perf_map(std::string_view path) {
  if (!path.starts_with(kPerfMapPrefix) || !path.ends_with(kPerfMapSuffix)) return false;
  path.remove_prefix(kPerfMapPrefix.size());
  path.remove_suffix(std::min(path.size(), kPerfMapSuffix.size()));
  return !path.empty() && path.find_first_not_of("-0123456789") == std::string_view::npos;
}

std::string_view path_before_deletion(std::string_view path) {
  constexpr std::string_view kDeleted = " (deleted)";
  if (path.ends_with(kDeleted)) path.remove_suffix(kDeleted.size());
  return path;
}

bool is_pseudo_file(std::string_view path) {
  return !path.starts_with('/') || path.starts_with("//") || path.starts_with("/memfd:") ||
         is_memory_without_file(path) || is_perf_map(path);
}

}  // namespace skid::locate
