#include "src/events/spelling.h"

#include "src/events/event.h"
#include "src/run/perftool/event_name.h"
#include "src/support/text.h"

#include <array>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

namespace skid::events {

namespace {

/// Far above what libpfm4 has with all umasks of an event.
constexpr std::size_t kMostBytes = 1024;

/// "r20d1" and "0x20d1".
std::optional<std::uint64_t> raw_code(std::string_view name) {
  for (const std::string_view prefix : {"0x", "0X", "r", "R"}) {
    if (name.starts_with(prefix))
      return whole_number<std::uint64_t>(name.substr(prefix.size()), 16);
  }
  return std::nullopt;
}

/// Intel's UMaskExt: bits 15:8 of an umask, from Lion Cove on.
constexpr unsigned kUmaskShift = 8, kUmaskExtShift = 40;

/// A modifier of an event, in bits of the code.
struct Field {
  std::string_view name;
  unsigned shift;
  std::uint64_t most;
  bool intel_only;
};
constexpr std::array<Field, 7> kFields{{{"edge", 18, 1, false},
                                        {"pc", 19, 1, true},
                                        {"any", 21, 1, true},
                                        {"inv", 23, 1, false},
                                        {"in_tx", 32, 1, true},
                                        {"in_tx_cp", 33, 1, true},
                                        {"cmask", 24, 0xff, false}}};

/// Other names of config1, as /sys/bus/event_source/devices/cpu/format has them: of load latency,
/// FRONTEND_RETIRED, and offcore responses.
constexpr std::array<std::string_view, 4> kConfig1{"config1", "ldlat", "frontend", "offcore_rsp"};

std::string unknown_term(std::string_view term, std::string_view spelling) {
  return fmt::format(
      "'{}' in '{}' is not a known term; expected event, umask, edge, pc, any, inv, cmask, in_tx, "
      "in_tx_cp, config, config1, ldlat, frontend and offcore_rsp with numbers",
      term, spelling);
}

std::uint64_t event_bits(ConfigLayout layout, std::uint64_t event) {
  return layout == ConfigLayout::amd ? (event & 0xff) | (event & 0xf00) << 24 : event;
}

/// Reads the terms between the slashes of "cpu/event=0xd1,umask=0x20/".
void read_terms(const std::vector<perftool::Term>& terms, ConfigLayout layout,
                std::string_view spelling, Spelling& result) {
  const std::uint64_t most_event = layout == ConfigLayout::intel ? 0xff
                                   : layout == ConfigLayout::amd ? 0xfff
                                                                 : 0xffff;
  std::uint64_t config = 0;
  result.full = result.name = {};
  for (const perftool::Term& term : terms) {
    const std::string_view key = term.key;
    if (key == "name" || key == "period") continue;  // they do not choose the event
    const Field* field = find_by(kFields, &Field::name, key);
    if (!term.value && field == nullptr && result.name.empty()) {
      result.full = result.name = term.text;
      continue;
    }
    const auto value = term.number();
    if (value && key == "event" && *value <= most_event) {
      config |= event_bits(layout, *value);
    } else if (value && key == "config") {
      config |= *value;
    } else if (value && contains(kConfig1, key)) {
      result.config1 = *value;
    } else if (value && key == "umask" && *value <= (layout == ConfigLayout::amd ? 0xff : 0xffff)) {
      config |= (*value & 0xff) << kUmaskShift | (*value >> 8) << kUmaskExtShift;
    } else if (value && field != nullptr && *value <= field->most) {
      config |= *value << field->shift;
    } else {
      result.problem = unknown_term(term.text, spelling);
      return;
    }
  }
  if (result.name.empty()) {
    result.full = result.name = spelling;
    result.config = config;
  } else if (config != 0) {
    result.problem = fmt::format(
        "'{}': terms that change the code of a named event; give the code, with event and umask",
        spelling);
  }
}

/// Whether terms have the fields of core events: PMUs of cores, "cpu" and "cpu_core", on Arm
/// "armv8_pmuv3_0".
bool has_core_terms(std::string_view pmu) {
  return pmu.starts_with("cpu") || pmu.starts_with("arm") || pmu.starts_with("apple");
}

/// AMD has bits 11:8 of the event in 35:32.
constexpr std::uint64_t kAmdEventHigh = 0xfULL << 32;
constexpr std::uint64_t kEventLow = 0xff;
constexpr std::uint64_t kArmEvent = 0xffff;

}  // namespace

Spelling parse_spelling(std::string_view spelling, ConfigLayout layout) {
  Spelling result;
  if (spelling.empty() || spelling.size() > kMostBytes) {
    result.problem =
        fmt::format("an event of {} bytes; expected 1 to {}", spelling.size(), kMostBytes);
    return result;
  }
  std::string_view rest = spelling;
  if (const std::size_t colons = rest.find("::"); colons != std::string_view::npos) {
    result.cpu = rest.substr(0, colons);
    rest.remove_prefix(colons + 2);
  }
  result.full = rest;
  if (const std::size_t open = rest.find('/'); open != std::string_view::npos) {
    const std::size_t close = rest.find('/', open + 1);
    if (close == std::string_view::npos) {
      result.problem = fmt::format("'{}': a slash is not closed; write PMU/terms/", spelling);
      return result;
    }
    result.pmu = rest.substr(0, open);
    if (!has_core_terms(result.pmu)) {
      result.name = rest;
      return result;
    }
    const std::vector<perftool::Term> terms = perftool::terms_of(rest);
    result.full = rest = rest.substr(open + 1, close - open - 1);
    if (rest.find_first_of("=,") != std::string_view::npos) {
      read_terms(terms, layout, spelling, result);
      return result;
    }
    result.name = perftool::split_event_name(rest).name;
    return result;
  }
  result.name = perftool::split_event_name(rest).name;
  result.config = raw_code(result.name);
  return result;
}

std::string normalized(std::string_view name) {
  std::string upper;
  for (const char c : name) {
    upper += c == ':' ? '.' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return upper;
}

std::uint64_t event_select(ConfigLayout layout, std::uint64_t config) {
  if (layout == ConfigLayout::arm) return config & kArmEvent;
  return config & (layout == ConfigLayout::amd ? kEventLow | kAmdEventHigh : kEventLow);
}

std::uint64_t unit_mask(ConfigLayout layout, std::uint64_t config) {
  if (layout == ConfigLayout::arm) return 0;
  const std::uint64_t umask = (config >> kUmaskShift) & 0xff;
  return layout == ConfigLayout::intel ? umask | (config >> kUmaskExtShift & 0xff) << 8 : umask;
}

std::uint64_t without_modifiers(ConfigLayout layout, std::uint64_t config) {
  const std::uint64_t umask = unit_mask(layout, config);
  return event_select(layout, config) | (umask & 0xff) << kUmaskShift |
         (umask >> 8) << kUmaskExtShift;
}

std::string perf_encoding(const Event& event) {
  const ConfigLayout layout = event.layout;
  const std::uint64_t select = event_select(layout, event.config);
  const std::uint64_t number = (select & kArmEvent) | ((select & kAmdEventHigh) >> 24);
  // Kernels before those CPUs have no field for UMaskExt.
  const std::uint64_t umask = unit_mask(layout, event.config) & 0xff;
  std::uint64_t left = event.config & ~(select | umask << kUmaskShift);
  std::string terms = fmt::format("event=0x{:02x}", number);
  if (layout != ConfigLayout::arm) {
    terms += fmt::format(",umask=0x{:02x}", umask);
    for (const auto& [name, shift, most, intel_only] : kFields) {
      if (intel_only && layout != ConfigLayout::intel) continue;
      const std::uint64_t value = (left >> shift) & most;
      if (value != 0) {
        terms += most == 1 ? fmt::format(",{}=1", name) : fmt::format(",{}=0x{:02x}", name, value);
      }
      left &= ~(most << shift);
    }
  }
  if (left != 0) terms = fmt::format("config=0x{:x}", event.config);
  if (event.config1 != 0) terms += fmt::format(",config1=0x{:x}", event.config1);
  return fmt::format("{}/{}/", event.pmu, terms);
}

std::string raw_encoding(const Event& event) {
  return event.config1 != 0 ? std::string() : fmt::format("r{:04x}", event.config);
}

}  // namespace skid::events
