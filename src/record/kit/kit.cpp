#include "src/record/kit/kit.h"

#include "src/support/error.h"
#include "src/support/file.h"

#include <algorithm>
#include <numeric>
#include <system_error>
#include <utility>

#include <fmt/format.h>

namespace skid::kit {

namespace {

constexpr std::string_view kReadme =
    R"(A kit of skidscan {version}: it samples small programs with perf on a Linux machine
({arch}) to measure how far samples are from the instructions that caused them.

It needs perf and a shell and changes nothing on the machine. Extract it where
programs may run, then:

    sh skidscan-kit/run.sh                # records into ./skidscan.run
    tar -cf skidscan.run.tar skidscan.run # to copy it back

{measurements} measurements. Events that the machine refuses are noted. The same command
continues an interrupted run. On a machine with skidscan:
tar -xf skidscan.run.tar; skidscan report skidscan.run
skidscan.run/machine has copies of files in /proc and /sys.
)";

constexpr std::string_view kSlurmReadme =
    R"(
For Slurm, in a directory that all nodes share:

    ./submit.sh --nodes 'node[1-16]'      # a run on each of these nodes
    ./submit.sh --features skylake,genoa  # or on one node with each feature

Runs are in results/. The same command submits what is missing.
)";

std::string readme_of(const Kit& kit) {
  return fmt::format(fmt::runtime(kReadme), fmt::arg("version", kit.plan.tool_version),
                     fmt::arg("arch", runway::name_of(kit.arch)),
                     fmt::arg("measurements", kit.plan.measurements.size()));
}

bool is_name(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.find_first_not_of(kAllowed) == std::string_view::npos;
}

namespace fs = std::filesystem;
bool is_replaceable(const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(path, error) && fs::is_empty(path, error) && !error) return true;
  // submit.sh keeps runs in there.
  return is_kit(path) && !fs::exists(path / "results", error);
}

// The ustar format (POSIX.1-2017, pax, "ustar Interchange Format"): for each file a header block
// with its numbers in octal, then its content up to a multiple of a block.

using std::string_view_literals::operator""sv;

constexpr std::size_t kBlock = 512, kTarRecord = 20 * kBlock;
constexpr std::size_t kNameBytes = 100, kOwnerNames = 64, kChecksumAt = 148, kChecksumBytes = 8;
constexpr char kRegularFile = '0', kDirectory = '5';

void pad_to_multiple(std::string& bytes, std::size_t of) {
  bytes.resize((bytes.size() + of - 1) / of * of);
}

std::string header_of(std::string_view name, char type, unsigned mode, std::size_t size) {
  if (name.size() > kNameBytes) {
    throw Error(fmt::format("{}: {} bytes long; a tar has names of at most {} bytes", name,
                            name.size(), kNameBytes));
  }
  constexpr std::string_view kZero = "000000 \0"sv;  // user, group, numbers of a device
  std::string header(name);
  pad_to_multiple(header, kNameBytes);
  header += fmt::format("{:06o} \0{}{}{:011o} {:011o} "sv, mode, kZero, kZero, size, 0);
  header.append(kChecksumBytes, ' ');
  header += type;
  header.append(kNameBytes, '\0');  // the name of a link
  header += "ustar\00000"sv;
  header.append(kOwnerNames, '\0').append(kZero).append(kZero);
  pad_to_multiple(header, kBlock);
  const unsigned sum = std::accumulate(header.begin(), header.end(), 0U, [](unsigned all, char c) {
    return all + static_cast<unsigned char>(c);
  });
  return header.replace(kChecksumAt, kChecksumBytes, fmt::format("{:06o}\0 "sv, sum));
}

}  // namespace

std::vector<File> files_of(const Kit& kit, bool slurm) {
  std::vector<File> files{
      {.name = "README.txt", .content = readme_of(kit), .executable = false},
      {.name = run::kPlanName, .content = run::description_of(kit.plan), .executable = false},
      {.name = kScriptName, .content = script_of(kit), .executable = true}};
  if (slurm) {
    files.front().content += kSlurmReadme;
    files.push_back(
        {.name = "submit.sh", .content = std::string(submit_script()), .executable = true});
  }
  for (const runway::Target& target : kit.targets) {
    files.push_back({.name = target.path.filename().string(),
                     .content = read_file(target.path, runway::kLargestTarget),
                     .executable = true});
  }
  return files;
}

std::vector<std::string> named_pmus(const run::Run& plan) {
  std::vector<std::string> names;
  for (const run::PlannedMeasurement& measurement : plan.measurements) {
    const std::size_t slash = measurement.perf_event.find('/');
    // "mem:0x1000/8:rw" is a breakpoint.
    if (slash == std::string::npos || !is_name(measurement.perf_event.substr(0, slash))) continue;
    std::string name = measurement.perf_event.substr(0, slash);
    if (std::ranges::find(names, name) == names.end()) {
      names.push_back(std::move(name));
    }
  }
  return names;
}

bool is_kit(const fs::path& path) {
  std::error_code ignored;
  return run::has_plan(path) && !run::is_run(path) &&
         fs::is_regular_file(path / kScriptName, ignored);
}

void write_directory(const std::vector<File>& files, const fs::path& path, bool force) {
  std::error_code error;
  if (fs::exists(fs::symlink_status(path, error))) {
    if (!force) {
      throw Error(fmt::format("{}: exists; replace it with --force, or name another with -o",
                              path.string()));
    }
    if (!is_replaceable(path)) {
      throw Error(fmt::format(
          "{}: exists and is not a kit without recordings; name another with -o", path.string()));
    }
    fs::remove_all(path, error);
  }
  if (!fs::create_directory(path, error)) {
    throw Error(
        fmt::format("{}: cannot be created: {}", path.string(), describe_errno(error.value())));
  }
  for (const File& file : files) {
    const fs::path name = path / file.name;
    write_file_atomically(name, file.content);
    fs::permissions(name, fs::perms{mode_of(file)}, error);
  }
}

std::string tar_of(const std::vector<File>& files, std::string_view top) {
  std::string tar = header_of(fmt::format("{}/", top), kDirectory, kExecutable, 0);
  for (const File& file : files) {
    tar += header_of(fmt::format("{}/{}", top, file.name), kRegularFile, mode_of(file),
                     file.content.size());
    tar += file.content;
    pad_to_multiple(tar, kBlock);
  }
  tar.append(2 * kBlock, '\0');
  pad_to_multiple(tar, kTarRecord);
  return tar;
}

}  // namespace skid::kit
