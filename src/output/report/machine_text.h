// A machine, its CPU and kernel, as text.
#pragma once

#include <string>
#include <string_view>

namespace skid::machine {
struct CpuIdentity;
}  // namespace skid::machine

namespace skid::output {

/// Names a CPU: "Intel(R) Xeon(R) …", or the best that is known: "Arm Neoverse N1", the vendor,
/// "unknown CPU". Escaped.
std::string cpu_name(const machine::CpuIdentity& cpu);

/// Returns a CPU's name with the numbers that identify it: "Intel(R) Xeon(R) … (GenuineIntel,
/// family 6, …)". Escaped. `number_of_core`: Arm's MIDR; may be empty.
std::string cpu_details(const machine::CpuIdentity& cpu, const std::string& name,
                        const std::string& number_of_core = {});

/// Describes a machine: "Intel(R) Xeon(R) … (6-55-4), microcode 0x1, under KVM, Linux 6.1".
/// Escaped.
std::string machine_text(const machine::CpuIdentity& cpu, std::string_view kernel);
/// Describes the machine of a group, an audit or a run of a comparison.
std::string machine_text(const auto& of) {
  return machine_text(of.cpu, of.kernel);
}

}  // namespace skid::output
