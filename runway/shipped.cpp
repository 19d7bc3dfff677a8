// targets.zst, compressed by zstd in one piece because the targets are much alike: for each a line
// with its size in bytes, the version of skidscan and the specification as JSON; then the ELF file.

#include "runway/shipped.h"

#include "runway/note.h"
#include "runway/target.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/text.h"
#include "src/symbols/compressed_file.h"

#include <chrono>
#include <span>
#include <string_view>
#include <system_error>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::runway {

struct Specification;

namespace {

namespace fs = std::filesystem;

Error damaged(const fs::path& file) {
  return Error("{}: is damaged; install skidscan again", file.string());
}

/// The decompressed file; empty: there is none.
std::string read_shipped(const fs::path& file) {
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return {};
  const std::string compressed = read_file(file, kLargestTarget);
  std::string text = symbols::decompressed(std::as_bytes(std::span(compressed)), kLargestTarget);
  if (text.empty()) throw damaged(file);
  return text;
}

}  // namespace

fs::path shipped_file(const fs::path& name) {
  std::error_code ignored;
  const fs::path directory = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  const fs::path shared = "share/skidscan" / name;
  if (fs::exists(directory / shared, ignored)) return directory / shared;
  return directory.parent_path() / shared;
}

fs::path example_run() {
  fs::path run = shipped_file("examples/emulated-skylake.run");
  std::error_code ignored;
  if (!fs::exists(run, ignored)) {
    throw Error(
        "{}: is missing; install or build skidscan again, or record a run on an emulated "
        "CPU (docs/lab.md)",
        run.string());
  }
  return run;
}

std::string shipped_header(const Specification& specification, std::size_t size) {
  return fmt::format("{} " SKIDSCAN_VERSION " {}\n", size, json_of(specification).dump());
}

std::optional<std::string> shipped_target(const Specification& specification,
                                          const fs::path& file) {
  const std::string text = read_shipped(file);
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view header = rest.substr(0, rest.find('\n') + 1);
    const auto size = whole_number<std::size_t>(header.substr(0, header.find(' ')));
    rest.remove_prefix(header.size());
    if (!size || *size > rest.size()) throw damaged(file);
    if (header == shipped_header(specification, *size)) return std::string(rest.substr(0, *size));
    rest.remove_prefix(*size);
  }
  return std::nullopt;
}

}  // namespace skid::runway
