#include "runway/specification.h"
#include "src/machine/machine.h"
#include "src/perfdata/generic_event.h"
#include "src/run/perftool/event_name.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/support/text.h"
#include "src/synth/model.h"
#include "src/synth/model_fields.h"
#include "src/synth/offsets.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <nlohmann/json.hpp>

namespace skid::synth {
namespace {

using machine::kHighestLevel;

constexpr std::uint64_t kMostLost = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostThrottled = 100'000;

/// Returns the event that perf makes of one of its own names or of a raw code.
std::optional<EventCode> known_code(const std::string& name) {
  if (name == "access" || name == "execute") return EventCode{name, PERF_TYPE_BREAKPOINT};
  if (const auto* generic = perfdata::find_generic_event(name)) {
    return EventCode{name, generic->type, generic->config};
  }
  if (name.size() < 2 || name.front() != 'r') return std::nullopt;
  const auto config = whole_number<std::uint64_t>(std::string_view(name).substr(1), 16);
  return config ? std::optional(EventCode{name, PERF_TYPE_RAW, *config}) : std::nullopt;
}

EventCode read_code(const JsonValue& object, const std::string& name) {
  const auto type = object.find("type");
  const auto known = known_code(name);
  if (!type && !object.find("config")) {
    if (known) return *known;
    object.refuse(fmt::format("no \"type\" and \"config\" of the event {}", json_text(name)),
                  "both, but for access, execute, generic names of perf and raw codes (r20d1)");
  }
  if (known && known->type == PERF_TYPE_BREAKPOINT) {
    object.refuse(fmt::format("\"type\" or \"config\" of {}", name),
                  "neither: the target defines them");
  }
  EventCode code{name, PERF_TYPE_RAW, 0};
  if (type && type->is_string()) {
    static constexpr std::array<std::string_view, 5> kTypes{"hardware", "software", "tracepoint",
                                                            "hw_cache", "raw"};
    code.type = static_cast<std::uint32_t>(choice(*type, kTypes));
  } else {
    whole(code.type, 0, std::numeric_limits<std::int32_t>::max())(object["type"]);
    if (code.type == PERF_TYPE_BREAKPOINT) {
      object["type"].refuse("a breakpoint", "the event access or execute");
    }
  }
  const JsonValue config = object["config"];
  if (!config.is_string()) {
    code.config = config.unsigned_integer();
    return code;
  }
  const auto number = hexadecimal_number(config.string());
  if (!number) config.refuse_text("a number, or 0x and hexadecimal digits");
  code.config = *number;
  return code;
}

Elsewhere read_elsewhere(const JsonValue& object) {
  Elsewhere elsewhere;
  read_fields(object, {{"kernel", share(elsewhere.kernel)},
                       {"foreign", share(elsewhere.foreign)},
                       {"unmapped", share(elsewhere.unmapped)},
                       {"loop", share(elsewhere.loop)},
                       {"other_trigger", share(elsewhere.other_trigger)},
                       {"iteration", share(elsewhere.iteration)}});
  check_sum(object, elsewhere.sum());
  return elsewhere;
}

ExactShares read_exact(const JsonValue& value) {
  ExactShares exact;
  if (value.is_number()) {
    exact.hits = exact.misses = exact.elsewhere = value.number(0, 1);
  } else {
    read_fields(value, {{"hits", share(exact.hits)},
                        {"misses", share(exact.misses)},
                        {"elsewhere", share(exact.elsewhere)}});
  }
  return exact;
}

AddressShares read_address(const JsonValue& value) {
  AddressShares shares;
  if (value.is_number()) {
    shares.cause = value.number(0, 1);
  } else {
    read_fields(value, {{"cause", share(shares.cause)}, {"elsewhere", share(shares.elsewhere)}});
  }
  check_sum(value, shares.cause + shares.elsewhere);
  return shares;
}

Shadow read_shadow(const JsonValue& value) {
  constexpr std::uint64_t kLongestDelay = 1'000'000;
  Shadow shadow;
  read_fields(value, {{"lowest", whole(shadow.lowest, 0, kLongestDelay), kRequired},
                      {"highest", whole(shadow.highest, 0, kLongestDelay), kRequired}});
  check_order(value, shadow.lowest, shadow.highest);
  return shadow;
}

auto offset(std::int64_t& to) {
  constexpr auto kFurthest = static_cast<int>(kFurthestOffset);
  return integer(to, -kFurthest, kFurthest);
}

OffsetTable read_counts(const JsonValue& value) {
  constexpr std::size_t kMostRows = 65'536, kFieldsOfARow = 3;
  constexpr std::int64_t kWidestTable = std::int64_t{1} << 24;
  OffsetTable table;
  std::int64_t span = 0;
  for (const JsonValue& element : value.elements(kMostRows)) {
    const auto fields = element.elements(kFieldsOfARow);
    if (fields.size() < 2) {
      element.refuse(fmt::format("{} numbers", fields.size()),
                     "[offset, count] or [lowest, highest, count]");
    }
    OffsetTable::Row& row = table.rows.emplace_back();
    offset(row.lowest)(fields.front());
    offset(row.highest)(fields[fields.size() - 2]);
    whole(row.count, 0, kMostSamples)(fields.back());
    if (row.highest < row.lowest) element.refuse("a highest offset below the lowest", "one above");
    span += row.highest - row.lowest + 1;
  }
  if (table.total() == 0) value.refuse("no sample", "at least one");
  if (span > kWidestTable) {
    value.refuse(fmt::format("{} offsets", span), fmt::format("at most {}", kWidestTable));
  }
  return table;
}

NormalCycles read_normal(const JsonValue& object) {
  constexpr double kMostCycles = 1e9;
  constexpr std::uint64_t kLargestGroup = 64;
  NormalCycles normal;
  read_fields(object, {{"kind"},
                       {"mean", number(normal.mean, -kMostCycles, kMostCycles), kRequired},
                       {"stddev", number(normal.stddev, 0, kMostCycles), kRequired},
                       {"cycles_per_nop", number(normal.cycles_per_nop, 0.01, 1e6)},
                       {"retire_group", whole(normal.retire_group, 1, kLargestGroup)}});
  return normal;
}

Distribution read_distribution(const JsonValue& object) {
  static constexpr std::array<std::string_view, 4> kKinds{"constant", "uniform", "empirical",
                                                          "normal_cycles"};
  OffsetTable table{{{}}};
  auto& [lowest, highest, count] = table.rows.front();
  switch (choice(object["kind"], kKinds)) {
    case 0:
      read_fields(object, {{"kind"}, {"offset", offset(lowest), kRequired}});
      highest = lowest;
      return table;
    case 1:
      read_fields(object, {{"kind"},
                           {"lowest", offset(lowest), kRequired},
                           {"highest", offset(highest), kRequired}});
      check_order(object, lowest, highest);
      return table;
    case 2:
      read_fields(object, {{"kind"}, {"counts", into(table, read_counts), kRequired}});
      return table;
    default:
      return read_normal(object);
  }
}

/// Returns the shares of samples with EXACT_IP if the kernel sets the flag in all records of an
/// event at a level (docs/synth.md names the sources).
ExactShares exact_by(ExactIpRule rule, int precise_ip) {
  // The lowest levels at which the rules never, rewound, requested and always set the flag.
  constexpr std::array kFrom{kHighestLevel + 1, 2, 2, 1};
  if (precise_ip < kFrom.at(static_cast<std::size_t>(rule))) return {};
  return {.hits = 1, .misses = rule == ExactIpRule::rewound ? 0.0 : 1.0, .elsewhere = 1};
}

/// Reads a level. `rule`: the machine's, for a level that does not have its own shares.
LevelModel read_level(const JsonValue& object, ExactIpRule rule) {
  LevelModel level;
  if (object.find("refused")) {
    read_fields(object, {{"level", integer(level.level, 0, kHighestLevel), kRequired},
                         {"refused", text(level.refused)}});
    if (level.refused.empty()) object["refused"].refuse("no reason", "why it is refused");
    level.precise_ip = level.level;
    return level;
  }
  std::optional<int> recorded;
  std::optional<ExactShares> exact;
  const auto read_triggers = [](const JsonValue& value) {
    return shares_of(value, runway::kMostTriggers);
  };
  read_fields(object, {{"level", integer(level.level, 0, kHighestLevel), kRequired},
                       {"precise_ip", integer(recorded, 0, kHighestLevel)},
                       {"samples", whole(level.samples, 0, kMostSamples)},
                       {"hits", share(level.hits)},
                       {"offsets", into(level.offsets, read_distribution), kRequired},
                       {"elsewhere", into(level.elsewhere, read_elsewhere)},
                       {"exact_ip", into(exact, read_exact)},
                       {"other_triggers", share(level.other_triggers)},
                       {"shadow", into(level.shadow, read_shadow)},
                       {"distance", whole(level.distance, 1)},
                       {"address", into(level.address, read_address)},
                       {"triggers", into(level.triggers, read_triggers)},
                       {"lost", whole(level.lost, 0, kMostLost)},
                       {"lost_samples", whole(level.lost_samples, 0, kMostLost)},
                       {"throttled", whole(level.throttled, 0, kMostThrottled)}});
  if (level.distance && (level.shadow || !level.triggers.empty() || level.other_triggers > 0)) {
    object["distance"].refuse("a distance", "none with shares of triggers or a shadow");
  }
  level.precise_ip = recorded.value_or(level.level);
  level.exact = exact.value_or(exact_by(rule, level.precise_ip));
  if (level.samples) return level;
  const JsonValue offsets = object["offsets"];
  if (!offsets.find("counts") || level.hits > 0 || level.elsewhere.sum() > 0) {
    object.refuse("no \"samples\"",
                  "to be left out only with empirical offsets alone, which then come exactly as "
                  "often as in their table, without \"hits\" and \"elsewhere\"");
  }
  const std::uint64_t total = std::get<OffsetTable>(level.offsets).total();
  if (total > kMostSamples) {
    offsets.refuse(fmt::format("{} samples", total), fmt::format("at most {}", kMostSamples));
  }
  return level;
}

EventModel read_event(const JsonValue& object, ExactIpRule rule) {
  constexpr std::uint64_t kLongestPeriod = std::uint64_t{1} << 48;
  constexpr double kFewestEvents = 1e-6, kMostEvents = 1e9;
  EventModel event;
  std::string written;
  read_fields(object, {{"event", text(written), kRequired},
                       {"type"},
                       {"config"},
                       {"recorded"},
                       {"period", whole(event.period, 1, kLongestPeriod), kRequired},
                       {"events_per_iteration",
                        number(event.events_per_iteration, kFewestEvents, kMostEvents)},
                       {"levels"}});
  if (written.empty() || written.find_first_of(",{}") != std::string::npos) {
    object["event"].refuse_text("the name of one event");
  }
  auto [name, modifiers] = perftool::split_event_name(written);
  if (modifiers.find_first_of("pP") != std::string::npos) {
    object["event"].refuse_text("an event without its level, which \"level\" names");
  }
  event.name = std::move(name);
  event.modifiers = std::move(modifiers);
  const auto recorded = object.find("recorded");
  if (recorded) recorded->allow_only({"event", "type", "config"});
  event.recorded = recorded ? read_code(*recorded, text_of((*recorded)["event"]))
                            : read_code(object, event.name);
  // Breakpoints and software events are not sampled by a PMU.
  const bool of_pmu = event.recorded.type != PERF_TYPE_BREAKPOINT &&
                      event.recorded.type != PERF_TYPE_SOFTWARE &&
                      event.recorded.type != PERF_TYPE_TRACEPOINT;
  const JsonValue levels = object["levels"];
  for (const JsonValue& level : levels.elements(kHighestLevel + 1)) {
    event.levels.push_back(read_level(level, of_pmu ? rule : ExactIpRule::never));
  }
  if (event.levels.empty()) levels.refuse("no level", "at least one");
  return event;
}

}  // namespace

std::vector<EventModel> read_events(const JsonValue& list, ExactIpRule rule) {
  std::vector<EventModel> events;
  std::set<std::pair<std::string, int>> seen;
  for (const JsonValue& element : list.elements(kMostAttributes)) {
    EventModel event = read_event(element, rule);
    for (const LevelModel& level : event.levels) {
      if (!seen.insert({event.name + ':' + event.modifiers, level.level}).second) {
        element.refuse(fmt::format("level {} of {} for the second time", level.level, event.name),
                       "each once");
      }
    }
    events.push_back(std::move(event));
  }
  if (seen.empty() || seen.size() > kMostAttributes) {
    list.refuse(fmt::format("{} events and levels", seen.size()),
                fmt::format("1 to {}", kMostAttributes));
  }
  return events;
}

}  // namespace skid::synth
