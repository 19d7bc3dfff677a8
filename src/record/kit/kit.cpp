#include "src/record/kit/kit.h"

#include "runway/target_report.h"
#include "runway/target_run.h"
#include "runway/trigger.h"
#include "src/machine/machine.h"
#include "src/run/perftool/record_command.h"
#include "src/run/perftool/try_length.h"
#include "src/support/command_words.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "src/support/text.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <map>
#include <numeric>
#include <set>
#include <system_error>
#include <utility>
#include <variant>

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

constexpr unsigned kExecutable = 0755, kPlain = 0644;

unsigned mode_of(const File& file) {
  return file.executable ? kExecutable : kPlain;
}

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
    throw Error("{}: {} bytes long; a tar has names of at most {} bytes", name, name.size(),
                kNameBytes);
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

using When = CommandWord::When;

void check_word(std::string_view word) {
  constexpr unsigned char kFirstPrintable = 0x20, kDelete = 0x7f;
  if (std::ranges::any_of(word, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte < kFirstPrintable || byte == kDelete;
      })) {
    throw UsageError("-e: the name of an event in a kit contains a control character");
  }
}

std::string version_variable(const Since& since) {
  return fmt::format("perf_{}_{}", since.major, since.minor);
}

/// Words with the same condition. They expand to nothing where it does not hold.
std::string conditional(const CommandWord& condition, std::string words) {
  if (condition.since != Since{}) {
    words = fmt::format("${{{}:+{}}}", version_variable(condition.since), words);
  }
  if (condition.when == When::with_cross_check) return fmt::format("${{cross_check:+{}}}", words);
  if (condition.when == When::without_cross_check)
    return fmt::format("${{no_cross_check:+{}}}", words);
  return words;
}

std::string shell_word(std::string_view word) {
  return shell_quoted({std::string(word)});
}

double seconds_of(std::chrono::nanoseconds duration) {
  return std::chrono::duration<double>(duration).count();
}

std::string values_of(const Kit& kit) {
  std::vector<std::string> targets;
  for (const run::RunTarget& target : kit.plan.targets) targets.push_back(target.file);
  std::string tracepoint;
  for (const run::PlannedMeasurement& measurement : kit.plan.measurements) {
    if (!measurement.cross_check.empty()) tracepoint = measurement.cross_check;
  }
  std::string text;
  const auto assign = [&text](std::string_view name, std::string_view value) {
    text += fmt::format("{}={}\n", name, shell_word(value));
  };
  assign("arch", runway::name_of(kit.arch));
  assign("targets", fmt::format("{}", fmt::join(targets, " ")));
  assign("cpu", kit.cpu ? std::to_string(*kit.cpu) : std::string());
  assign("pmus", fmt::format("{}", fmt::join(kit.pmus, " ")));
  assign("tracepoint", tracepoint);
  assign("longest_try", fmt::format("{}", seconds_of(perftool::kLongestTry)));
  assign("longest_empty_try", fmt::format("{}", seconds_of(perftool::kLongestEmptyTry)));
  constexpr double kPercent = 100;
  assign("least_growth", fmt::format("{}", perftool::kLeastGrowth / kPercent));
  assign("margin", fmt::format("{}", perftool::kMargin / kPercent));
  assign("report_marker", runway::kReportMarker);
  assign("addresses_refused", perftool::kAddressesRefused);
  assign("how_to_install_perf", machine::kHowToInstallPerf);
  return text;
}

/// A variable for each version of perf that an option depends on.
std::string versions_of(const run::Run& plan) {
  std::set<Since> versions;
  for (const run::PlannedMeasurement& measurement : plan.measurements) {
    for (const CommandWord& word : perftool::record_words(measurement)) versions.insert(word.since);
  }
  versions.erase(Since{});
  std::string text;
  for (const Since& since : versions) {
    text += fmt::format("{}=$(since {} {})\n", version_variable(since), since.major, since.minor);
  }
  return text;
}

std::string measurements_of(const run::Run& plan) {
  std::map<std::string, std::string> targets;
  for (const run::RunTarget& target : plan.targets) targets.emplace(target.trigger, target.file);
  std::string text;
  for (std::size_t i = 0; i < plan.measurements.size(); ++i) {
    const run::PlannedMeasurement& measurement = plan.measurements[i];
    const std::string name =
        fmt::format("{}/{} {}", i + 1, plan.measurements.size(), measurement.requested);
    text += measurement_line(measurement, name, targets.at(measurement.trigger));
  }
  return text;
}

void replace(std::string& text, std::string_view marker, const std::string& value) {
  text.replace(text.find(marker), marker.size(), value);
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
    const std::string& event = measurement.perf_event;
    std::string name = event.substr(0, event.find('/'));
    // "mem:0x1000/8:rw" is a breakpoint.
    if (name != event && is_name(name)) names.push_back(std::move(name));
  }
  return each_once(std::move(names));
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
      throw Error("{}: exists; replace it with --force, or name another with -o", path.string());
    }
    if (!is_replaceable(path)) {
      throw Error("{}: exists and is not a kit without recordings; name another with -o",
                  path.string());
    }
    fs::remove_all(path, error);
  }
  if (!fs::create_directory(path, error)) {
    throw Error("{}: cannot be created: {}", path.string(), describe_errno(error.value()));
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

std::string measurement_line(const run::PlannedMeasurement& measurement, std::string_view name,
                             const std::string& target) {
  for (const std::string& word :
       {measurement.requested, measurement.perf_event, measurement.cross_check, measurement.file,
        measurement.extras.call_graph, measurement.extras.branch_filter}) {
    check_word(word);
  }
  const std::string& file = measurement.file;
  const std::map<std::string, std::string> values{
      {"perf", "\"$perf\""},
      {"output", shell_word(file + ".partial")},
      {"fifos", fmt::format("\"fifo:$work/{0}.control,$work/{0}.acknowledge\"", file)},
      {"target", shell_word("./" + target)},
      {"seconds", "@seconds"},
      {"cpu", "\"$cpu\""},
      {"control", fmt::format("\"$work/{}.control\"", file)},
      {"acknowledge", fmt::format("\"$work/{}.acknowledge\"", file)}};
  const auto* duration = std::get_if<std::chrono::nanoseconds>(&measurement.length);
  std::string line =
      fmt::format("measure {} {} {} {}", shell_word(name), shell_word(file), measurement.samples,
                  duration == nullptr ? std::string("0") : runway::seconds_text(*duration));
  const std::vector<CommandWord> words = perftool::record_words(measurement);
  for (auto word = words.begin(); word != words.end();) {
    const CommandWord& condition = *word;
    std::vector<std::string> texts;
    for (; word != words.end() && word->since == condition.since && word->when == condition.when;
         ++word) {
      texts.push_back(word->is_value ? values.at(word->text) : shell_word(word->text));
    }
    line += " " + conditional(condition, fmt::format("{}", fmt::join(texts, " ")));
  }
  return line + "\n";
}

std::string script_of(const Kit& kit) {
  std::string script(run_template());
  replace(script, "@VALUES@\n", values_of(kit));
  replace(script, "@VERSIONS@\n", versions_of(kit.plan));
  replace(script, "@MEASUREMENTS@\n", measurements_of(kit.plan));
  return script;
}

}  // namespace skid::kit
