#include "src/perfdata/format.h"
#include "src/perftool/event_syntax.h"
#include "src/support/text.h"
#include "src/synth/model_fields.h"

#include <optional>
#include <set>
#include <utility>

namespace skid::synth {
namespace {

namespace fs = std::filesystem;
using machine::kHighestLevel;
using nlohmann::json;

constexpr std::uint64_t kMostLost = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostThrottled = 100'000;

/// What perf makes of its own names, and of raw codes.
std::optional<EventCode> known_code(const std::string& name) {
  if (name == "access" || name == "execute") return EventCode{name, PERF_TYPE_BREAKPOINT};
  if (const auto* generic = perftool::find_generic_event(name)) {
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
    object.refuse(fmt::format("no \"type\" and \"config\" of the event {}", json_text(json(name))),
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
  const std::string digits = config.string();
  const auto number =
      digits.starts_with("0x") ? whole_number<std::uint64_t>(digits.substr(2), 16) : std::nullopt;
  if (!number) {
    config.refuse(json_text(json(digits)), "a number, or 0x and hexadecimal digits");
  }
  code.config = *number;
  return code;
}

void read_elsewhere(const JsonValue& object, Elsewhere& elsewhere) {
  read_fields(object, {{"kernel", share(elsewhere.kernel)},
                       {"foreign", share(elsewhere.foreign)},
                       {"unmapped", share(elsewhere.unmapped)},
                       {"loop", share(elsewhere.loop)},
                       {"other_trigger", share(elsewhere.other_trigger)},
                       {"iteration", share(elsewhere.iteration)}});
  if (elsewhere.sum() > 1 + kSumTolerance) {
    object.refuse(fmt::format("shares that add up to {}", elsewhere.sum()), "at most 1");
  }
}

void read_exact(const JsonValue& value, ExactShares& exact) {
  if (value.is_number()) {
    exact.hits = exact.misses = exact.elsewhere = value.number(0, 1);
    return;
  }
  read_fields(value, {{"hits", share(exact.hits)},
                      {"misses", share(exact.misses)},
                      {"elsewhere", share(exact.elsewhere)}});
}

AddressShares read_address(const JsonValue& value) {
  AddressShares shares;
  if (value.is_number()) {
    shares.cause = value.number(0, 1);
    return shares;
  }
  read_fields(value, {{"cause", share(shares.cause)}, {"elsewhere", share(shares.elsewhere)}});
  if (shares.cause + shares.elsewhere > 1 + kSumTolerance) {
    value.refuse(fmt::format("shares that add up to {}", shares.cause + shares.elsewhere),
                 "at most 1");
  }
  return shares;
}

Shadow read_shadow(const JsonValue& value) {
  constexpr std::uint64_t kLongestDelay = 1'000'000;
  Shadow shadow;
  read_fields(value, {{"lowest", whole(shadow.lowest, 0, kLongestDelay), kRequired},
                      {"highest", whole(shadow.highest, 0, kLongestDelay), kRequired}});
  if (shadow.highest < shadow.lowest) {
    value["highest"].refuse(fmt::format("{}", shadow.highest),
                            fmt::format("at least \"lowest\", {}", shadow.lowest));
  }
  return shadow;
}

/// What the kernel makes of all records of an event at a level (docs/synth.md names the sources).
ExactShares exact_by(ExactIpRule rule, int precise_ip) {
  constexpr int kEventingIp = 2;
  switch (rule) {
    case ExactIpRule::never:
      break;
    case ExactIpRule::rewound:
      if (precise_ip >= kEventingIp) return {.hits = 1, .misses = 0, .elsewhere = 1};
      break;
    case ExactIpRule::requested:
      if (precise_ip >= kEventingIp) return {1, 1, 1};
      break;
    case ExactIpRule::always:
      if (precise_ip >= 1) return {1, 1, 1};
      break;
  }
  return {};
}

/// `rule`: of the machine, for a level that does not have its own shares.
LevelModel read_level(const JsonValue& object, const fs::path& directory, ExactIpRule rule) {
  constexpr double kMostLogits = 10, kMostInstructions = 10'000;
  LevelModel level;
  if (object.find("refused")) {
    read_fields(object, {{"level", integer(level.level, 0, kHighestLevel), kRequired},
                         {"refused", text(level.refused)}});
    if (level.refused.empty()) object["refused"].refuse("no reason", "why it is refused");
    level.precise_ip = level.level;
    return level;
  }
  read_fields(
      object,
      {{"level", integer(level.level, 0, kHighestLevel), kRequired},
       {"precise_ip"},
       {"samples",
        [&](const JsonValue& samples) { level.samples = samples.unsigned_integer(kMostSamples); }},
       {"hits", share(level.hits)},
       {"offsets",
        [&](const JsonValue& offsets) { level.offsets = read_distribution(offsets, directory); },
        kRequired},
       {"run_effect",
        [&](const JsonValue& effect) {
          read_fields(effect,
                      {{"hits", number(level.run_effect.hits, 0, kMostLogits)},
                       {"offsets", number(level.run_effect.offsets, 0, kMostInstructions)}});
        }},
       {"elsewhere", [&](const JsonValue& value) { read_elsewhere(value, level.elsewhere); }},
       {"exact_ip"},
       {"other_triggers", share(level.other_triggers)},
       {"shadow", [&](const JsonValue& value) { level.shadow = read_shadow(value); }},
       {"address", [&](const JsonValue& value) { level.address = read_address(value); }},
       {"triggers",
        [&](const JsonValue& value) { level.triggers = shares_of(value, runway::kMostTriggers); }},
       {"lost", whole(level.lost, 0, kMostLost)},
       {"lost_samples", whole(level.lost_samples, 0, kMostLost)},
       {"throttled", whole(level.throttled, 0, kMostThrottled)}});
  const auto recorded = object.find("precise_ip");
  level.precise_ip = recorded ? recorded->integer(0, kHighestLevel) : level.level;
  const auto exact = object.find("exact_ip");
  if (exact) {
    read_exact(*exact, level.exact);
  } else {
    level.exact = exact_by(rule, level.precise_ip);
  }
  if (level.samples) return level;
  const auto* table = std::get_if<Empirical>(&level.offsets.kind);
  if (table == nullptr || level.hits > 0 || level.elsewhere.sum() > 0) {
    object.refuse("no \"samples\"",
                  "to be left out only with empirical offsets alone, which then come exactly as "
                  "often as in their table, without \"hits\" and \"elsewhere\"");
  }
  if (table->total() > kMostSamples) {
    object["offsets"].refuse(fmt::format("{} samples", table->total()),
                             fmt::format("at most {}", kMostSamples));
  }
  return level;
}

EventModel read_event(const JsonValue& object, const fs::path& directory, ExactIpRule rule) {
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
                        [&](const JsonValue& events) {
                          event.events_per_iteration = events.number(kFewestEvents, kMostEvents);
                        }},
                       {"levels"}});
  if (written.empty() || written.find_first_of(",{}") != std::string::npos) {
    object["event"].refuse(json_text(json(written)), "the name of one event");
  }
  auto [name, modifiers] = perftool::split_event_name(written);
  if (modifiers.find_first_of("pP") != std::string::npos) {
    object["event"].refuse(json_text(json(written)),
                           "an event without its level, which \"level\" names");
  }
  event.name = std::move(name);
  event.modifiers = std::move(modifiers);
  const auto recorded = object.find("recorded");
  if (recorded) recorded->allow_only({"event", "type", "config"});
  event.recorded = recorded ? read_code(*recorded, text_of((*recorded)["event"]))
                            : read_code(object, event.name);
  // Breakpoints and software events are no records of a PMU.
  const bool of_pmu = event.recorded.type != PERF_TYPE_BREAKPOINT &&
                      event.recorded.type != PERF_TYPE_SOFTWARE &&
                      event.recorded.type != PERF_TYPE_TRACEPOINT;
  const JsonValue levels = object["levels"];
  for (const JsonValue& level : levels.elements(kHighestLevel + 1)) {
    event.levels.push_back(read_level(level, directory, of_pmu ? rule : ExactIpRule::never));
  }
  if (event.levels.empty()) levels.refuse("no level", "at least one");
  return event;
}

}  // namespace

std::vector<EventModel> read_events(const JsonValue& list, const fs::path& directory,
                                    ExactIpRule rule) {
  std::vector<EventModel> events;
  std::set<std::pair<std::string, int>> seen;
  for (const JsonValue& element : list.elements(kMostAttributes)) {
    EventModel event = read_event(element, directory, rule);
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
