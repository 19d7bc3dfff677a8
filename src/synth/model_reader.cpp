#include "src/synth/model_reader.h"

#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/machine/cpu_identity.h"
#include "src/machine/machine.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/json_text.h"
#include "src/support/json_value.h"
#include "src/synth/model.h"
#include "src/synth/model_fields.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace skid::synth {
namespace {

using nlohmann::json;

constexpr std::uint64_t kMostBytes = std::uint64_t{16} << 20;
constexpr std::uint64_t kWord = std::numeric_limits<std::uint32_t>::max();
/// Shares are decimal fractions written by people: their sum may differ from 1 by rounding.
constexpr double kSumTolerance = 1e-9;

runway::Specification read_target(const JsonValue& document) {
  const Arch usual = arch_of_machine(document).value_or(kOwnArch);
  const auto object = document.find("target");
  if (!object) return runway::default_specification(usual);
  try {
    const auto arch = object->find("arch");
    const auto trigger = object->find("trigger");
    runway::Specification target = runway::default_specification(
        arch ? runway::arch_from(arch->string()) : usual,
        trigger ? runway::trigger_kind_from(trigger->string()) : runway::TriggerKind{});
    std::optional<std::size_t> triggers;
    std::vector<std::uint32_t> gaps;
    const auto take_gap = [&](const JsonValue& gap) { whole(gaps.emplace_back(), 0, kWord)(gap); };
    read_fields(*object, {{"arch"},
                          {"trigger"},
                          {"nops", whole(target.nops, 0, kWord)},
                          {"nop_bytes", whole(target.nop_bytes, 0, kWord)},
                          {"lead_in_nops", whole(target.lead_in_nops, 0, kWord)},
                          {"access_bytes", whole(target.access_bytes, 0, kWord)},
                          {"triggers", whole(triggers, 0, runway::kMostTriggers)},
                          {"gaps", each(runway::kMostTriggers, take_gap)},
                          {"working_set_bytes",
                           whole(target.working_set_bytes, 0, std::uint64_t{1} << 50)}});
    target.gaps = runway::gaps_for(triggers, gaps, target.nops);
    runway::check(target);
    return target;
  } catch (const ValueError& error) {
    object->refuse(error.what(), {});
  }
}

ExactIpRule read_exact_rule(const JsonValue& document) {
  static constexpr std::array<std::string_view, 4> kRules{"never", "rewound", "requested",
                                                          "always"};
  const auto object = document.find("machine");
  const auto rule = object ? object->find("exact_ip") : std::nullopt;
  return rule ? static_cast<ExactIpRule>(choice(*rule, kRules)) : ExactIpRule::never;
}

}  // namespace

void read_fields(const JsonValue& object, const std::vector<Field>& fields) {
  std::vector<std::string_view> keys;
  for (const Field& field : fields) keys.push_back(field.key);
  object.allow_only(keys);
  for (const Field& field : fields) {
    if (!field.take) continue;
    if (const auto value =
            field.required ? std::optional(object[field.key]) : object.find(field.key)) {
      field.take(*value);
    }
  }
}

std::string text_of(const JsonValue& value) {
  constexpr std::size_t kLongestText = 1024;
  std::string text = value.string();
  const bool printable = std::ranges::all_of(text, [](char character) {
    return static_cast<unsigned char>(character) >= 0x20 && character != 0x7f;
  });
  if (!printable || text.size() > kLongestText) {
    value.refuse(printable ? fmt::format("{} bytes", text.size()) : json_text(text),
                 fmt::format("at most {} printable bytes", kLongestText));
  }
  return text;
}

void check_sum(const JsonValue& shares, double sum) {
  if (sum > 1 + kSumTolerance) {
    shares.refuse(fmt::format("shares that add up to {}", sum), "at most 1");
  }
}

std::vector<double> shares_of(const JsonValue& value, std::size_t most) {
  std::vector<double> shares;
  each(most, [&](const JsonValue& element) { shares.push_back(element.number(0, 1)); })(value);
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  if (std::abs(sum - 1) > kSumTolerance) {
    value.refuse(fmt::format("shares that add up to {}", sum), "1");
  }
  return shares;
}

std::optional<Arch> arch_of_vendor(std::string_view vendor) {
  if (vendor.starts_with("0x")) return Arch::aarch64;  // the implementer of MIDR_EL1
  const bool is_x86 =
      vendor == "GenuineIntel" || vendor == "AuthenticAMD" || vendor == "HygonGenuine";
  return is_x86 ? std::optional(Arch::x86_64) : std::nullopt;
}

std::optional<Arch> arch_of_machine(const JsonValue& document) {
  const auto object = document.find("machine");
  const auto vendor = object ? object->find("vendor") : std::nullopt;
  return vendor ? arch_of_vendor(text_of(*vendor)) : std::nullopt;
}

machine::Machine read_machine(const JsonValue& document, Arch arch) {
  constexpr std::size_t kMostPmus = 16;
  machine::Machine machine;
  machine::CpuIdentity& cpu = machine.cpu;
  cpu.arch = runway::name_of(arch);
  cpu.model_name = "a model, no CPU";
  machine.kernel = machine.hostname = "synthetic";
  const auto object = document.find("machine");
  if (!object) return machine;
  const auto take_pmu = [&](const JsonValue& value) {
    machine::CorePmu& pmu = machine.core_pmus.emplace_back();
    read_fields(value, {{"name", text(pmu.name), kRequired},
                        {"type", whole(pmu.type, 0, kWord), kRequired},
                        {"max_precise", integer(pmu.max_precise, 0, machine::kHighestLevel)}});
  };
  read_fields(*object, {{"vendor", text(cpu.vendor)},
                        {"model_name", text(cpu.model_name)},
                        {"family", integer(cpu.family)},
                        {"model", integer(cpu.model)},
                        {"stepping", integer(cpu.stepping)},
                        {"microcode", text(cpu.microcode)},
                        {"hypervisor", text(cpu.hypervisor)},
                        {"kernel", text(machine.kernel)},
                        {"core_pmus", each(kMostPmus, take_pmu)},
                        {"exact_ip"}});
  if (arch_of_vendor(cpu.vendor).value_or(arch) != arch) {
    (*object)["vendor"].refuse_text(
        fmt::format("a vendor of {} CPUs, as the code is", runway::name_of(arch)));
  }
  return machine;
}

Buffers read_buffers(const JsonValue& document) {
  Buffers buffers;
  if (const auto object = document.find("buffers")) {
    read_fields(*object, {{"cpus", whole(buffers.cpus, 1, kMostCpus)},
                          {"round_samples", whole(buffers.round_samples, 1, kMostSamples)},
                          {"finished_round",
                           into(buffers.finished_round, std::mem_fn(&JsonValue::boolean))}});
  }
  return buffers;
}

Model parse_model(std::string_view text_of_model, const std::string& name) {
  const json parsed = parse_json(text_of_model, name, "a model of synthetic recordings");
  const JsonValue document(parsed, name);
  const auto take_events = [&](const JsonValue& events) {
    return read_events(events, read_exact_rule(document));
  };
  Model model;
  std::string schema, source;  // `source` is for readers of the model and not used
  read_fields(document, {{"schema", text(schema), kRequired},
                         {"name", text(model.name), kRequired},
                         {"description", text(model.description)},
                         {"source", text(source)},
                         {"seed", whole(model.seed)},
                         {"target"},
                         {"machine"},
                         {"ticks_per_nop", number(model.ticks_per_nop, 0, 1e6)},
                         {"ticks_per_second", number(model.ticks_per_second, 1, 1e11)},
                         {"buffers"},
                         {"events", into(model.events, take_events), kRequired}});
  if (schema != kModelSchema) document["schema"].refuse_text(fmt::format("\"{}\"", kModelSchema));
  model.target = read_target(document);
  model.machine = read_machine(document, model.target.arch);
  model.buffers = read_buffers(document);
  return model;
}

Model read_model(const std::filesystem::path& path) {
  return parse_model(read_file(path, kMostBytes), path.string());
}

}  // namespace skid::synth
