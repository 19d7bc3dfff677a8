#include "src/synth/model_fields.h"

#include <optional>

namespace skid::synth {

namespace {

using nlohmann::json;

constexpr std::size_t kMostPmus = 16;

machine::CorePmu read_pmu(const JsonValue& object) {
  machine::CorePmu pmu;
  read_fields(object, {{"name", text(pmu.name), kRequired},
                       {"type", whole(pmu.type, 0, kWord), kRequired},
                       {"max_precise", [&](const JsonValue& level) {
                          pmu.max_precise = level.integer(0, machine::kHighestLevel);
                        }}});
  return pmu;
}

}  // namespace

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
  machine::Machine machine;
  machine::CpuIdentity& cpu = machine.cpu;
  cpu.arch = runway::name_of(arch);
  cpu.model_name = "a model, no CPU";
  machine.kernel = "synthetic";
  machine.hostname = "synthetic";
  const auto object = document.find("machine");
  if (!object) return machine;
  read_fields(*object,
              {{"vendor",
                [&](const JsonValue& vendor) {
                  cpu.vendor = text_of(vendor);
                  if (arch_of_vendor(cpu.vendor).value_or(arch) == arch) return;
                  vendor.refuse(
                      json_text(json(cpu.vendor)),
                      fmt::format("a vendor of {} CPUs, as the code is", runway::name_of(arch)));
                }},
               {"model_name", text(cpu.model_name)},
               {"family", integer(cpu.family)},
               {"model", integer(cpu.model)},
               {"stepping", integer(cpu.stepping)},
               {"microcode", text(cpu.microcode)},
               {"hypervisor", [&](const JsonValue& name) { cpu.hypervisor = text_of(name); }},
               {"kernel", text(machine.kernel)},
               {"core_pmus",
                [&](const JsonValue& pmus) {
                  for (const JsonValue& pmu : pmus.elements(kMostPmus)) {
                    machine.core_pmus.push_back(read_pmu(pmu));
                  }
                }},
               {"exact_ip"}});
  return machine;
}

ExactIpRule read_exact_rule(const JsonValue& document) {
  static constexpr std::array<std::string_view, 4> kRules{"never", "rewound", "requested",
                                                          "always"};
  const auto object = document.find("machine");
  const auto rule = object ? object->find("exact_ip") : std::nullopt;
  return rule ? static_cast<ExactIpRule>(choice(*rule, kRules)) : ExactIpRule::never;
}

Buffers read_buffers(const JsonValue& document) {
  Buffers buffers;
  if (const auto object = document.find("buffers")) {
    read_fields(*object, {{"cpus", whole(buffers.cpus, 1, kMostCpus)},
                          {"round_samples", whole(buffers.round_samples, 1, kMostSamples)},
                          {"finished_round", [&](const JsonValue& marked) {
                             buffers.finished_round = marked.boolean();
                           }}});
  }
  return buffers;
}

}  // namespace skid::synth
