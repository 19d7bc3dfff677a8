#include "src/machine/sampling_support.h"

#include "src/machine/cpuinfo.h"
#include "src/machine/file_tree.h"
#include "src/machine/machine.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <string_view>

#include <fmt/format.h>

namespace skid::machine {

namespace {

namespace fs = std::filesystem;

/// "Uid:" has the real, effective, saved and file system user id.
std::optional<std::uint64_t> effective_user(std::string_view ids) {
  const std::size_t real_end = ids.find('\t');
  if (real_end == std::string_view::npos) return std::nullopt;
  ids.remove_prefix(real_end + 1);
  return whole_number<std::uint64_t>(take_until('\t', ids));
}

ProcessRights read_rights(const FileTree& files) {
  const std::string status = files.content_of("proc/self/status");
  return {.user = effective_user(status_value(status, "Uid")),
          .effective_capabilities = effective_capabilities(status),
          .seccomp_filter = status_value(status, "Seccomp") == "2",
          .container = files.exists(".dockerenv") || files.exists("run/.containerenv")};
}

void look_for_perf(const FileTree& files, SamplingSupport& support) {
  if (!files.is_here()) {
    support.perf = parse_perf_version(files.content_of("perf-version"));
    return;
  }
  try {
    support.perf = find_perf();
  } catch (const Error& error) {
    support.perf_missing = error.what();
  }
}

}  // namespace

std::optional<std::uint64_t> effective_capabilities(std::string_view status) {
  return whole_number<std::uint64_t>(status_value(status, "CapEff"), 16);
}

std::string Midr::name() const {
  const std::string_view core = arm_core_name(implementer, part);
  return core.empty() ? std::string() : fmt::format("{} r{}p{}", core, variant, revision);
}

std::optional<Midr> parse_midr(std::string_view text) {
  if (!text.starts_with("0x")) return std::nullopt;
  const auto value = whole_number<std::uint64_t>(text.substr(2), 16);
  if (!value) return std::nullopt;
  const auto bits = [&](unsigned high, unsigned low) {
    return static_cast<unsigned>((*value >> low) & ((std::uint64_t{1} << (high - low + 1)) - 1));
  };
  return Midr{.value = *value,
              .implementer = bits(31, 24),
              .variant = bits(23, 20),
              .part = bits(15, 4),
              .revision = bits(3, 0)};
}

SamplingSupport read_sampling_support(const fs::path& root) {
  const FileTree files(root);
  const fs::path kernel = "proc/sys/kernel";
  SamplingSupport support;
  support.here = files.is_here();
  support.machine = inspect(root);
  support.midr =
      parse_midr(files.content_of("sys/devices/system/cpu/cpu0/regs/identification/midr_el1"));
  support.pmus = read_pmus(files);
  support.perf_event_mlock_kb = parse_integer(files.content_of(kernel / "perf_event_mlock_kb"));
  support.nmi_watchdog = parse_integer(files.content_of(kernel / "nmi_watchdog"));
  support.kptr_restrict = parse_integer(files.content_of(kernel / "kptr_restrict"));
  support.rights = read_rights(files);
  look_for_perf(files, support);
  return support;
}

}  // namespace skid::machine
