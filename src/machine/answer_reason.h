// Why the kernel refuses an event, or gives it no samples.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace skid::machine {

struct CpuIdentity;
struct EventAttempt;
struct Machine;

/// A reason for an answer of the kernel, and what to do about it.
struct Reason {
  std::string what;    ///< a clause: "IBS takes periods from 144"
  std::string remedy;  ///< empty: none is known
};
/// Joins the reason and its remedy: "IBS takes periods from 144; use a longer period".
inline std::string text_of(const Reason& reason) {
  return reason.remedy.empty() ? reason.what : reason.what + "; " + reason.remedy;
}
/// What takes the samples of an event.
enum class SampledBy { pmu, breakpoint, kernel };
/// Returns what samples an event of this perf_event_attr.type.
SampledBy sampled_by(std::uint32_t type);
/// Explains why an event was accepted and counted, or recorded, but has no sample. `level`:
/// precise_ip, which matters for events of a PMU only. `expected`: samples that its causes should
/// have given; nullopt: not known.
Reason why_no_samples(const CpuIdentity& cpu, SampledBy sampled_by, int level,
                      std::optional<double> expected);
/// Explains why IBS does not sample user mode alone, with the event that does where the kernel has
/// its filter (ibs_op/format/swfilt, Linux 6.14).
Reason why_not_filtered(const Machine& machine);
/// A function that explains an answer of the kernel.
using Explain = std::function<Reason(const EventAttempt&, int answer)>;

}  // namespace skid::machine
