#include "plots/figure.h"
#include "src/correct/correct.h"
#include "src/instructions/category.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/format.h"
#include "src/run/perftool/event_name.h"
#include "src/run/perftool/perftool.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"
#include "tests/support/placement.h"

#include <cctype>

#include <nlohmann/json.hpp>

namespace skid::test {
namespace {

using nlohmann::json;

/// A number, or "0x" and hexadecimal digits.
std::uint64_t number_of(const json& value) {
  return value.is_string() ? std::stoull(value.get<std::string>(), nullptr, 16)
                           : value.get<std::uint64_t>();
}

instructions::Category category_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::toupper(letter)); });
  if (name == "NO_MEMORY") return instructions::Category::no_memory;
  for (const auto category : instructions::kCategories) {
    if (instructions::name_of(category) == name) return category;
  }
  throw Error(name + ": is no category");
}

Place read_place(const json& object, int level) {
  Place place;
  if (object.contains("category")) {
    place.category = category_of(object["category"]);
    place.function = object.value("function", "");
    place.instructions = object.value("instructions", std::uint64_t{1});
  } else if (object.contains("address")) {
    place.address = number_of(object["address"]);
  } else {
    place.symbol = object.at("symbol");
    if (object.contains("offset")) place.offset = number_of(object["offset"]);
  }
  place.samples = object.at("samples");
  place.exact = object.value("exact", level >= 2);
  for (const json& branch : object.value("branches", json::array())) {
    place.branches.push_back({.from = branch.at(0), .to = branch.at(1)});
  }
  return place;
}

PlacedEvent read_event(const json& object) {
  PlacedEvent event;
  const auto [plain, modifiers] = perftool::split_event_name(object.at("event").get<std::string>());
  event.name = plain;
  event.modifiers = modifiers;
  perfdata::Attribute& attribute = event.attribute;
  if (const auto breakpoint = object.find("breakpoint"); breakpoint != object.end()) {
    static const std::map<std::string, std::uint32_t> kKinds{{"rw", 3}, {"w", 2}, {"x", 4}};
    attribute.type = PERF_TYPE_BREAKPOINT;
    attribute.config1 = number_of(breakpoint->at("address"));
    attribute.config2 = sizeof(long);
    attribute.bp_type = kKinds.at(breakpoint->at("access"));
  } else {
    attribute.type = object.value("type", std::uint32_t{PERF_TYPE_RAW});
    attribute.config = number_of(object.at("config"));
  }
  event.period = object.at("period");
  for (const json& read : object.at("levels")) {
    PlacedLevel& level = event.levels.emplace_back();
    level.level = read.at("level");
    level.kernel = read.value("kernel", 0.0);
    for (const json& place : read.at("places")) {
      level.places.push_back(read_place(place, level.level));
    }
  }
  return event;
}

}  // namespace

Placement parse_placement(const std::string& text, const std::filesystem::path& directory) {
  const json parsed = json::parse(text);
  const JsonValue document(parsed, "placement");
  Placement placement;
  placement.seed = parsed.value("seed", std::uint64_t{1});
  placement.binary = directory / parsed.at("binary").get<std::string>();
  placement.machine =
      synth::read_machine(document, synth::arch_of_machine(document).value_or(Arch::x86_64));
  placement.buffers = synth::read_buffers(document);
  for (const json& event : parsed.at("events")) placement.events.push_back(read_event(event));
  return placement;
}

}  // namespace skid::test
