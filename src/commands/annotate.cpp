#include "analysis/event_identity.h"
#include "analysis/wording.h"
#include "src/audit/audit.h"
#include "src/audit/block_bias.h"
#include "src/audit/block_samples.h"
#include "src/audit/findings.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/measurements.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/plot_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/listing/reader.h"
#include "src/listing/rows.h"
#include "src/listing/sampled_code.h"
#include "src/listing/source_text.h"
#include "src/locate/filter.h"
#include "src/locate/module_store.h"
#include "src/locate/search_places.h"
#include "src/measure/measure.h"
#include "src/output/audit/audit.h"
#include "src/output/audit/missing_text.h"
#include "src/output/listing/listing.h"
#include "src/output/listing/places.h"
#include "src/output/name_list.h"
#include "src/support/command_text.h"
#include "src/support/cores.h"
#include "src/support/error.h"
#include "src/support/near_names.h"
#include "src/symbols/demangle.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::commands {
namespace {

/// The largest number of names, and of remarks of one kind, that is shown.
constexpr std::size_t kMostNamed = 10;
constexpr std::size_t kMostContext = 1'000'000;

struct AnnotateOptions : ProfileOptions {
  std::optional<std::string> function;
  std::string module;
  std::optional<listing::By> by;
  listing::Folding folding;
  bool source = false;
  std::filesystem::path source_directory;
  std::optional<std::uint64_t> delay;
  std::string html;
  /// Chosen by the first reading: `function` is the most sampled one. What is to be printed before
  /// it, unless it was the most sampled place.
  bool is_chosen_here = false;
  std::string most_sampled;
};

/// Audits the recordings of an annotation: for the places that a delay keeps from being sampled,
/// and for places the sentence on their samples, unless reading them twice takes long.
struct Audited {
  audit::Choices choices;
  bool wants_answer = false;
  std::uintmax_t bytes_left = std::uintmax_t{32} << 20U;  ///< of recordings to read for the answer
  std::vector<audit::Audit> audits = {};
  output::ListingChoices::Places places = {};
  bool has_loop = false;

  bool has_delay() const { return choices.delay || choices.measured; }

  void add(const measure::Source& source, const OutputOptions& shown) {
    std::error_code none;
    const std::filesystem::path file = source.content();
    const std::uintmax_t bytes = std::filesystem::is_regular_file(file, none)
                                     ? std::filesystem::file_size(file, none)
                                     : std::numeric_limits<std::uintmax_t>::max();
    wants_answer = wants_answer && bytes <= bytes_left;
    if (wants_answer) bytes_left -= bytes;
    if (!has_delay() && !wants_answer) return;
    audit::Audit audit = audit::audit(source, choices);
    for (const audit::EventAudit& event : audit.events) {
      if (event.missing_delay) shown.note(output::missing_delay_text(event));
      for (const audit::BlockFinding& block : event.bias.blocks) {
        const auto& loop = event.bias.loops.at(block.loop);
        if (!loop.shadow) continue;
        has_loop = true;
        for (std::size_t i = 0; i < loop.shadow->shares.size(); ++i) {
          if (loop.shadow->shares[i] > 0) continue;
          places.insert({audit.file, event.identity.label, event.level, block.module,
                         loop.samples.all.places[i].address});
        }
      }
    }
    if (wants_answer) audits.push_back(std::move(audit));
  }

  /// Returns the sentence on the samples, or the command that prints it.
  std::string answer(const std::vector<std::string>& inputs) const {
    if (wants_answer && !audits.empty()) return output::audit_answer(audits);
    std::vector<std::string> command{"skidscan", "audit"};
    for (const std::string& input : inputs) command.push_back(file_word(input));
    return fmt::format("'{}' judges whether the samples are at the instructions that caused them",
                       command_text(command));
  }

  /// Moves the places out. Prints a note if nothing is known about any loop.
  output::ListingChoices::Places finish(const OutputOptions& shown) && {
    if (has_delay() && !has_loop) {
      shown.note("no sampled loop whose shares follow from the delay was found");
    }
    return std::move(places);
  }
};

listing::Selection selection_of(const AnnotateOptions& options) {
  if (!options.module.empty() && !options.function && !options.by) {
    throw UsageError("--module: restricts --function FUNCTION, or --by; add one of them");
  }
  if (!options.source_directory.empty()) {
    require_directory("--source-dir", options.source_directory);
  }
  return {reading_choices(options, nullptr), options.function, options.module, options.by};
}

/// Introduces a list of functions: "the most sampled functions", or where others may have more
/// samples "the most sampled functions that are known (13 of 20 samples are in others: …)".
std::string most_sampled_functions(const listing::Reader& reader) {
  std::string words = "the most sampled functions";
  const auto& unnamed = reader.unnamed();
  if (unnamed.sum() == 0) return words;
  return words + fmt::format(
                     " that are known ({} of {} samples are in others: {} in the kernel, {} in "
                     "files without symbols or elsewhere; --by function lists them, too)",
                     analysis::in_thousands(unnamed.sum()), analysis::in_thousands(unnamed.all),
                     analysis::in_thousands(unnamed.in_kernel),
                     analysis::in_thousands(unnamed.elsewhere));
}

/// Throws an Error that states why there is nothing to show.
[[noreturn]] void fail(const AnnotateOptions& options, const listing::Reader& reader) {
  const auto& sampled = reader.sampled_functions();
  const auto most_sampled = most_frequent(sampled, kMostNamed);
  if (!options.function) {
    throw Error(
        "no generated target is among the sampled files, and no function that is known; --by "
        "module lists the files with samples; --binary FILE and --symfs DIR name copies of those "
        "of another machine");
  }
  std::string message = fmt::format("function '{}'", *options.function);
  if (!options.module.empty()) message += fmt::format(" in '{}'", options.module);
  if (const auto& files = reader.unsampled_in(); !files.empty()) {
    throw Error("{}: no sample is in it; it is in {}", message,
                output::list_of({files.begin(), files.end()}, kMostNamed));
  }
  if (sampled.contains(*options.function)) {
    throw Error(message + ": its code is generated, and in no file");
  }
  message += ": no sample is in a function of that name";
  const auto near = near_names(*options.function, sampled, kMostNamed);
  if (!near.empty()) {
    message += fmt::format("; sampled functions with like names: {}", fmt::join(near, ", "));
  } else if (!most_sampled.empty()) {
    message +=
        fmt::format("; {} are: {}", most_sampled_functions(reader), fmt::join(most_sampled, ", "));
  } else {
    message += ", nor in any other of which the name is known";
  }
  throw Error(message);
}

void write(const AnnotateOptions& options, const listing::Listing& listing, std::string trust,
           output::ListingChoices::Places shadowed) {
  listing::SourceText sources(options.source_directory);
  const bool has_sources = options.source || !options.source_directory.empty();
  output::ListingChoices choices{
      options.folding,      options.by,       has_sources ? &sources : nullptr,
      options.most_sampled, std::move(trust), std::move(shadowed)};
  for (const auto& place : choices.shadowed) choices.folding.anchors.insert(place.address);
  print_as(options.shown, output::listing_json, output::listing_csv, output::listing_text, listing,
           choices);
  write_page(options.html, "skidscan annotate", listing.described(),
             [&](const auto& page) { return output::listing_text(listing, choices, page); });
  if (sources.withheld().empty()) return;
  options.shown.note(
      fmt::format("not printed, as others may not read them or as they are in /proc, /sys or /dev: "
                  "{}; --source-dir DIR prints those below DIR",
                  output::list_of(sources.withheld(), kMostNamed)));
}

/// The sampled functions whose names contain the requested one, the most sampled first.
std::vector<std::string> functions_with(const std::string& part, const listing::Reader& reader) {
  auto sampled = reader.sampled_functions();
  std::erase_if(sampled, [&](const auto& function) {
    return part.empty() || function.first.find(part) == std::string::npos;
  });
  return most_frequent(sampled, sampled.size());
}

/// The requested function. Without a name and a target it is the most sampled function; with a part
/// of a name, the only sampled function that has it.
ExitStatus run_annotate(const AnnotateOptions& options) {
  const OutputOptions& shown = options.shown;
  locate::ModuleStore modules(search_places(options.binaries));
  const listing::Selection selection = selection_of(options);
  check_output_files({{"--html", options.html}}, inputs_or_default_run(options.inputs));
  listing::Reader reader(selection, modules, kernel_files(options.binaries));
  Cores one(1);  // the reader adds up what it reads
  audit::Choices choices{reading_choices(options)};
  choices.catalogues = selection.catalogues;
  choices.delay = options.delay;
  const auto measured = measured_by(options.skid, shown, choices.catalogues);
  if (measured) choices.measured = measured->measurements;
  choices.top = choices.delay || measured ? std::numeric_limits<std::size_t>::max() : 1;
  const bool has_text = options.shown.format == Format::text || !options.html.empty();
  Audited audited{choices, options.by == listing::By::line && has_text};
  InputSamples samples;
  std::string no_samples;  // why the first recording without samples has none
  const auto read_one = [&](const measure::Source& source, std::size_t input) -> Finish {
    refuse_report(source.file.string());
    audited.add(source, shown);
    const std::uint64_t before = reader.filtered().all;
    const measure::ReadResult read = reader.add(source);
    samples.add(input, reader.filtered().all - before, read.no_samples);
    if (no_samples.empty()) no_samples = read.no_samples;
    return [&options, read] {
      for (const auto& fault : read.faults) {
        if (!options.is_chosen_here) print_error(describe(fault));
      }
      return read.read_in_part;
    };
  };
  InputsRead inputs = each_recording(inputs_or_default_run(options.inputs), one, shown, read_one);
  const auto& listing = reader.finish();
  const auto remarks = reader.remarks();
  const auto note_remarks = [&] {
    for (std::size_t i = 0; i < remarks.size() && i < kMostNamed; ++i) shown.note(remarks[i]);
    if (remarks.size() > kMostNamed) {
      shown.note(fmt::format(
          "{} more like these: 'skidscan samples' prints all that is wrong with mapped files",
          remarks.size() - kMostNamed));
    }
  };
  // A function that is chosen here is read, with its remarks, once more.
  const bool has_samples =
      std::ranges::any_of(listing.columns, [](const auto& column) { return column.read() > 0; });
  const bool will_choose = listing.codes.empty() && !options.by && !options.function && has_samples;
  if (!will_choose) note_remarks();
  if (listing.columns.empty()) {
    if (!inputs.unread.empty()) return ExitStatus::failed;
    note_filtered(options.filter, reader.filtered(), shown);
    throw Error("no recorded event is one that -e selects");
  }
  if (!has_samples) {
    note_filtered(options.filter, reader.filtered(), shown);
    throw Error(reader.filtered().all > 0 ? "no samples that -e and other filters select"
                                          : no_samples);
  }
  if (listing.codes.empty() && !options.by) {
    auto sampled = reader.sampled_functions(listing.most_sampled_event());
    if (sampled.empty()) sampled = reader.sampled_functions();
    const auto candidates = options.function ? functions_with(*options.function, reader)
                                             : most_frequent(sampled, kMostNamed);
    const bool is_in_no_file =
        options.function && reader.sampled_functions().contains(*options.function);
    if (candidates.empty() || is_in_no_file || !reader.unsampled_in().empty()) {
      if (will_choose) note_remarks();
      note_filtered(options.filter, reader.filtered(), shown);
      fail(options, reader);
    }
    if (options.function && candidates.size() > 1) {
      throw Error("function '{}': several sampled functions have it in their names: {}",
                  *options.function, output::list_of(candidates, kMostNamed));
    }
    if (options.function) {
      shown.note(fmt::format("function '{}': shown is the only sampled one with it in its name: {}",
                             *options.function, candidates.front()));
    } else {
      shown.note(fmt::format("no target was sampled; {}, the first of which is shown: {}",
                             most_sampled_functions(reader), fmt::join(candidates, ", ")));
    }
    AnnotateOptions chosen = options;
    chosen.function = candidates.front();
    chosen.is_chosen_here = true;
    const auto places = output::most_sampled(listing, listing.most_sampled_event());
    if (!options.function && places.front().place->label().empty()) {
      chosen.most_sampled = output::most_sampled_place(listing, listing::By::function);
    }
    return run_annotate(chosen);
  }
  if (options.by && listing.places.empty()) {
    throw Error("--module {}: no sample is in a mapped file of that name", options.module);
  }
  note_filtered(options.filter, reader.filtered(), shown);
  const std::string trust =
      options.by == listing::By::line ? audited.answer(options.inputs) : std::string();
  write(options, listing, trust, std::move(audited).finish(shown));
  std::set<std::string> known(remarks.begin(), remarks.end());
  for (const auto& remark : reader.remarks()) {  // that the lines which were written added
    if (known.insert(remark).second) shown.note(remark);
  }
  inputs.sampled = samples.note(inputs_or_default_run(options.inputs));
  return inputs.status();
}

/// Returns the functions that a shell completes, the most sampled first; none for recordings whose
/// reading takes too long for that.
std::vector<std::string> sampled_functions(AnnotateOptions options) {
  constexpr std::uintmax_t kMostBytes = 64U << 20U;
  options.function = "";
  options.shown.quiet = true;
  options.binaries.debuginfod = false;
  auto places = search_places(options.binaries);
  places.names = symbols::NameStyle::names;  // without result types before them
  locate::ModuleStore modules(places);
  listing::Reader reader(selection_of(options), modules, kernel_files(options.binaries));
  Cores one(1);
  const auto read_one = [&](const measure::Source& source, std::size_t) -> Finish {
    std::error_code ignored;
    if (std::filesystem::file_size(source.content(), ignored) <= kMostBytes) reader.add(source);
    return [] { return false; };
  };
  each_recording(inputs_or_default_run(options.inputs), one, options.shown, read_one);
  return most_frequent(reader.sampled_functions(), reader.sampled_functions().size());
}

}  // namespace

Command annotate_command() {
  auto options = std::make_shared<AnnotateOptions>();
  Command command{
      .name = "annotate",
      .description =
          "print instructions of the target or of a sampled function with their samples per level",
      .options =
          {recordings_option(options->inputs),
           example_option(options->inputs),
           {"--function", Value::text("FUNCTION", options->function).completing([options] {
              return sampled_functions(*options);
            }),
            "sampled function instead of the target, by its name with or without parameters, its "
            "symbol, or a part that no other name has; without either the most sampled one"},
           {"--module", Value::file("FILE", options->module),
            "only in this mapped file, by path or file name; a kernel module by its name: ext4"},
           {"--by",
            Value::one_of("UNIT", options->by),
            "instead of code, the modules, functions or source lines with their samples, the most "
            "sampled first",
            {"--function", "--context", "--source", "--source-dir", "--delay", "--skid"}},
           {"--context", Value::number("N", options->folding.context, 0, kMostContext),
            "instructions shown before and after a trigger, or for a function a sampled "
            "instruction (default: 8)"},
           {"--all", Value::flag(options->folding.all),
            "print every instruction, fold none; with --by every place"},
           {"--source", Value::flag(options->source),
            "print source lines, as the files are now; of files whose mode lets others read them"},
           {"--source-dir", Value::directory(options->source_directory),
            "the same, and all files below DIR"},
           format_option(options->shown.format, {"text", "json", "csv"}),
           html_option(options->html),
           perfmon_option(options->perfmon)},
      .notes =
          {"Columns: n: samples at the instruction; %: their share of the samples of the event and "
           "level in the function or the target's loop; EX%, if only some samples have EXACT_IP: "
           "the share of the line's samples that have it, unless it equals the share of all; at: "
           "distance from the trigger in instructions, or the address. > marks triggers, ~ the "
           "censored end of a runway, ! instructions that cannot cause the event."},
      .exit_statuses = {{ExitStatus::failed, "failure, or the function was not sampled"}},
      .examples = {"skidscan record -e access,execute && skidscan annotate -e access",
                   "perf record -o perf.data -e cpu-clock -- gzip -k FILE",
                   "skidscan annotate perf.data --function deflate",
                   "skidscan annotate perf.data --by line",
                   "skidscan annotate skidscan.run --function skid_trigger --all",
                   "skidscan annotate skidscan.run --source --format json"},
      .run = [options] { return run_annotate(*options); }};
  return std::move(command).with(filter_options(options->filter),
                                 delay_options(options->delay, options->skid),
                                 binary_options(options->binaries), output_options(options->shown));
}

}  // namespace skid::commands
