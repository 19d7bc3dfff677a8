// run.json and plan.json: one list of keys for reading and writing.

#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::run {

namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;
using std::chrono::nanoseconds;

constexpr std::uint64_t kMostBytes = std::uint64_t{64} << 20;
constexpr std::size_t kMostElements = 100'000;
/// In the order of State.
constexpr std::array<std::string_view, 3> kStates{"pending", "finished", "refused"};

/// The name of a file in the run directory.
struct FileName {
  std::string& name;
};

/// A value that may be absent; an empty text is written as null.
template <typename T>
struct MayBeAbsent {
  T& value;
};
template <typename T>
MayBeAbsent(T&) -> MayBeAbsent<T>;

/// Of integers.
struct Range {
  int least = 0, most = std::numeric_limits<int>::max();
};

/// The keys of a struct that are the names of its members.
#define LIST_KEY(member) keys(#member, value.member);
#define LIST_KEYS(Type, ...)                                         \
  template <typename Keys>                                           \
  void list_keys(Keys& keys, Type& value) {                          \
    NLOHMANN_JSON_EXPAND(NLOHMANN_JSON_PASTE(LIST_KEY, __VA_ARGS__)) \
  }

LIST_KEYS(machine::CpuIdentity, arch, vendor, model_name, family, model, stepping, microcode,
          hypervisor)

LIST_KEYS(machine::CorePmu, name, type, max_precise, cpus)

LIST_KEYS(machine::DataCache, level, bytes)

/// The data caches of one CPU.
struct CachesOfCpu {
  int cpu = 0;
  std::vector<machine::DataCache> caches;
};

LIST_KEYS(CachesOfCpu, cpu, caches)

template <typename Keys>
void list_keys(Keys& keys, machine::Machine& machine) {
  keys("cpu", machine.cpu);
  keys("kernel", machine.kernel);
  keys("hostname", machine.hostname);
  keys("core_pmus", machine.core_pmus);
  keys("other_pmus", MayBeAbsent{machine.other_pmus});
  keys("perf_event_paranoid", machine.perf_event_paranoid, Range{.least = -1});
  keys("perf_event_max_sample_rate", machine.perf_event_max_sample_rate);
  keys("smt_active", machine.smt_active);
  keys("allowed_cpus", machine.allowed_cpus);
  keys("data_caches", MayBeAbsent{machine.data_caches});
}

LIST_KEYS(machine::PerfTool, path, version, major, minor)

template <typename Keys>
void list_keys(Keys& keys, RunTarget& target) {
  keys("trigger", target.trigger);
  keys("file", FileName{target.file});
  keys("build_id", target.build_id);
}

LIST_KEYS(AddressRange, begin, end)

template <typename Keys>
void list_keys(Keys& keys, runway::TargetReport& report) {
  keys("iterations", report.iterations);
  keys("elapsed_seconds", report.elapsed_seconds);
  keys("ticks_per_nop", report.ticks_per_nop);
  keys("ticks_per_second", report.ticks_per_second);
  keys("cpu", report.cpu, Range{.least = -1});
  keys("chase", report.chase);
  keys("warnings", report.warnings);
}

template <typename Keys>
void list_keys(Keys& keys, PlannedMeasurement& measurement) {
  keys("event", measurement.event);
  keys("requested", measurement.requested);
  keys("perf_event", measurement.perf_event);
  keys("witness", MayBeAbsent{measurement.cross_check});
  keys("data_addresses", MayBeAbsent{measurement.data_addresses});
  keys("weights", MayBeAbsent{measurement.weights});
  keys("level", measurement.level, Range{.most = machine::kHighestLevel});
  keys("repeat", measurement.repeat, Range{.least = 1});
  keys("period", measurement.period);
  keys("frequency", measurement.extras.frequency);
  keys("call_graph", MayBeAbsent{measurement.extras.call_graph});
  keys("branch_filter", MayBeAbsent{measurement.extras.branch_filter});
  keys("per_cpu", MayBeAbsent{measurement.extras.per_cpu});
  keys("cpu", measurement.cpu);
  keys("trigger", measurement.trigger);
  keys("length", measurement.length);
  keys("samples", MayBeAbsent{measurement.samples});
  keys("file", FileName{measurement.file});
  keys("state", measurement.state);
  keys("reason", measurement.reason);
  keys("command", measurement.command);
  keys("started", measurement.started);
  keys("ended", measurement.ended);
  keys("target_report", measurement.target_report);
  keys("messages", measurement.messages);
}

LIST_KEYS(Run, tool_version, command_line, synthetic, machine, perf, cpu, samples, duration_seconds,
          started, ended, targets, measurements, notes)

template <typename T>
constexpr bool kIsOptional = false;
template <typename T>
constexpr bool kIsOptional<std::optional<T>> = true;

/// Takes the values of an object, checked for types and bounds.
class Reader {
 public:
  explicit Reader(const JsonValue& object) : object_(object) {}

  template <typename T>
  void operator()(std::string_view key, T&& to, Range range = {}) {
    if constexpr (kIsOptional<std::remove_cvref_t<T>>) {
      if (const auto value = object_.find(key)) take(*value, to.emplace(), range);
    } else {
      take(object_[key], to, range);
    }
  }
  template <typename T>
  void operator()(std::string_view key, MayBeAbsent<T> to) {
    if (const auto value = object_.find(key)) take(*value, to.value, {});
  }

 private:
  static void take(const JsonValue& value, std::string& to, Range) { to = value.string(); }
  static void take(const JsonValue& value, fs::path& to, Range) { to = value.string(); }
  static void take(const JsonValue& value, bool& to, Range) { to = value.boolean(); }
  static void take(const JsonValue& value, double& to, Range) { to = value.non_negative_number(); }
  static void take(const JsonValue& value, std::uint64_t& to, Range) {
    to = value.unsigned_integer();
  }
  static void take(const JsonValue& value, std::uint32_t& to, Range) {
    to = static_cast<std::uint32_t>(
        value.unsigned_integer(std::numeric_limits<std::uint32_t>::max()));
  }
  static void take(const JsonValue& value, int& to, Range range) {
    to = value.integer(range.least, range.most);
  }
  static void take(const JsonValue& value, FileName& to, Range) {
    to.name = value.string();
    const fs::path path(to.name);
    bool inside = !to.name.empty() && path.is_relative() && path.has_filename() &&
                  to.name.find('\0') == std::string::npos;
    for (const fs::path& part : path) inside = inside && part != "..";
    if (!inside) {
      value.refuse(json_text(json(to.name)), "the name of a file in the directory of the run");
    }
  }
  static void take(const JsonValue& value, State& to, Range) {
    const std::string name = value.string();
    const auto found = std::find(kStates.begin(), kStates.end(), name);
    if (found == kStates.end()) {
      value.refuse(json_text(json(name)), "\"pending\", \"finished\" or \"refused\"");
    }
    to = static_cast<State>(found - kStates.begin());
  }
  static void take(const JsonValue& value, runway::RunLength& to, Range) {
    const auto iterations = value.find("iterations");
    const auto duration = value.find("nanoseconds");
    if (iterations.has_value() == duration.has_value()) {
      value.refuse(iterations ? "both lengths" : "neither length",
                   "one of \"iterations\" and \"nanoseconds\"");
    }
    if (iterations) {
      to = iterations->unsigned_integer();
    } else {
      to = nanoseconds(duration->integer64(0, std::numeric_limits<std::int64_t>::max()));
    }
  }
  static void take(const JsonValue& value, std::map<int, std::vector<machine::DataCache>>& to,
                   Range range) {
    std::vector<CachesOfCpu> all;
    take(value, all, range);
    for (CachesOfCpu& of : all) to.insert_or_assign(of.cpu, std::move(of.caches));
  }
  template <typename T>
  static void take(const JsonValue& value, std::vector<T>& to, Range range) {
    for (const JsonValue& element : value.elements(kMostElements)) {
      take(element, to.emplace_back(), range);
    }
  }
  template <typename T>
  static void take(const JsonValue& value, T& to, Range) {
    Reader keys(value);
    list_keys(keys, to);
  }

  const JsonValue& object_;
};

class Writer {
 public:
  template <typename T>
  void operator()(const char* key, T&& value, Range = {}) {
    object_[key] = json_of(value);
  }
  ordered_json take() { return std::move(object_); }

 private:
  static ordered_json json_of(fs::path& path) { return path.string(); }
  static ordered_json json_of(FileName& file) { return file.name; }
  static ordered_json json_of(State state) { return kStates.at(static_cast<std::size_t>(state)); }
  static ordered_json json_of(runway::RunLength& length) {
    if (const auto* duration = std::get_if<nanoseconds>(&length)) {
      return {{"nanoseconds", static_cast<std::uint64_t>(duration->count())}};
    }
    return {{"iterations", std::get<std::uint64_t>(length)}};
  }
  static ordered_json json_of(std::map<int, std::vector<machine::DataCache>>& caches) {
    ordered_json list = ordered_json::array();
    for (auto& [cpu, of_cpu] : caches) {
      CachesOfCpu of{cpu, of_cpu};
      list.push_back(json_of(of));
    }
    return list;
  }
  template <typename T>
  static ordered_json json_of(MayBeAbsent<T>& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      if (value.value.empty()) return {};
    }
    return json_of(value.value);
  }
  template <typename T>
  static ordered_json json_of(std::optional<T>& value) {
    return value ? json_of(*value) : ordered_json();
  }
  template <typename T>
  static ordered_json json_of(std::vector<T>& values) {
    ordered_json list = ordered_json::array();
    for (T& value : values) list.push_back(json_of(value));
    return list;
  }
  template <typename T>
  static ordered_json json_of(T& value) {
    if constexpr (std::is_arithmetic_v<T> || std::is_same_v<T, std::string>) {
      return value;
    } else {
      Writer keys;
      list_keys(keys, value);
      return keys.take();
    }
  }

  ordered_json object_ = ordered_json::object();
};

}  // namespace

Run read_description(const fs::path& path) {
  const json parsed =
      parse_json(read_file(path, kMostBytes), path.string(), "the description of a run");
  const JsonValue document(parsed, path.string());
  const JsonValue schema = document["schema"];
  if (schema.string() != kSchema) {
    schema.refuse(json_text(json(schema.string())), fmt::format("\"{}\"", kSchema),
                  "read it with the skidscan that wrote it");
  }
  Run run;
  Reader keys(document);
  list_keys(keys, run);
  // Older runs have one number for all.
  for (PlannedMeasurement& measurement : run.measurements) {
    if (measurement.samples == 0) measurement.samples = run.samples;
  }
  // One file for two measurements would count its samples twice.
  std::set<std::string> files;
  for (std::size_t i = 0; i < run.measurements.size(); ++i) {
    if (files.insert(run.measurements[i].file).second) continue;
    const JsonValue file = document["measurements"].elements(kMostElements)[i]["file"];
    file.refuse(json_text(json(file.string())), "a file of its own");
  }
  return run;
}

std::string description_of(const Run& run) {
  Writer keys;
  keys("schema", std::string(kSchema));
  Run written = run;
  list_keys(keys, written);
  return json_text(keys.take(), 2) + '\n';
}

void write_run(const Run& run, const fs::path& directory) {
  write_file_atomically(directory / kFileName, description_of(run));
}

}  // namespace skid::run
