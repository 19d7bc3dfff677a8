#include "src/events/intel_table.h"

#include "src/events/cpu.h"
#include "src/events/perf_names.h"
#include "src/machine/cpu_identity.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_value.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <limits>
#include <optional>
#include <set>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <zstd.h>

namespace skid::events {
namespace {

/// Family, model and stepping: of a CPU, or of the CPUs that a file is for.
struct Model {
  int family = 0, model = 0;
  std::optional<int> stepping;
};

/// A line of models.tsv.
struct ModelsLine {
  std::string_view file, version, core, models;
};

std::vector<ModelsLine> models_lines() {
  std::vector<ModelsLine> lines;
  std::string_view text = intel_models();
  take_until('\n', text);  // the names of the columns
  while (!text.empty()) {
    std::string_view line = take_until('\n', text);
    ModelsLine& read = lines.emplace_back();
    for (std::string_view* column : {&read.file, &read.version, &read.core, &read.models}) {
      *column = take_until('\t', line);
    }
  }
  return lines;
}

/// Whether "6-55-[01234]" is a CPU's: the family is decimal ("18" of Nova Lake), the others are
/// hexadecimal.
bool is_model(std::string_view pattern, const Model& cpu) {
  const auto family = whole_number<int>(take_until('-', pattern));
  const auto model = whole_number<int>(take_until('-', pattern), 16);
  if (family != cpu.family || model != cpu.model) return false;
  return pattern.empty() || (cpu.stepping && *cpu.stepping < 16 &&
                             contains(lower_case(pattern), fmt::format("{:x}", *cpu.stepping)));
}

bool is_for(const ModelsLine& line, const Model& cpu) {
  for (std::string_view rest = line.models; !rest.empty();) {
    if (is_model(take_until(' ', rest), cpu)) return true;
  }
  return false;
}

/// "alderlake" of "alderlake_goldencove"; empty for the files of CPUs with one type of core.
std::string_view hybrid_cpu(std::string_view file) {
  const std::size_t end = file.find('_');
  return end == file.npos ? std::string_view() : file.substr(0, end);
}

std::string_view pmu_of(const ModelsLine& line) {
  if (hybrid_cpu(line.file).empty()) return "cpu";
  if (line.core == "Core" || line.file == "alderlake_goldencove") return "cpu_core";
  return line.core == "LowPower_Atom" ? "cpu_lowpower" : "cpu_atom";
}

template <typename Wanted>
std::vector<IntelFile> files_if(Wanted wanted) {
  std::vector<IntelFile> files;
  for (const ModelsLine& line : models_lines()) {
    if (!wanted(line)) continue;
    files.push_back({std::string(line.file), std::string(line.version), std::string(pmu_of(line))});
  }
  // The performance cores first.
  std::stable_partition(files.begin(), files.end(),
                        [](const IntelFile& file) { return file.pmu == "cpu_core"; });
  return files;
}

std::vector<IntelFile> files_of(const Model& cpu) {
  auto files = files_if([&cpu](const ModelsLine& line) { return is_for(line, cpu); });
  // A CPU of efficient cores alone (Alder Lake-N) is not hybrid.
  if (files.size() == 1) files.front().pmu = "cpu";
  return files;
}

/// Parses "6-8F", "6-143", "6-55-4", "GenuineIntel-6-8F"; nullopt for other texts.
std::optional<std::vector<IntelFile>> files_of_model(std::string_view text) {
  constexpr std::string_view kVendor = "genuineintel-";
  if (lower_case(text).starts_with(kVendor)) text.remove_prefix(kVendor.size());
  std::array<std::string_view, 3> parts;
  for (std::string_view& part : parts) part = take_until('-', text);
  const auto family = whole_number<int>(parts[0]);
  const auto hexadecimal = whole_number<int>(parts[1], 16);
  const auto stepping = whole_number<int>(parts[2], 16);
  if (!family || !hexadecimal || !text.empty() || (!parts[2].empty() && !stepping)) {
    return std::nullopt;
  }
  auto files = files_of({*family, *hexadecimal, stepping});
  if (files.empty() && !stepping && !files_of({*family, *hexadecimal, 0}).empty()) {
    throw ValueError("CPU {0}-{1}: its events depend on the stepping; expected {0}-{1}-STEPPING",
                     parts[0], parts[1]);
  }
  const auto decimal = whole_number<int>(parts[1]);
  if (files.empty() && decimal) files = files_of({*family, *decimal, stepping});
  return files;
}

/// The lines of a file in events.tsv.
std::string lines_of(std::string_view file) {
  std::string text(kIntelEventsBytes, '\0');
  const std::string_view compressed = compressed_intel_events();
  const std::size_t size =
      ZSTD_decompress(text.data(), text.size(), compressed.data(), compressed.size());
  if (ZSTD_isError(size) != 0 || size != text.size()) {
    throw Error("the table of Intel's events in this program is damaged; install it again");
  }
  const std::string first = fmt::format("\n{}\t", file);
  const std::size_t begin = text.find(first);
  if (begin == text.npos) return {};
  const std::size_t end = text.find('\n', text.rfind(first) + 1);
  return text.substr(begin + 1, end - begin);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = std::min(text.find(separator), text.size());
    parts.push_back(trimmed(text.substr(0, end)));
    if (end == text.size()) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The counters of a PDISTCounter: "0,1"; 32 is fixed counter 0. None for "NA"; nullopt for an
/// empty text and for what is no list of counters.
std::optional<std::vector<int>> pdist_counters(std::string_view text) {
  if (trimmed(text).empty()) return std::nullopt;
  std::vector<int> counters;
  if (text == "NA") return counters;
  for (const std::string_view part : split(text, ',')) {
    const auto counter = whole_number<int>(part);
    if (!counter) return std::nullopt;
    counters.push_back(*counter);
  }
  return counters;
}

/// The ids of "SKL091, SKL044"; none for "null" and "0".
std::vector<std::string> errata_ids(std::string_view text) {
  std::vector<std::string> ids;
  for (const std::string_view id : split(text, ',')) {
    if (!id.empty() && id != "null" && id != "0") ids.emplace_back(id);
  }
  return ids;
}

/// The files of cores before Haswell do not say which records have a data address. Those of load
/// latency do (Intel SDM Vol. 3B, "Load Latency Performance Monitoring Facility").
void note_latency(Event& event) {
  const auto loads = kernel_event(event.core, "mem-loads");
  if (!event.data_la && loads && loads->config == event.config) event.data_la = true;
}

/// A line of events.tsv without its first column.
Event event_of(std::string_view line, const IntelFile& file, const std::string& source) {
  Event event;
  event.name = take_until('\t', line);
  event.core = core_of(file.name);
  event.pmu = file.pmu;
  event.source = source;
  event.config = whole_number<std::uint64_t>(take_until('\t', line), 16).value_or(0);
  std::string_view msr = trimmed(take_until('\t', line));
  take_until('=', msr);
  event.config1 = hexadecimal_number(msr).value_or(0);
  event.precise = take_until('\t', line) != "0";
  event.precise_source = PreciseSource::intel;
  const std::string_view data_la = take_until('\t', line);
  if (!data_la.empty()) event.data_la = data_la == "1";
  note_latency(event);
  event.pdist = pdist_counters(take_until('\t', line));
  take_until('\t', line);  // counters
  event.errata = errata_ids(line);
  return event;
}

namespace fs = std::filesystem;
using nlohmann::json;

// The largest event files of Intel have 1 MiB and 1,000 events, mapfile.csv 200 lines.
constexpr std::uint64_t kMostMapBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kMostFileBytes = std::uint64_t{16} << 20;
constexpr std::size_t kMostEvents = 65536;
constexpr std::size_t kMostFiles = 8;
constexpr std::size_t kMostNameBytes = 256;

/// A line of mapfile.csv about cores.
struct MapLine {
  std::string cpu;      ///< "GenuineIntel-6-55-[01234]"
  std::string version;  ///< "V1.36"
  std::string file;     ///< "SKX/events/skylakex_core.json", without the leading slash
  std::string pmu;      ///< "cpu", on hybrid CPUs "cpu_core" or "cpu_atom"
  std::string name() const { return lower_case(std::string_view(file).substr(0, file.find('/'))); }
};

/// A path that stays below the directory: no empty part, no "..".
bool stays_below(std::string_view path) {
  const auto parts = split(path, '/');
  return std::ranges::all_of(
      parts, [](std::string_view part) { return !part.empty() && part != ".." && part != "."; });
}

std::vector<MapLine> read_map(const fs::path& path) {
  const std::string text = read_file(path, kMostMapBytes);
  std::vector<MapLine> lines;
  std::size_t number = 0;
  for (const std::string_view line : split(text, '\n')) {
    ++number;
    if (line.empty() || number == 1) continue;  // the first line names the columns
    const auto columns = split(line, ',');
    const auto column = [&columns](std::size_t i) {
      return i < columns.size() ? std::string(columns[i]) : std::string();
    };
    const bool hybrid = column(3) == "hybridcore";
    if (column(3) != "core" && !hybrid) continue;
    std::string file = column(2);
    file.erase(0, file.find_first_not_of('/'));
    if (!stays_below(file)) {
      throw InputError({.file = path.string(),
                        .found = fmt::format("'{}' as a file on line {}", column(2), number),
                        .expected = "a path below the directory"});
    }
    const std::string role = lower_case(column(6));
    const std::string pmu = !hybrid          ? "cpu"
                            : role == "core" ? "cpu_core"
                            : role == "atom" ? "cpu_atom"
                                             : "cpu_lowpower";
    lines.push_back({column(0), column(1), std::move(file), pmu});
  }
  return lines;
}

/// Whether "GenuineIntel-6-55-[56789ABCDEF]" is this CPU.
bool is_cpu(std::string_view pattern, const machine::CpuIdentity& cpu) {
  return cpu.family && cpu.model && take_until('-', pattern) == cpu.vendor &&
         is_model(pattern, {*cpu.family, *cpu.model, cpu.stepping});
}

std::string describe(const machine::CpuIdentity& cpu) {
  return fmt::format("{}-{}-{}", cpu.vendor, cpu.family ? fmt::format("{}", *cpu.family) : "?",
                     cpu.model ? fmt::format("{:X}", *cpu.model) : "?");
}

/// Numbers are text there: "0x41", "1"; of a list, "0xB7,0xBB", the first one counts.
std::uint64_t number(const JsonValue& event, std::string_view key, std::uint64_t most) {
  const auto value = event.find(key);
  if (!value) return 0;
  const std::string text = value->string();
  const auto result = decimal_or_hexadecimal<std::uint64_t>(split(text, ',').front());
  if (!result || *result > most) {
    value->refuse(fmt::format("'{}'", text), fmt::format("a number up to 0x{:x}", most));
  }
  return *result;
}

std::optional<bool> precise_flag(const JsonValue& event) {
  // Newer parts have Precise (0 or 1), older ones PEBS (2: only this counter or mode).
  for (const std::string_view key : {"Precise", "PEBS"}) {
    if (event.find(key)) return number(event, key, 2) != 0;
  }
  return std::nullopt;
}

std::string text_of(const JsonValue& event, std::string_view key) {
  const auto value = event.find(key);
  return value ? value->string() : std::string();
}

Event read_event(const JsonValue& value, const std::string& pmu) {
  constexpr std::uint64_t kByte = 0xff;
  Event event;
  event.pmu = pmu;
  event.name = value["EventName"].string();
  if (event.name.empty() || event.name.size() > kMostNameBytes) {
    value["EventName"].refuse(fmt::format("a name of {} bytes", event.name.size()),
                              fmt::format("1 to {}", kMostNameBytes));
  }
  event.description = text_of(value, "PublicDescription");
  if (event.description.empty()) event.description = text_of(value, "BriefDescription");
  event.config = number(value, "EventCode", kByte) | number(value, "UMask", kByte) << 8 |
                 number(value, "EdgeDetect", 1) << 18 | number(value, "AnyThread", 1) << 21 |
                 number(value, "Invert", 1) << 23 | number(value, "CounterMask", kByte) << 24 |
                 number(value, "UMaskExt", kByte) << 40;
  constexpr std::uint64_t kAny = std::numeric_limits<std::uint64_t>::max();
  if (number(value, "MSRIndex", kAny) != 0) event.config1 = number(value, "MSRValue", kAny);
  event.precise = precise_flag(value);
  if (event.precise) event.precise_source = PreciseSource::perfmon;
  event.deprecated = number(value, "Deprecated", 1) != 0;
  if (value.find("Data_LA")) event.data_la = number(value, "Data_LA", 1) != 0;
  event.pdist = pdist_counters(text_of(value, "PDISTCounter"));
  event.errata = errata_ids(text_of(value, "Errata"));
  return event;
}

json parse(const fs::path& path) {
  return parse_json(read_file(path, kMostFileBytes), path.string(), "an event file of Intel",
                    "fetch it again from github.com/intel/perfmon");
}

void read_events(const fs::path& path, const std::string& pmu, std::vector<Event>& events) {
  const json document = parse(path);
  // "skylakex_core.json", "alderlake_goldencove_core.json".
  std::string core = path.stem().string();
  if (constexpr std::string_view kSuffix = "_core"; core.ends_with(kSuffix)) {
    core.resize(core.size() - kSuffix.size());
  }
  const JsonValue root(document, path.string());
  // Older files are the array alone, newer ones have it after a header.
  for (const JsonValue& value :
       (document.is_array() ? root : root["Events"]).elements(kMostEvents)) {
    events.push_back(read_event(value, pmu));
    events.back().core = core_of(core);
    note_latency(events.back());
  }
}

}  // namespace

std::vector<IntelFile> intel_files() {
  return files_if([](const ModelsLine&) { return true; });
}

std::vector<IntelFile> intel_files_of(const machine::CpuIdentity& cpu) {
  if (cpu.vendor != "GenuineIntel" || !cpu.family || !cpu.model) return {};
  return files_of({*cpu.family, *cpu.model, cpu.stepping});
}

std::vector<IntelFile> intel_files_of(std::string_view cpu) {
  const std::string_view of_cpu = take_until('/', cpu);
  const std::string_view pmu = cpu;
  const CpuNames* names = find_cpu(of_cpu);
  const std::string_view wanted = names != nullptr ? names->intel : of_cpu;
  if (wanted.empty()) return {};
  auto files = files_of_model(wanted);
  if (!files && names != nullptr) {
    files = files_if([&](const ModelsLine& line) {
      return line.file == wanted || hybrid_cpu(line.file) == wanted;
    });
  }
  if (!files) return {};
  if (!pmu.empty()) {
    std::erase_if(*files, [pmu](const IntelFile& file) { return file.pmu != pmu; });
  }
  return *files;
}

std::vector<Event> intel_events(const IntelFile& file) {
  const std::string source = fmt::format("Intel's event file {} {}", file.name, file.version);
  const std::string text = lines_of(file.name);
  std::vector<Event> events;
  events.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')));
  for (std::string_view rest = text; !rest.empty();) {
    std::string_view line = take_until('\n', rest);
    take_until('\t', line);  // the file
    events.push_back(event_of(line, file, source));
  }
  return events;
}

PerfmonEvents read_perfmon(const fs::path& directory, std::string_view cpu,
                           const machine::CpuIdentity& identity) {
  const fs::path map = directory / "mapfile.csv";
  const std::vector<MapLine> lines = read_map(map);
  PerfmonEvents result;
  std::set<std::pair<std::string, std::string>> files;
  std::set<std::string> names;
  for (const MapLine& line : lines) {
    names.insert(line.name());
    const bool wanted =
        cpu.empty() ? is_cpu(line.cpu, identity)
                    : lower_case(cpu) == line.name() || lower_case(cpu) == lower_case(line.cpu);
    if (!wanted) continue;
    result.name = line.name();
    result.version = line.version;
    files.emplace(line.file, line.pmu);
  }
  if (files.empty()) {
    throw Error("{}: has no core events for {}; it has them for {}", map.string(),
                cpu.empty() ? "this CPU, " + describe(identity) : fmt::format("CPU {}", cpu),
                names.empty() ? std::string("no CPU") : fmt::format("{}", fmt::join(names, ", ")));
  }
  if (files.size() > kMostFiles) {
    throw InputError({.file = map.string(),
                      .found = fmt::format("{} event files for one CPU", files.size()),
                      .expected = fmt::format("at most {}", kMostFiles)});
  }
  for (const auto& [file, pmu] : files) read_events(directory / file, pmu, result.events);
  return result;
}

}  // namespace skid::events
