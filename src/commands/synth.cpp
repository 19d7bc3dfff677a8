#include "analysis/tally.h"
#include "analysis/wording.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/output_files.h"
#include "src/commands/output_options.h"
#include "src/commands/progress_line.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/perfdata/recording_writer.h"
#include "src/record/directory.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/command_text.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "src/synth/built_in_models.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"
#include "src/synth/recording.h"
#include "src/synth/recording_truth.h"
#include "src/synth/sample_truth.h"
#include "src/synth/selected.h"
#include "src/synth/synthetic_run.h"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <unistd.h>

namespace skid::commands {
namespace {

namespace fs = std::filesystem;
using runway::Target;

constexpr const char* kDefaultRecording = "synth.data";
constexpr const char* kDefaultRun = "synth.run";
constexpr const char* kTruthFile = "truth.json";

struct SynthOptions {
  std::string model;
  std::string like;
  std::optional<std::string> output;
  std::string target;
  std::optional<std::uint64_t> seed;
  std::optional<int> compression;
  int repeat = 1;
  bool all_levels = false;
  bool pipe = false;
  bool compressed = false;
  bool force = false;
  bool print_model = false;
  OutputOptions shown;
};

perfdata::WritingChoices choices_of(const SynthOptions& options) {
  perfdata::WritingChoices choices{options.pipe || options.output == "-", options.compression};
  if (options.compressed) choices.compression = 1;
  return choices;
}

void check(const SynthOptions& options) {
  if (options.model.empty() == options.like.empty()) {
    throw UsageError("{}; name a file, or one of skidscan's own models with --like: {}",
                     options.model.empty() ? "no model was named" : "two models were named",
                     fmt::join(synth::built_in_model_names(), ", "));
  }
  if (options.repeat > 1 && !options.all_levels) {
    throw UsageError("--repeat: repeats all levels; add --all-levels");
  }
  if (options.print_model && options.like.empty()) {
    throw UsageError("--print-model: prints a model of skidscan's own; name it with --like");
  }
  if (options.all_levels && options.output == "-") {
    throw UsageError("-o -: a run is a directory; name one, or leave out --all-levels");
  }
}

synth::Model model_of(const SynthOptions& options) {
  synth::Model model =
      options.like.empty()
          ? synth::read_model(options.model)
          : synth::parse_model(synth::built_in_model_text(options.like), options.like + ".json");
  if (options.seed) model.seed = *options.seed;
  return model;
}

/// The recording has the architecture of its target, not that of the model.
synth::Model on_target(synth::Model model, const Target& target) {
  const Arch arch = target.description.specification.arch;
  model.machine.cpu.arch = runway::name_of(arch);
  const auto of_vendor = synth::arch_of_vendor(model.machine.cpu.vendor);
  if (of_vendor && *of_vendor != arch) {
    throw Error("{}: a target for {}, which no CPU of the model's vendor {} runs",
                target.path.string(), model.machine.cpu.arch, model.machine.cpu.vendor);
  }
  return model;
}

/// Returns the files of a recording without a run.
struct Files {
  fs::path recording;  ///< "-": standard output
  fs::path target, truth;
};

Files files_of(const SynthOptions& options) {
  const std::string name = options.output.value_or(kDefaultRecording);
  const std::string base = name == "-" ? kDefaultRecording : name;
  return {name, options.target.empty() ? fs::path(base + ".target") : fs::path(options.target),
          base + ".truth.json"};
}

void require_absent(const fs::path& path, bool force) {
  std::error_code ignored;
  // Devices and FIFOs are not replaced.
  if (force || !fs::is_regular_file(path, ignored)) return;
  throw Error("{}: exists; --force replaces it", path.string());
}

void print_target_details(const OutputOptions& shown, const Target& target) {
  shown.explain(fmt::format("target {}, build-id {}", target.path.string(), target.build_id));
}

/// Returns the number of samples.
std::uint64_t print_truth_details(const OutputOptions& shown, const std::string& file,
                                  const synth::RecordingTruth& truth) {
  std::uint64_t samples = 0;
  for (const auto& measurement : truth.measurements) {
    shown.explain(fmt::format("{}: {} as {}, {} samples", file, measurement.requested,
                              measurement.perf_event, measurement.truth.samples.read()));
    samples += measurement.truth.samples.read();
  }
  return samples;
}

void write_recording(const SynthOptions& options, const synth::Model& read) {
  const Files files = files_of(options);
  const bool to_standard_output = files.recording == "-";
  if (!to_standard_output) require_absent(files.recording, options.force);
  require_absent(files.truth, options.force);
  if (options.target.empty()) require_absent(files.target, options.force);
  std::optional<StagedFile> staged;
  if (!to_standard_output) staged.emplace(files.recording);
  const std::string name = to_standard_output ? "standard output" : files.recording.string();
  const Target target = options.target.empty() ? runway::build_target(read.target, files.target)
                                               : runway::require_target(files.target);
  const synth::Model model = on_target(read, target);

  print_target_details(options.shown, target);
  // With a pipe a pager may use the terminal.
  ProgressLine progress(!to_standard_output &&
                        ProgressLine::suits_standard_error(options.shown.quiet));
  progress.begins("writing", files.recording.string(), 1, 1);
  synth::Synthesizer synthesizer(model, target);
  const perfdata::WritingChoices choices = choices_of(options);
  synth::RecordingTruth truth = synthesizer.write(
      synth::all_of(model), 1, duplicate(staged ? staged->file().get() : STDOUT_FILENO, name), name,
      choices);
  if (staged) staged->complete();
  const auto paused = progress.pause();
  const std::uint64_t samples = print_truth_details(options.shown, files.recording.string(), truth);
  write_file_atomically(files.truth,
                        synth::truth_json(model, target, synthesizer.path(),
                                          {{files.recording.string(), 1, std::move(truth)}}));
  if (to_standard_output) return;
  options.shown.result(fmt::format("{}: {} of the model {}, seed {}; target {}, truth {}",
                                   files.recording.string(),
                                   analysis::counted(samples, "synthetic sample"), model.name,
                                   model.seed, files.target.string(), files.truth.string()));
}

/// The target of a run is in its directory.
Target target_in(const fs::path& directory, const SynthOptions& options,
                 const synth::Model& model) {
  if (options.target.empty()) {
    const std::string name(runway::name_of(model.target.trigger));
    return runway::build_target(model.target, directory / ("target." + name));
  }
  Target target = runway::require_target(options.target);
  const std::string name(runway::name_of(target.description.specification.trigger));
  target.path = directory / ("target." + name);
  write_file_atomically(target.path, read_file(options.target, runway::kLargestTarget),
                        kProgramMode);
  return target;
}

void write_run(const SynthOptions& options, const synth::Model& read) {
  const fs::path name = options.output.value_or(kDefaultRun);
  record::RunDirectory directory = record::RunDirectory::create(
      name, options.force ? record::Displace::replace : record::Displace::refuse, kRunExists);
  const Target target = target_in(directory.path(), options, read);
  const synth::Model model = on_target(read, target);
  print_target_details(options.shown, target);
  ProgressLine progress(ProgressLine::suits_standard_error(options.shown.quiet));
  const auto begins = [&progress](const std::string& file, std::size_t number, std::size_t total) {
    progress.begins("writing", file, number, total);
  };
  const synth::SyntheticRun written =
      synth::write_run(model, target, options.repeat, choices_of(options), directory.path(),
                       own_command_line(), begins);
  const auto paused = progress.pause();
  for (const auto& recording : written.recordings)
    print_truth_details(options.shown, recording.file, recording.truth);
  const synth::Synthesizer synthesizer(model, target);
  write_file_atomically(directory.path() / kTruthFile,
                        synth::truth_json(model, target, synthesizer.path(), written.recordings));
  run::write_run(written.run, directory.path());
  directory.keep();
  options.shown.result(fmt::format(
      "{}: {} synthetic measurements of the model {}, seed {}; read it with: skidscan report {}",
      name.string(), written.recordings.size(), model.name, model.seed,
      command_text({file_word(name.string())})));
}

ExitStatus run_synth(const SynthOptions& options) {
  check(options);
  if (options.print_model) {
    print(synth::built_in_model_text(options.like));
    return ExitStatus::done;
  }
  const synth::Model model = model_of(options);
  if (options.all_levels) {
    write_run(options, model);
  } else {
    write_recording(options, model);
  }
  return ExitStatus::done;
}

}  // namespace

Command synth_command() {
  auto options = std::make_shared<SynthOptions>();
  Command command{
      .name = "synth",
      .description = "generate a recording with a known skid distribution from a model",
      .options = {{"MODEL", Value::file("MODEL", options->model),
                   "model of the samples, a JSON file (docs/synth.md)"},
                  {"--like", Value::one_of("MODEL", options->like, synth::built_in_model_names()),
                   "use a built-in model"},
                  {"--print-model", Value::flag(options->print_model),
                   "print the built-in model of --like, as a template"},
                  {"-o,--output", Value::file("FILE", options->output),
                   "file to write, - for standard output in pipe mode (default: synth.data); with "
                   "--all-levels the directory of the run (default: synth.run)"},
                  {"--all-levels", Value::flag(options->all_levels),
                   "write a run, as record does: a recording per event and level, and run.json"},
                  {"--repeat", Value::number("N", options->repeat, 1, run::kMostRepeats),
                   "repetitions of all levels, each drawn anew"},
                  {"--seed", Value::number("N", options->seed),
                   "seed of the random numbers, instead of the model's"},
                  {"--target", Value::file("FILE", options->target),
                   "target that skidscan built, instead of a new one for the model"},
                  {"--pipe", Value::flag(options->pipe), "write pipe mode, as perf record -o -"},
                  {"-z", Value::flag(options->compressed), "compress records with zstd at level 1"},
                  {"--compression-level",
                   Value::number("N", options->compression, 1, 22),
                   "compress records with zstd at this level",
                   {"-z"}},
                  {"--force", Value::flag(options->force), "replace existing files"}},
      .notes =
          {"In addition to the recording it writes its target (FILE.target) and its true skids "
           "(FILE.truth.json; in a run truth.json), which report has to find to the sample. The "
           "header, run.json and every report state that it is synthetic. The same model, seed, "
           "target and path of the target give the same bytes on every machine."},
      .examples = {"skidscan synth --like gregg-2017 && skidscan report synth.data --bin 80",
                   "skidscan synth --like pebs-sound --all-levels -o sound.run && skidscan report "
                   "sound.run",
                   "skidscan synth --like vm-broken --print-model > mine.json && skidscan synth "
                   "mine.json -o mine.data",
                   "skidscan synth --like no-pebs --force -o - | perf script -i - | head"},
      .run = [options] { return run_synth(*options); }};
  return std::move(command).with(output_options(options->shown));
}

}  // namespace skid::commands
