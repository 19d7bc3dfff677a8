// The instructions of an iteration, one architecture each: what assembly.cpp puts together.
#pragma once

#include "runway/specification.h"

#include <cstdint>
#include <string>
#include <vector>

namespace skid::runway {

/// An instruction or a label each.
using Lines = std::vector<std::string>;

/// What precedes the lead-in, piece by piece.
struct HeadPiece {
  Lines lines;
  bool other_trigger = false;  ///< can cause what the trigger causes as well
  unsigned skipped = 0;        ///< instructions among the lines that no iteration executes
};

/// Labels of assembly.cpp that instructions may name: .Lloop, .Lrunway, .Lloop_end, skid_datum, and
/// skid_state, a word that outlives calls of skid_enter.
///
/// The counter of iterations lives in a register that neither the trigger nor the head nor a system
/// call changes. What `enter` saves or reads, `leave` puts back or stores; between them lie whole
/// iterations, or the rest of one from the runway on.
struct Instructions {
  Lines enter;  ///< of skid_enter(iterations, entry), up to the jump to the entry
  std::vector<HeadPiece> head;
  std::string trigger;
  std::string nop;  ///< one NOP of the runway
  Lines back_edge;  ///< one iteration less, and back to the loop unless it was the last
  bool back_edge_is_other_trigger = false;
  Lines leave;       ///< up to the return
  std::string jump;  ///< to the entry
};

/// Of a specification that was checked.
Instructions instructions_of(const Specification& specification);

Instructions x86_64_instructions(const Specification& specification);
Instructions aarch64_instructions(const Specification& specification);

/// Bytes that are set aside for the datum and given back by the fault trigger: the largest page
/// there is (aarch64: 4, 16 or 64 KiB), so that nothing else is on it.
inline constexpr unsigned kDatumPageBytes = 65536;
inline constexpr int kMadviseDontNeed = 4;

}  // namespace skid::runway
