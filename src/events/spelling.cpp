#include "src/events/spelling.h"

#include "src/perftool/event_syntax.h"
#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

namespace skid::events {
namespace {

/// Far above what libpfm4 has with all umasks of an event.
constexpr std::size_t kMostBytes = 1024;

std::optional<std::uint64_t> number(std::string_view digits, int base) {
  std::uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stopped, error] = std::from_chars(digits.data(), end, value, base);
  if (digits.empty() || error != std::errc() || stopped != end) return std::nullopt;
  return value;
}

/// "0x2e" or "46", as in perf's terms.
std::optional<std::uint64_t> term_value(std::string_view value) {
  const bool hexadecimal = value.starts_with("0x") || value.starts_with("0X");
  return hexadecimal ? number(value.substr(2), 16) : number(value, 10);
}

/// "r20d1" and "0x20d1".
std::optional<std::uint64_t> raw_code(std::string_view name) {
  if (name.starts_with("0x") || name.starts_with("0X")) return number(name.substr(2), 16);
  if (name.starts_with("r") || name.starts_with("R")) return number(name.substr(1), 16);
  return std::nullopt;
}

struct Field {
  std::string_view name;
  unsigned shift;
  std::uint64_t most;
};
constexpr std::array<Field, 8> kFields{{{"umask", 8, 0xff},
                                        {"edge", 18, 1},
                                        {"pc", 19, 1},
                                        {"any", 21, 1},
                                        {"inv", 23, 1},
                                        {"cmask", 24, 0xff},
                                        {"in_tx", 32, 1},
                                        {"in_tx_cp", 33, 1}}};

[[noreturn]] void refuse_term(std::string_view term, std::string_view spelling) {
  throw UsageError(
      fmt::format("'{}' in '{}' is not a known term; expected event, umask, edge, pc, any, inv, "
                  "cmask, in_tx, in_tx_cp, config and config1 with numbers",
                  term, spelling));
}

std::uint64_t event_bits(ConfigLayout layout, std::uint64_t event) {
  return layout == ConfigLayout::amd ? (event & 0xff) | (event & 0xf00) << 24 : event;
}

/// The terms between the slashes of "cpu/event=0xd1,umask=0x20/".
void read_terms(std::string_view terms, ConfigLayout layout, std::string_view spelling,
                Spelling& result) {
  std::uint64_t config = 0;
  while (!terms.empty()) {
    const std::size_t comma = std::min(terms.find(','), terms.size());
    const std::string_view term = terms.substr(0, comma);
    terms.remove_prefix(std::min(comma + 1, terms.size()));
    const std::size_t equals = term.find('=');
    const std::string_view key = term.substr(0, equals);
    // A term without a value is 1; name and period do not choose the event.
    const auto value = equals == std::string_view::npos ? std::optional<std::uint64_t>(1)
                                                        : term_value(term.substr(equals + 1));
    if (key == "name" || key == "period") continue;
    if (!value) refuse_term(term, spelling);
    const auto field = std::find_if(kFields.begin(), kFields.end(),
                                    [key](const Field& known) { return known.name == key; });
    if (key == "event" && *value <= (layout == ConfigLayout::intel ? 0xffU
                                     : layout == ConfigLayout::amd ? 0xfffU
                                                                   : 0xffffU)) {
      config |= event_bits(layout, *value);
    } else if (key == "config") {
      config |= *value;
    } else if (key == "config1") {
      result.config1 = *value;
    } else if (field != kFields.end() && *value <= field->most) {
      config |= *value << field->shift;
    } else {
      refuse_term(term, spelling);
    }
  }
  result.config = config;
}

struct Generic {
  std::string_view name;
  std::uint64_t intel, amd, arm;
};
constexpr std::uint64_t kNone = ~std::uint64_t{0};
constexpr std::array<Generic, 10> kGeneric{{{"cycles", 0x3c, 0x76, 0x11},
                                            {"cpu-cycles", 0x3c, 0x76, 0x11},
                                            {"instructions", 0xc0, 0xc0, 0x08},
                                            {"cache-references", 0x4f2e, 0xff60, 0x04},
                                            {"cache-misses", 0x412e, 0x0964, 0x03},
                                            {"branches", 0xc4, 0xc2, kNone},
                                            {"branch-instructions", 0xc4, 0xc2, kNone},
                                            {"branch-misses", 0xc5, 0xc3, 0x10},
                                            {"bus-cycles", 0x013c, kNone, 0x1d},
                                            {"ref-cycles", 0x0300, kNone, kNone}}};

}  // namespace

Spelling take_apart(std::string_view spelling, ConfigLayout layout) {
  if (spelling.empty() || spelling.size() > kMostBytes) {
    throw UsageError(
        fmt::format("an event of {} bytes; expected 1 to {}", spelling.size(), kMostBytes));
  }
  Spelling result;
  std::string_view rest = spelling;
  if (const std::size_t colons = rest.find("::"); colons != std::string_view::npos) {
    result.cpu = rest.substr(0, colons);
    rest.remove_prefix(colons + 2);
  }
  const std::size_t open = rest.find('/');
  if (open != std::string_view::npos) {
    const std::size_t close = rest.find('/', open + 1);
    if (close == std::string_view::npos) {
      throw UsageError(fmt::format("'{}': a slash is not closed; write PMU/terms/", spelling));
    }
    rest = rest.substr(open + 1, close - open - 1);
    result.full = result.name = rest;
    if (rest.find('=') != std::string_view::npos) read_terms(rest, layout, spelling, result);
    return result;
  }
  result.full = rest;
  result.name = perftool::split_event_name(rest).name;
  result.config = raw_code(result.name);
  return result;
}

std::string normalized(std::string_view name) {
  std::string upper(name);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) {
    return c == ':' ? '.' : static_cast<char>(std::toupper(c));
  });
  return upper;
}

std::optional<std::uint64_t> generic_event(ConfigLayout layout, std::string_view name) {
  for (const Generic& generic : kGeneric) {
    if (generic.name != name) continue;
    const std::uint64_t config = layout == ConfigLayout::intel ? generic.intel
                                 : layout == ConfigLayout::amd ? generic.amd
                                                               : generic.arm;
    if (config != kNone) return config;
  }
  return std::nullopt;
}

}  // namespace skid::events
