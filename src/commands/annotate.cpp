#include "src/commands/annotate.h"

#include "src/commands/binary_options.h"
#include "src/commands/each_recording.h"
#include "src/commands/exit_statuses.h"
#include "src/commands/messages.h"
#include "src/commands/open_recording.h"
#include "src/commands/output_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/standard_output.h"
#include "src/listing/reader.h"
#include "src/listing/source_text.h"
#include "src/locate/module_store.h"
#include "src/output/listing/listing.h"
#include "src/perftool/event_syntax.h"
#include "src/support/cores.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/words/footer.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::commands {
namespace {

/// Names and remarks of one kind that are shown at most.
constexpr std::size_t kMostNamed = 10;
constexpr std::size_t kNarrowestTerminal = 60;
constexpr std::size_t kMostContext = 1'000'000;

struct AnnotateOptions {
  std::vector<std::string> inputs;
  std::vector<std::string> events;
  std::optional<std::string> function;
  std::string module;
  listing::Folding folding;
  bool source = false;
  std::string format = "text";
  std::string perfmon;
  BinaryOptions binaries;
  OutputOptions shown;
};

listing::Wanted wanted_by(const AnnotateOptions& options) {
  if (!options.module.empty() && !options.function) {
    throw UsageError("--module: says where a function is; name it with --function");
  }
  listing::Wanted wanted;
  for (const std::string& list : options.events) {
    for (std::string& event : perftool::split_event_list(list)) {
      wanted.events.push_back(std::move(event));
    }
  }
  wanted.function = options.function;
  wanted.module = options.module;
  wanted.perfmon = options.perfmon;
  return wanted;
}

template <typename Names>
std::string named(const Names& names) {
  std::vector<std::string> shown;
  for (const std::string& name : names) {
    if (shown.size() == kMostNamed) break;
    shown.push_back(name);
  }
  std::string text = fmt::format("{}", fmt::join(shown, ", "));
  if (names.size() > shown.size()) {
    text += fmt::format(" and {} more", names.size() - shown.size());
  }
  return text;
}

/// Why there is nothing to show. Throws Error.
[[noreturn]] void fail(const AnnotateOptions& options, const listing::Reader& reader,
                       const listing::Listing& listing) {
  if (listing.columns.empty() && !options.events.empty()) {
    throw UsageError(fmt::format("-e {}: no such event was recorded; these were: {}",
                                 fmt::join(options.events, ","), named(reader.events())));
  }
  const auto& sampled = reader.other_functions();
  const auto most_sampled = most_frequent(sampled, kMostNamed);
  if (!options.function) {
    std::string message = "no generated target is among the sampled files";
    if (!most_sampled.empty()) {
      message += fmt::format("; name a function with --function, the most sampled are: {}",
                             fmt::join(most_sampled, ", "));
    }
    throw Error(message);
  }
  std::string message = fmt::format("function '{}'", *options.function);
  if (!options.module.empty()) message += fmt::format(" in '{}'", options.module);
  if (!reader.unsampled_in().empty()) {
    throw Error(message +
                fmt::format(": no sample is in it; it is in {}", named(reader.unsampled_in())));
  }
  message += ": no sample is in a function of that name";
  const auto near = near_names(*options.function, sampled, kMostNamed);
  if (!near.empty()) {
    message += fmt::format("; sampled functions with like names: {}", fmt::join(near, ", "));
  } else if (!most_sampled.empty()) {
    message += fmt::format("; the most sampled functions are: {}", fmt::join(most_sampled, ", "));
  } else {
    message += ", nor in any other of which the name is known";
  }
  throw Error(message);
}

void write(const AnnotateOptions& options, const listing::Listing& listing) {
  listing::SourceText sources;
  const output::ListingChoices choices{options.folding, options.source ? &sources : nullptr};
  if (options.format == "json") {
    print(output::listing_json(listing, choices));
  } else if (options.format == "csv") {
    print(output::listing_csv(listing, choices));
  } else {
    output::Page page = page_for(options.shown);
    page.width = std::max(page.width, kNarrowestTerminal);
    print_page(options.shown, output::listing_text(listing, choices, page));
  }
}

ExitStatus run_annotate(const AnnotateOptions& options) {
  locate::ModuleStore modules(search_places(options.binaries));
  listing::Reader reader(wanted_by(options), modules, kernel_files(options.binaries));
  const Messages messages(options.shown);
  Cores one(1);  // the reader adds up what it reads
  const auto read_one = [&reader](const measure::Source& source, std::size_t) -> Finish {
    refuse_report(source.file.string());
    return [read = reader.add(source)] {
      for (const auto& fault : read.faults) say(describe(fault));
      return read.read_in_part;
    };
  };
  const auto inputs =
      each_recording(inputs_or_default_run(options.inputs), one, messages, read_one);
  const auto& listing = reader.finish();
  const auto remarks = reader.remarks();
  for (std::size_t i = 0; i < remarks.size() && i < kMostNamed; ++i) messages.note(remarks[i]);
  if (remarks.size() > kMostNamed) {
    messages.note(
        fmt::format("{} more like these: 'skidscan samples' says all that is wrong with mapped "
                    "files",
                    remarks.size() - kMostNamed));
  }
  if (listing.codes.empty()) {
    if (inputs.has_unreadable && listing.columns.empty()) return ExitStatus::failed;
    fail(options, reader, listing);
  }
  write(options, listing);
  return inputs.read_in_part ? ExitStatus::read_in_part : ExitStatus::done;
}

}  // namespace

void add_annotate_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<AnnotateOptions>();
  auto* command = app.add_subcommand(
      "annotate", "the target's or any sampled function's instructions, with counts per level");
  command
      ->add_option("INPUT,-i,--input", options->inputs,
                   "runs or recordings of perf: files, directories of perf record --threads, - "
                   "for standard input (default: skidscan.run)")
      ->type_name("INPUT");
  command
      ->add_option("-e,--event", options->events,
                   "only these events: with modifiers (access:pp), or without for all levels")
      ->type_name("EVENT")
      ->allow_extra_args(false);
  command
      ->add_option("--function", options->function,
                   "a sampled function, by its name in the symbol table, instead of the target")
      ->type_name("FUNCTION");
  command
      ->add_option("--module", options->module,
                   "only in this mapped file, by its path or file name; of the kernel: ext4")
      ->type_name("FILE");
  command
      ->add_option("--context", options->folding.context,
                   "instructions shown on either side of a trigger, or of a sampled instruction of "
                   "a function (default: 8)")
      ->type_name("N")
      ->check(CLI::Range(std::size_t{0}, kMostContext));
  command->add_flag("--all", options->folding.all, "every instruction a line, nothing folded");
  command->add_flag("--source", options->source,
                    "show the text of source lines, from the files as they are now");
  command->add_option("--format", options->format, "form of what is printed (default: text)")
      ->type_name("FORMAT")
      ->check(CLI::IsMember({"text", "json", "csv"}));
  add_perfmon_option(*command, options->perfmon);
  add_binary_options(*command, options->binaries);
  add_output_options(*command, options->shown);
  command->footer(words::footer_text(
      {.notes = {"n: samples at this instruction; %: of the samples of that event and level in the "
                 "function or in the target's loop; EX%, where only some samples have EXACT_IP: "
                 "those of the line that have, where they are not as many as of all; at: distance "
                 "from the trigger in instructions, or the address. > marks triggers, ~ the "
                 "censored end of a runway, ! instructions that cannot cause the event."},
       .exit_statuses =
           exit_statuses({{ExitStatus::failed, "failed, or no such function was sampled"},
                          {ExitStatus::read_in_part, kReadInPart}}),
       .examples = {"skidscan record -e access,execute && skidscan annotate -e access",
                    "perf record -o perf.data -e cpu-clock -- gzip -k FILE",
                    "skidscan annotate perf.data --function deflate",
                    "skidscan annotate skidscan.run --function skid_trigger --all",
                    "skidscan annotate skidscan.run --source --format json"}}));
  command->callback(
      [options, &exit_status] { exit_status = static_cast<int>(run_annotate(*options)); });
}

}  // namespace skid::commands
