#include "src/commands/sample_line.h"

#include "src/locate/mapping_name.h"
#include "src/output/escape.h"
#include "src/perfdata/format.h"
#include "src/support/error.h"
#include "src/support/json_text.h"

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

constexpr std::array<ColumnName, 15> kColumns = {{{Column::time, "time", true},
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
                                                  {Column::dso, "dso", false},
                                                  {Column::trace, "trace", false}}};

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

}  // namespace

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

const locate::Symbol& SampleLine::symbol() const {
  return sample_->mode == perfdata::CpuMode::kernel
             ? symbolizer_.kernel_symbol_at(*location_, sample_->ip)
             : symbolizer_.symbol_at(*location_);
}

std::string SampleLine::dso() const {
  const auto& file = spaces_.file(location_->file);
  return sample_->mode == perfdata::CpuMode::kernel ? locate::kernel_dso_name(file) : file.path;
}

void SampleLine::append(Column column, std::string& text) const {
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
      if (location_) text += symbol().name;
      break;
    case Column::symoff:
      if (location_ && !symbol().name.empty()) fmt::format_to(put, "{:#x}", symbol().offset);
      break;
    case Column::dso:
      if (location_) text += dso();
      break;
    case Column::trace:
      text += trace_.text(recording_.attributes()[sample_->attribute], raw_);
      break;
  }
}

void write_tsv(const SampleLine& line, const std::vector<ColumnName>& columns, std::string& text) {
  std::string value;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    value.clear();
    line.append(columns[i].column, value);
    if (i > 0) text += '\t';
    text += columns[i].is_bare ? value : output::escape_for_terminal(value);
  }
  text += '\n';
}

void write_json_line(const SampleLine& line, const std::vector<ColumnName>& columns,
                     std::string& text) {
  std::string value;
  text += '{';
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (i > 0) text += ',';
    fmt::format_to(std::back_inserter(text), "\"{}\":", columns[i].name);
    if (columns[i].column == Column::trace) {
      text += line.trace_json();
      continue;
    }
    value.clear();
    line.append(columns[i].column, value);
    text += columns[i].is_bare ? value : json_text(nlohmann::json(value));
  }
  text += "}\n";
}

bool needs(const std::vector<ColumnName>& columns, Column wanted) {
  return std::any_of(columns.begin(), columns.end(),
                     [&](const ColumnName& column) { return column.column == wanted; });
}

bool needs_places(const std::vector<ColumnName>& columns) {
  return needs(columns, Column::sym) || needs(columns, Column::symoff) ||
         needs(columns, Column::dso);
}

}  // namespace skid::commands
