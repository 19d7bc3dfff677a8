#include "src/machine/cpuinfo.h"

#include "src/support/text.h"

#include <map>

namespace skid::machine {

namespace {

using Fields = std::map<std::string_view, std::string_view>;

/// "key : value" lines up to the first empty line that follows one of them.
Fields first_block(std::string_view text) {
  Fields fields;
  while (!text.empty()) {
    const std::string_view line = take_until('\n', text);
    const std::size_t colon = line.find(':');
    if (colon != std::string_view::npos) {
      fields.emplace(trimmed(line.substr(0, colon)), trimmed(line.substr(colon + 1)));
    } else if (trimmed(line).empty() && !fields.empty()) {
      break;
    }
  }
  return fields;
}

std::string_view value_of(const Fields& fields, std::string_view key) {
  const auto found = fields.find(key);
  return found == fields.end() ? std::string_view() : found->second;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> words;
  while (!(text = trimmed(text)).empty()) words.emplace_back(take_until(' ', text));
  return words;
}

}  // namespace

std::optional<int> parse_integer(std::string_view text) {
  text = trimmed(text);
  return text.starts_with("0x") ? whole_number<int>(text.substr(2), 16) : whole_number<int>(text);
}

CpuInfo parse_cpuinfo(std::string_view text) {
  const Fields fields = first_block(text);
  CpuInfo info;
  CpuIdentity& cpu = info.identity;
  cpu.model_name = value_of(fields, "model name");
  if (fields.contains("CPU implementer")) {
    cpu.arch = "aarch64";
    cpu.vendor = value_of(fields, "CPU implementer");
    cpu.model = parse_integer(value_of(fields, "CPU part"));
    cpu.stepping = parse_integer(value_of(fields, "CPU revision"));
  } else if (fields.contains("vendor_id")) {
    cpu.arch = "x86_64";
    cpu.vendor = value_of(fields, "vendor_id");
    cpu.family = parse_integer(value_of(fields, "cpu family"));
    cpu.model = parse_integer(value_of(fields, "model"));
    cpu.stepping = parse_integer(value_of(fields, "stepping"));
    cpu.microcode = value_of(fields, "microcode");
    info.flags = words_of(value_of(fields, "flags"));
  }
  return info;
}

}  // namespace skid::machine
