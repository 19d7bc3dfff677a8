#include "src/commands/audit.h"

#include "src/audit/audit.h"
#include "src/commands/binary_options.h"
#include "src/commands/messages.h"
#include "src/commands/standard_output.h"
#include "src/commands/terminal.h"
#include "src/output/audit.h"
#include "src/run/run.h"
#include "src/support/error.h"

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

constexpr const char* kDefaultRun = "skidscan.run";
constexpr std::size_t kNarrowest = 60;

struct AuditOptions {
  std::vector<std::string> inputs;
  std::string format = "text";
  std::string perfmon;
  BinaryOptions binaries;
  std::size_t top = 20;
  double min_share = 0;
  bool all = false;
};

struct Findings {
  std::vector<audit::Audit> audits;
  bool read_in_part = false;
};

void add(const audit::Source& source, const audit::Choices& choices, Findings& findings) {
  audit::Audit audit = audit::audit(source, choices);
  for (const auto& fault : audit.faults) say(describe(fault));
  findings.read_in_part = findings.read_in_part || audit.read_in_part;
  findings.audits.push_back(std::move(audit));
}

void read_run(const std::string& directory, const audit::Choices& choices, Findings& findings) {
  const auto run = run::read_run(directory);
  for (const auto& planned : run.measurements) {
    if (planned.state != run::State::finished) {
      if (planned.state == run::State::pending) {
        say(
            fmt::format("{}: {} was not recorded yet; finish the run with: skidscan record "
                        "--resume {}",
                        directory, planned.requested, directory));
      }
      continue;
    }
    try {
      add({std::filesystem::path(directory) / planned.file, directory, &run, &planned}, choices,
          findings);
    } catch (const InputError& error) {
      // One unreadable recording does not hide the others.
      say(error.what());
      findings.read_in_part = true;
    }
  }
}

Findings read_inputs(const AuditOptions& options) {
  const audit::Choices choices{search_places(options.binaries), options.perfmon, options.top,
                               options.min_share, options.all};
  std::vector<std::string> inputs = options.inputs;
  if (inputs.empty()) {
    if (!run::is_run(kDefaultRun)) {
      throw Error(fmt::format(
          "{}: no run here; make one with 'skidscan record' or name a run or a perf.data file",
          kDefaultRun));
    }
    inputs.emplace_back(kDefaultRun);
  }
  Findings findings;
  for (const std::string& input : inputs) {
    try {
      if (run::is_run(input)) {
        read_run(input, choices, findings);
      } else {
        add({input, {}, nullptr, nullptr}, choices, findings);
      }
    } catch (const InputError& error) {
      say(error.what());
      findings.read_in_part = true;
    }
  }
  return findings;
}

ExitStatus run_audit(const AuditOptions& options) {
  const Findings findings = read_inputs(options);
  if (findings.audits.empty()) return ExitStatus::failed;
  if (options.format == "json") {
    print(output::audit_json(findings.audits));
  } else if (options.format == "csv") {
    print(output::audit_csv(findings.audits));
  } else {
    output::Page page;
    page.color = standard_output_takes_color();
    page.width = std::max<std::size_t>(standard_output_width(), kNarrowest);
    print(output::audit_text(findings.audits, page));
  }
  return findings.read_in_part ? ExitStatus::read_in_part : ExitStatus::done;
}

}  // namespace

void add_audit_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<AuditOptions>();
  auto* command = app.add_subcommand(
      "audit", "how many samples of any profile are at instructions that cannot cause their event");
  command->add_option("INPUT,-i,--input", options->inputs,
                      "runs or recordings of perf: files, directories of perf record --threads, - "
                      "for standard input (default: skidscan.run)");
  add_binary_options(*command, options->binaries);
  command->add_option("--format", options->format, "text, json or csv")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  command->add_option("--top", options->top,
                      "functions, and instructions, to list for each event (default: 20)");
  command
      ->add_option(
          "--min-share", options->min_share,
          "list only where at least this share of the event's judged samples is impossible, "
          "0 to 1")
      ->check(CLI::Range(0.0, 1.0));
  command->add_flag("--all", options->all, "list instructions that can cause the event, too");
  command->add_option("--perfmon", options->perfmon,
                      "directory of Intel's event files (a checkout of github.com/intel/perfmon), "
                      "where libpfm4 does not know the CPU that was recorded");
  command->footer(
      "A sample is impossible when its event is precise on its CPU, it is exact (levels 2 and 3) "
      "or\n"
      "follows one instruction alone (level 1), and no category of that instruction can cause the\n"
      "event. What is not judged is counted by reason. Binaries are believed only with the "
      "recorded\n"
      "build-id. docs/audit.md tells the rules.\n\n"
      "Exit status: 0 done, 1 failed or nothing could be read, 2 some of the inputs could be read\n"
      "only in part or not at all.\n\n"
      "Examples:\n"
      "  perf record -e mem_load_retired.l3_miss:pp -o perf.data -- ls -R /usr >/dev/null\n"
      "  skidscan audit perf.data\n"
      "  skidscan record && skidscan audit --format json\n"
      "  skidscan audit perf.data --symfs /mnt/root --debug-dir /mnt/root/usr/lib/debug");
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_audit(*options)); });
}

}  // namespace skid::commands
