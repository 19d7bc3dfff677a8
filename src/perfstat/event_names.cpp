#include "src/events/pfm_tables.h"
#include "src/events/spelling.h"
#include "src/perfstat/selection.h"
#include "src/perftool/event_syntax.h"
#include "src/support/error.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cctype>

namespace skid::perfstat {
namespace {

using analysis::Quantity;

struct Code {
  std::uint64_t config;
  Quantity quantity;
};

/// Counter mask, umask and event as perf_event_attr.config has them.
constexpr std::array kCodes = {
    Code{0x3c, Quantity::cycles},
    Code{0x81d0, Quantity::all_loads},
    Code{0x40d1, Quantity::hit_lfb},
    Code{0x01d1, Quantity::l1_hit},
    Code{0x08d1, Quantity::l1_miss},
    Code{0x02d1, Quantity::l2_hit},
    Code{0x10d1, Quantity::l2_miss},
    Code{0x04d1, Quantity::l3_hit},
    Code{0x20d1, Quantity::l3_miss},
    Code{0x40004a3, Quantity::cycles_no_execute},
    Code{0xc000ca3, Quantity::stalls_l1d_pending},
    Code{0x08a2, Quantity::resource_stalls_sb},
    Code{0x1000248, Quantity::fb_full},  // before Skylake with a counter mask, later without
    Code{0x0248, Quantity::fb_full},
    Code{0x01b2, Quantity::sq_full},
};

struct L2Name {
  std::string_view name;  ///< normalized, after "L2_RQSTS."
  std::uint8_t umask;
  std::string_view remark;  ///< where tables of events give the name another umask
};

constexpr std::string_view kAllHits =
    "taken for all hits; older event tables leave hits of modified lines out of this name: count "
    "by code to be sure";
constexpr std::string_view kL2PrefetcherMiss =
    "taken for umask 0x30, the L2 prefetcher, as in Intel's event files; libpfm4 has 0x38, with "
    "the L1 prefetcher: count by code to be sure";
constexpr std::string_view kL2PrefetcherHit =
    "taken for umask 0xd0, the L2 prefetcher, as in Intel's event files; libpfm4 has 0xd8, with "
    "the L1 prefetcher, and older tables 0x50: count by code to be sure";

constexpr std::array kL2Names = {
    L2Name{"DEMAND_DATA_RD_MISS", 0x21, {}},
    L2Name{"RFO_MISS", 0x22, {}},
    L2Name{"CODE_RD_MISS", 0x24, {}},
    L2Name{"ALL_DEMAND_MISS", 0x27, {}},
    L2Name{"PF_MISS", 0x38, {}},
    L2Name{"L2_PF_MISS", 0x30, kL2PrefetcherMiss},
    L2Name{"MISS", 0x3f, {}},
    L2Name{"DEMAND_DATA_RD_HIT", 0xc1, kAllHits},
    L2Name{"RFO_HIT", 0xc2, kAllHits},
    L2Name{"CODE_RD_HIT", 0xc4, kAllHits},
    L2Name{"PF_HIT", 0xd8, {}},
    L2Name{"L2_PF_HIT", 0xd0, kL2PrefetcherHit},
    L2Name{"ALL_DEMAND_DATA_RD", 0xe1, {}},
    L2Name{"ALL_RFO", 0xe2, {}},
    L2Name{"ALL_CODE_RD", 0xe4, {}},
    L2Name{"ALL_DEMAND_REFERENCES", 0xe7, {}},
    L2Name{"ALL_PF", 0xf8, {}},
    L2Name{"REFERENCES", 0xff,
           "taken for umask 0xff; Intel's manual has 0xef, without the L2 prefetcher: count by "
           "code to be sure"},
};
constexpr std::string_view kL2Prefix = "L2_RQSTS.";

/// Whether a name may be given to libpfm4: no modifiers with values, nothing that is no name.
bool is_plain_name(std::string_view name) {
  constexpr std::size_t kLongest = 128;
  return !name.empty() && name.size() <= kLongest &&
         std::all_of(name.begin(), name.end(), [](unsigned char c) {
           return std::isalnum(c) != 0 || c == '_' || c == '.' || c == ':';
         });
}

/// perf_event_attr.config of a name. The tables of several CPUs are tried: a name that several of
/// them have means the same count of a rate.
std::optional<std::uint64_t> config_of_name(std::string_view name) {
  std::string upper = events::normalized(name);
  if (const auto generic = events::generic_event(events::ConfigLayout::intel, lower_case(name))) {
    return generic;
  }
  constexpr std::uint64_t kCycles = 0x3c;
  if (upper == "CPU_CLK_UNHALTED.THREAD") return kCycles;  // the fixed counter; perf counts 0x3c
  if (!is_plain_name(upper)) return std::nullopt;
  // Event files of Ivy Bridge call the L3 LLC.
  constexpr std::string_view kLlc = ".LLC_";
  if (const auto at = upper.find(kLlc); at != std::string::npos) {
    upper.replace(at, kLlc.size(), ".L3_");
  }
  for (const char* cpu : {"skl", "hsw", "ivb", "icl"}) {
    if (const auto event = events::pfm_encode(cpu, upper)) return event->config;
  }
  return std::nullopt;
}

void set_by_code(KnownEvent& event, std::uint64_t config) {
  constexpr std::uint64_t kL2Requests = 0x24;
  if ((config & ~std::uint64_t{0xff00}) == kL2Requests) {
    event.l2_umask = static_cast<std::uint8_t>(config >> 8);
    return;
  }
  if (const Code* code = find_by(kCodes, &Code::config, config)) event.quantity = code->quantity;
}

/// `name`: normalized, after "L2_RQSTS.".
void set_by_l2_name(KnownEvent& event, std::string_view name) {
  if (const L2Name* found = find_by(kL2Names, &L2Name::name, name)) {
    event.l2_umask = found->umask;
    event.remark = found->remark;
  } else if (name.size() > 2 && name.size() <= 4 && name.starts_with("0X")) {
    // libpfm4 accepts a umask as a number: L2_RQSTS:0x21.
    event.l2_umask = whole_number<std::uint8_t>(name.substr(2), 16);
  }
}

/// A spelling without modifiers of perf.
void set_by_spelling(KnownEvent& event, const std::string& text) {
  const events::Spelling spelling = events::take_apart(text, events::ConfigLayout::intel);
  if (spelling.config) return set_by_code(event, *spelling.config);
  const std::string name = events::normalized(spelling.full);
  if (name.starts_with(kL2Prefix)) return set_by_l2_name(event, name.substr(kL2Prefix.size()));
  if (const auto config = config_of_name(name)) set_by_code(event, *config);
}

}  // namespace

KnownEvent identify_event(std::string_view text) {
  constexpr std::size_t kLongest = 512;
  KnownEvent event;
  if (text.size() > kLongest) return event;
  auto split = perftool::split_event_name(text);
  std::string& name = split.name;
  event.modifiers = split.modifiers;
  const auto has = [&](char c) { return event.modifiers.find(c) != std::string::npos; };
  event.user_only = has('u') && !has('k');
  event.kernel_only = has('k') && !has('u');
  if (const auto slash = name.find('/'); slash != std::string::npos) {
    const std::string pmu = name.substr(0, slash);
    if ((pmu != "cpu" && pmu != "cpu_core") || name.back() != '/') return event;
    const bool has_terms = name.find('=') != std::string::npos;
    if (!has_terms && name.size() > slash + 2)
      name = name.substr(slash + 1, name.size() - slash - 2);
  }
  try {
    set_by_spelling(event, name);
  } catch (const UsageError&) {
    // Terms of an event that no rate uses.
  }
  return event;
}

}  // namespace skid::perfstat
