#include "src/commands/sample_line.h"

#include "src/commands/commandline/usage_error.h"
#include "src/perfdata/sample.h"
#include "src/support/escape.h"
#include "src/support/json_text.h"
#include "src/support/near_names.h"
#include "src/support/text.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::commands {
namespace {

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
    text += json_text(value);
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

}  // namespace

SampleColumns::SampleColumns(const std::vector<std::string>& names) {
  for (const auto& name : names) {
    const Column* found = find_by(kColumns, &Column::name, name);
    if (found == nullptr) {
      std::vector<std::string> known;
      for (const auto& column : kColumns) known.emplace_back(column.name);
      throw UsageError("column '{}' does not exist{}", name, did_you_mean_or_all(name, known));
    }
    columns_.push_back(*found);
    needed_[static_cast<std::size_t>(found->needs)] = true;
  }
}

void SampleColumns::write_header(std::string& text) const {
  for (const Column& column : columns_) (text += column.name) += '\t';
  text.back() = '\n';
}

void SampleColumns::write_tsv(const SampleLine& line, std::string& text) const {
  Column::Digits digits;
  for (const Column& column : columns_) {
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

void SampleColumns::write_json(const SampleLine& line, std::string& text) const {
  Column::Digits digits;
  char before = '{';
  for (const Column& column : columns_) {
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

}  // namespace skid::commands
