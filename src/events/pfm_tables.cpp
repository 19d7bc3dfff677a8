#include "src/events/pfm_tables.h"

#include "src/events/event.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <perfmon/pfmlib.h>
#include <perfmon/pfmlib_perf_event.h>

namespace skid::events {
namespace {

/// libpfm4 keeps its state for the life of the program.
int initialization() {
  prepare_pfm_tables();
  static const int result = pfm_initialize();
  return result;
}

/// The right to call libpfm4, which is not documented to be thread-safe. Throws Error when it
/// cannot be initialized.
std::unique_lock<std::mutex> enter_libpfm4() {
  static std::mutex mutex;
  std::unique_lock lock(mutex);
  if (const int result = initialization(); result != PFM_SUCCESS) {
    throw Error("libpfm4 cannot be initialized: {}", pfm_strerror(result));
  }
  return lock;
}

std::string text(const char* string) {
  return string == nullptr ? std::string() : std::string(string);
}

std::optional<pfm_pmu_info_t> pmu_info(int pmu) {
  pfm_pmu_info_t info{};
  info.size = sizeof(info);
  if (pfm_get_pmu_info(static_cast<pfm_pmu_t>(pmu), &info) != PFM_SUCCESS) return std::nullopt;
  if (info.type != PFM_PMU_TYPE_CORE || pmu == PFM_PMU_INTEL_X86_ARCH) return std::nullopt;
  return info;
}

/// "Memory uops retired. All load uops retired" of the texts of an event and of its umask.
std::string joined(std::string event, const std::string& umask) {
  while (event.ends_with('.')) event.pop_back();
  if (umask.empty() || umask == event || event.empty()) return event.empty() ? umask : event;
  return event + ". " + umask;
}

struct Encoded {
  std::uint64_t config = 0, config1 = 0;
  int event = 0;
  std::string name;  ///< fully qualified
};

std::optional<Encoded> encode(const std::string& spelling) {
  perf_event_attr attribute{};
  char* name = nullptr;
  pfm_perf_encode_arg_t argument{};
  argument.attr = &attribute;
  argument.size = sizeof(argument);
  argument.fstr = &name;
  const int result = pfm_get_os_event_encoding(spelling.c_str(), PFM_PLM0 | PFM_PLM3,
                                               PFM_OS_PERF_EVENT_EXT, &argument);
  const std::unique_ptr<char, decltype(&std::free)> owned(name, &std::free);
  // Generic events of perf are another PMU's, and do not have this CPU's encoding.
  const bool of_pmu = attribute.type >= PERF_TYPE_RAW && attribute.type != PERF_TYPE_BREAKPOINT;
  if (result != PFM_SUCCESS || !of_pmu) return std::nullopt;
  return Encoded{attribute.config, attribute.config1, argument.idx, text(name)};
}

Event make_event(const std::string& pmu, std::string name, const Encoded& encoded,
                 const std::string& description, bool precise) {
  return {.name = std::move(name),
          .description = description,
          .config = encoded.config,
          .config1 = encoded.config1,
          .source = fmt::format("libpfm4, {}", pmu),
          .precise = precise,
          .precise_source = PreciseSource::libpfm4};
}

/// Umask `i` of an event; nullopt for attributes of other kinds.
std::optional<pfm_event_attr_info_t> umask_of(const pfm_event_info_t& info, int i) {
  pfm_event_attr_info_t attribute{};
  attribute.size = sizeof(attribute);
  if (pfm_get_event_attr_info(info.idx, i, PFM_OS_PERF_EVENT_EXT, &attribute) != PFM_SUCCESS ||
      attribute.type != PFM_ATTR_UMASK) {
    return std::nullopt;
  }
  return attribute;
}

/// The text of an event with umasks. libpfm4 has the first umask's text as that of Intel's events,
/// so that the umask's own text counts.
std::string description_of(const std::string& pmu, const pfm_event_info_t& info,
                           const std::string& of_umasks) {
  const bool is_intel = !pmu.starts_with("amd64") && !pmu.starts_with("arm");
  return is_intel && !of_umasks.empty() ? of_umasks : joined(text(info.desc), of_umasks);
}

/// The umasks of an event, those that only repeat another one (`equiv`) as its aliases.
void add_umasks(const std::string& pmu, const pfm_event_info_t& info, std::vector<Event>& events) {
  std::map<std::string, std::vector<std::string>> equivalents;  // by the umask they repeat
  const std::size_t first = events.size();
  const std::string event_name = text(info.name);
  bool has_umask = false;
  for (int i = 0; i < info.nattrs; ++i) {
    const auto attribute = umask_of(info, i);
    if (!attribute) continue;
    has_umask = true;
    const std::string name = fmt::format("{}.{}", event_name, text(attribute->name));
    // "ALL:c=1:i=1" is another code.
    const std::string equivalent = text(attribute->equiv);
    if (!equivalent.empty() && !contains(equivalent, ':')) {
      equivalents[fmt::format("{}.{}", event_name, equivalent)].push_back(name);
      continue;
    }
    const auto encoded = encode(fmt::format("{}::{}:{}", pmu, event_name, text(attribute->name)));
    if (!encoded) continue;  // it needs further umasks
    events.push_back(make_event(pmu, name, *encoded,
                                description_of(pmu, info, text(attribute->desc)),
                                attribute->is_precise != 0));
  }
  for (std::size_t i = first; i < events.size(); ++i)
    events[i].aliases = equivalents[events[i].name];
  if (has_umask) return;
  if (const auto encoded = encode(fmt::format("{}::{}", pmu, event_name))) {
    events.push_back(make_event(pmu, event_name, *encoded, text(info.desc), info.is_precise != 0));
  }
}

}  // namespace

void prepare_pfm_tables() noexcept {
  // Events of other CPUs than this one are encoded too.
  static const int result = ::setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
  static_cast<void>(result);
}

std::vector<PfmPmu> pfm_core_pmus() {
  const auto lock = enter_libpfm4();
  std::vector<PfmPmu> pmus;
  for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; ++i) {
    const auto info = pmu_info(i);
    if (info) pmus.push_back({text(info->name), text(info->desc), info->is_present != 0});
  }
  return pmus;
}

std::vector<Event> pfm_events(const std::string& pmu) {
  const auto lock = enter_libpfm4();
  for (int i = PFM_PMU_NONE; i < PFM_PMU_MAX; ++i) {
    const auto info = pmu_info(i);
    if (!info || pmu != text(info->name)) continue;
    std::vector<Event> events;
    for (int index = info->first_event; index != -1; index = pfm_get_event_next(index)) {
      pfm_event_info_t event{};
      event.size = sizeof(event);
      if (pfm_get_event_info(index, PFM_OS_PERF_EVENT_EXT, &event) != PFM_SUCCESS) continue;
      add_umasks(pmu, event, events);
    }
    return events;
  }
  throw Error("libpfm4 has no core PMU named '{}'", pmu);
}

std::optional<Event> pfm_encode(const std::string& pmu, std::string_view spelling) {
  const auto lock = enter_libpfm4();
  const std::string full = fmt::format("{}::{}", pmu, spelling);
  const auto encoded = encode(full);
  if (!encoded) return std::nullopt;
  pfm_event_info_t info{};
  info.size = sizeof(info);
  if (pfm_get_event_info(encoded->event, PFM_OS_PERF_EVENT_EXT, &info) != PFM_SUCCESS) {
    return std::nullopt;
  }
  // "skl::L2_RQSTS:MISS:e=0:i=0:…" without the modifiers that are at their defaults.
  std::string name;
  std::set<std::string, std::less<>> umasks;
  std::string_view rest = std::string_view(encoded->name).substr(pmu.size() + 2);
  while (!rest.empty()) {
    const std::string_view part = take_until(':', rest);
    const bool mode = part.starts_with("u=") || part.starts_with("k=") || part.starts_with("mh=") ||
                      part.starts_with("precise=");
    if (mode || part.ends_with("=0")) continue;
    if (!name.empty()) name += contains(part, '=') ? ":" : ".";
    name += part;
    umasks.emplace(part);
  }
  std::string of_umasks;
  for (int i = 0; i < info.nattrs; ++i) {
    const auto attribute = umask_of(info, i);
    if (attribute && umasks.contains(text(attribute->name))) {
      of_umasks = joined(std::move(of_umasks), text(attribute->desc));
    }
  }
  return make_event(pmu, name, *encoded, description_of(pmu, info, of_umasks),
                    encode(full + ":precise=2").has_value());
}

}  // namespace skid::events
