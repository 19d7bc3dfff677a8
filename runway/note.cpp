#include "runway/note.h"

#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/run_fields.h"
#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/support/address.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "src/support/field_reader.h"
#include "src/support/field_values.h"
#include "src/support/field_writer.h"
#include "src/support/fields.h"
#include "src/support/json_value.h"
#include "src/support/precise_level.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::runway {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t kHeaderBytes = 8;
constexpr std::size_t kMostBytes = std::size_t{64} << 10;
constexpr std::size_t kMostOtherTriggers = kMostTriggers + 8;
constexpr std::size_t kLongestName = 64;

constexpr std::array<std::string_view, 7> kAddresses{"loop",   "loop_end",   "lead_in", "trigger",
                                                     "runway", "runway_end", "datum"};

ByteReader reader_of(std::string_view descriptor) {
  return {std::as_bytes(std::span(descriptor)), ByteOrder::little};
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

void check_length(const JsonValue& text) {
  const std::size_t size = text.string().size();
  if (size > kLongestName) {
    text.refuse(fmt::format("{} bytes", size), fmt::format("at most {}", kLongestName));
  }
}

}  // namespace
}  // namespace skid::runway

namespace skid {

void fields(auto& io, Of<runway::Specification> auto& value) {
  constexpr bool kReads = std::remove_reference_t<decltype(io)>::kReads;
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  std::string arch(runway::name_of(value.arch)), trigger(name_of(value.trigger));
  io("arch", Checked{arch, runway::check_length});
  io("trigger", Checked{trigger, runway::check_length});
  SKID_MEMBERS(access_bytes, nop_bytes, nops, lead_in_nops)
  if (kReads || !value.gaps.empty()) io("gaps", OrNull{value.gaps});
  if (kReads || value.working_set_bytes != 0) {
    io("working_set_bytes", OrNull{value.working_set_bytes}, {.most = kMost});
  }
  fields(io, value.length);
  if constexpr (kReads) {
    value.arch = runway::arch_from(arch);
    value.trigger = runway::trigger_kind_from(trigger);
  }
}

void fields(auto& io, Of<runway::Expectation> auto& value) {
  constexpr std::int64_t kFarthest = 1'000'000;
  io("event", Checked{value.event, runway::check_length});
  io("offset", value.offset, {.least = -kFarthest, .most = kFarthest});
  io("events_per_iteration", value.events_per_iteration, {.most = 1e6});
}

void fields(auto& io, Of<runway::TouchedData> auto& value) {
  static constexpr std::array<std::string_view, 2> kOf{"other_trigger", "trigger"};
  io("of", OneOf{value.of_trigger, kOf});
  io("offset", value.offset, {.most = runway::kDatumPageBytes});
  io("bytes", value.bytes, {.most = runway::kDatumPageBytes});
}

void fields(auto& io, Of<runway::TargetDescription> auto& value) {
  SKID_MEMBERS(specification, expectations)
  io("data", OrNull{value.data});
  io("tool_version", Checked{value.tool_version, runway::check_length});
}

}  // namespace skid

namespace skid::runway {
namespace {

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

TargetDescription description_from(std::string_view descriptor, const std::string& path) {
  const auto refuse = [&path](std::string found, std::string expected) {
    return InputError({.file = path, .found = std::move(found), .expected = std::move(expected)});
  };
  ByteReader reader = reader_of(descriptor);
  reader.skip(sizeof kNoteVersion);
  const std::uint32_t count = reader.u32();
  const std::size_t most =
      std::min(kAddresses.size() + 3 * (kMostTriggers - 1) + 2 * kMostOtherTriggers,
               (descriptor.size() - kHeaderBytes) / sizeof(std::uint64_t));
  if (count < kAddresses.size() || count > most) {
    throw refuse(fmt::format("{} addresses", count),
                 fmt::format("{} to {}", kAddresses.size(), most));
  }
  std::vector<std::uint64_t> addresses;
  while (addresses.size() < count) addresses.push_back(reader.u64());
  const nlohmann::json text =
      parse_json(descriptor.substr(descriptor.size() - reader.remaining()), path, "JSON");
  const JsonValue note(text, path);

  TargetDescription description;
  FieldReader io(note);
  fields(io, description);
  check(description.specification);
  const std::size_t further = description.specification.gaps.size();
  const std::size_t needed = kAddresses.size() + 3 * further;
  const std::size_t others = count < needed ? 0 : (count - needed) / 2;
  const std::vector<std::string> names = address_names(further, others);
  if (names.size() != count || note["addresses"].strings(count) != names) {
    throw refuse("other names of addresses, or of another number", "those of note format 1");
  }
  description.layout = layout_from(addresses, further);
  return description;
}

/// The data breakpoint on the datum.
Expectation access_expectation(const Specification& specification) {
  const Kind& kind = kind_of(specification.trigger);
  if (!kind.touches_datum) return {"access", std::nullopt, 0.0};
  // A data breakpoint is a trap on x86, reported after the access was done (Intel SDM Vol. 3,
  // "Debug Exceptions"), and on aarch64 a watchpoint exception taken before it (Arm ARM, D2).
  const std::int64_t offset = specification.arch == Arch::x86_64 ? 1 : 0;
  const auto triggers = static_cast<double>(triggers_of(specification));
  if (kind.repeats) {
    // Between repetitions the instruction is its own successor.
    return {"access", 0, triggers * (string_repetitions(specification) - 1.0)};
  }
  if (const std::uint64_t elements = elements_of(specification); elements != 0) {
    // The datum is one element of the chase, which reaches it once per round.
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
  return find_by(expectations, &Expectation::event, event);
}

std::vector<Expectation> expectations_for(const Specification& specification) {
  const bool faults = kind_of(specification.trigger).gives_back_page;
  const auto triggers = static_cast<double>(triggers_of(specification));
  // The execute breakpoint is on the first trigger only.
  return {access_expectation(specification), Expectation{"execute", 0, 1.0},
          faults ? Expectation{"faults", 0, triggers} : Expectation{"faults", std::nullopt, 0.0}};
}

bool touches_data(TriggerKind trigger) {
  const Kind& kind = kind_of(trigger);
  return kind.touches_datum || kind.prefetches_datum || kind.touches_stack;
}

bool touches_stack(TriggerKind trigger) {
  return kind_of(trigger).touches_stack;
}

bool has_page_fault(TriggerKind trigger) {
  return kind_of(trigger).gives_back_page;
}

std::vector<TouchedData> data_of(const Specification& specification) {
  const Kind& kind = kind_of(specification.trigger);
  if (!touches_data(specification.trigger)) return {};
  std::uint64_t bytes = specification.access_bytes;
  if (kind.touches_stack) {
    // Each trigger accesses a return address, unless the next one begins with the stack empty
    // again.
    const bool restarts = kind.code(specification.arch)->uses_up_head;
    bytes = sizeof(std::uint64_t) * (restarts ? 1 : triggers_of(specification));
    return {{.offset = kStackTop - bytes, .bytes = bytes}};
  }
  if (kind.repeats) bytes *= string_repetitions(specification);
  std::vector<TouchedData> data{{.bytes = bytes}};
  // By its system call.
  if (kind.gives_back_page) data.push_back({.of_trigger = false, .bytes = kDatumPageBytes});
  return data;
}

ordered_json json_of(const Specification& specification) {
  return FieldWriter::json_of(specification);
}

ordered_json json_of(const TargetDescription& description) {
  return FieldWriter::json_of(description);
}

std::string note_text(const Specification& specification, std::size_t other_triggers) {
  ordered_json note{{"addresses", address_names(specification.gaps.size(), other_triggers)}};
  note.update(json_of(TargetDescription{specification,
                                        {},
                                        expectations_for(specification),
                                        data_of(specification),
                                        SKIDSCAN_VERSION}));
  return note.dump();
}

TargetDescription parse_note(std::string_view descriptor, const std::filesystem::path& path,
                             std::uint64_t offset) {
  const auto refuse = [&](std::string found, std::string expected, std::string remedy) {
    return InputError(
        {path.string(), offset, std::move(found), std::move(expected), std::move(remedy)});
  };
  if (descriptor.size() < kHeaderBytes || descriptor.size() > kMostBytes) {
    throw refuse(fmt::format("a skidscan note of {} bytes", descriptor.size()),
                 fmt::format("{} to {}", kHeaderBytes, kMostBytes), {});
  }
  const std::uint32_t version = reader_of(descriptor).u32();
  if (version != kNoteVersion) {
    throw refuse(fmt::format("a skidscan note of format {}", version),
                 fmt::format("{}", kNoteVersion), "read it with a newer skidscan");
  }
  const std::string damaged = "a damaged skidscan note: ", remedy = "build the target again";
  try {
    return description_from(descriptor, path.string());
  } catch (const InputError& error) {
    throw refuse(damaged + error.fault().found, error.fault().expected, remedy);
  } catch (const ValueError& error) {
    throw refuse(damaged + error.what(), {}, remedy);
  }
}

}  // namespace skid::runway
