#include "src/perfstat/event_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <vector>

namespace skid::perfstat {
namespace {

using analysis::Quantity;

struct Name {
  std::string_view name;  ///< folded: lower case, '_' for all punctuation
  Quantity quantity;
};

/// Haswell's names and those that Ivy Bridge and Skylake and later have for the same.
constexpr std::array kNames = {
    Name{"cycles", Quantity::cycles},
    Name{"cpu_cycles", Quantity::cycles},
    Name{"cpu_clk_unhalted_thread", Quantity::cycles},
    Name{"cpu_clk_unhalted_thread_p", Quantity::cycles},
    Name{"unhalted_core_cycles", Quantity::cycles},
    Name{"mem_load_uops_retired_all_loads", Quantity::all_loads},
    Name{"mem_uops_retired_all_loads", Quantity::all_loads},
    Name{"mem_inst_retired_all_loads", Quantity::all_loads},
    Name{"mem_load_uops_retired_hit_lfb", Quantity::hit_lfb},
    Name{"mem_load_retired_hit_lfb", Quantity::hit_lfb},
    Name{"mem_load_retired_fb_hit", Quantity::hit_lfb},
    Name{"mem_load_uops_retired_l1_hit", Quantity::l1_hit},
    Name{"mem_load_retired_l1_hit", Quantity::l1_hit},
    Name{"mem_load_uops_retired_l1_miss", Quantity::l1_miss},
    Name{"mem_load_retired_l1_miss", Quantity::l1_miss},
    Name{"mem_load_uops_retired_l2_hit", Quantity::l2_hit},
    Name{"mem_load_retired_l2_hit", Quantity::l2_hit},
    Name{"mem_load_uops_retired_l2_miss", Quantity::l2_miss},
    Name{"mem_load_retired_l2_miss", Quantity::l2_miss},
    Name{"mem_load_uops_retired_l3_hit", Quantity::l3_hit},
    Name{"mem_load_uops_retired_llc_hit", Quantity::l3_hit},
    Name{"mem_load_retired_l3_hit", Quantity::l3_hit},
    Name{"mem_load_uops_retired_l3_miss", Quantity::l3_miss},
    Name{"mem_load_uops_retired_llc_miss", Quantity::l3_miss},
    Name{"mem_load_retired_l3_miss", Quantity::l3_miss},
    Name{"cycle_activity_cycles_no_execute", Quantity::cycles_no_execute},
    Name{"cycle_activity_stalls_total", Quantity::cycles_no_execute},
    Name{"cycle_activity_stalls_l1d_pending", Quantity::stalls_l1d_pending},
    Name{"cycle_activity_stalls_l1d_miss", Quantity::stalls_l1d_pending},
    Name{"resource_stalls_sb", Quantity::resource_stalls_sb},
    Name{"l1d_pend_miss_fb_full", Quantity::fb_full},
    Name{"offcore_requests_buffer_sq_full", Quantity::sq_full},
};

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
  std::string_view name;  ///< folded, after "l2_rqsts_"
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
    L2Name{"demand_data_rd_miss", 0x21, {}},
    L2Name{"rfo_miss", 0x22, {}},
    L2Name{"code_rd_miss", 0x24, {}},
    L2Name{"all_demand_miss", 0x27, {}},
    L2Name{"pf_miss", 0x38, {}},
    L2Name{"l2_pf_miss", 0x30, kL2PrefetcherMiss},
    L2Name{"miss", 0x3f, {}},
    L2Name{"demand_data_rd_hit", 0xc1, kAllHits},
    L2Name{"rfo_hit", 0xc2, kAllHits},
    L2Name{"code_rd_hit", 0xc4, kAllHits},
    L2Name{"pf_hit", 0xd8, {}},
    L2Name{"l2_pf_hit", 0xd0, kL2PrefetcherHit},
    L2Name{"all_demand_data_rd", 0xe1, {}},
    L2Name{"all_rfo", 0xe2, {}},
    L2Name{"all_code_rd", 0xe4, {}},
    L2Name{"all_demand_references", 0xe7, {}},
    L2Name{"all_pf", 0xf8, {}},
    L2Name{"references", 0xff,
           "taken for umask 0xff; Intel's manual has 0xef, without the L2 prefetcher: count by "
           "code to be sure"},
};
constexpr std::string_view kL2Prefix = "l2_rqsts_";

std::string folded(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool punctuation = c == '.' || c == ':' || c == '-';
    result += punctuation ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  return result;
}

/// Modifiers of perf: "u", "ukpp", "D".
bool are_modifiers(std::string_view text) {
  return !text.empty() && text.find_first_not_of("ukhGHpPSDWIebR") == std::string_view::npos;
}

std::optional<std::uint64_t> number(std::string_view text, int base) {
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value, base);
  if (text.empty() || error != std::errc() || stop != end) return std::nullopt;
  return value;
}

void set_by_code(KnownEvent& event, std::uint64_t config) {
  constexpr std::uint64_t kL2Requests = 0x24;
  if ((config & ~std::uint64_t{0xff00}) == kL2Requests) {
    event.l2_umask = static_cast<std::uint8_t>(config >> 8);
    return;
  }
  const auto found = std::find_if(kCodes.begin(), kCodes.end(),
                                  [&](const Code& code) { return code.config == config; });
  if (found != kCodes.end()) event.quantity = found->quantity;
}

void set_by_l2_name(KnownEvent& event, std::string_view name) {
  const auto found = std::find_if(kL2Names.begin(), kL2Names.end(),
                                  [&](const L2Name& known) { return known.name == name; });
  if (found == kL2Names.end()) {
    // libpfm4 accepts a umask as a number: L2_RQSTS:0x21.
    const auto umask = name.starts_with("0x") ? number(name, 16) : std::nullopt;
    if (umask && *umask <= 0xff) event.l2_umask = static_cast<std::uint8_t>(*umask);
    return;
  }
  event.l2_umask = found->umask;
  event.remark = found->remark;
}

/// A name or rHHHH, without PMU and modifiers.
void set_by_word(KnownEvent& event, std::string_view word) {
  if (word.size() > 1 && (word[0] == 'r' || word[0] == 'R')) {
    if (const auto config = number(word.substr(1), 16)) return set_by_code(event, *config);
  }
  // libpfm4 writes the PMU first: "skl::NAME".
  if (const auto pmu = word.find("::"); pmu != std::string_view::npos) word.remove_prefix(pmu + 2);
  const std::string name = folded(word);
  if (std::string_view(name).starts_with(kL2Prefix)) {
    return set_by_l2_name(event, std::string_view(name).substr(kL2Prefix.size()));
  }
  const auto found = std::find_if(kNames.begin(), kNames.end(),
                                  [&](const Name& known) { return known.name == name; });
  if (found != kNames.end()) event.quantity = found->quantity;
}

/// The terms between the slashes of "cpu/…/".
void set_by_terms(KnownEvent& event, std::string_view terms) {
  std::uint64_t config = 0;
  std::string_view word;
  bool by_code = false;
  const auto add = [&](std::string_view value, int shift, std::uint64_t most) {
    const auto field = number(value, 10);
    if (!field || *field > most) return false;
    config |= *field << shift;
    return true;
  };
  while (!terms.empty()) {
    const auto comma = terms.find(',');
    const std::string_view term = terms.substr(0, comma);
    terms.remove_prefix(comma == std::string_view::npos ? terms.size() : comma + 1);
    const auto equals = term.find('=');
    const std::string key = folded(term.substr(0, equals));
    const std::string_view value =
        equals == std::string_view::npos ? std::string_view("1") : term.substr(equals + 1);
    bool good = true;
    if (key == "event") {
      good = add(value, 0, 0xff);
      by_code = true;
    } else if (key == "umask") {
      good = add(value, 8, 0xff);
    } else if (key == "edge") {
      good = add(value, 18, 1);
    } else if (key == "any") {
      good = add(value, 21, 1);
    } else if (key == "inv") {
      good = add(value, 23, 1);
    } else if (key == "cmask") {
      good = add(value, 24, 0xff);
    } else if (key == "config") {
      good = add(value, 0, ~std::uint64_t{0});
      by_code = true;
    } else if (key == "period" || key == "name" || key == "percore") {
      // What is counted stays the same.
    } else if (equals == std::string_view::npos && word.empty()) {
      word = term;
    } else {
      good = false;
    }
    if (!good) return;
  }
  if (by_code && word.empty()) set_by_code(event, config);
  if (!by_code && !word.empty() && config == 0) set_by_word(event, word);
}

void set_modifiers(KnownEvent& event, std::string_view modifiers) {
  event.modifiers = modifiers;
  const auto has = [&](char c) { return modifiers.find(c) != std::string_view::npos; };
  event.user_only = has('u') && !has('k');
  event.kernel_only = has('k') && !has('u');
}

}  // namespace

KnownEvent identify_event(std::string_view name) {
  constexpr std::size_t kLongest = 512;
  KnownEvent event;
  if (name.size() > kLongest) return event;
  const auto slash = name.find('/');
  if (slash != std::string_view::npos) {
    const auto end = name.rfind('/');
    const std::string pmu = folded(name.substr(0, slash));
    if (end == slash || (pmu != "cpu" && pmu != "cpu_core")) return event;
    std::string_view modifiers = name.substr(end + 1);
    if (modifiers.starts_with(':')) modifiers.remove_prefix(1);
    if (!modifiers.empty() && !are_modifiers(modifiers)) return event;
    set_by_terms(event, name.substr(slash + 1, end - slash - 1));
    set_modifiers(event, modifiers);
    return event;
  }
  set_by_word(event, name);
  const auto colon = name.rfind(':');
  if (!event.known() && colon != std::string_view::npos && colon > 0 &&
      are_modifiers(name.substr(colon + 1))) {
    set_by_word(event, name.substr(0, colon));
    set_modifiers(event, name.substr(colon + 1));
  }
  return event;
}

}  // namespace skid::perfstat
