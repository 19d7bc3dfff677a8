// r8 holds the counter of iterations, r9 what else must outlive an iteration; rdi points to what
// the trigger accesses, rsi as well for string instructions.

#include "runway/instructions.h"

#include <array>
#include <string_view>

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

/// The one of four spellings that accesses so many bytes.
std::string by_width(unsigned bytes, std::string_view one, std::string_view two,
                     std::string_view four, std::string_view eight) {
  const std::string_view spelling = bytes == 1 ? one : bytes == 2 ? two : bytes == 4 ? four : eight;
  return std::string(spelling);
}

std::string trigger_of(const Specification& specification, const std::string& nop) {
  const unsigned bytes = specification.access_bytes;
  switch (specification.trigger) {
    case TriggerKind::load:
    case TriggerKind::fault:  // a load: it maps the page of zeros, which costs no clearing
      // Narrow loads widen, because a mov to part of a register would wait for the rest of it.
      return by_width(bytes, "movzbl (%rdi), %eax", "movzwl (%rdi), %eax", "movl (%rdi), %eax",
                      "movq (%rdi), %rax");
    case TriggerKind::load_l2:
    case TriggerKind::load_l3:
    case TriggerKind::load_dram:
      return "movq (%rdi), %rdi";
    case TriggerKind::xmm_load:
      return "movups (%rdi), %xmm0";
    case TriggerKind::ymm_load:
      return "vmovups (%rdi), %ymm0";
    case TriggerKind::zmm_load:
      return "vmovups (%rdi), %zmm0";
    case TriggerKind::string_load:
      return by_width(bytes, "rep lodsb", "rep lodsw", "rep lodsl", "rep lodsq");
    case TriggerKind::nt_load:
      return "movntdqa (%rdi), %xmm0";
    case TriggerKind::store:
      return by_width(bytes, "movb %al, (%rdi)", "movw %ax, (%rdi)", "movl %eax, (%rdi)",
                      "movq %rax, (%rdi)");
    case TriggerKind::nt_store:
      return bytes == 4 ? "movnti %eax, (%rdi)" : "movnti %rax, (%rdi)";
    case TriggerKind::lock_rmw:
      return by_width(bytes, "lock incb (%rdi)", "lock incw (%rdi)", "lock incl (%rdi)",
                      "lock incq (%rdi)");
    case TriggerKind::prefetch:
      return "prefetcht0 (%rdi)";
    case TriggerKind::flush:
      return "clflush (%rdi)";
    case TriggerKind::mfence:
      return "mfence";
    case TriggerKind::cpuid:
      return "cpuid";
    case TriggerKind::div:
      return "divq %rcx";
    case TriggerKind::branch_taken:
      return "jmp .Lrunway";
    case TriggerKind::branch_not_taken:
    case TriggerKind::branch_mispredict:
      return "jc .Lrunway";
    case TriggerKind::call:
      return "call .Lrunway";
    case TriggerKind::ret:
      return "ret";
    case TriggerKind::none:
      break;
  }
  return nop;
}

std::vector<HeadPiece> head_of(const Specification& specification) {
  const Lines point{"movl $skid_datum, %edi"};
  switch (specification.trigger) {
    case TriggerKind::load_l2:
    case TriggerKind::load_l3:
    case TriggerKind::load_dram:
      return {};  // the trigger itself loads the next address
    case TriggerKind::string_load:
      return {{{"movl $skid_datum, %esi",
                fmt::format("movl ${}, %ecx", string_repetitions(specification))}}};
    case TriggerKind::cpuid:
      return {{{"xorl %eax, %eax", "xorl %ecx, %ecx"}}};
    case TriggerKind::div:
      // The high half of the dividend is not 0 and below the divisor: the long way of the CPUs that
      // have a short one, and no overflow.
      return {{{"movabsq $0x0123456789abcdef, %rdx", "movabsq $0x0fedcba987654321, %rax",
                "movabsq $0xfedcba9876543211, %rcx"}}};
    case TriggerKind::branch_not_taken:
      // XOR clears the carry and fuses with no branch, where there is no lead-in.
      return {{{"xorl %eax, %eax"}}};
    case TriggerKind::branch_mispredict:
      // A step of xorshift64 (G. Marsaglia, Journal of Statistical Software 8, 2003), with a period
      // of 2^64 - 1, and one of its bits into the carry. BT fuses with no branch.
      return {{{"movq %r9, %rax", "shlq $13, %rax", "xorq %rax, %r9", "movq %r9, %rax",
                "shrq $7, %rax", "xorq %rax, %r9", "movq %r9, %rax", "shlq $17, %rax",
                "xorq %rax, %r9", "btq $40, %r9"}}};
    case TriggerKind::call:
      return {{{"movq %r9, %rsp"}}};  // drops the return address
    case TriggerKind::ret:
      // The call leaves its own return address to the predictor of returns, and in memory the
      // runway takes its place: each RET is mispredicted, and the predictor's stack stays even.
      // INT3 stands where the prediction leads. Without it the call would be of the next
      // instruction, which CPUs keep out of that predictor (measured: nothing is mispredicted
      // then).
      return {{{"call .Lpushed"}, true},
              {{"int3", ".Lpushed:", "movq $.Lrunway, (%rsp)"}, false, 1}};
    case TriggerKind::fault:
      // The kernel works for microseconds behind the system call, and what happens there is charged
      // to it or to the instruction that it returns to.
      return {{point},
              {{fmt::format("movl ${}, %esi", kDatumPageBytes),
                fmt::format("movl ${}, %edx", kMadviseDontNeed), "movl $28, %eax"}},
              {{"syscall", point[0]}, true}};
    default:
      return {{point}};
  }
}

bool branches(TriggerKind kind) {
  return kind == TriggerKind::branch_taken || kind == TriggerKind::branch_not_taken ||
         kind == TriggerKind::branch_mispredict || kind == TriggerKind::call ||
         kind == TriggerKind::ret;
}

}  // namespace

Instructions x86_64_instructions(const Specification& specification) {
  Instructions code;
  code.enter = {"movq %rdi, %r8"};
  code.jump = "jmp *%rsi";
  code.nop = fmt::format(".byte {}", kNops.at(specification.nop_bytes));
  code.trigger = trigger_of(specification, code.nop);
  code.head = head_of(specification);
  code.back_edge = {"decq %r8", "jnz .Lloop"};
  // The whole pair: the two fuse, and either may be tagged.
  code.back_edge_is_other_trigger = branches(specification.trigger);
  switch (specification.trigger) {
    case TriggerKind::load_l2:
    case TriggerKind::load_l3:
    case TriggerKind::load_dram:
      code.enter.emplace_back("movq skid_state, %rdi");
      code.leave = {"movq %rdi, skid_state"};
      break;
    case TriggerKind::branch_mispredict:
      // A loop that began with the same number each time would be learnt.
      code.enter.emplace_back("movq skid_state, %r9");
      code.leave = {"movq %r9, skid_state"};
      break;
    case TriggerKind::ymm_load:
    case TriggerKind::zmm_load:
      code.leave = {"vzeroupper"};
      break;
    case TriggerKind::cpuid:
      code.enter.emplace_back("movq %rbx, %r9");
      code.leave = {"movq %r9, %rbx"};
      break;
    case TriggerKind::call:
      code.enter.emplace_back("movq %rsp, %r9");
      code.leave = {"movq %r9, %rsp"};
      break;
    default:
      break;
  }
  return code;
}

}  // namespace skid::runway
