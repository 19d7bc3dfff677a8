// The assembly of a target: the loop, what it touches, parameters of the C runtime, and the note.

#include "runway/note.h"
#include "runway/target.h"

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::runway {

namespace {

/// Large enough for any page size of the two architectures (aarch64: 4, 16 or 64 KiB), so that the
/// datum's page holds nothing else and can be given back without harm.
constexpr unsigned kPageBytes = 65536;
constexpr int kMadviseDontNeed = 4;
constexpr unsigned kAarch64NopBytes = 4;
/// How many NOPs it takes for their time to stand out from that of getting to them and back, which
/// varies by some 10 cycles with the alignment of the entry. 512 were found to be within 2% of 5000
/// (Zen 4); fewer can come out as taking no time at all.
constexpr std::uint32_t kTimedNops = 512;
/// A conditional branch of aarch64 reaches 1 MiB backwards; a little less, for the code around.
constexpr std::uint64_t kConditionalReach = (1U << 20) - 1024;

/// The recommended multi-byte NOPs, by length (Intel SDM Vol. 2B, NOP; AMD APM Vol. 3, NOP).
constexpr std::array<std::string_view, 10> kX86Nops{
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

using Lines = std::vector<std::string>;

/// The instructions of one architecture. The counter of iterations lives in a register that neither
/// the trigger nor a system call changes.
struct Instructions {
  Lines enter;       ///< of skid_enter(iterations, entry)
  Lines point;       ///< the datum's address into its register, without touching memory
  Lines give_back;   ///< madvise of the datum's page, up to the system call
  std::string call;  ///< the system call
  Lines back_edge;   ///< one iteration less, and back to the loop unless it was the last
  std::string nop;   ///< one NOP of the runway
  std::string trigger;
};

std::string x86_trigger(const Specification& specification, const std::string& nop) {
  const auto by_width = [&](std::string_view one, std::string_view two, std::string_view four,
                            std::string_view eight) {
    switch (specification.access_bytes) {
      case 1:
        return std::string(one);
      case 2:
        return std::string(two);
      case 4:
        return std::string(four);
      default:
        return std::string(eight);
    }
  };
  switch (specification.trigger) {
    case TriggerKind::load:
    case TriggerKind::fault:  // a load: it maps the page of zeros, which costs no clearing
      // Narrow loads widen, because a mov to part of a register would wait for the rest of it.
      return by_width("movzbl (%rdi), %eax", "movzwl (%rdi), %eax", "movl (%rdi), %eax",
                      "movq (%rdi), %rax");
    case TriggerKind::store:
      return by_width("movb %al, (%rdi)", "movw %ax, (%rdi)", "movl %eax, (%rdi)",
                      "movq %rax, (%rdi)");
    case TriggerKind::branch_taken:
      return "jmp .Lrunway";
    default:  // none, and those that are refused
      break;
  }
  return nop;
}

Instructions x86_instructions(const Specification& specification) {
  Instructions code;
  code.enter = {"movq %rdi, %r8", "jmp *%rsi"};
  code.point = {"movl $skid_datum, %edi"};
  code.give_back = {fmt::format("movl ${}, %esi", kPageBytes),
                    fmt::format("movl ${}, %edx", kMadviseDontNeed), "movl $28, %eax"};
  code.call = "syscall";
  code.back_edge = {"decq %r8", "jnz .Lloop"};
  code.nop = fmt::format(".byte {}", kX86Nops.at(specification.nop_bytes));
  code.trigger = x86_trigger(specification, code.nop);
  return code;
}

std::string aarch64_trigger(const Specification& specification) {
  const unsigned bytes = specification.access_bytes;
  const char* const suffix = bytes == 1 ? "b" : bytes == 2 ? "h" : "";
  const char* const reg = bytes == 8 ? "x1" : "w1";
  switch (specification.trigger) {
    case TriggerKind::load:
    case TriggerKind::fault:
      return fmt::format("ldr{} {}, [x10]", suffix, reg);
    case TriggerKind::store:
      return fmt::format("str{} {}, [x10]", suffix, reg);
    case TriggerKind::branch_taken:
      return "b .Lrunway";
    default:  // none, and those that are refused
      break;
  }
  return "nop";
}

Instructions aarch64_instructions(const Specification& specification) {
  Instructions code;
  code.enter = {"mov x9, x0", "br x1"};
  code.point = {"adrp x10, skid_datum", "add x10, x10, :lo12:skid_datum"};
  code.give_back = {"mov x0, x10", fmt::format("mov x1, #{}", kPageBytes),
                    fmt::format("mov x2, #{}", kMadviseDontNeed), "mov x8, #233"};
  code.call = "svc #0";
  const std::uint64_t nops =
      std::uint64_t{specification.lead_in_nops} + std::uint64_t{specification.nops};
  code.back_edge = {"subs x9, x9, #1"};
  if (nops * kAarch64NopBytes < kConditionalReach) {
    code.back_edge.emplace_back("b.ne .Lloop");
  } else {
    code.back_edge.emplace_back("b.eq .Lloop_end");
    code.back_edge.emplace_back("b .Lloop");
  }
  code.nop = "nop";
  code.trigger = aarch64_trigger(specification);
  return code;
}

std::string indented(const Lines& lines) {
  return lines.empty() ? "" : fmt::format("\t{}\n", fmt::join(lines, "\n\t"));
}

/// A label with a symbol that ends where the next begins. The symbols tile the loop instead of
/// nesting in it, so that every symbolizer finds exactly one for an address whatever it prefers.
std::string symbol(std::string_view name, std::string_view body) {
  return fmt::format("\t.globl {0}\n\t.type {0}, %function\n{0}:\n{1}\t.size {0}, . - {0}\n", name,
                     body);
}

std::string nops(const std::string& nop, std::uint32_t count) {
  return count == 0 ? "" : fmt::format("\t.rept {}\n\t{}\n\t.endr\n", count, nop);
}

std::string loop_of(const Specification& specification, const Instructions& code) {
  const bool fault = specification.trigger == TriggerKind::fault;
  std::string head = ".Lloop:\n" + indented(code.point);
  if (fault) {
    head += "/* The page of the datum goes back, for the trigger to touch it anew. */\n" +
            indented(code.give_back) + ".Lcall:\n\t" + code.call + "\n" + indented(code.point) +
            ".Lcall_end:\n";
  }
  std::string text = "/* A page of its own: the addresses are the same whatever follows. */\n";
  text += "\t.text\n\t.p2align 12\n";
  text += symbol("skid_loop", head);
  text += symbol("skid_lead_in", nops(code.nop, specification.lead_in_nops));
  text += symbol("skid_trigger", "\t" + code.trigger + "\n");
  text += symbol("skid_runway", ".Lrunway:\n" + nops(code.nop, specification.nops));
  text += symbol("skid_runway_end", indented(code.back_edge));
  text += symbol("skid_loop_end", ".Lloop_end:\n\tret\n");
  text += "/* void skid_enter(uint64_t iterations, const void *entry) */\n";
  text += symbol("skid_enter", indented(code.enter));
  if (specification.nops < kTimedNops) {
    text += "/* NOPs like those of the runway, as many as it takes to time them. */\n";
    text += symbol("skid_timed_nops", nops(code.nop, kTimedNops) + "\tret\n");
  }
  return text;
}

std::string datum_of(const Specification& specification) {
  return fmt::format(
      "\n/* The datum has the largest page there is to itself. */\n"
      "\t.section .bss.skid, \"aw\", %nobits\n"
      "\t.balign {0}\n"
      "\t.globl skid_datum\n\t.type skid_datum, %object\n\t.size skid_datum, {1}\n"
      "skid_datum:\n\t.zero {0}\n",
      kPageBytes, specification.access_bytes);
}

/// What the C runtime must know; struct parameters of runtime/runway.h.
std::string parameters_of(const Specification& specification) {
  std::uint64_t iterations = 0;
  std::int64_t nanoseconds = 0;
  if (const auto* count = std::get_if<std::uint64_t>(&specification.length)) {
    iterations = *count;
  } else {
    nanoseconds = std::get<std::chrono::nanoseconds>(specification.length).count();
  }
  const bool is_long = specification.nops >= kTimedNops;
  const unsigned given_back = specification.trigger == TriggerKind::fault ? kPageBytes : 0;
  return fmt::format(
      "\n\t.section .rodata.skid, \"a\", %progbits\n\t.balign 8\n"
      "\t.globl skid_parameters\n\t.type skid_parameters, %object\n"
      "\t.size skid_parameters, 48\n"
      "skid_parameters:\n"
      "\t.quad {}\t/* iterations, or 0 */\n"
      "\t.quad {}\t/* nanoseconds, or 0 */\n"
      "\t.quad {}\t/* NOPs to time: the runway, if it is long enough */\n"
      "\t.quad {}\t/* how many */\n"
      "\t.quad {}\t/* bytes of one */\n"
      "\t.quad {}\t/* bytes at skid_datum that each iteration gives back */\n",
      iterations, nanoseconds, is_long ? "skid_runway" : "skid_timed_nops",
      is_long ? specification.nops : kTimedNops, specification.nop_bytes, given_back);
}

std::string assembly_string(std::string_view text) {
  std::string result = "\"";
  for (const char character : text) {
    if (character == '"' || character == '\\') result += '\\';
    result += character;
  }
  return result + '"';
}

struct SymbolRange {
  std::string_view begin, end;
};

/// The instructions of the loop that can cause what the trigger causes as well.
std::vector<SymbolRange> other_triggers_of(const Specification& specification) {
  switch (specification.trigger) {
    case TriggerKind::branch_taken:
      // The whole pair: dec and jnz fuse, and either may be tagged.
      return {{"skid_runway_end", "skid_loop_end"}};
    case TriggerKind::fault:
      // The kernel works for microseconds behind it, and what happens there is charged to the
      // system call or to the instruction that it returns to.
      return {{".Lcall", ".Lcall_end"}};
    default:
      return {};
  }
}

std::string note_of(const Specification& specification) {
  const std::vector<SymbolRange> others = other_triggers_of(specification);
  std::vector<std::string_view> addresses{"skid_loop",    "skid_loop_end", "skid_lead_in",
                                          "skid_trigger", "skid_runway",   "skid_runway_end",
                                          "skid_datum"};
  for (const SymbolRange& other : others) {
    addresses.push_back(other.begin);
    addresses.push_back(other.end);
  }
  // Name and its terminator take 9 bytes and the descriptor begins at 24, a multiple of 4 and of
  // 8, so that readers that align notes to either find the same.
  return fmt::format(
      "\n/* Its format is told in runway/note.h. */\n"
      "\t.section {0}, \"a\", %note\n\t.balign 4\n"
      "\t.long {1}\n\t.long 2f - 1f\n\t.long {2}\n\t.asciz \"{3}\"\n\t.balign 4\n"
      "1:\t.long {4}\n\t.long {5}\n\t.quad {6}\n\t.ascii {7}\n"
      "2:\t.balign 4\n",
      kNoteSection, kNoteOwner.size() + 1, kNoteType, kNoteOwner, kNoteVersion, addresses.size(),
      fmt::join(addresses, ", "), assembly_string(note_text(specification, others.size())));
}

}  // namespace

std::string assembly_of(const Specification& specification) {
  check(specification);
  const bool x86 = specification.arch == Arch::x86_64;
  const Instructions code =
      x86 ? x86_instructions(specification) : aarch64_instructions(specification);
  std::string text = fmt::format("/* A skidscan target for {}, trigger {}. */\n",
                                 name_of(specification.arch), name_of(specification.trigger));
  // Without a name of its own an object is entered under the compiler's temporary one.
  text += "\t.file \"runway.s\"\n\n";
  text += loop_of(specification, code);
  text += datum_of(specification);
  text += parameters_of(specification);
  text += note_of(specification);
  text += "\n\t.section .note.GNU-stack, \"\", %progbits\n";
  return text;
}

}  // namespace skid::runway
