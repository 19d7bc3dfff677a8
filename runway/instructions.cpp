// Registers on x86-64: r8 counts iterations, r9 holds what else must outlive an iteration; rdi
// points to what the trigger accesses, rsi as well for string instructions. On aarch64: x9, x11 and
// x10.

#include "runway/instructions.h"

#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/support/address.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include <fmt/format.h>

namespace skid::runway {

namespace {

/// The recommended multi-byte NOPs, by length (Intel SDM Vol. 2B, NOP; AMD APM Vol. 3, NOP).
constexpr std::array<std::string_view, 10> kNops{
    "",
    "0x90",
    "0x66, 0x90",
    "0x0f, 0x1f, 0x00",
    "0x0f, 0x1f, 0x40, 0x00",
    "0x0f, 0x1f, 0x44, 0x00, 0x00",
    "0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00",
    "0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00",
    "0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00",
    "0x66, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00",
};

/// A conditional branch of aarch64 reaches 1 MiB backwards; a little less, for the code around.
constexpr std::uint64_t kConditionalReach = (1U << 20) - 1024;

Instructions loop_for_x86_64(const Specification& specification) {
  Instructions code;
  code.enter = {"movq %rdi, %r8"};
  code.jump = "jmp *%rsi";
  code.nop = fmt::format(".byte {}", kNops.at(specification.nop_bytes));
  code.back_edge = {"decq %r8", "jnz .Lloop"};
  return code;
}

Instructions loop_for_aarch64(const Specification& specification) {
  Instructions code;
  code.enter = {"mov x9, x0"};
  code.jump = "br x1";
  code.nop = "nop";
  std::uint64_t nops = specification.lead_in_nops;
  for (std::size_t i = 0; i < triggers_of(specification); ++i)
    nops += runway_nops(specification, i);
  if (nops * specification.nop_bytes < kConditionalReach) {
    code.back_edge = {"subs x9, x9, #1", "b.ne .Lloop"};
  } else {
    code.back_edge = {"subs x9, x9, #1", "b.eq .Lloop_end", "b .Lloop"};
  }
  return code;
}

Head point_to_datum(Arch arch) {
  if (arch == Arch::x86_64) return {{{"movl $skid_datum, %edi"}}};
  return {{{"adrp x10, skid_datum", "add x10, x10, :lo12:skid_datum"}}};
}

std::size_t instructions_in(const Lines& lines) {
  std::size_t count = 0;
  for (const std::string& line : lines) count += line.ends_with(':') ? 0 : 1;
  return count;
}

std::uint64_t executed_instructions(const Specification& specification, const Instructions& code) {
  // A loop without a head begins with a NOP instead.
  std::uint64_t count = code.triggers[0].head.empty() ? 1 : 0;
  count += specification.lead_in_nops + instructions_in(code.back_edge);
  for (std::size_t i = 0; i < code.triggers.size(); ++i) {
    for (const HeadPiece& piece : code.triggers[i].head) {
      count += instructions_in(piece.lines) - piece.skipped;
    }
    count += 1 + std::uint64_t{runway_nops(specification, i)};
  }
  return count;
}

}  // namespace

std::string numbered(std::string_view name, std::size_t trigger) {
  return trigger == 0 ? std::string(name) : fmt::format("{}_{}", name, trigger + 1);
}

std::string switch_stack() {
  return fmt::format("movl $skid_datum+{}, %esp", kStackTop);
}

Instructions instructions_of(const Specification& specification) {
  const Kind& kind = kind_of(specification.trigger);
  const KindCode& own = kind.code(specification.arch).value();
  Instructions code = specification.arch == Arch::x86_64 ? loop_for_x86_64(specification)
                                                         : loop_for_aarch64(specification);
  code.enter.insert(code.enter.end(), own.enter.begin(), own.enter.end());
  code.leave = own.leave;
  // The whole pair of decrement and jump: the two fuse, and either may be tagged.
  code.back_edge_is_other_trigger = kind.causes(Counted::branches);

  std::size_t variant = 0;
  if (own.instructions.size() > 1) {
    const auto width = std::ranges::find(kind.widths, specification.access_bytes);
    variant = static_cast<std::size_t>(width - kind.widths.begin());
  }
  const unsigned repetitions = kind.repeats ? string_repetitions(specification) : 0;
  const Head head = own.head.value_or(point_to_datum(specification.arch));
  for (std::size_t i = 0; i < triggers_of(specification); ++i) {
    const auto completed = [&](std::string_view line) {
      return fmt::format(fmt::runtime(line), fmt::arg("n", numbered("", i)),
                         fmt::arg("nop", code.nop), fmt::arg("repetitions", repetitions));
    };
    TriggerCode& trigger = code.triggers.emplace_back();
    trigger.instruction = completed(own.instructions.at(variant));
    if (i != 0 && !own.uses_up_head) continue;
    trigger.head = head;
    for (HeadPiece& piece : trigger.head) {
      for (std::string& line : piece.lines) line = completed(line);
    }
  }
  return code;
}

std::optional<double> events_per_iteration(const Specification& specification, Counted counted) {
  if (refusal(specification.trigger, specification.arch)) return std::nullopt;
  const Instructions code = instructions_of(specification);
  double count = 0;
  switch (counted) {
    case Counted::other:
    case Counted::any_instruction:
    case Counted::cycles:
    case Counted::local_memory:
    case Counted::cache_misses:
    case Counted::mispredicted_taken:
    case Counted::mispredicted_taken_conditional:
    case Counted::mispredicted_forward_conditional:
    case Counted::mispredicted_backward_conditional:
    case Counted::mispredicted_untaken_conditional:
      return std::nullopt;
    case Counted::instructions:
      return static_cast<double>(executed_instructions(specification, code));
    // The back-edge. That of the longest loops of aarch64 is two branches, the first not taken.
    case Counted::branches:
      count = static_cast<double>(code.back_edge.size()) - 1;
      break;
    case Counted::conditional_branches:
    case Counted::taken_branches:
      count = 1;
      break;
    case Counted::taken_conditional_branches:
    case Counted::taken_backward_conditional_branches:
      count = code.back_edge.size() == 2 ? 1 : 0;
      break;
    case Counted::untaken_conditional_branches:
      count = code.back_edge.size() == 2 ? 0 : 1;
      break;
    default:
      break;
  }
  const Effect* effect = kind_of(specification.trigger).effect_on(counted);
  if (effect == nullptr) return count;
  if (!effect->each) return std::nullopt;
  return count + *effect->each * static_cast<double>(triggers_of(specification));
}

double share_of_triggers(const Specification& specification, Counted counted) {
  const Instructions code = instructions_of(specification);
  double others = code.back_edge_is_other_trigger ? 1 : 0;
  for (const TriggerCode& trigger : code.triggers) {
    for (const HeadPiece& piece : trigger.head) others += piece.other_trigger ? 1 : 0;
  }
  if (others == 0) return 1;
  const auto triggers = static_cast<double>(triggers_of(specification));
  const Kind& kind = kind_of(specification.trigger);
  if (counted != Counted::other && !kind.causes(counted)) return 1;  // nothing is judged
  const Effect* effect = kind.effect_on(counted);
  const std::optional<double> all = events_per_iteration(specification, counted);
  if (effect == nullptr || !effect->each || !all) return triggers / (triggers + others);
  // One instruction causes an event at most once; further events are of its head.
  const double own = triggers * std::min(1.0, *effect->each);
  return own > 0 ? own / *all : 1;
}

}  // namespace skid::runway
