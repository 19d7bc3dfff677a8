// A kind of trigger. Each file in this folder describes one kind or a family of them; everything
// else (assembly, expected counts, events, docs, tests) follows from the description.
#pragma once

#include "runway/trigger.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::runway {

using instructions::Category;
using instructions::Counted;
using instructions::Verdict;

/// Lines of assembly, an instruction or a label each.
using Lines = std::vector<std::string>;

/// A part of the code that a trigger needs before it.
struct HeadPiece {
  Lines lines;
  bool other_trigger = false;  ///< true if it can cause what the trigger causes, too
  unsigned skipped = 0;        ///< instructions among the lines that no iteration executes
};

/// The code before a trigger.
using Head = std::vector<HeadPiece>;

/// A kind on one architecture, in GNU as syntax. Lines are formatted with {n}: the suffix of this
/// trigger's labels, as in .Lrunway{n}; {nop}: one NOP of the runway; {repetitions}: of a string
/// instruction. instructions.cpp lists the registers.
struct KindCode {
  /// The trigger instruction for each of the kind's widths, or one for all.
  std::vector<std::string_view> instructions;
  /// The instruction as Capstone prints it at the default width; {} is the first runway address.
  std::string_view disassembly;
  /// Code executed before the lead-in; nullopt: the code only points the address register to the
  /// datum.
  std::optional<Head> head = std::nullopt;
  /// The next trigger of the iteration needs the head again: the trigger has changed a register, a
  /// return address or a page that it depends on.
  bool uses_up_head = false;
  Lines enter = {}, leave = {};  ///< executed when the loop is entered and left
};

/// The events that one trigger and its head add to an iteration.
struct Effect {
  Counted counted;
  std::optional<double> each = 1;  ///< nullopt: depends on the CPU, the kernel or a hypervisor
  /// Whether the trigger instruction causes it: conditional where the access or branch goes that
  /// way, maybe on some CPUs; never: its head, the kernel or a hypervisor does.
  Verdict by_trigger = Verdict::can;
  bool second_choice = false;  ///< recorded with this kind only where no other kind causes it
};

/// A pointer chase: each load gives the address of the next.
struct Chase {
  MemoryLevel level;
  unsigned stride;            ///< bytes from one element to the next in memory
  std::uint64_t usual_bytes;  ///< working set where the sizes of the caches are not known
};

/// A kind of trigger on all architectures.
struct Kind {
  std::string_view name;  ///< name on the command line
  std::optional<KindCode> x86_64 = std::nullopt, aarch64 = std::nullopt;
  std::string_view cpu_flag = {};  ///< flag required in an x86 /proc/cpuinfo; empty: none
  /// Bytes of one access, ascending; empty for kinds that access no memory, or not of a width.
  std::vector<unsigned> widths = {};
  bool touches_datum = false;     ///< a data breakpoint on the datum is hit by the trigger
  bool prefetches_datum = false;  ///< uses the datum's address; no breakpoint is hit
  bool touches_stack = false;     ///< uses the stack of skid_enter: kStackTop, x86-64 only
  bool repeats = false;           ///< one instruction accesses the datum several times
  bool gives_back_page = false;   ///< each iteration gives the datum's page back to the kernel
  std::optional<Chase> chase = std::nullopt;
  std::string_view state = {};  ///< first value of skid_state, which outlives skid_enter, if any
  Category category = Category::other;  ///< category of the trigger instruction
  /// CPUs differ in whether the instruction counts as a load, or as how many.
  bool is_doubtful_load = false;
  std::vector<Effect> effects = {};

  const std::optional<KindCode>& code(Arch arch) const {
    return arch == Arch::x86_64 ? x86_64 : aarch64;
  }
  /// Returns the effect on what an event counts; null: none.
  const Effect* effect_on(Counted counted) const;
  /// Whether the trigger instruction causes such events, on one CPU or another.
  bool causes(Counted counted) const;
};

/// Returns the description of a kind.
const Kind& kind_of(TriggerKind kind);

namespace kinds {

/// Returns `effects` and the events that a way through the kernel or a hypervisor adds: misses of
/// the caches, and branches on CPUs that count the way there and back as such.
std::vector<Effect> through_kernel(std::vector<Effect> effects);

/// Value of Effect::each that depends on the CPU, the kernel or a hypervisor.
inline constexpr std::optional<double> kDepends = std::nullopt;
/// Widths of general-purpose registers in bytes, and of a pointer.
inline const std::vector<unsigned> kWords{1, 2, 4, 8}, kPointer{8};

/// Describes the plain load, which other kinds vary.
Kind load();

}  // namespace kinds
}  // namespace skid::runway
