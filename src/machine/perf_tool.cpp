#include "src/machine/machine.h"
#include "src/support/error.h"
#include "src/support/process.h"
#include "src/support/text.h"

#include <cstdlib>

#include <fmt/format.h>

namespace skid::machine {

namespace {

constexpr std::string_view kInstall =
    "install it (Debian: apt install linux-perf; Ubuntu: apt install linux-tools-generic "
    "linux-tools-$(uname -r); Fedora: dnf install perf)";

/// The first line with something in it.
std::string first_line(std::string_view text) {
  text = trimmed(text);
  return std::string(trimmed(text.substr(0, text.find('\n'))));
}

}  // namespace

std::optional<PerfTool> parse_perf_version(std::string_view output) {
  constexpr std::string_view kPrefix = "perf version ";
  const std::size_t prefix = output.find(kPrefix);
  if (prefix == std::string_view::npos) return std::nullopt;
  std::string_view rest = output.substr(prefix + kPrefix.size());
  rest = rest.substr(0, rest.find_first_of(" \t\r\n"));

  PerfTool tool{.version = std::string(rest)};
  const auto major = whole_number<int>(take_until('.', rest));
  const auto minor = whole_number<int>(rest.substr(0, rest.find_first_not_of("0123456789")));
  if (!major || !minor) return std::nullopt;
  tool.major = *major;
  tool.minor = *minor;
  return tool;
}

std::string_view how_to_install_perf() {
  return kInstall;
}

PerfTool find_perf() {
  const char* const named = std::getenv("PERF");
  const std::string name = named == nullptr || *named == '\0' ? "perf" : named;
  const auto path = find_program(name);
  if (!path && name != "perf") {
    throw Error(
        fmt::format("{}: not an executable file or a program in PATH; PERF or --perf names "
                    "the perf to use",
                    name));
  }
  if (!path) throw Error(fmt::format("perf: not found in PATH; {}", kInstall));
  const std::filesystem::path absolute = std::filesystem::absolute(*path);

  const Completed done = run_program({absolute.string(), "--version"});
  std::optional<PerfTool> tool = parse_perf_version(done.out);
  if (!done.code.success()) {
    // Ubuntu's wrapper names here the kernel that it has no perf for.
    const std::string message = first_line(done.err.empty() ? done.out : done.err);
    throw Error(fmt::format("{}: does not run: {}; {}", absolute.string(),
                            message.empty() ? describe(done.code) : message, kInstall));
  }
  if (!tool) {
    throw Error(fmt::format("{}: no version in what --version prints (\"{}\"); {}",
                            absolute.string(), first_line(done.out), kInstall));
  }
  tool->path = absolute;
  return *tool;
}

}  // namespace skid::machine
