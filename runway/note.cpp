#include "runway/note.h"

#include "src/support/error.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace skid::runway {

namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kMostOtherTriggers = kMostTriggers + 8;
constexpr std::size_t kMostExpectations = 64;
constexpr std::size_t kLongestName = 64;

constexpr std::array<std::string_view, 7> kAddresses{"loop",   "loop_end",   "lead_in", "trigger",
                                                     "runway", "runway_end", "datum"};

static_assert(std::endian::native == std::endian::little, "notes are read without swapping");

/// Something in the text that is not as the format says; becomes an InputError with file and
/// offset.
struct Fault : std::exception {
  Fault(std::string what_is_there, std::string what_may_be)
      : found(std::move(what_is_there)), allowed(std::move(what_may_be)) {}
  std::string found, allowed;
};

template <typename Integer>
Integer read_integer(std::string_view bytes, std::size_t at) {
  Integer value{};
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::vector<std::string> address_names(std::size_t further, std::size_t other_triggers) {
  std::vector<std::string> names(kAddresses.begin(), kAddresses.end());
  for (std::size_t i = 0; i < further; ++i) {
    names.insert(names.end(), {"trigger", "runway", "runway_end"});
  }
  for (std::size_t i = 0; i < other_triggers; ++i) {
    names.emplace_back("other_trigger");
    names.emplace_back("other_trigger_end");
  }
  return names;
}

const json& member(const json& object, const char* key) {
  if (!object.is_object() || !object.contains(key)) {
    throw Fault(fmt::format("a note without \"{}\"", key), "one with it");
  }
  return object.at(key);
}

std::uint64_t unsigned_member(const json& object, const char* key, std::uint64_t most) {
  const json& value = member(object, key);
  if (!value.is_number_unsigned()) {
    throw Fault(fmt::format("\"{}\" that is no whole number", key), fmt::format("0 to {}", most));
  }
  const auto number = value.get<std::uint64_t>();
  if (number > most) {
    throw Fault(fmt::format("\"{}\" of {}", key, number), fmt::format("0 to {}", most));
  }
  return number;
}

std::string string_member(const json& object, const char* key) {
  const json& value = member(object, key);
  if (!value.is_string() || value.get_ref<const std::string&>().size() > kLongestName) {
    throw Fault(fmt::format("\"{}\" that is no short text", key),
                fmt::format("text of at most {} bytes", kLongestName));
  }
  return value.get<std::string>();
}

Specification specification_from(const json& object) {
  constexpr std::uint64_t kWord = std::numeric_limits<std::uint32_t>::max();
  constexpr auto kLong = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  Specification specification;
  specification.arch = arch_from(string_member(object, "arch"));
  specification.trigger = trigger_kind_from(string_member(object, "trigger"));
  specification.access_bytes =
      static_cast<unsigned>(unsigned_member(object, "access_bytes", kWord));
  specification.nop_bytes = static_cast<unsigned>(unsigned_member(object, "nop_bytes", kWord));
  specification.nops = static_cast<std::uint32_t>(unsigned_member(object, "nops", kWord));
  specification.lead_in_nops =
      static_cast<std::uint32_t>(unsigned_member(object, "lead_in_nops", kWord));
  if (object.contains("gaps")) {
    const json& gaps = object.at("gaps");
    if (!gaps.is_array() || gaps.size() >= kMostTriggers) {
      throw Fault("\"gaps\" that are no short list",
                  fmt::format("at most {} of them", kMostTriggers - 1));
    }
    for (const json& gap : gaps) {
      if (!gap.is_number_unsigned() || gap.get<std::uint64_t>() > kWord) {
        throw Fault("a gap that is no number of NOPs", fmt::format("0 to {}", kWord));
      }
      specification.gaps.push_back(gap.get<std::uint32_t>());
    }
  }
  if (object.contains("working_set_bytes")) {
    specification.working_set_bytes = unsigned_member(object, "working_set_bytes", kLong);
  }
  if (object.contains("nanoseconds")) {
    specification.length = std::chrono::nanoseconds(
        static_cast<std::int64_t>(unsigned_member(object, "nanoseconds", kLong)));
  } else {
    specification.length = unsigned_member(object, "iterations", kLong);
  }
  check(specification);
  return specification;
}

std::vector<Expectation> expectations_from(const json& list) {
  if (!list.is_array() || list.size() > kMostExpectations) {
    throw Fault("\"expectations\" that is no short list",
                fmt::format("at most {} of them", kMostExpectations));
  }
  std::vector<Expectation> expectations;
  for (const json& object : list) {
    Expectation expectation;
    expectation.event = string_member(object, "event");
    const json& offset = member(object, "offset");
    const json& rate = member(object, "events_per_iteration");
    if (!offset.is_null()) {
      // As a double first: get<int64_t> would wrap an unsigned number above its range.
      constexpr double kFurthest = 1e6;
      if (!offset.is_number_integer() || std::abs(offset.get<double>()) > kFurthest) {
        throw Fault("an \"offset\" that is no instruction of the loop", "null or at most 1000000");
      }
      expectation.offset = offset.get<std::int64_t>();
    }
    constexpr double kMostEvents = 1e6;
    if (!rate.is_number() || !(rate.get<double>() >= 0 && rate.get<double>() <= kMostEvents)) {
      throw Fault("\"events_per_iteration\" that is no such number", "0 to 1000000");
    }
    expectation.events_per_iteration = rate.get<double>();
    expectations.push_back(std::move(expectation));
  }
  return expectations;
}

Layout layout_from(const std::vector<std::uint64_t>& addresses, std::size_t further) {
  Layout layout;
  layout.loop = {addresses[0], addresses[1]};
  layout.lead_in = {addresses[2], addresses[3]};
  layout.trigger = {addresses[3], addresses[4]};
  layout.runway = {addresses[4], addresses[5]};
  layout.datum = addresses[6];
  std::size_t at = kAddresses.size();
  for (std::size_t i = 0; i < further; ++i, at += 3) {
    layout.further.push_back(
        {{addresses[at], addresses[at + 1]}, {addresses[at + 1], addresses[at + 2]}});
  }
  for (std::size_t i = at; i + 1 < addresses.size(); i += 2) {
    layout.other_triggers.push_back({addresses[i], addresses[i + 1]});
  }
  return layout;
}

std::vector<std::uint64_t> addresses_of(std::string_view descriptor) {
  const auto count = read_integer<std::uint32_t>(descriptor, 4);
  constexpr std::size_t kMost =
      kAddresses.size() + 3 * (kMostTriggers - 1) + 2 * kMostOtherTriggers;
  if (count < kAddresses.size() || count > kMost) {
    throw Fault(fmt::format("{} addresses", count),
                fmt::format("{} to {}", kAddresses.size(), kMost));
  }
  if ((descriptor.size() - kHeaderBytes) / sizeof(std::uint64_t) < count) {
    throw Fault(fmt::format("{} addresses in a note of {} bytes", count, descriptor.size()),
                "as many as fit");
  }
  std::vector<std::uint64_t> addresses;
  for (std::size_t i = 0; i < count; ++i) {
    addresses.push_back(read_integer<std::uint64_t>(descriptor, kHeaderBytes + 8 * i));
  }
  return addresses;
}

TargetDescription description_from(std::string_view descriptor) {
  const std::vector<std::uint64_t> addresses = addresses_of(descriptor);
  const std::string_view text =
      descriptor.substr(kHeaderBytes + sizeof(std::uint64_t) * addresses.size());
  const json note = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (note.is_discarded()) throw Fault("text that is not JSON", "JSON");
  TargetDescription description;
  description.specification = specification_from(member(note, "specification"));
  const std::size_t further = description.specification.gaps.size();
  const std::size_t needed = kAddresses.size() + 3 * further;
  const std::size_t others = addresses.size() < needed ? 0 : (addresses.size() - needed) / 2;
  const std::vector<std::string> names = address_names(further, others);
  if (names.size() != addresses.size() || member(note, "addresses") != json(names)) {
    throw Fault("other names of addresses, or of another number", "those of note format 1");
  }
  description.layout = layout_from(addresses, further);
  description.expectations = expectations_from(member(note, "expectations"));
  description.tool_version = string_member(note, "tool_version");
  return description;
}

/// The data breakpoint on the datum.
Expectation access_expectation(const Specification& specification) {
  const TriggerTraits& traits = traits_of(specification.trigger);
  if (!traits.touches_datum) return {"access", std::nullopt, 0.0};
  // A data breakpoint is a trap on x86, reported after the access was done (Intel SDM Vol. 3,
  // "Debug Exceptions"), and on aarch64 a watchpoint exception taken before it (Arm ARM, D2).
  const std::int64_t offset = specification.arch == Arch::x86_64 ? 1 : 0;
  const auto triggers = static_cast<double>(triggers_of(specification));
  if (specification.trigger == TriggerKind::string_load) {
    // Between repetitions the instruction is its own successor.
    return {"access", 0, triggers * (string_repetitions(specification) - 1.0)};
  }
  if (const std::uint64_t elements = elements_of(specification); elements != 0) {
    // The datum is one element of the chase, which comes to it once per round.
    return {"access", offset, triggers / static_cast<double>(elements)};
  }
  return {"access", offset, triggers};
}

}  // namespace

std::vector<TriggerBlock> Layout::trigger_blocks() const {
  std::vector<TriggerBlock> all{{trigger, runway}};
  all.insert(all.end(), further.begin(), further.end());
  return all;
}

const Expectation* TargetDescription::expectation_of(std::string_view event) const {
  const auto found =
      std::find_if(expectations.begin(), expectations.end(),
                   [&](const Expectation& expectation) { return expectation.event == event; });
  return found == expectations.end() ? nullptr : &*found;
}

std::vector<Expectation> expectations_for(const Specification& specification) {
  const bool faults = specification.trigger == TriggerKind::fault;
  const auto triggers = static_cast<double>(triggers_of(specification));
  // The execute breakpoint stands at the first trigger only.
  return {access_expectation(specification), Expectation{"execute", 0, 1.0},
          faults ? Expectation{"faults", 0, triggers} : Expectation{"faults", std::nullopt, 0.0}};
}

ordered_json json_of(const Specification& specification) {
  ordered_json object{{"arch", name_of(specification.arch)},
                      {"trigger", name_of(specification.trigger)},
                      {"access_bytes", specification.access_bytes},
                      {"nop_bytes", specification.nop_bytes},
                      {"nops", specification.nops},
                      {"lead_in_nops", specification.lead_in_nops}};
  if (!specification.gaps.empty()) object["gaps"] = specification.gaps;
  if (specification.working_set_bytes != 0) {
    object["working_set_bytes"] = specification.working_set_bytes;
  }
  if (const auto* iterations = std::get_if<std::uint64_t>(&specification.length)) {
    object["iterations"] = *iterations;
  } else {
    object["nanoseconds"] = std::get<std::chrono::nanoseconds>(specification.length).count();
  }
  return object;
}

ordered_json json_of(const std::vector<Expectation>& expectations) {
  ordered_json list = ordered_json::array();
  for (const Expectation& expectation : expectations) {
    ordered_json object{{"event", expectation.event}, {"offset", nullptr}};
    if (expectation.offset) object["offset"] = *expectation.offset;
    object["events_per_iteration"] = expectation.events_per_iteration;
    list.push_back(std::move(object));
  }
  return list;
}

std::string note_text(const Specification& specification, std::size_t other_triggers) {
  const ordered_json note{{"addresses", address_names(specification.gaps.size(), other_triggers)},
                          {"specification", json_of(specification)},
                          {"expectations", json_of(expectations_for(specification))},
                          {"tool_version", SKIDSCAN_VERSION}};
  return note.dump();
}

TargetDescription parse_note(std::string_view descriptor, const std::filesystem::path& path,
                             std::uint64_t offset) {
  const auto refuse = [&](std::string found, std::string allowed, std::string remedy) {
    return InputError({.file = path.string(),
                       .offset = offset,
                       .found = std::move(found),
                       .allowed = std::move(allowed),
                       .remedy = std::move(remedy)});
  };
  if (descriptor.size() < kHeaderBytes || descriptor.size() > kMostBytes) {
    throw refuse(fmt::format("a skidscan note of {} bytes", descriptor.size()),
                 fmt::format("{} to {}", kHeaderBytes, kMostBytes), {});
  }
  const auto version = read_integer<std::uint32_t>(descriptor, 0);
  if (version != kNoteVersion) {
    throw refuse(fmt::format("a skidscan note of format {}", version),
                 fmt::format("{}", kNoteVersion), "read it with a newer skidscan");
  }
  const std::string remedy = "build the target again";
  try {
    return description_from(descriptor);
  } catch (const Fault& fault) {
    throw refuse("a damaged skidscan note: " + fault.found, fault.allowed, remedy);
  } catch (const UsageError& error) {
    throw refuse(fmt::format("a damaged skidscan note: {}", error.what()), {}, remedy);
  } catch (const nlohmann::json::exception& error) {
    throw refuse(fmt::format("a damaged skidscan note: {}", error.what()), {}, remedy);
  }
}

}  // namespace skid::runway
