// The instructions of an iteration for a specification: what assembly.cpp puts together.
#pragma once

#include "runway/kinds/kind.h"
#include "src/instructions/counted.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::runway {

struct Specification;

/// One trigger. `head` is placed before the lead-in for the first, directly before the trigger for
/// the others, which have one only where the previous trigger uses it up.
struct TriggerCode {
  Head head;
  std::string instruction;
};

/// Returns the name of a part that each trigger has, by its number from 0: "skid_trigger" and
/// "skid_trigger_2".
std::string numbered(std::string_view name, std::size_t trigger);

/// Labels of assembly.cpp that instructions may name: .Lloop, .Lrunway numbered, .Lloop_end,
/// skid_datum, and skid_state, a word that outlives calls of skid_enter.
///
/// The counter of iterations lives in a register that neither the trigger nor the head nor a system
/// call changes. What `enter` saves or reads, `leave` restores or stores; between them are whole
/// iterations, or the rest of one from the last runway on.
struct Instructions {
  Lines enter;  ///< start of skid_enter(iterations, entry), up to the jump to the entry
  std::vector<TriggerCode> triggers;
  std::string nop;  ///< one NOP of the runway
  Lines back_edge;  ///< one iteration less, and back to the loop unless it was the last
  bool back_edge_is_other_trigger = false;
  Lines leave;       ///< end of skid_enter, up to the return
  std::string jump;  ///< jump to the entry
};

/// Makes the instructions of a specification that was checked.
Instructions instructions_of(const Specification& specification);

/// Returns how many of these events an iteration of a target should cause in user mode, its
/// triggers and the rest of the loop together; nullopt: it depends on the CPU or the kernel, or no
/// target of this kind can be built. Instructions are retired ones, and mispredictions those of a
/// warm predictor.
std::optional<double> events_per_iteration(const Specification& specification, Counted counted);

/// Returns the share of these events that the triggers cause themselves, among those of the
/// triggers and the other triggers of the loop: this share of the samples can be judged. Where the
/// number of events is not known, each trigger and each other trigger counts for one.
double share_of_triggers(const Specification& specification, Counted counted);

/// Number of bytes that are reserved for the datum and given back by the fault trigger: the largest
/// page size (aarch64: 4, 16 or 64 KiB), so that the page contains nothing else.
inline constexpr unsigned kDatumPageBytes = 65536;
/// The stack of triggers that use one ends this many bytes after the datum, so that its addresses
/// are known: `leave` restores that of the caller.
inline constexpr unsigned kStackTop = 4096;
/// Points %rsp to that end (x86-64).
std::string switch_stack();
inline constexpr int kMadviseDontNeed = 4;

}  // namespace skid::runway
