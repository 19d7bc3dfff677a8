#include "analysis/figures.h"
#include "analysis/wording.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commands.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/output_options.h"
#include "src/commands/reading_options.h"
#include "src/commands/sample_line.h"
#include "src/commands/sample_texts.h"
#include "src/commands/shared_options.h"
#include "src/commands/terminal.h"
#include "src/commands/trace_column.h"
#include "src/locate/filter.h"
#include "src/locate/kernel_symbols.h"
#include "src/locate/mapping_name.h"
#include "src/locate/module_store.h"
#include "src/locate/region_cache.h"
#include "src/locate/replay.h"
#include "src/locate/sample_filter.h"
#include "src/locate/symbolizer.h"
#include "src/measure/event_selection.h"
#include "src/measure/measure.h"
#include "src/measure/no_samples.h"
#include "src/measure/profile.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/counted_samples.h"
#include "src/perfdata/counter_values.h"
#include "src/perfdata/features.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/perfdata/sample_times.h"
#include "src/perfdata/spe_record.h"
#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/support/cores.h"
#include "src/support/error.h"
#include "src/support/escape.h"
#include "src/support/losses.h"
#include "src/support/names.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>

namespace skid::commands {
namespace {

enum class LineFormat { tsv, jsonl };
SKID_NAMES(LineFormat, "tsv", "jsonl")

struct SamplesOptions {
  std::vector<std::string> files = {kDefaultRecording};
  std::vector<std::string> columns = {"time", "pid", "tid",    "event", "exact",
                                      "ip",   "sym", "symoff", "dso"};
  LineFormat format = LineFormat::tsv;
  locate::Filter filter;
  BinaryOptions binaries;
  OutputOptions shown;
};

/// The files and functions of samples. Files need the mappings of the whole recording, which are
/// read before its samples.
struct SamplePlaces {
  SamplePlaces(const perfdata::Recording& recording, const BinaryOptions& binaries)
      : modules(search_places(binaries)),
        kernel([this, &recording] { return locate::recorded_kernel(recording, spaces); },
               kernel_files(binaries)) {}

  /// Names the place of a sample.
  void name(const perfdata::Sample& sample, const symbols::FileLocation& location, bool with_symbol,
            SampleLine& line) {
    const bool is_kernel = sample.mode == perfdata::CpuMode::kernel;
    const auto& file = spaces.file(location.file);
    line.dso = file.path;
    if (is_kernel) {
      auto& name = kernel_names[location.file];
      if (name.empty()) name = locate::kernel_dso_name(file);
      line.dso = name;
    }
    if (with_symbol) line.symbol = symbolizer.symbol_at(location, sample.ip, is_kernel);
  }

  symbols::AddressSpaces spaces = {};
  std::vector<std::string> kernel_names = {};  ///< by FileIndex; empty until one is printed
  locate::RegionCache regions{spaces};
  locate::ModuleStore modules;
  locate::KernelSymbols kernel;
  locate::Symbolizer symbolizer{spaces, modules, kernel};
};

/// Decides which samples are printed, and counts them.
struct SampleSelection {
  const measure::Source& source;
  perfdata::Recording& recording;
  const locate::Filter& wanted;
  const symbols::AddressSpaces& spaces;
  locate::SampleFilter filter = locate::SampleFilter(wanted);
  bool is_begun = false;
  locate::Filtered filtered = {};
  unsigned attributes_version = 0;           ///< that `is_event_selected` is of; 0: none
  std::vector<bool> is_event_selected = {};  ///< by attribute

  /// Called before selects() if the mappings were read.
  void begin() {
    filter.begin(recording, spaces);
    is_begun = true;
  }

  bool selects(const perfdata::Sample& sample, std::uint64_t time,
               const std::optional<symbols::FileLocation>& location) {
    // Events of a pipe are described before their samples.
    const unsigned version = recording.attributes_version();
    if (std::exchange(attributes_version, version) != version) {
      if (!is_begun) begin();
      is_event_selected = measure::selected_events(source, recording, wanted, filtered);
    }
    const auto file = location ? location->file : symbols::Region::kNoFile;
    if (!filter.selects(sample, time, file, &filtered)) return false;
    if (!is_event_selected[sample.attribute]) --filtered.selected;
    return is_event_selected[sample.attribute];
  }
};

/// What follows the fixed fields of a sample, as its columns print it.
struct SampleDetailTexts {
  const perfdata::Recording& recording;
  const SampleColumns& columns;
  bool is_json;
  bool has_formats = false;
  TraceColumn trace_column = {};

  /// The payload of a tracepoint's sample as it is printed. A sample whose lengths reach past its
  /// end has no payload; its column reports that.
  std::string trace(const perfdata::Record& record, const perfdata::Sample& sample,
                    const perfdata::Attribute& attribute) {
    // On a pipe the formats precede the samples.
    if (!std::exchange(has_formats, true)) trace_column = TraceColumn(recording.features());
    const auto details = recording.decoder().details(record, sample);
    const auto raw = details ? details->raw : std::span<const std::byte>();
    return is_json ? trace_column.json(attribute, raw)
                   : escape_for_terminal(trace_column.text(attribute, raw));
  }

  /// Adds them to a line; nothing if its lengths reach past its end.
  void add(const perfdata::Record& record, const perfdata::Sample& sample,
           const perfdata::Attribute& attribute, SampleLine& line) const {
    const auto details =
        recording.decoder().details(record, sample).value_or(perfdata::SampleDetails{});
    // PERF_SAMPLE_WEIGHT_STRUCT has other latencies in the upper half.
    constexpr std::uint64_t kFirstPart = 0xffff'ffff;
    line.weight =
        attribute.has(PERF_SAMPLE_WEIGHT_STRUCT) ? details.weight & kFirstPart : details.weight;
    line.data_source = details.data_source;
    const bool is_known = details.data_source != 0 || attribute.has(PERF_SAMPLE_DATA_SRC);
    if (columns.need(Needs::data_source)) {
      line.memory = is_known ? data_source_text(details.data_source) : std::string();
    }
    line.physical_address = details.physical_address;
    if (columns.need(Needs::spe)) {
      const auto spe = recording.is_in_trace() ? perfdata::parse_spe_record(details.raw)
                                               : std::optional<perfdata::SpeRecord>();
      line.spe = spe.value_or(perfdata::SpeRecord{});
      line.spe_operation = operation_text(line.spe);
      line.spe_events = events_text(line.spe);
    }
    const ByteOrder order = recording.decoder().order();
    if (columns.need(Needs::branches)) line.branches = branches_text(details.branch_stack, order);
    if (!columns.need(Needs::registers)) return;
    const auto arch = arch_of_kernel(recording.features().arch);
    line.interrupt_registers =
        registers_text(details.interrupt_registers, attribute.sample_regs_intr, arch, order);
    line.user_registers =
        registers_text(details.user_registers, attribute.sample_regs_user, arch, order);
  }
};

/// Writes a line for each sample of a recording when it is read; reports at the end what was left
/// out.
struct SamplePrinter {
  const SamplesOptions& options;
  const measure::Source& source;
  const SampleColumns& columns;
  StandardOutput& out;
  perfdata::Recording recording = open_recording(source);
  std::string recording_file = source.file.string();
  bool is_json = options.format == LineFormat::jsonl;
  bool has_places = columns.need(Needs::symbol) || columns.need(Needs::file) ||
                    !options.filter.lists[locate::Filter::dso].empty() ||
                    !options.filter.lists[locate::Filter::comm].empty();
  bool has_details = columns.need(Needs::branches) || columns.need(Needs::registers) ||
                     columns.need(Needs::spe) || columns.need(Needs::data_source) ||
                     columns.need(Needs::details);
  bool selects_all = options.filter.selects_all();
  SamplePlaces places = SamplePlaces(recording, options.binaries);
  SampleSelection selection = {source, recording, options.filter, places.spaces};
  SampleDetailTexts details = {recording, columns, is_json};
  perfdata::CountedSamples counted_samples = {};
  Losses losses = {};
  perfdata::SampleTimes times = {};  ///< those of all samples
  std::uint64_t read = 0;            ///< samples in the recording
  SampleLine line = {};

  void print() {
    measure::add_files_of(source, places.modules);
    line.recording = recording_file;
    if (has_places || options.filter.has_shares()) {
      recording.spool();
      places.spaces = locate::read_address_spaces(recording, selection.filter.names(),
                                                  options.filter.takes_copies);
      // Only at the end of a pipe is it known what it was recorded on.
      places.modules.expect_machine(recording.features().arch, recording.features());
      if (!selects_all) selection.begin();
      recording.rewind();
      places.kernel_names.resize(places.spaces.file_count());
    }
    print_in_order();
  }

  /// Returns how many samples were selected.
  locate::Filtered selected() const {
    locate::Filtered selected = selection.filtered;
    if (selects_all) selected.all = selected.selected = read;
    return selected;
  }

  /// Prints what was left out. Returns whether records are missing.
  bool finish() {
    if (const auto unknown_ids = recording.left_out().unknown_ids; unknown_ids > 0) {
      print_error(fmt::format("{}: {} left out: {} to no event", recording_file,
                              analysis::counted(unknown_ids, "sample"),
                              unknown_ids == 1 ? "its id belongs" : "their ids belong"));
    }
    if (!details.trace_column.problem().empty())
      print_error(fmt::format("{}: {}", recording_file, details.trace_column.problem()));
    if (read == 0) {
      print_error(fmt::format("{}: {}", recording_file, measure::why_no_samples(recording)));
    }
    const OutputOptions& shown = options.shown;
    losses.throttled_share = times.share_of(recording.longest_throttle());
    for (const auto& warning : analysis::loss_warnings(losses, read)) shown.note(warning);
    for (const auto& remark : places.kernel.remarks()) shown.note(remark);
    for (const auto& remark : places.modules.remarks()) shown.note(remark.text);
    return print_faults(recording) == ExitStatus::read_in_part;
  }

  void print_in_order() {
    perfdata::Record record;
    while (recording.next(record)) {
      if (record.type != PERF_RECORD_SAMPLE) {
        recording.add_losses(record, losses);
        continue;
      }
      ++read;
      const auto decoded = recording.decode(record);
      if (!decoded) continue;
      times.add(decoded->time);
      const auto time = recording.decoder().time_of(record, *decoded);
      std::optional<symbols::FileLocation> location;
      if (has_places) location = places.regions.locate(*decoded, time);
      for (const perfdata::Sample& sample : counted_samples.of(recording, record, *decoded)) {
        if (!selects_all && !selection.selects(sample, time, location)) continue;
        const auto& attribute = recording.attributes()[sample.attribute];
        line.sample = &sample;
        line.event = attribute.name;
        line.symbol = {};
        line.dso = {};
        if (location) places.name(sample, *location, columns.need(Needs::symbol), line);
        if (has_details) {
          details.add(record, *decoded, recording.attributes()[decoded->attribute], line);
        }
        if (columns.need(Needs::payload)) line.trace = details.trace(record, sample, attribute);
        is_json ? columns.write_json(line, out.text()) : columns.write_tsv(line, out.text());
      }
      if (!out.flush_if_full()) return;
    }
  }
};

ExitStatus run_samples(const SamplesOptions& options) {
  const SampleColumns columns(options.columns);
  StandardOutput out(!options.shown.no_pager);
  locate::Filtered filtered;
  OutputOptions shown = options.shown;
  // Lines on a terminal show the progress, and with a pipe a pager may use the terminal.
  shown.no_progress = !standard_output_is_file();
  Cores one(1);  // a single thread reads and finishes one recording after the other
  UnusedFiles unused;
  InputSamples samples;
  bool has_header = options.format == LineFormat::jsonl;
  const auto read = [&](const measure::Source& source, std::size_t input) -> Finish {
    if (!out.flush_if_full()) return [] { return false; };
    const std::shared_ptr<SamplePrinter> printer(new SamplePrinter{options, source, columns, out});
    if (!std::exchange(has_header, true)) columns.write_header(out.text());
    printer->print();
    return [&, printer, input] {
      if (!out.flush()) return false;  // what was read is a part
      filtered.add(printer->selected());
      samples.add(input, printer->read);
      unused.add(printer->places.modules.unused());
      return printer->finish();
    };
  };
  InputsRead done = each_recording(runs_of_descriptions(options.files), one, shown, read);
  const bool is_read = out.finish();
  unused.note(shown);
  if (is_read) done.sampled = samples.sampled();
  if (is_read && !note_filtered(options.filter, filtered, shown)) done.sampled = Sampled::none;
  return done.status();
}

}  // namespace

Command samples_command() {
  auto options = std::make_shared<SamplesOptions>();
  Command command{
      .name = "samples",
      .description = "print every sample of recordings, one line each",
      .options = {{"INPUT", Value::file("INPUT", options->files).several(),
                   "runs or recordings of perf, printed one after the other: files, directories of "
                   "perf record --threads, - for standard input (default: perf.data)"},
                  example_option(options->files),
                  {"--columns", Value::text("COLUMNS", options->columns).separated(),
                   "comma-separated: time (ns), pid, tid, cpu, attr (index of the event), event, "
                   "period, addr, weight, data_src, mem (its words), phys_addr, spe_op, "
                   "spe_events, spe_target, "
                   "spe_issue and spe_xlat (operation, events, branch target and latencies of an "
                   "SPE record, with perf's words), brstack (branch records), iregs and uregs "
                   "(registers), mode, exact (PERF_RECORD_MISC_EXACT_IP), ip, sym, symoff, dso, "
                   "trace (payload of a tracepoint), recording (its file)"},
                  {"--format", Value::one_of("FORMAT", options->format),
                   "format of the lines; tsv has a header line (default: tsv)"}},
      .notes = {"Samples are printed in the order of the recording. From a pipe, if sym, symoff or "
                "dso is requested or --comm or --dso given, they are printed when it has ended, "
                "because mappings may follow the samples of their time. Addresses are hexadecimal "
                "without a prefix. Control characters in names are printed as \\xNN."},
      .exit_statuses = {{ExitStatus::failed,
                         "no recording could be read, or there is no sample that the filters "
                         "select"}},
      .examples = {"perf record -o perf.data -e cpu-clock -- sleep 0.1",
                   "skidscan samples perf.data --columns time,ip,sym,symoff"},
      .run = [options] { return run_samples(*options); }};
  return std::move(command).with(filter_options(options->filter), binary_options(options->binaries),
                                 output_options(options->shown));
}

}  // namespace skid::commands
