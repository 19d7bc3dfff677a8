#include "src/listing/reader.h"

#include "analysis/description.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "analysis/not_judged.h"
#include "analysis/target_map.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "src/events/causes.h"
#include "src/instructions/instruction.h"
#include "src/listing/sampled_code.h"
#include "src/locate/digest.h"
#include "src/locate/filter.h"
#include "src/locate/located_counts.h"
#include "src/locate/mapping_name.h"
#include "src/locate/module_store.h"
#include "src/locate/replaced_code.h"
#include "src/locate/symbolizer.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/event_selection.h"
#include "src/measure/measure.h"
#include "src/measure/no_samples.h"
#include "src/measure/profile.h"
#include "src/measure/recorded_event.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record_counts.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample_kind.h"
#include "src/run/run.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/text.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::listing {

using locate::LocatedSamples;
using perfdata::CpuMode;
using symbols::FileIndex;

/// A recording that was read.
struct Reader::Reading {
  const measure::Profile& profile;
  const locate::Digest& digest = profile.digest;
  locate::KernelSymbols kernel;
  std::size_t first_column = 0;  ///< first index in Listing::columns; the others follow
  /// Indices in Listing::columns by attribute; nullopt: not selected.
  std::vector<std::optional<std::size_t>> columns = {};
};

namespace {

Where where_is(const LocatedSamples& located) {
  const CpuMode mode = located.kind.mode();
  if (mode == CpuMode::kernel) return Where::kernel;
  if (mode == CpuMode::user) return located.location ? Where::user : Where::unmapped;
  return mode == CpuMode::unknown ? Where::unmapped : Where::guest;
}

/// Fills in the causes of a column's event, or the reason why no sample of it can be judged
/// (docs/method.md, "Impossible attributions").
void judge(const measure::RecordedEvent& event, Column& column) {
  using analysis::NotJudged;
  column.of_core_pmu = measure::is_core_event(event);
  column.follows_cause = measure::known_offset(event, nullptr) == 1;
  const bool has_levels = event.unknown_causes != NotJudged::no_precise_levels;
  if (has_levels && column.of_core_pmu && column.described.precise.recorded < 2) {
    column.not_judged = "below precise level 2 the causing instruction is not recorded";
    return;
  }
  if (event.unknown_causes != NotJudged::none) column.not_judged = describe(event.unknown_causes);
  column.causes = event.causes;
}

/// Finds the element of `codes` that is `kind` and begins at `range` in that file, or adds one.
Code& code_at(std::vector<Code>& codes, Kind kind, const symbols::Module* module,
              const std::string& dso, AddressRange range) {
  const auto found = std::ranges::find_if(codes, [&](const Code& code) {
    return code.kind == kind && code.module == module && code.range.begin == range.begin &&
           (module != nullptr || code.dso == dso);
  });
  if (found != codes.end()) return *found;
  Code& code = codes.emplace_back();
  code.kind = kind;
  code.module = module;
  code.dso = dso;
  code.range = range;
  if (module != nullptr) {
    code.build_id = module->build_id();
    code.arch = module->arch();
  }
  return code;
}

/// Adds the columns [first, end) of a recording. Those of earlier recordings have lower numbers.
void join(std::vector<std::size_t>& columns, std::size_t first, std::size_t end) {
  if (!columns.empty() && columns.back() >= first) return;
  while (first < end) columns.push_back(first++);
}

}  // namespace

Count Code::total(std::size_t column) const {
  Count sum;
  for (const auto& [address, by_column] : samples) {
    const auto found = by_column.find(column);
    if (found != by_column.end()) sum += found->second;
  }
  return sum;
}

std::string Place::label() const {
  return function.empty() && address ? fmt::format("{:#x}", *address) : function;
}

std::vector<std::size_t> Listing::most_sampled_event(
    const std::function<std::uint64_t(std::size_t)>& samples_of) const {
  std::map<std::string, std::uint64_t> events;
  const auto label_of = [&](std::size_t i) { return columns[i].described.event.label; };
  for (std::size_t i = 0; i < columns.size(); ++i) events[label_of(i)] += samples_of(i);
  const auto most =
      std::ranges::max_element(events, {}, [](const auto& event) { return event.second; });
  std::vector<std::size_t> of_event;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (label_of(i) == most->first) of_event.push_back(i);
  }
  return of_event;
}

std::vector<std::size_t> Listing::most_sampled_event() const {
  return most_sampled_event([this](std::size_t i) { return columns[i].read(); });
}

std::vector<analysis::Measurement> Listing::described() const {
  std::vector<analysis::Measurement> described;
  for (const Column& column : columns) described.push_back(column.described);
  return described;
}

measure::ReadResult Reader::add(const measure::Source& source) {
  auto recording = perfdata::Recording::open(source.content(), source.file);
  const auto result = [&recording](std::uint64_t samples) -> measure::ReadResult {
    return {.faults = recording.faults(),
            .read_in_part = recording.read_in_part(),
            .no_samples = samples == 0 ? measure::why_no_samples(recording) : ""};
  };
  // In file mode the events are known before the samples: only count them.
  if (!selection_.filter.events.empty() && recording.mode() != perfdata::StorageMode::pipe) {
    locate::Filtered events;
    measure::selected_events(source, recording, selection_.filter, events);
    filtered_.add(events);
    if (!events.has_event) {
      const std::uint64_t samples = perfdata::count_records(recording).total_samples();
      filtered_.all += samples;
      return result(samples);
    }
  }

  const measure::Profile profile(source, recording, modules_, selection_);
  const locate::Digest& digest = profile.digest;
  filtered_.add(digest.filtered);
  for (std::string& warning : analysis::loss_warnings(digest, digest.filtered.all)) {
    remarks_.push_back(std::move(warning));
  }
  if (auto trace = measure::trace_beside(digest.filtered.all, recording); !trace.empty()) {
    remarks_.push_back(std::move(trace));
  }
  Reading reading{
      profile, digest,
      locate::KernelSymbols([&] { return locate::recorded_kernel(recording, digest.spaces); },
                            kernel_files_)};
  if (recording.attributes().empty()) {
    // In pipe mode attributes may follow until the end.
    throw InputError({recording.path().string(), std::nullopt, "no event attribute", "at least one",
                      "the recording is damaged or was cut off; record again"});
  }
  for (auto& remark : locate::remarks_on_replaced_code(digest))
    remarks_.push_back(std::move(remark));
  reading.first_column = listing_.columns.size();
  reading.columns.resize(recording.attributes().size());
  for (const measure::RecordedEvent& event : profile.events) {
    if (!profile.selects(event, selection_.filter, filtered_)) continue;
    reading.columns[event.index] = listing_.columns.size();
    Column& column = listing_.columns.emplace_back();
    column.described = profile.described(event);
    judge(event, column);
  }
  digest.located.for_each([&](const LocatedSamples& located) {
    if (const auto column = reading.columns[located.attribute]) {
      listing_.columns[*column].samples[static_cast<std::size_t>(where_is(located))] +=
          located.samples;
    }
  });

  const bool found =
      !selection_.by && (selection_.function ? add_function(reading) : add_target(reading));
  if (!found) add_places(reading);
  return result(digest.filtered.all);
}

void Reader::count(Code& code, const Reading& reading, const LocatedSamples& located,
                   std::uint64_t address) {
  const auto column = reading.columns[located.attribute];
  if (!column) return;
  code.samples[address][*column] += {located.samples, located.kind.exact() ? located.samples : 0};
}

bool Reader::add_target(Reading& reading) {
  const auto& spaces = reading.digest.spaces;
  auto geometry = measure::find_recorded_target(reading.profile, remarks_);
  if (!geometry) return false;
  std::string dso;
  std::filesystem::path file;
  if (!geometry->mappings.empty()) {
    const symbols::MappedFile& mapped = spaces.file(geometry->mappings.front());
    dso = mapped.path;
    file = modules_.find(mapped).path;
  } else if (reading.profile.source.run != nullptr) {  // nothing was sampled in it
    for (const auto& target : reading.profile.source.run->targets) {
      if (target.build_id != geometry->module->build_id()) continue;
      file = reading.profile.source.directory() / target.file;
      dso = file.string();
    }
  }
  const AddressRange loop = geometry->description->layout.loop;
  Code& code = code_at(listing_.codes, Kind::target, geometry->module, dso, loop);
  code.name = geometry->trigger.kind;
  code.file = reading.profile.source.shown(file);
  join(code.columns, reading.first_column, listing_.columns.size());
  reading.digest.located.for_each([&](const LocatedSamples& located) {
    if (where_is(located) != Where::user || !geometry->is_mapped_by(located.location->file)) return;
    const auto address = geometry->module->address_at(located.location->offset);
    if (address && loop.contains(*address)) count(code, reading, located, *address);
  });
  if (!code.map) {
    code.arch = geometry->description->specification.arch;
    code.map = std::move(geometry->map);
    code.description = std::move(geometry->description);
  }
  return true;
}

bool Reader::add_function(Reading& reading) {
  /// A sampled file, and where functions of the selected name begin in it.
  struct File {
    bool is_known = false;
    locate::ModuleStore::Found found;
    std::set<std::uint64_t> begins;
    bool is_sampled = false;
  };
  const auto& spaces = reading.digest.spaces;
  const std::string& name = *selection_.function;
  const auto begin =
      name.starts_with("0x") ? whole_number<std::uint64_t>(name.substr(2), 16) : std::nullopt;
  std::vector<File> files(spaces.file_count());
  bool is_any = false;
  bool is_in_kernel = false;
  const auto take = [&](Code& code) {
    is_any = true;
    code.name = name;
    join(code.columns, reading.first_column, listing_.columns.size());
  };
  const auto file_of = [&](FileIndex index) -> File& {
    File& file = files[index];
    const symbols::MappedFile& mapped = spaces.file(index);
    if (std::exchange(file.is_known, true) || !is_selected_module(mapped.path)) return file;
    file.found = modules_.find(mapped);
    if (file.found.module == nullptr) return file;
    for (const auto& function : file.found.module->functions_named(name)) {
      file.begins.insert(function.range.begin);
    }
    if (begin) {
      const auto range = file.found.module->function_range_at(*begin);
      if (range && range->begin == *begin) file.begins.insert(*begin);
    }
    return file;
  };
  const auto code_of = [&](FileIndex index, std::uint64_t address) -> Code* {
    File& file = file_of(index);
    const auto range = file.found.module->function_range_at(address);
    if (!range) return nullptr;
    const auto function = file.found.module->function_at(address);
    const bool is_named = function && function->name == name;
    if (!is_named && !file.begins.contains(range->begin)) return nullptr;
    Code& code =
        code_at(listing_.codes, Kind::function, file.found.module, spaces.file(index).path, *range);
    code.file = reading.profile.source.shown(file.found.path);
    if (function && !is_named) code.alias = function->name;
    file.is_sampled = true;
    take(code);
    return &code;
  };
  reading.digest.located.for_each([&](const LocatedSamples& located) {
    if (!located.location || !reading.columns[located.attribute]) return;
    const symbols::MappedFile& mapped = spaces.file(located.location->file);
    if (where_is(located) == Where::kernel) {
      const std::string dso = locate::kernel_dso_name(mapped);
      if (!is_selected_module(dso)) return;
      const auto symbol = locate::kernel_function_at(reading.kernel, modules_, mapped, located.ip,
                                                     located.location->offset);
      if (!symbol || symbol->name != name) return;
      is_in_kernel = true;
      Code& code = code_at(listing_.codes, Kind::kernel_function, nullptr, dso, symbol->range);
      take(code);
      count(code, reading, located, located.ip);
      return;
    }
    if (where_is(located) != Where::user) return;
    const auto* module = file_of(located.location->file).found.module;
    if (module == nullptr) return;
    const auto address = module->address_at(located.location->offset);
    Code* code = address ? code_of(located.location->file, *address) : nullptr;
    if (code != nullptr) count(*code, reading, located, *address);
  });
  for (const File& file : files) {
    if (!file.begins.empty() && !file.is_sampled) unsampled_in_.insert(file.found.path.string());
  }
  if (is_in_kernel || !is_any) {
    const auto& of_kernel = reading.kernel.remarks();
    remarks_.insert(remarks_.end(), of_kernel.begin(), of_kernel.end());
  }
  return is_any;
}

/// Adds up the samples by place, those of each file together.
void Reader::add_places(Reading& reading) {
  const By by = selection_.by.value_or(By::function);
  const auto& spaces = reading.digest.spaces;
  locate::Symbolizer symbolizer(spaces, modules_, reading.kernel);
  std::vector<std::optional<const symbols::Module*>> modules(spaces.file_count());
  const auto module_of = [&](FileIndex file) {
    auto& module = modules[file];
    if (!module) module = modules_.find(spaces.file(file)).module;
    return *module;
  };
  reading.digest.located.for_each([&](const LocatedSamples& located) {
    const auto column = reading.columns[located.attribute];
    if (!column) return;
    Place place;
    place.in_kernel = where_is(located) == Where::kernel;
    if (located.location && (place.in_kernel || where_is(located) == Where::user)) {
      const auto& [file, offset] = *located.location;
      const symbols::MappedFile& mapped = spaces.file(file);
      place.module = place.in_kernel ? locate::kernel_dso_name(mapped) : mapped.path;
      if (by != By::module) {
        place.function = symbolizer.symbol_at(*located.location, located.ip, place.in_kernel).name;
      }
      const bool is_named = by != By::module && !place.in_kernel;
      const auto* module = is_named ? module_of(file) : nullptr;
      place.is_missing = is_named && module == nullptr;
      if (const auto address = module != nullptr ? module->address_at(offset) : std::nullopt) {
        if (place.function.empty()) {
          if (const auto range = module->function_range_at(*address)) place.address = range->begin;
        }
        if (by == By::line) {
          place.source = module->line_at(*address);
          place.inlined = module->inlined_at(*address);
        }
      }
    }
    if (!is_selected_module(place.module)) return;
    listing_.places[std::move(place)][*column] +=
        {located.samples, located.kind.exact() ? located.samples : 0};
  });
}

std::map<std::string, std::uint64_t> Reader::sampled_functions(
    const std::optional<std::vector<std::size_t>>& columns) const {
  std::map<std::string, std::uint64_t> functions;
  for (const auto& [place, counts] : listing_.places) {
    const std::string label = place.label();
    if (label.empty()) continue;
    for (const auto& [column, count] : counts) {
      if (!columns || std::ranges::binary_search(*columns, column)) {
        functions[label] += count.samples;
      }
    }
  }
  return functions;
}

Reader::Unnamed Reader::unnamed() const {
  Unnamed unnamed;
  for (const auto& [place, counts] : listing_.places) {
    for (const auto& [column, count] : counts) {
      unnamed.all += count.samples;
      if (!place.label().empty()) continue;
      (place.in_kernel ? unnamed.in_kernel : unnamed.elsewhere) += count.samples;
    }
  }
  return unnamed;
}

void Reader::decode(Code& code) const {
  if (code.kind == Kind::kernel_function) {
    code.no_code =
        "the kernel generates and patches code at run time (BPF, jump labels, tracing), so that no "
        "file contains the executed code";
    return;
  }
  if (!code.arch) {
    code.no_code =
        fmt::format("{} is for an architecture that skidscan does not decode", code.file.string());
    return;
  }
  if (!code.module->has_code()) {
    code.no_code = fmt::format("only the debug file was found, {}", code.file.string());
    return;
  }
  AddressRange range = code.range;
  if (code.kind == Kind::function) range.end = range.begin + std::min(range.size(), kMostDecoded);
  code.bytes = code.module->code(range);
  if (code.bytes.empty()) {
    code.no_code =
        fmt::format("{} holds no bytes at the addresses of the function", code.file.string());
    return;
  }
  code.starts = instructions::starts_in(*code.arch, code.bytes, range.begin);
}

const Listing& Reader::finish() {
  for (Code& code : listing_.codes) decode(code);
  return listing_;
}

std::vector<std::string> Reader::remarks() const {
  using RemarkKind = locate::ModuleStore::Remark::Kind;
  std::vector<std::string> all = remarks_;
  for (const auto& remark : modules_.remarks()) {
    const bool is_shown = std::ranges::any_of(
        listing_.codes, [&](const Code& code) { return code.dso == remark.mapped; });
    if (remark.kind == RemarkKind::refused || listing_.codes.empty() ||
        (remark.kind != RemarkKind::unreadable && is_shown)) {
      all.push_back(remark.text);
    }
  }
  for (auto& [path, text] : modules_.unused()) all.push_back(std::move(text));
  return each_once(std::move(all));
}

}  // namespace skid::listing
