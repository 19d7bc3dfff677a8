#include "src/perfdata/format.h"
#include "src/perftool/event_syntax.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"
#include "src/synth/model_parts.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
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
constexpr int kHighestLevel = 3;

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

std::string text_or(const JsonValue& object, std::string_view name, std::string otherwise) {
  const auto value = object.find(name);
  return value ? text_of(*value) : otherwise;
}

double share_or_0(const JsonValue& object, std::string_view name) {
  const auto value = object.find(name);
  return value ? value->number(0, 1) : 0;
}

std::uint64_t integer_or(const JsonValue& object, std::string_view name, std::uint64_t least,
                         std::uint64_t most, std::uint64_t otherwise) {
  const auto value = object.find(name);
  if (!value) return otherwise;
  const std::uint64_t number = value->unsigned_integer(most);
  if (number < least) value->refuse(fmt::format("{}", number), fmt::format("at least {}", least));
  return number;
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

/// The member of `names` that a string names.
template <std::size_t N>
std::size_t choice(const JsonValue& value, const std::array<std::string_view, N>& names) {
  const std::string name = value.string();
  const auto found = std::find(names.begin(), names.end(), name);
  if (found == names.end()) {
    value.refuse(json_text(json(name)), fmt::format("{}", fmt::join(names, ", ")));
  }
  return static_cast<std::size_t>(found - names.begin());
}

class Reader {
 public:
  Reader(const JsonValue& document, fs::path directory)
      : document_(document), directory_(std::move(directory)) {}

  Model read() {
    document_.allow_only({"schema", "name", "description", "source", "seed", "target", "machine",
                          "ticks_per_nop", "ticks_per_second", "buffers", "events"});
    const JsonValue schema = document_["schema"];
    if (schema.string() != kModelSchema) {
      schema.refuse(json_text(json(schema.string())), fmt::format("\"{}\"", kModelSchema));
    }
    Model model;
    model.name = text_of(document_["name"]);
    model.description = text_or(document_, "description", "");
    (void)text_or(document_, "source", "");  // for people who read the model
    model.seed =
        integer_or(document_, "seed", 0, std::numeric_limits<std::uint64_t>::max(), model.seed);
    model.target = read_target();
    model.machine = read_machine(document_, model.target.arch);
    if (const auto ticks = document_.find("ticks_per_nop")) {
      model.ticks_per_nop = ticks->number(0, 1e6);
    }
    if (const auto ticks = document_.find("ticks_per_second")) {
      model.ticks_per_second = ticks->number(1, 1e11);
    }
    model.buffers = read_buffers(document_);
    read_events(model);
    return model;
  }

 private:
  runway::Specification read_target() const {
    const auto object = document_.find("target");
    const Arch usual = arch_of_machine(document_).value_or(own_arch());
    if (!object) return runway::default_specification(usual);
    object->allow_only({"arch", "trigger", "nops", "nop_bytes", "lead_in_nops", "access_bytes",
                        "triggers", "gaps", "working_set_bytes"});
    constexpr std::uint64_t kWord = std::numeric_limits<std::uint32_t>::max();
    try {
      const auto arch = object->find("arch");
      const auto trigger = object->find("trigger");
      runway::Specification target = runway::default_specification(
          arch ? runway::arch_from(arch->string()) : usual,
          trigger ? runway::trigger_kind_from(trigger->string()) : runway::TriggerKind::load);
      const auto word = [&](std::string_view name, std::uint32_t otherwise) {
        return static_cast<std::uint32_t>(integer_or(*object, name, 0, kWord, otherwise));
      };
      target.nops = word("nops", target.nops);
      target.nop_bytes = word("nop_bytes", target.nop_bytes);
      target.lead_in_nops = word("lead_in_nops", target.lead_in_nops);
      target.access_bytes = word("access_bytes", target.access_bytes);
      target.working_set_bytes = integer_or(*object, "working_set_bytes", 0, std::uint64_t{1} << 50,
                                            target.working_set_bytes);
      target.gaps = read_gaps(*object, target.nops);
      runway::check(target);
      return target;
    } catch (const UsageError& error) {
      object->refuse(error.what(), {});
    }
  }

  static std::vector<std::uint32_t> read_gaps(const JsonValue& object, std::uint32_t nops) {
    std::optional<std::size_t> triggers;
    if (const auto number = object.find("triggers")) {
      triggers = static_cast<std::size_t>(number->unsigned_integer(runway::kMostTriggers));
    }
    std::vector<std::uint32_t> gaps;
    if (const auto list = object.find("gaps")) {
      for (const JsonValue& gap : list->elements(runway::kMostTriggers)) {
        gaps.push_back(static_cast<std::uint32_t>(
            gap.unsigned_integer(std::numeric_limits<std::uint32_t>::max())));
      }
    }
    return runway::gaps_for(triggers, gaps, nops);
  }

  static constexpr Arch own_arch() {
#if defined(__aarch64__)
    return Arch::aarch64;
#else
    return Arch::x86_64;
#endif
  }

  void read_events(Model& model) const {
    const JsonValue list = document_["events"];
    std::set<std::pair<std::string, int>> seen;
    std::size_t attributes = 0;
    for (const JsonValue& element : list.elements(kMostAttributes)) {
      EventModel event = read_event(element);
      for (const LevelModel& level : event.levels) {
        if (!seen.insert({event.name + ':' + event.modifiers, level.level}).second) {
          element.refuse(fmt::format("level {} of {} for the second time", level.level, event.name),
                         "each once");
        }
      }
      attributes += event.levels.size();
      model.events.push_back(std::move(event));
    }
    if (attributes == 0 || attributes > kMostAttributes) {
      list.refuse(fmt::format("{} events and levels", attributes),
                  fmt::format("1 to {}", kMostAttributes));
    }
  }

  EventModel read_event(const JsonValue& object) const {
    object.allow_only({"event", "type", "config", "recorded", "period", "levels"});
    const JsonValue name = object["event"];
    const std::string text = text_of(name);
    if (text.empty() || text.find_first_of(",{}") != std::string::npos) {
      name.refuse(json_text(json(text)), "the name of one event");
    }
    auto [plain, modifiers] = perftool::split_event_name(text);
    if (modifiers.find_first_of("pP") != std::string::npos) {
      name.refuse(json_text(json(text)), "an event without its level, which \"level\" names");
    }
    EventModel event;
    event.name = plain;
    event.modifiers = modifiers;
    const auto recorded = object.find("recorded");
    if (recorded) recorded->allow_only({"event", "type", "config"});
    const JsonValue& described = recorded ? *recorded : object;
    event.recorded = read_code(described, recorded ? text_of((*recorded)["event"]) : plain);
    constexpr std::uint64_t kLongestPeriod = std::uint64_t{1} << 48;
    const JsonValue period = object["period"];
    event.period = period.unsigned_integer(kLongestPeriod);
    if (event.period == 0) period.refuse("0", "at least 1");
    const JsonValue levels = object["levels"];
    for (const JsonValue& level : levels.elements(kHighestLevel + 1)) {
      event.levels.push_back(read_level(level));
    }
    if (event.levels.empty()) levels.refuse("no level", "at least one");
    return event;
  }

  /// What perf makes of the generic names, and of raw codes.
  static std::optional<EventCode> known_code(const std::string& name) {
    using namespace perfdata;
    static const std::array<EventCode, 13> codes{{
        {"access", PERF_TYPE_BREAKPOINT, 0},
        {"execute", PERF_TYPE_BREAKPOINT, 0},
        {"cycles", PERF_TYPE_HARDWARE, 0},
        {"instructions", PERF_TYPE_HARDWARE, 1},
        {"cache-references", PERF_TYPE_HARDWARE, 2},
        {"cache-misses", PERF_TYPE_HARDWARE, 3},
        {"branches", PERF_TYPE_HARDWARE, 4},
        {"branch-instructions", PERF_TYPE_HARDWARE, 4},
        {"branch-misses", PERF_TYPE_HARDWARE, 5},
        {"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
        {"task-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK},
        {"faults", PERF_TYPE_SOFTWARE, 2},
        {"page-faults", PERF_TYPE_SOFTWARE, 2},
    }};
    for (const EventCode& code : codes) {
      if (code.name == name) return code;
    }
    constexpr int kHexadecimal = 16;
    std::uint64_t config = 0;
    const char* const end = name.data() + name.size();
    if (name.size() < 2 || name.front() != 'r') return std::nullopt;
    const auto [stopped, error] = std::from_chars(name.data() + 1, end, config, kHexadecimal);
    if (error != std::errc{} || stopped != end) return std::nullopt;
    return EventCode{name, PERF_TYPE_RAW, config};
  }

  static EventCode read_code(const JsonValue& object, const std::string& name) {
    const auto type = object.find("type");
    const auto config = object.find("config");
    const auto known = known_code(name);
    if (!type && !config) {
      if (known) return *known;
      object.refuse(
          fmt::format("no \"type\" and \"config\" of the event {}", json_text(json(name))),
          "both, but for access, execute, generic names of perf and raw codes (r20d1)");
    }
    if (known && (name == "access" || name == "execute")) {
      object.refuse(fmt::format("\"type\" or \"config\" of {}", name),
                    "neither: the target defines them");
    }
    EventCode code{name, perfdata::PERF_TYPE_RAW, 0};
    if (type && type->is_string()) {
      static constexpr std::array<std::string_view, 5> kTypes{"hardware", "software", "tracepoint",
                                                              "hw_cache", "raw"};
      code.type = static_cast<std::uint32_t>(choice(*type, kTypes));
    } else {
      code.type = static_cast<std::uint32_t>(
          object["type"].unsigned_integer(std::numeric_limits<std::int32_t>::max()));
      if (code.type == perfdata::PERF_TYPE_BREAKPOINT) {
        object["type"].refuse("a breakpoint", "the event access or execute");
      }
    }
    code.config = read_config(object["config"]);
    return code;
  }

  static std::uint64_t read_config(const JsonValue& value) {
    if (!value.is_string()) return value.unsigned_integer();
    const std::string text = value.string();
    constexpr int kHexadecimal = 16;
    std::uint64_t config = 0;
    const char* const end = text.data() + text.size();
    if (text.starts_with("0x")) {
      const auto [stopped, error] = std::from_chars(text.data() + 2, end, config, kHexadecimal);
      if (error == std::errc{} && stopped == end) return config;
    }
    value.refuse(json_text(json(text)), "a number, or 0x and hexadecimal digits");
  }

  LevelModel read_level(const JsonValue& object) const {
    object.allow_only({"level", "precise_ip", "samples", "hits", "offsets", "run_effect",
                       "elsewhere", "exact_ip", "triggers", "lost", "lost_samples", "throttled"});
    LevelModel level;
    level.level = object["level"].integer(0, kHighestLevel);
    level.precise_ip = level.level;
    if (const auto recorded = object.find("precise_ip")) {
      level.precise_ip = recorded->integer(0, kHighestLevel);
    }
    level.hits = share_or_0(object, "hits");
    level.offsets = read_distribution(object["offsets"], 0);
    if (const auto effect = object.find("run_effect")) level.run_effect = read_run_effect(*effect);
    if (const auto elsewhere = object.find("elsewhere")) {
      level.elsewhere = read_elsewhere(*elsewhere);
    }
    if (const auto exact = object.find("exact_ip")) level.exact = read_exact(*exact);
    if (const auto triggers = object.find("triggers")) {
      level.triggers = shares_of(*triggers, runway::kMostTriggers);
    }
    level.lost = integer_or(object, "lost", 0, kMostLost, 0);
    level.lost_samples = integer_or(object, "lost_samples", 0, kMostLost, 0);
    level.throttled = integer_or(object, "throttled", 0, kMostThrottled, 0);
    read_samples(object, level);
    return level;
  }

  static void read_samples(const JsonValue& object, LevelModel& level) {
    if (const auto samples = object.find("samples")) {
      level.samples = samples->unsigned_integer(kMostSamples);
      return;
    }
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
  }

  static RunEffect read_run_effect(const JsonValue& object) {
    object.allow_only({"hits", "offsets"});
    constexpr double kMostLogits = 10, kMostInstructions = 10'000;
    RunEffect effect;
    if (const auto hits = object.find("hits")) effect.hits = hits->number(0, kMostLogits);
    if (const auto offsets = object.find("offsets")) {
      effect.offsets = offsets->number(0, kMostInstructions);
    }
    return effect;
  }

  static Elsewhere read_elsewhere(const JsonValue& object) {
    object.allow_only({"kernel", "foreign", "unmapped", "loop", "other_trigger"});
    Elsewhere elsewhere;
    elsewhere.kernel = share_or_0(object, "kernel");
    elsewhere.foreign = share_or_0(object, "foreign");
    elsewhere.unmapped = share_or_0(object, "unmapped");
    elsewhere.loop = share_or_0(object, "loop");
    elsewhere.other_trigger = share_or_0(object, "other_trigger");
    if (elsewhere.sum() > 1 + kSumTolerance) {
      object.refuse(fmt::format("shares that add up to {}", elsewhere.sum()), "at most 1");
    }
    return elsewhere;
  }

  static ExactShares read_exact(const JsonValue& value) {
    if (value.is_number()) {
      const double share = value.number(0, 1);
      return {share, share, share};
    }
    value.allow_only({"hits", "misses", "elsewhere"});
    return {share_or_0(value, "hits"), share_or_0(value, "misses"), share_or_0(value, "elsewhere")};
  }

  Distribution read_distribution(const JsonValue& object, int depth) const {
    static constexpr std::array<std::string_view, 5> kKinds{"constant", "uniform", "empirical",
                                                            "normal_cycles", "mixture"};
    switch (choice(object["kind"], kKinds)) {
      case 0:
        object.allow_only({"kind", "offset"});
        return {Constant{offset_of(object["offset"])}};
      case 1:
        return {read_uniform(object)};
      case 2:
        return {read_empirical(object)};
      case 3:
        return {read_normal(object)};
      default:
        return {read_mixture(object, depth)};
    }
  }

  static Uniform read_uniform(const JsonValue& object) {
    object.allow_only({"kind", "lowest", "highest"});
    const Uniform uniform{offset_of(object["lowest"]), offset_of(object["highest"])};
    if (uniform.highest < uniform.lowest) {
      object["highest"].refuse(fmt::format("{}", uniform.highest),
                               fmt::format("at least \"lowest\", {}", uniform.lowest));
    }
    return uniform;
  }

  static NormalCycles read_normal(const JsonValue& object) {
    object.allow_only({"kind", "mean", "stddev", "cycles_per_nop", "retire_group"});
    constexpr double kMostCycles = 1e9;
    NormalCycles normal;
    normal.mean = object["mean"].number(-kMostCycles, kMostCycles);
    normal.stddev = object["stddev"].number(0, kMostCycles);
    if (const auto speed = object.find("cycles_per_nop")) {
      normal.cycles_per_nop = speed->number(0.01, 1e6);
    }
    constexpr std::uint64_t kLargestGroup = 64;
    normal.retire_group = integer_or(object, "retire_group", 1, kLargestGroup, 1);
    return normal;
  }

  Empirical read_empirical(const JsonValue& object) const {
    object.allow_only({"kind", "csv", "where", "counts"});
    const auto csv = object.find("csv");
    const auto counts = object.find("counts");
    if (csv.has_value() == counts.has_value()) {
      object.refuse(csv ? "both tables" : "no table", "one of \"csv\" and \"counts\"");
    }
    if (csv) return read_csv(object, *csv);
    return read_counts(*counts);
  }

  Empirical read_csv(const JsonValue& object, const JsonValue& csv) const {
    std::map<std::string, std::string> where;
    if (const auto conditions = object.find("where")) {
      for (const JsonValue& condition : conditions->elements(kMostParts)) {
        condition.allow_only({"column", "value"});
        where.emplace(text_of(condition["column"]), text_of(condition["value"]));
      }
    }
    return read_offset_table(directory_ / text_of(csv), where);
  }

  static Empirical read_counts(const JsonValue& value) {
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
      value.refuse(fmt::format("{} offsets", table.span()),
                   fmt::format("at most {}", kWidestTable));
    }
    return table;
  }

  Mixture read_mixture(const JsonValue& object, int depth) const {
    object.allow_only({"kind", "shares", "parts"});
    if (depth >= kDeepestMixture) {
      object.refuse("a mixture in so many others", fmt::format("at most {}", kDeepestMixture));
    }
    Mixture mixture;
    mixture.shares = shares_of(object["shares"], kMostParts);
    const JsonValue parts = object["parts"];
    for (const JsonValue& part : parts.elements(kMostParts)) {
      mixture.parts.push_back(read_distribution(part, depth + 1));
    }
    if (mixture.parts.size() != mixture.shares.size()) {
      parts.refuse(fmt::format("{} parts", mixture.parts.size()),
                   fmt::format("as many as \"shares\", {}", mixture.shares.size()));
    }
    return mixture;
  }

  const JsonValue& document_;
  fs::path directory_;
};

}  // namespace

std::optional<Arch> arch_of_vendor(std::string_view vendor) {
  if (vendor.starts_with("0x")) return Arch::aarch64;  // the implementer of MIDR_EL1
  const bool is_x86 =
      vendor == "GenuineIntel" || vendor == "AuthenticAMD" || vendor == "HygonGenuine";
  return is_x86 ? std::optional(Arch::x86_64) : std::nullopt;
}

std::optional<Arch> arch_of_machine(const JsonValue& document) {
  const auto object = document.find("machine");
  return object ? arch_of_vendor(text_or(*object, "vendor", "")) : std::nullopt;
}

machine::Machine read_machine(const JsonValue& document, Arch arch) {
  machine::Machine machine;
  machine.cpu.arch = runway::name_of(arch);
  machine.cpu.model_name = "a model, no CPU";
  machine.kernel = "synthetic";
  machine.hostname = "synthetic";
  const auto object = document.find("machine");
  if (!object) return machine;
  object->allow_only(
      {"vendor", "model_name", "family", "model", "stepping", "microcode", "hypervisor", "kernel"});
  machine.cpu.vendor = text_or(*object, "vendor", "");
  const auto of_vendor = arch_of_vendor(machine.cpu.vendor);
  if (of_vendor && *of_vendor != arch) {
    (*object)["vendor"].refuse(
        json_text(json(machine.cpu.vendor)),
        fmt::format("a vendor of {} CPUs, as the code is", runway::name_of(arch)));
  }
  machine.cpu.model_name = text_or(*object, "model_name", machine.cpu.model_name);
  machine.cpu.microcode = text_or(*object, "microcode", "");
  machine.kernel = text_or(*object, "kernel", machine.kernel);
  if (const auto name = object->find("hypervisor")) machine.cpu.hypervisor = text_of(*name);
  if (const auto number = object->find("family")) machine.cpu.family = number->integer(0);
  if (const auto number = object->find("model")) machine.cpu.model = number->integer(0);
  if (const auto number = object->find("stepping")) machine.cpu.stepping = number->integer(0);
  return machine;
}

Buffers read_buffers(const JsonValue& document) {
  Buffers buffers;
  const auto object = document.find("buffers");
  if (!object) return buffers;
  object->allow_only({"cpus", "round_samples", "finished_round"});
  buffers.cpus = static_cast<unsigned>(integer_or(*object, "cpus", 1, kMostCpus, buffers.cpus));
  buffers.round_samples =
      integer_or(*object, "round_samples", 1, kMostSamples, buffers.round_samples);
  if (const auto marked = object->find("finished_round")) {
    buffers.finished_round = marked->boolean();
  }
  return buffers;
}

Model parse_model(std::string_view text, const std::string& name, const fs::path& directory) {
  const json document = parse_json(text, name, "a model of synthetic recordings");
  return Reader(JsonValue(document, name), directory).read();
}

Model read_model(const fs::path& path) {
  return parse_model(read_file(path, kMostBytes), path.string(), path.parent_path());
}

}  // namespace skid::synth
