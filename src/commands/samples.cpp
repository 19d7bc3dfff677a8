#include "analysis/figures.h"
#include "analysis/wording.h"
#include "src/commands/commandline/command.h"
#include "src/commands/commandline/option.h"
#include "src/commands/commandline/usage_error.h"
#include "src/commands/commands.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/output_options.h"
#include "src/commands/reading_options.h"
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
#include "src/support/json_text.h"
#include "src/support/losses.h"
#include "src/support/names.h"
#include "src/support/near_names.h"
#include "src/support/text.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <array>
#include <charconv>
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
#include <nlohmann/json.hpp>

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

/// A sample and what its columns are made from. Places and payloads are looked up only for columns
/// that need them; what was not looked up, or is not known, is empty.
struct SampleLine {
  const perfdata::Sample* sample = nullptr;
  std::string_view event = {};
  std::string_view recording = {};
  locate::Symbol symbol = {};
  std::string_view dso = {};
  std::string trace = {};  ///< as it is printed
  std::uint64_t weight = 0, data_source = 0, physical_address = 0;
  perfdata::SpeRecord spe = {};
  std::string memory = {};  ///< the data source in words
  std::string spe_operation = {}, spe_events = {};
  std::string branches = {}, interrupt_registers = {}, user_registers = {};  ///< as printed
};

/// What a column needs besides the sample.
enum class Needs { nothing, file, symbol, payload, details, data_source, branches, registers, spe };

struct Column {
  /// Buffer for the longest number.
  using Digits = std::array<char, 24>;

  std::string_view name;
  bool is_bare;  ///< printed as it is, in TSV and JSON: numbers, and what is escaped already
  Needs needs;
  /// Returns the value without escaping; numbers are in `digits`.
  std::string_view (*value)(const SampleLine& line, Digits& digits);
};

using perfdata::Sample;

using Digits = Column::Digits;

/// Writes a number after `prefix`, which is in `digits` already.
template <typename Number>
std::string_view digits_of(Number number, int base, Digits& digits, std::size_t prefix = 0) {
  char* const end = digits.data() + digits.size();
  return {digits.data(), std::to_chars(digits.data() + prefix, end, number, base).ptr};
}

template <auto member, int base = 10>
std::string_view number(const SampleLine& line, Digits& digits) {
  return digits_of(line.sample->*member, base, digits);
}

template <auto member, int base = 10>
std::string_view number_of_line(const SampleLine& line, Digits& digits) {
  return digits_of(line.*member, base, digits);
}

/// Returns a number of the SPE record; empty if it has none.
template <auto member, int base = 10>
std::string_view number_of_record(const SampleLine& line, Digits& digits) {
  const auto& value = line.spe.*member;
  return value ? digits_of(*value, base, digits) : std::string_view();
}

template <auto member>
std::string_view text(const SampleLine& line, Digits& /*digits*/) {
  return line.*member;
}

std::string_view mode(const SampleLine& line, Digits& /*digits*/) {
  constexpr std::array<std::string_view, 6> kNames{"unknown",    "kernel",       "user",
                                                   "hypervisor", "guest_kernel", "guest_user"};
  const auto mode = static_cast<std::size_t>(line.sample->mode);
  return mode < kNames.size() ? kNames[mode] : kNames[0];
}

std::string_view exact(const SampleLine& line, Digits& /*digits*/) {
  return line.sample->exact ? "1" : "0";
}

std::string_view symbol(const SampleLine& line, Digits& /*digits*/) {
  return line.symbol.name;
}

std::string_view symbol_offset(const SampleLine& line, Digits& digits) {
  if (line.symbol.name.empty()) return {};
  digits[0] = '0';
  digits[1] = 'x';
  return digits_of(line.symbol.offset, 16, digits, 2);
}

/// Appends a JSON string.
void quote(std::string_view value, std::string& text) {
  if (is_printable_ascii(value) && value.find('"') == value.npos &&
      value.find('\\') == value.npos) {
    text += '"';
    text.append(value) += '"';
  } else {
    text += json_text(nlohmann::json(value));
  }
}

constexpr std::array<Column, 28> kColumns = {
    {{"time", true, Needs::nothing, number<&Sample::time>},
     {"pid", true, Needs::nothing, number<&Sample::pid>},
     {"tid", true, Needs::nothing, number<&Sample::tid>},
     {"cpu", true, Needs::nothing, number<&Sample::cpu>},
     {"attr", true, Needs::nothing, number<&Sample::attribute>},
     {"event", false, Needs::nothing, text<&SampleLine::event>},
     {"period", true, Needs::nothing, number<&Sample::period>},
     {"addr", false, Needs::nothing, number<&Sample::addr, 16>},
     {"weight", true, Needs::details, number_of_line<&SampleLine::weight>},
     {"data_src", false, Needs::details, number_of_line<&SampleLine::data_source, 16>},
     {"mem", false, Needs::data_source, text<&SampleLine::memory>},
     {"phys_addr", false, Needs::details, number_of_line<&SampleLine::physical_address, 16>},
     {"spe_op", false, Needs::spe, text<&SampleLine::spe_operation>},
     {"spe_events", false, Needs::spe, text<&SampleLine::spe_events>},
     {"spe_target", false, Needs::spe, number_of_record<&perfdata::SpeRecord::target, 16>},
     {"spe_issue", false, Needs::spe, number_of_record<&perfdata::SpeRecord::issue_latency>},
     {"spe_xlat", false, Needs::spe, number_of_record<&perfdata::SpeRecord::translation_latency>},
     {"brstack", false, Needs::branches, text<&SampleLine::branches>},
     {"iregs", false, Needs::registers, text<&SampleLine::interrupt_registers>},
     {"uregs", false, Needs::registers, text<&SampleLine::user_registers>},
     {"mode", false, Needs::nothing, mode},
     {"exact", true, Needs::nothing, exact},
     {"ip", false, Needs::nothing, number<&Sample::ip, 16>},
     {"sym", false, Needs::symbol, symbol},
     {"symoff", false, Needs::symbol, symbol_offset},
     {"dso", false, Needs::file, text<&SampleLine::dso>},
     {"trace", true, Needs::payload, text<&SampleLine::trace>},
     {"recording", false, Needs::nothing, text<&SampleLine::recording>}}};

/// Returns the columns with these names. Throws UsageError for a name that no column has.
std::vector<Column> chosen_columns(const std::vector<std::string>& names) {
  std::vector<Column> chosen;
  for (const auto& name : names) {
    const Column* found = find_by(kColumns, &Column::name, name);
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const auto& column : kColumns) known.emplace_back(column.name);
      throw UsageError("column '{}' does not exist{}", name, did_you_mean_or_all(name, known));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

bool needs(const std::vector<Column>& columns, Needs what) {
  return std::ranges::any_of(columns, [&](const Column& column) { return column.needs == what; });
}

/// Appends tab-separated values of at least one column, escaped.
void write_tsv(const SampleLine& line, const std::vector<Column>& columns, std::string& text) {
  Column::Digits digits;
  for (const Column& column : columns) {
    const auto value = column.value(line, digits);
    if (column.is_bare || is_printable_ascii(value)) {
      text += value;
    } else {
      text += escape_for_terminal(value);
    }
    text += '\t';
  }
  text.back() = '\n';
}

/// Appends a JSON object.
void write_json_line(const SampleLine& line, const std::vector<Column>& columns,
                     std::string& text) {
  Column::Digits digits;
  char before = '{';
  for (const Column& column : columns) {
    text += before;
    text += '"';
    text.append(column.name) += "\":";
    const auto value = column.value(line, digits);
    if (column.is_bare) {
      text += value;
    } else {
      quote(value, text);
    }
    before = ',';
  }
  text += "}\n";
}

/// Writes a line for each sample of a recording when it is read; reports at the end what was left
/// out.
struct SamplePrinter {
  const SamplesOptions& options;
  const measure::Source& source;
  const std::vector<Column>& columns;
  StandardOutput& out;
  perfdata::Recording recording = open_recording(source);
  std::string recording_file = source.file.string();
  bool has_symbols = needs(columns, Needs::symbol);
  bool has_places = has_symbols || needs(columns, Needs::file) ||
                    !options.filter.lists[locate::Filter::dso].empty() ||
                    !options.filter.lists[locate::Filter::comm].empty();
  bool has_payloads = needs(columns, Needs::payload);
  bool has_branches = needs(columns, Needs::branches);
  bool has_registers = needs(columns, Needs::registers);
  bool has_spe = needs(columns, Needs::spe);
  bool has_data_source = needs(columns, Needs::data_source);
  bool has_details =
      has_branches || has_registers || has_spe || has_data_source || needs(columns, Needs::details);
  bool is_json = options.format == LineFormat::jsonl;
  bool selects_all = options.filter.selects_all();
  bool reads_twice = has_places || options.filter.has_shares();
  bool has_formats = false;
  locate::SampleFilter filter = locate::SampleFilter(options.filter);
  locate::Filtered filtered = {};
  unsigned attributes_version = 0;           ///< that `is_event_selected` is of; 0: none
  std::vector<bool> is_event_selected = {};  ///< by attribute
  symbols::AddressSpaces spaces = {};
  std::vector<std::string> kernel_names = {};  // by FileIndex; empty until one is printed
  locate::RegionCache regions{spaces};
  locate::ModuleStore modules = locate::ModuleStore(search_places(options.binaries));
  locate::KernelSymbols kernel{[this] { return locate::recorded_kernel(recording, spaces); },
                               kernel_files(options.binaries)};
  locate::Symbolizer symbolizer{spaces, modules, kernel};
  TraceColumn trace_column = {};
  perfdata::CountedSamples counted_samples = {};
  Losses losses = {};
  perfdata::SampleTimes times = {};  ///< those of all samples
  std::uint64_t read = 0;            ///< samples in the recording
  SampleLine line = {};

  void print() {
    measure::add_files_of(source, modules);
    line.recording = recording_file;
    if (reads_twice) {
      recording.spool();
      spaces = locate::read_address_spaces(recording, filter.names(), options.filter.takes_copies);
      // Only at the end of a pipe is it known what it was recorded on.
      modules.expect_machine(recording.features().arch, recording.features());
      if (!selects_all) filter.begin(recording, spaces);
      recording.rewind();
      kernel_names.resize(spaces.file_count());
    }
    print_in_order();
  }

  /// Returns how many samples were selected.
  locate::Filtered selected() const {
    locate::Filtered selected = filtered;
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
    if (!trace_column.problem().empty())
      print_error(fmt::format("{}: {}", recording_file, trace_column.problem()));
    if (read == 0) {
      print_error(fmt::format("{}: {}", recording_file, measure::why_no_samples(recording)));
    }
    const OutputOptions& shown = options.shown;
    losses.throttled_share = times.share_of(recording.longest_throttle());
    for (const auto& warning : analysis::loss_warnings(losses, read)) shown.note(warning);
    for (const auto& remark : kernel.remarks()) shown.note(remark);
    for (const auto& remark : modules.remarks()) shown.note(remark.text);
    return print_faults(recording) == ExitStatus::read_in_part;
  }

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

  /// Adds what follows the fixed fields of a sample; nothing if its lengths reach past its end.
  void add_details(const perfdata::Record& record, const perfdata::Sample& sample,
                   const perfdata::Attribute& attribute) {
    const auto details =
        recording.decoder().details(record, sample).value_or(perfdata::SampleDetails{});
    // PERF_SAMPLE_WEIGHT_STRUCT has other latencies in the upper half.
    constexpr std::uint64_t kFirstPart = 0xffff'ffff;
    line.weight =
        attribute.has(PERF_SAMPLE_WEIGHT_STRUCT) ? details.weight & kFirstPart : details.weight;
    line.data_source = details.data_source;
    const bool is_known = details.data_source != 0 || attribute.has(PERF_SAMPLE_DATA_SRC);
    if (has_data_source) {
      line.memory = is_known ? data_source_text(details.data_source) : std::string();
    }
    line.physical_address = details.physical_address;
    if (has_spe) {
      const auto spe = recording.is_in_trace() ? perfdata::parse_spe_record(details.raw)
                                               : std::optional<perfdata::SpeRecord>();
      line.spe = spe.value_or(perfdata::SpeRecord{});
      line.spe_operation = operation_text(line.spe);
      line.spe_events = events_text(line.spe);
    }
    const ByteOrder order = recording.decoder().order();
    if (has_branches) line.branches = branches_text(details.branch_stack, order);
    if (!has_registers) return;
    const auto arch = arch_of_kernel(recording.features().arch);
    line.interrupt_registers =
        registers_text(details.interrupt_registers, attribute.sample_regs_intr, arch, order);
    line.user_registers =
        registers_text(details.user_registers, attribute.sample_regs_user, arch, order);
  }

  /// Names the place of a sample.
  void name(const perfdata::Sample& sample, const symbols::FileLocation& location) {
    const bool is_kernel = sample.mode == perfdata::CpuMode::kernel;
    const auto& file = spaces.file(location.file);
    line.dso = file.path;
    if (is_kernel) {
      auto& name = kernel_names[location.file];
      if (name.empty()) name = locate::kernel_dso_name(file);
      line.dso = name;
    }
    if (has_symbols) line.symbol = symbolizer.symbol_at(location, sample.ip, is_kernel);
  }

  bool is_selected(const perfdata::Sample& sample, std::uint64_t time,
                   const std::optional<symbols::FileLocation>& location) {
    // Events of a pipe are described before their samples.
    const unsigned version = recording.attributes_version();
    if (const auto known = std::exchange(attributes_version, version); known != version) {
      if (known == 0 && !reads_twice) filter.begin(recording, spaces);
      is_event_selected = measure::selected_events(source, recording, options.filter, filtered);
    }
    const auto file = location ? location->file : symbols::Region::kNoFile;
    if (!filter.selects(sample, time, file, &filtered)) return false;
    if (!is_event_selected[sample.attribute]) --filtered.selected;
    return is_event_selected[sample.attribute];
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
      if (has_places) location = regions.locate(*decoded, time);
      for (const perfdata::Sample& sample : counted_samples.of(recording, record, *decoded)) {
        if (!selects_all && !is_selected(sample, time, location)) continue;
        const auto& attribute = recording.attributes()[sample.attribute];
        line.sample = &sample;
        line.event = attribute.name;
        line.symbol = {};
        line.dso = {};
        if (location) name(sample, *location);
        if (has_details) add_details(record, *decoded, recording.attributes()[decoded->attribute]);
        if (has_payloads) line.trace = trace(record, sample, attribute);
        (is_json ? write_json_line : write_tsv)(line, columns, out.text());
      }
      if (!out.flush_if_full()) return;
    }
  }
};

ExitStatus run_samples(const SamplesOptions& options) {
  const auto columns = chosen_columns(options.columns);
  StandardOutput out(!options.shown.no_pager);
  locate::Filtered filtered;
  OutputOptions shown = options.shown;
  // Lines on a terminal show the progress, and with a pipe a pager may use the terminal.
  shown.no_progress = !standard_output_is_file();
  Cores one(1);  // a single thread reads and finishes one recording after the other
  UnusedFiles unused;
  bool has_header = options.format == LineFormat::jsonl;
  const auto read = [&](const measure::Source& source, std::size_t) -> Finish {
    if (!out.flush_if_full()) return [] { return false; };
    const std::shared_ptr<SamplePrinter> printer(new SamplePrinter{options, source, columns, out});
    if (!std::exchange(has_header, true)) {
      for (const Column& column : columns) (out.text() += column.name) += '\t';
      out.text().back() = '\n';
    }
    printer->print();
    return [&, printer] {
      if (!out.flush()) return false;  // what was read is a part
      filtered.add(printer->selected());
      unused.add(printer->modules.unused());
      return printer->finish();
    };
  };
  InputsRead done = each_recording(runs_of_descriptions(options.files), one, shown, read);
  const bool is_read = out.finish();
  unused.note(shown);
  done.lacks_samples = is_read && !note_filtered(options.filter, filtered, shown);
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
