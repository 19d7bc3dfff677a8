#include "src/commands/samples.h"

#include "src/commands/messages.h"
#include "src/commands/standard_output.h"
#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/locate/replay.h"
#include "src/locate/symbolizer.h"
#include "src/output/escape.h"
#include "src/perfdata/format.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

enum class Column {
  time,
  pid,
  tid,
  cpu,
  attr,
  event,
  period,
  addr,
  mode,
  exact,
  ip,
  sym,
  symoff,
  dso
};

struct ColumnName {
  Column column;
  std::string_view name;
  bool is_number;  ///< bare in JSON lines; 64-bit addresses stay strings there
};
constexpr std::array<ColumnName, 14> kColumns = {{{Column::time, "time", true},
                                                  {Column::pid, "pid", true},
                                                  {Column::tid, "tid", true},
                                                  {Column::cpu, "cpu", true},
                                                  {Column::attr, "attr", true},
                                                  {Column::event, "event", false},
                                                  {Column::period, "period", true},
                                                  {Column::addr, "addr", false},
                                                  {Column::mode, "mode", false},
                                                  {Column::exact, "exact", true},
                                                  {Column::ip, "ip", false},
                                                  {Column::sym, "sym", false},
                                                  {Column::symoff, "symoff", false},
                                                  {Column::dso, "dso", false}}};

struct SamplesOptions {
  std::string file = "perf.data";
  std::vector<std::string> columns = {"time", "pid", "tid",    "event", "exact",
                                      "ip",   "sym", "symoff", "dso"};
  std::string format = "tsv";
};

std::vector<ColumnName> chosen_columns(const std::vector<std::string>& names) {
  std::vector<ColumnName> chosen;
  for (const auto& name : names) {
    const auto* found = std::find_if(kColumns.begin(), kColumns.end(),
                                     [&](const ColumnName& column) { return column.name == name; });
    if (found == kColumns.end()) {
      std::string known;
      for (const auto& column : kColumns) {
        known += (known.empty() ? "" : ", ") + std::string(column.name);
      }
      throw UsageError(fmt::format("column '{}' is not one of: {}", name, known));
    }
    chosen.push_back(*found);
  }
  return chosen;
}

std::string_view name_of(perfdata::CpuMode mode) {
  switch (mode) {
    case perfdata::CpuMode::kernel:
      return "kernel";
    case perfdata::CpuMode::user:
      return "user";
    case perfdata::CpuMode::hypervisor:
      return "hypervisor";
    case perfdata::CpuMode::guest_kernel:
      return "guest_kernel";
    case perfdata::CpuMode::guest_user:
      return "guest_user";
    case perfdata::CpuMode::unknown:
      break;
  }
  return "unknown";
}

/// Everything a line is made from, gathered lazily: a place is looked up only for its columns.
class Line {
 public:
  Line(const perfdata::Recording& recording, locate::Symbolizer& symbolizer,
       const symbols::AddressSpaces& spaces)
      : recording_(recording), symbolizer_(symbolizer), spaces_(spaces) {}

  void begin(const perfdata::Sample& sample, std::optional<symbols::FileLocation> location) {
    sample_ = &sample;
    location_ = location;
  }

  /// Appends the value of a column, without escaping.
  void append(Column column, std::string& text) const {
    const auto put = std::back_inserter(text);
    switch (column) {
      case Column::time:
        fmt::format_to(put, "{}", sample_->time);
        break;
      case Column::pid:
        fmt::format_to(put, "{}", sample_->pid);
        break;
      case Column::tid:
        fmt::format_to(put, "{}", sample_->tid);
        break;
      case Column::cpu:
        fmt::format_to(put, "{}", sample_->cpu);
        break;
      case Column::attr:
        fmt::format_to(put, "{}", sample_->attribute);
        break;
      case Column::event:
        text += recording_.attributes()[sample_->attribute].name;
        break;
      case Column::period:
        fmt::format_to(put, "{}", sample_->period);
        break;
      case Column::addr:
        fmt::format_to(put, "{:x}", sample_->addr);
        break;
      case Column::mode:
        text += name_of(sample_->mode);
        break;
      case Column::exact:
        text += sample_->exact ? '1' : '0';
        break;
      case Column::ip:
        fmt::format_to(put, "{:x}", sample_->ip);
        break;
      case Column::sym:
        if (location_) text += symbolizer_.symbol_at(*location_).name;
        break;
      case Column::symoff:
        if (location_ && !symbolizer_.symbol_at(*location_).name.empty()) {
          fmt::format_to(put, "{:#x}", symbolizer_.symbol_at(*location_).offset);
        }
        break;
      case Column::dso:
        if (location_) text += spaces_.file(location_->file).path;
        break;
    }
  }

 private:
  const perfdata::Recording& recording_;
  locate::Symbolizer& symbolizer_;
  const symbols::AddressSpaces& spaces_;
  const perfdata::Sample* sample_ = nullptr;
  std::optional<symbols::FileLocation> location_;
};

/// Tab-separated values with a header line.
void write_tsv(const Line& line, const std::vector<ColumnName>& columns, std::string& text) {
  std::string value;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    value.clear();
    line.append(columns[i].column, value);
    if (i > 0) text += '\t';
    text += columns[i].is_number ? value : output::escape_for_terminal(value);
  }
  text += '\n';
}

std::string json_string(const std::string& value) {
  return nlohmann::json(value).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void write_json_line(const Line& line, const std::vector<ColumnName>& columns, std::string& text) {
  std::string value;
  text += '{';
  for (std::size_t i = 0; i < columns.size(); ++i) {
    value.clear();
    line.append(columns[i].column, value);
    if (i > 0) text += ',';
    fmt::format_to(std::back_inserter(text), "\"{}\":", columns[i].name);
    text += columns[i].is_number ? value : json_string(value);
  }
  text += "}\n";
}

bool needs_places(const std::vector<ColumnName>& columns) {
  return std::any_of(columns.begin(), columns.end(), [](const ColumnName& column) {
    return column.column == Column::sym || column.column == Column::symoff ||
           column.column == Column::dso;
  });
}

int run_samples(const SamplesOptions& options) {
  const auto columns = chosen_columns(options.columns);
  auto recording = perfdata::Recording::open(options.file);
  const bool places = needs_places(columns);
  symbols::AddressSpaces spaces;
  if (places) {
    spaces = locate::read_address_spaces(recording);
    recording.rewind();
  }
  locate::ModuleStore modules;
  locate::Symbolizer symbolizer(spaces, modules);
  const locate::RecordingClock clock(recording);
  const perfdata::SampleDecoder decoder(recording.attributes(), recording.byte_order());
  Line line(recording, symbolizer, spaces);
  StandardOutput out;
  const bool json = options.format == "jsonl";
  if (!json) {
    for (std::size_t i = 0; i < columns.size(); ++i) {
      out.text() += (i > 0 ? "\t" : "") + std::string(columns[i].name);
    }
    out.text() += '\n';
  }
  std::uint64_t unknown_ids = 0;
  perfdata::Record record;
  while (recording.next(record)) {
    if (record.type != perfdata::PERF_RECORD_SAMPLE) continue;
    const auto decoded = decoder.decode(record);
    if (decoded.problem == perfdata::SampleDecoder::Problem::unknown_id) ++unknown_ids;
    if (decoded.problem == perfdata::SampleDecoder::Problem::too_short) {
      recording.add_short_record(record);
    }
    if (decoded.problem != perfdata::SampleDecoder::Problem::none) continue;
    const auto& sample = decoded.sample;
    std::optional<symbols::FileLocation> location;
    if (places) {
      location = locate::locate(spaces, perfdata::SampleKey(sample), clock.time_of(record, sample));
    }
    line.begin(sample, location);
    json ? write_json_line(line, columns, out.text()) : write_tsv(line, columns, out.text());
    if (!out.flush_if_full()) break;
  }
  out.flush();
  if (unknown_ids > 0) {
    say(fmt::format("{}: {} samples left out: their ids belong to no event", options.file,
                    unknown_ids));
  }
  for (const auto& remark : modules.remarks()) say(remark);
  return static_cast<int>(say_faults(recording));
}

}  // namespace

void add_samples_command(CLI::App& app, int& exit_status) {
  auto options = std::make_shared<SamplesOptions>();
  auto* command = app.add_subcommand("samples", "print every sample of a recording, one line each");
  command->add_option("FILE", options->file, "recording of perf (default: perf.data)");
  command
      ->add_option("--columns", options->columns,
                   "comma-separated: time (ns), pid, tid, cpu, attr (index of the event), event, "
                   "period, addr, mode, exact (PERF_RECORD_MISC_EXACT_IP), ip, sym, symoff, dso")
      ->delimiter(',');
  command->add_option("--format", options->format, "tsv (with a header line) or jsonl")
      ->check(CLI::IsMember({"tsv", "jsonl"}));
  command->footer(
      "Samples come in the order of the file. Addresses are hexadecimal without prefix.\n"
      "Control characters in names are written as \\xNN.\n\n"
      "Example:\n  perf record -o perf.data -e cpu-clock -- sleep 0.1\n"
      "  skidscan samples perf.data --columns time,ip,sym,symoff");
  command->callback([options, &exit_status] { exit_status = run_samples(*options); });
}

}  // namespace skid::commands
