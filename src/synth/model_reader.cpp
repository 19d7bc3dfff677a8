#include "src/perfdata/format.h"
#include "src/perftool/event_syntax.h"
#include "src/support/architecture.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/support/text.h"
#include "src/synth/model.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::synth {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostParts = 64;
constexpr int kDeepestMixture = 8;
constexpr std::size_t kLongestText = 1024;
/// Shares are decimal fractions that people write; they need not add up to the last bit.
constexpr double kSumTolerance = 1e-9;
constexpr std::uint64_t kMostLost = std::uint64_t{1} << 32;
constexpr std::uint64_t kMostThrottled = 100'000;
using machine::kHighestLevel;
constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
constexpr std::uint64_t kWord = std::numeric_limits<std::uint32_t>::max();

/// A key of an object, and what takes its value.
struct Field {
  std::string_view key;
  std::function<void(const JsonValue&)> take = {};  ///< empty: the value is read elsewhere
  bool required = false;
};
constexpr bool kRequired = true;

/// Reads an object by its fields, in their order. Throws for other keys, and without a required
/// one.
void read_fields(const JsonValue& object, const std::vector<Field>& fields) {
  std::vector<std::string_view> keys;
  for (const Field& field : fields) keys.push_back(field.key);
  object.allow_only(keys);
  for (const Field& field : fields) {
    if (!field.take) continue;
    if (const auto value = object.find(field.key)) {
      field.take(*value);
    } else if (field.required) {
      field.take(object[field.key]);
    }
  }
}

/// A short text of printable characters.
std::string text_of(const JsonValue& value) {
  std::string text = value.string();
  const bool printable = std::all_of(text.begin(), text.end(), [](char character) {
    return static_cast<unsigned char>(character) >= 0x20 && character != 0x7f;
  });
  if (!printable || text.size() > kLongestText) {
    value.refuse(printable ? fmt::format("{} bytes", text.size()) : json_text(json(text)),
                 fmt::format("at most {} printable bytes", kLongestText));
  }
  return text;
}

auto text(std::string& to) {
  return [&to](const JsonValue& value) { to = text_of(value); };
}

auto number(double& to, double least, double most) {
  return [&to, least, most](const JsonValue& value) { to = value.number(least, most); };
}

auto share(double& to) {
  return number(to, 0, 1);
}

template <typename Unsigned>
auto whole(Unsigned& to, std::uint64_t least, std::uint64_t most) {
  return [&to, least, most](const JsonValue& value) {
    const std::uint64_t found = value.unsigned_integer(most);
    if (found < least) value.refuse(fmt::format("{}", found), fmt::format("at least {}", least));
    to = static_cast<Unsigned>(found);
  };
}

template <typename Integer>
auto integer(Integer& to, int least = 0, int most = std::numeric_limits<int>::max()) {
  return [&to, least, most](const JsonValue& value) { to = value.integer(least, most); };
}

std::vector<double> shares_of(const JsonValue& value, std::size_t most) {
  std::vector<double> shares;
  double sum = 0;
  for (const JsonValue& element : value.elements(most)) {
    shares.push_back(element.number(0, 1));
    sum += shares.back();
  }
  if (std::abs(sum - 1) > kSumTolerance) {
    value.refuse(fmt::format("shares that add up to {}", sum), "1");
  }
  return shares;
}

int offset_of(const JsonValue& value) {
  constexpr auto kFurthest = static_cast<int>(kFurthestOffset);
  return value.integer(-kFurthest, kFurthest);
}

/// The place of a string among `names`.
template <std::size_t N>
std::size_t choice(const JsonValue& value, const std::array<std::string_view, N>& names) {
  const std::string name = value.string();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    value.refuse(json_text(json(name)), fmt::format("{}", fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

runway::Specification read_target(const JsonValue& document) {
  const Arch usual = arch_of_machine(document).value_or(kOwnArch);
  const auto object = document.find("target");
  if (!object) return runway::default_specification(usual);
  try {
    const auto arch = object->find("arch");
    const auto trigger = object->find("trigger");
    runway::Specification target = runway::default_specification(
        arch ? runway::arch_from(arch->string()) : usual,
        trigger ? runway::trigger_kind_from(trigger->string()) : runway::TriggerKind{});
    std::optional<std::size_t> triggers;
    std::vector<std::uint32_t> gaps;
    read_fields(*object, {{"arch"},
                          {"trigger"},
                          {"nops", whole(target.nops, 0, kWord)},
                          {"nop_bytes", whole(target.nop_bytes, 0, kWord)},
                          {"lead_in_nops", whole(target.lead_in_nops, 0, kWord)},
                          {"access_bytes", whole(target.access_bytes, 0, kWord)},
                          {"triggers", whole(triggers.emplace(), 0, runway::kMostTriggers)},
                          {"gaps",
                           [&](const JsonValue& list) {
                             for (const JsonValue& gap : list.elements(runway::kMostTriggers)) {
                               whole(gaps.emplace_back(), 0, kWord)(gap);
                             }
                           }},
                          {"working_set_bytes",
                           whole(target.working_set_bytes, 0, std::uint64_t{1} << 50)}});
    if (!object->find("triggers")) triggers.reset();
    target.gaps = runway::gaps_for(triggers, gaps, target.nops);
    runway::check(target);
    return target;
  } catch (const UsageError& error) {
    object->refuse(error.what(), {});
  }
}

/// What perf makes of its own names, and of raw codes.
std::optional<EventCode> known_code(const std::string& name) {
  if (name == "access" || name == "execute") return EventCode{name, perfdata::PERF_TYPE_BREAKPOINT};
  if (const auto* generic = perftool::find_generic_event(name)) {
    return EventCode{name, generic->type, generic->config};
  }
  if (name.size() < 2 || name.front() != 'r') return std::nullopt;
  const auto config = whole_number<std::uint64_t>(std::string_view(name).substr(1), 16);
  return config ? std::optional(EventCode{name, perfdata::PERF_TYPE_RAW, *config}) : std::nullopt;
}

EventCode read_code(const JsonValue& object, const std::string& name) {
  const auto type = object.find("type");
  const auto known = known_code(name);
  if (!type && !object.find("config")) {
    if (known) return *known;
    object.refuse(fmt::format("no \"type\" and \"config\" of the event {}", json_text(json(name))),
                  "both, but for access, execute, generic names of perf and raw codes (r20d1)");
  }
  if (known && known->type == perfdata::PERF_TYPE_BREAKPOINT) {
    object.refuse(fmt::format("\"type\" or \"config\" of {}", name),
                  "neither: the target defines them");
  }
  EventCode code{name, perfdata::PERF_TYPE_RAW, 0};
  if (type && type->is_string()) {
    static constexpr std::array<std::string_view, 5> kTypes{"hardware", "software", "tracepoint",
                                                            "hw_cache", "raw"};
    code.type = static_cast<std::uint32_t>(choice(*type, kTypes));
  } else {
    whole(code.type, 0, std::numeric_limits<std::int32_t>::max())(object["type"]);
    if (code.type == perfdata::PERF_TYPE_BREAKPOINT) {
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

Empirical read_counts(const JsonValue& value) {
  constexpr std::size_t kMostRows = 65'536;
  constexpr std::size_t kFieldsOfARow = 3;
  Empirical table;
  for (const JsonValue& row : value.elements(kMostRows)) {
    const auto fields = row.elements(kFieldsOfARow);
    if (fields.size() < 2) {
      row.refuse(fmt::format("{} numbers", fields.size()),
                 "[offset, count] or [lowest, highest, count]");
    }
    const std::int64_t lowest = offset_of(fields.front());
    const std::int64_t highest = offset_of(fields[fields.size() - 2]);
    if (highest < lowest) row.refuse("a highest offset below the lowest", "one above");
    table.rows.push_back({lowest, highest, fields.back().unsigned_integer(kMostSamples)});
  }
  if (table.total() == 0) value.refuse("no sample", "at least one");
  if (table.span() > kWidestTable) {
    value.refuse(fmt::format("{} offsets", table.span()), fmt::format("at most {}", kWidestTable));
  }
  return table;
}

Empirical read_empirical(const JsonValue& object, const fs::path& directory) {
  object.allow_only({"kind", "csv", "where", "counts"});
  const auto csv = object.find("csv");
  const auto counts = object.find("counts");
  if (csv.has_value() == counts.has_value()) {
    object.refuse(csv ? "both tables" : "no table", "one of \"csv\" and \"counts\"");
  }
  if (counts) return read_counts(*counts);
  std::map<std::string, std::string> where;
  if (const auto conditions = object.find("where")) {
    for (const JsonValue& condition : conditions->elements(kMostParts)) {
      condition.allow_only({"column", "value"});
      where.emplace(text_of(condition["column"]), text_of(condition["value"]));
    }
  }
  return read_offset_table(directory / text_of(*csv), where);
}

Uniform read_uniform(const JsonValue& object) {
  object.allow_only({"kind", "lowest", "highest"});
  const Uniform uniform{offset_of(object["lowest"]), offset_of(object["highest"])};
  if (uniform.highest < uniform.lowest) {
    object["highest"].refuse(fmt::format("{}", uniform.highest),
                             fmt::format("at least \"lowest\", {}", uniform.lowest));
  }
  return uniform;
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

Distribution read_distribution(const JsonValue& object, const fs::path& directory, int depth);

Mixture read_mixture(const JsonValue& object, const fs::path& directory, int depth) {
  object.allow_only({"kind", "shares", "parts"});
  if (depth >= kDeepestMixture) {
    object.refuse("a mixture in so many others", fmt::format("at most {}", kDeepestMixture));
  }
  Mixture mixture;
  mixture.shares = shares_of(object["shares"], kMostParts);
  const JsonValue parts = object["parts"];
  for (const JsonValue& part : parts.elements(kMostParts)) {
    mixture.parts.push_back(read_distribution(part, directory, depth + 1));
  }
  if (mixture.parts.size() != mixture.shares.size()) {
    parts.refuse(fmt::format("{} parts", mixture.parts.size()),
                 fmt::format("as many as \"shares\", {}", mixture.shares.size()));
  }
  return mixture;
}

Distribution read_distribution(const JsonValue& object, const fs::path& directory, int depth) {
  static constexpr std::array<std::string_view, 5> kKinds{"constant", "uniform", "empirical",
                                                          "normal_cycles", "mixture"};
  switch (choice(object["kind"], kKinds)) {
    case 0:
      object.allow_only({"kind", "offset"});
      return {Constant{offset_of(object["offset"])}};
    case 1:
      return {read_uniform(object)};
    case 2:
      return {read_empirical(object, directory)};
    case 3:
      return {read_normal(object)};
    default:
      return {read_mixture(object, directory, depth)};
  }
}

void read_elsewhere(const JsonValue& object, Elsewhere& elsewhere) {
  read_fields(object, {{"kernel", share(elsewhere.kernel)},
                       {"foreign", share(elsewhere.foreign)},
                       {"unmapped", share(elsewhere.unmapped)},
                       {"loop", share(elsewhere.loop)},
                       {"other_trigger", share(elsewhere.other_trigger)}});
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

LevelModel read_level(const JsonValue& object, const fs::path& directory) {
  constexpr double kMostLogits = 10, kMostInstructions = 10'000;
  LevelModel level;
  read_fields(
      object,
      {{"level", integer(level.level, 0, kHighestLevel), kRequired},
       {"precise_ip"},
       {"samples",
        [&](const JsonValue& samples) { level.samples = samples.unsigned_integer(kMostSamples); }},
       {"hits", share(level.hits)},
       {"offsets",
        [&](const JsonValue& offsets) { level.offsets = read_distribution(offsets, directory, 0); },
        kRequired},
       {"run_effect",
        [&](const JsonValue& effect) {
          read_fields(effect,
                      {{"hits", number(level.run_effect.hits, 0, kMostLogits)},
                       {"offsets", number(level.run_effect.offsets, 0, kMostInstructions)}});
        }},
       {"elsewhere", [&](const JsonValue& value) { read_elsewhere(value, level.elsewhere); }},
       {"exact_ip", [&](const JsonValue& value) { read_exact(value, level.exact); }},
       {"triggers",
        [&](const JsonValue& value) { level.triggers = shares_of(value, runway::kMostTriggers); }},
       {"lost", whole(level.lost, 0, kMostLost)},
       {"lost_samples", whole(level.lost_samples, 0, kMostLost)},
       {"throttled", whole(level.throttled, 0, kMostThrottled)}});
  const auto recorded = object.find("precise_ip");
  level.precise_ip = recorded ? recorded->integer(0, kHighestLevel) : level.level;
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

EventModel read_event(const JsonValue& object, const fs::path& directory) {
  constexpr std::uint64_t kLongestPeriod = std::uint64_t{1} << 48;
  EventModel event;
  std::string written;
  read_fields(object, {{"event", text(written), kRequired},
                       {"type"},
                       {"config"},
                       {"recorded"},
                       {"period", whole(event.period, 1, kLongestPeriod), kRequired},
                       {"levels",
                        [&](const JsonValue& levels) {
                          for (const JsonValue& level : levels.elements(kHighestLevel + 1)) {
                            event.levels.push_back(read_level(level, directory));
                          }
                          if (event.levels.empty()) levels.refuse("no level", "at least one");
                        },
                        kRequired}});
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
  return event;
}

void read_events(const JsonValue& list, const fs::path& directory, Model& model) {
  std::set<std::pair<std::string, int>> seen;
  for (const JsonValue& element : list.elements(kMostAttributes)) {
    EventModel event = read_event(element, directory);
    for (const LevelModel& level : event.levels) {
      if (!seen.insert({event.name + ':' + event.modifiers, level.level}).second) {
        element.refuse(fmt::format("level {} of {} for the second time", level.level, event.name),
                       "each once");
      }
    }
    model.events.push_back(std::move(event));
  }
  if (seen.empty() || seen.size() > kMostAttributes) {
    list.refuse(fmt::format("{} events and levels", seen.size()),
                fmt::format("1 to {}", kMostAttributes));
  }
}

}  // namespace

std::optional<Arch> arch_of_vendor(std::string_view vendor) {
  if (vendor.starts_with("0x")) return Arch::aarch64;  // the implementer of MIDR_EL1
  const bool is_x86 =
      vendor == "GenuineIntel" || vendor == "AuthenticAMD" || vendor == "HygonGenuine";
  return is_x86 ? std::optional(Arch::x86_64) : std::nullopt;
}

std::optional<Arch> arch_of_machine(const JsonValue& document) {
  const auto object = document.find("machine");
  const auto vendor = object ? object->find("vendor") : std::nullopt;
  return vendor ? arch_of_vendor(text_of(*vendor)) : std::nullopt;
}

machine::Machine read_machine(const JsonValue& document, Arch arch) {
  machine::Machine machine;
  machine::CpuIdentity& cpu = machine.cpu;
  cpu.arch = runway::name_of(arch);
  cpu.model_name = "a model, no CPU";
  machine.kernel = "synthetic";
  machine.hostname = "synthetic";
  const auto object = document.find("machine");
  if (!object) return machine;
  read_fields(*object,
              {{"vendor",
                [&](const JsonValue& vendor) {
                  cpu.vendor = text_of(vendor);
                  if (arch_of_vendor(cpu.vendor).value_or(arch) == arch) return;
                  vendor.refuse(
                      json_text(json(cpu.vendor)),
                      fmt::format("a vendor of {} CPUs, as the code is", runway::name_of(arch)));
                }},
               {"model_name", text(cpu.model_name)},
               {"family", integer(cpu.family)},
               {"model", integer(cpu.model)},
               {"stepping", integer(cpu.stepping)},
               {"microcode", text(cpu.microcode)},
               {"hypervisor", [&](const JsonValue& name) { cpu.hypervisor = text_of(name); }},
               {"kernel", text(machine.kernel)}});
  return machine;
}

Buffers read_buffers(const JsonValue& document) {
  Buffers buffers;
  if (const auto object = document.find("buffers")) {
    read_fields(*object, {{"cpus", whole(buffers.cpus, 1, kMostCpus)},
                          {"round_samples", whole(buffers.round_samples, 1, kMostSamples)},
                          {"finished_round", [&](const JsonValue& marked) {
                             buffers.finished_round = marked.boolean();
                           }}});
  }
  return buffers;
}

Model parse_model(std::string_view text_of_model, const std::string& name,
                  const fs::path& directory) {
  const json parsed = parse_json(text_of_model, name, "a model of synthetic recordings");
  const JsonValue document(parsed, name);
  Model model;
  std::string schema, source;  // the source is for people who read the model
  read_fields(document,
              {{"schema", text(schema), kRequired},
               {"name", text(model.name), kRequired},
               {"description", text(model.description)},
               {"source", text(source)},
               {"seed", whole(model.seed, 0, kAny)},
               {"target"},
               {"machine"},
               {"ticks_per_nop", number(model.ticks_per_nop, 0, 1e6)},
               {"ticks_per_second", number(model.ticks_per_second, 1, 1e11)},
               {"buffers"},
               {"events", [&](const JsonValue& events) { read_events(events, directory, model); },
                kRequired}});
  if (schema != kModelSchema) {
    document["schema"].refuse(json_text(json(schema)), fmt::format("\"{}\"", kModelSchema));
  }
  model.target = read_target(document);
  model.machine = read_machine(document, model.target.arch);
  model.buffers = read_buffers(document);
  return model;
}

Model read_model(const fs::path& path) {
  return parse_model(read_file(path, kMostBytes), path.string(), path.parent_path());
}

}  // namespace skid::synth
