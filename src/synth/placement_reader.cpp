#include "src/perfdata/format.h"
#include "src/perftool/event_syntax.h"
#include "src/support/error.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/synth/model_parts.h"
#include "src/synth/placement.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::synth {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostPlaces = 100'000;
constexpr std::uint64_t kMostInstructions = 100'000;
constexpr int kHighestLevel = 3;
constexpr std::uint64_t kLongestPeriod = std::uint64_t{1} << 48;
constexpr double kMostKernel = 0.999;

/// A number, or hexadecimal digits behind 0x.
std::uint64_t code_of(const JsonValue& value) {
  if (!value.is_string()) return value.unsigned_integer();
  const std::string text = value.string();
  constexpr int kHexadecimal = 16;
  std::uint64_t number = 0;
  const char* const end = text.data() + text.size();
  if (text.starts_with("0x")) {
    const auto [stopped, error] = std::from_chars(text.data() + 2, end, number, kHexadecimal);
    if (error == std::errc{} && stopped == end) return number;
  }
  value.refuse(json_text(json(text)), "a number, or hexadecimal digits behind 0x");
}

/// "gp_load" and "GP_LOAD"; "no_memory" beside "NOMEM".
instructions::Category category_of(const JsonValue& value) {
  std::string name = value.string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  if (name == "NO_MEMORY") return instructions::Category::no_memory;
  for (const auto category : instructions::kCategories) {
    if (instructions::name_of(category) == name) return category;
  }
  std::string all;
  for (const auto category : instructions::kCategories) {
    all += (all.empty() ? "" : ", ") + std::string(instructions::name_of(category));
  }
  value.refuse(json_text(json(value.string())), all);
}

Place read_place(const JsonValue& object, int level) {
  object.allow_only(
      {"symbol", "offset", "address", "category", "function", "instructions", "samples", "exact"});
  Place place;
  const auto symbol = object.find("symbol");
  const auto address = object.find("address");
  const auto category = object.find("category");
  if (int{symbol.has_value()} + int{address.has_value()} + int{category.has_value()} != 1) {
    object.refuse("a place by none or several of them",
                  "one of \"symbol\", \"address\" and \"category\"");
  }
  if (symbol) {
    place.symbol = symbol->string();
    if (place.symbol.empty()) symbol->refuse("\"\"", "a name");
    if (const auto offset = object.find("offset")) place.offset = code_of(*offset);
  }
  if (address) place.address = code_of(*address);
  if (category) {
    place.category = category_of(*category);
    if (const auto function = object.find("function")) place.function = function->string();
    if (const auto count = object.find("instructions")) {
      place.instructions = count->unsigned_integer(kMostInstructions);
      if (place.instructions == 0) count->refuse("0", "at least 1");
    }
  }
  for (const auto& [key, goes_with] : {std::pair{"offset", symbol.has_value()},
                                       {"function", category.has_value()},
                                       {"instructions", category.has_value()}}) {
    if (!goes_with && object.find(key)) {
      object[key].refuse(fmt::format("\"{}\"", key), "not for a place of this kind");
    }
  }
  const JsonValue samples = object["samples"];
  place.samples = samples.unsigned_integer(kMostSamples);
  if (place.samples < place.instructions) {
    samples.refuse(fmt::format("{}", place.samples), "at least one for each instruction");
  }
  place.exact = level >= 2;
  if (const auto exact = object.find("exact")) place.exact = exact->boolean();
  return place;
}

PlacedLevel read_level(const JsonValue& object) {
  object.allow_only({"level", "kernel", "places"});
  PlacedLevel level;
  level.level = object["level"].integer(0, kHighestLevel);
  if (const auto kernel = object.find("kernel")) level.kernel = kernel->number(0, kMostKernel);
  const JsonValue places = object["places"];
  for (const JsonValue& place : places.elements(kMostPlaces)) {
    level.places.push_back(read_place(place, level.level));
  }
  if (level.places.empty()) places.refuse("no place", "at least one");
  return level;
}

/// The event as it is recorded, but for its level.
void read_attribute(const JsonValue& object, PlacedEvent& event) {
  perfdata::Attribute& attribute = event.attribute;
  attribute.type = perfdata::PERF_TYPE_RAW;
  if (const auto breakpoint = object.find("breakpoint")) {
    constexpr std::array<std::pair<std::string_view, std::uint32_t>, 3> kKinds{
        {{"rw", 3}, {"w", 2}, {"x", 4}}};
    breakpoint->allow_only({"address", "access"});
    attribute.type = perfdata::PERF_TYPE_BREAKPOINT;
    attribute.config1 = code_of((*breakpoint)["address"]);
    attribute.config2 = sizeof(long);
    const JsonValue access = (*breakpoint)["access"];
    for (const auto& [name, bits] : kKinds) {
      if (access.string() == name) attribute.bp_type = bits;
    }
    if (attribute.bp_type == 0) access.refuse(json_text(json(access.string())), "rw, w, x");
    if (object.find("type") || object.find("config")) {
      object.refuse("\"type\" or \"config\" of a breakpoint", "neither");
    }
    return;
  }
  if (const auto type = object.find("type")) {
    constexpr std::uint64_t kMostTypes = 1'000'000;
    attribute.type = static_cast<std::uint32_t>(type->unsigned_integer(kMostTypes));
  }
  attribute.config = code_of(object["config"]);
}

PlacedEvent read_event(const JsonValue& object) {
  object.allow_only({"event", "type", "config", "breakpoint", "period", "levels"});
  const JsonValue name = object["event"];
  const std::string text = name.string();
  auto [plain, modifiers] = perftool::split_event_name(text);
  constexpr std::size_t kLongestName = 256;
  const bool printable = std::all_of(text.begin(), text.end(), [](char character) {
    return static_cast<unsigned char>(character) >= 0x20 && character != 0x7f;
  });
  if (plain.empty() || text.size() > kLongestName || !printable ||
      text.find_first_of(",{}") != std::string::npos ||
      modifiers.find_first_of("pP") != std::string::npos) {
    name.refuse(json_text(json(text)), "the name of one event, without its level");
  }
  PlacedEvent event;
  event.name = plain;
  event.modifiers = modifiers;
  read_attribute(object, event);
  const JsonValue period = object["period"];
  event.period = period.unsigned_integer(kLongestPeriod);
  if (event.period == 0) period.refuse("0", "at least 1");
  const JsonValue levels = object["levels"];
  std::set<int> seen;
  for (const JsonValue& level : levels.elements(kHighestLevel + 1)) {
    event.levels.push_back(read_level(level));
    if (!seen.insert(event.levels.back().level).second) {
      level.refuse(fmt::format("level {} for the second time", event.levels.back().level),
                   "each once");
    }
  }
  if (event.levels.empty()) levels.refuse("no level", "at least one");
  return event;
}

}  // namespace

Placement parse_placement(std::string_view text, const std::string& name,
                          const fs::path& directory) {
  const json parsed = parse_json(text, name, "a placement of synthetic samples");
  const JsonValue document(parsed, name);
  document.allow_only({"schema", "description", "seed", "binary", "machine", "buffers", "events"});
  const JsonValue schema = document["schema"];
  if (schema.string() != kPlacementSchema) {
    schema.refuse(json_text(json(schema.string())), fmt::format("\"{}\"", kPlacementSchema));
  }
  Placement placement;
  if (const auto seed = document.find("seed")) placement.seed = seed->unsigned_integer();
  placement.binary = directory / document["binary"].string();
  // Of which architecture it is, the binary tells.
  placement.machine = read_machine(document, arch_of_machine(document).value_or(Arch::x86_64));
  placement.buffers = read_buffers(document);
  const JsonValue events = document["events"];
  std::size_t attributes = 0;
  for (const JsonValue& event : events.elements(kMostAttributes)) {
    placement.events.push_back(read_event(event));
    attributes += placement.events.back().levels.size();
  }
  if (attributes == 0 || attributes > kMostAttributes) {
    events.refuse(fmt::format("{} events and levels", attributes),
                  fmt::format("1 to {}", kMostAttributes));
  }
  return placement;
}

Placement read_placement(const fs::path& path) {
  return parse_placement(read_file(path, kMostBytes), path.string(), path.parent_path());
}

}  // namespace skid::synth
