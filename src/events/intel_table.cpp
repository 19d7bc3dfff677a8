#include "src/events/intel_table.h"

#include "src/events/cpu.h"
#include "src/events/perfmon.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include <fmt/format.h>
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

/// Whether "6-55-[01234]" is a CPU's: the family is decimal, the others are hexadecimal.
bool is_model(std::string_view pattern, const Model& cpu) {
  const auto family = whole_number<int>(take_until('-', pattern));
  const auto model = whole_number<int>(take_until('-', pattern), 16);
  if (family != cpu.family || model != cpu.model) return false;
  return pattern.empty() || (cpu.stepping && *cpu.stepping < 16 &&
                             pattern.find(fmt::format("{:X}", *cpu.stepping)) != pattern.npos);
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

/// Of "6-8F", "6-143", "6-55-4", "GenuineIntel-6-8F"; nullopt for other texts.
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
    throw UsageError(
        fmt::format("--cpu {0}-{1}: its events depend on the stepping; expected {0}-{1}-"
                    "STEPPING",
                    parts[0], parts[1]));
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

/// A line of events.tsv without its first column.
Event event_of(std::string_view line, const IntelFile& file, const std::string& source) {
  Event event;
  event.name = take_until('\t', line);
  event.pmu = file.pmu;
  event.source = source;
  event.config = whole_number<std::uint64_t>(take_until('\t', line), 16).value_or(0);
  std::string_view msr = trimmed(take_until('\t', line));
  take_until('=', msr);
  if (msr.starts_with("0x")) {
    event.config1 = whole_number<std::uint64_t>(msr.substr(2), 16).value_or(0);
  }
  event.precise = take_until('\t', line) != "0";
  event.precise_source = "intel";
  const std::string_view data_la = take_until('\t', line);
  if (!data_la.empty()) event.data_la = data_la == "1";
  event.pdist = pdist_counters(take_until('\t', line));
  take_until('\t', line);  // counters
  event.errata = errata_ids(line);
  return event;
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

}  // namespace skid::events
