// The command line of `perf record`.
#pragma once

#include "runway/specification.h"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::machine {
struct PerfTool;
}  // namespace skid::machine

namespace skid::perftool {

/// How samples are taken, apart from the event, its level and its period.
struct Extras {
  std::optional<std::uint64_t> frequency = {};  ///< samples per second (-F) instead of a period
  std::string call_graph = {};                  ///< --call-graph: "fp", "dwarf", "lbr"; empty: none
  std::string branch_filter = {};  ///< -j: "any", "any_call,u"; empty: no branch stacks
  bool per_cpu = false;            ///< -C: all tasks of the CPU, not the target alone

  friend bool operator==(const Extras&, const Extras&) = default;
};

/// The subject of a recording, which is known before its place.
struct Subject {
  std::string perf_event = {};  ///< argument of -e with its precise level: "mem:0x403000/8:rw:pp"
  std::uint64_t period = 0;     ///< events (cpu-clock: nanoseconds) per sample, as asked
  Extras extras = {};
  std::string cross_check = {};   ///< a tracepoint to record every time it fires; empty: none
  runway::RunLength length = {};  ///< length of the target's run
  /// Whether each sample has data addresses and sources (-d), weights (-W), and registers
  /// (kRegistersOption).
  bool data_addresses = false, weights = false, registers = false;
};

/// Asks for the general-purpose registers of x86-64 as perf names them. These are in PEBS records:
/// others end their batches (PEBS_GP_REGS in arch/x86/events/perf_event.h).
inline constexpr std::string_view kRegistersOption =
    "--intr-regs=ax,bx,cx,dx,si,di,bp,sp,r8,r9,r10,r11,r12,r13,r14,r15";

/// One `perf record` of a subject: its files and its CPU.
struct Recording {
  Subject subject;
  std::filesystem::path output;
  std::filesystem::path target;
  int cpu = 0;
  std::filesystem::path control, acknowledge;  ///< FIFOs, for a perf that has --control
};

/// Returns the command line for this perf.
std::vector<std::string> record_command(const machine::PerfTool& perf, const Recording& recording);

/// The message for a recording that the kernel accepts only without data addresses.
inline constexpr std::string_view kAddressesRefused =
    "data addresses are refused here: recorded without them";

/// "perf 5.4 has no --control …": what that means for recordings; empty for a perf that has it.
std::string control_note(const machine::PerfTool& perf);

}  // namespace skid::perftool
