// The assembly of a target: the loop, what it touches, parameters of the C runtime, and the note.

#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/note.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <fmt/format.h>

namespace skid::runway {

namespace {

/// How many NOPs it takes for their time to exceed that of getting to them and back, which
/// varies by some 10 cycles with the alignment of the entry. 512 were found to be within 2% of 5000
/// (Zen 4); fewer can come out as taking no time at all.
constexpr std::uint32_t kTimedNops = 512;
std::string indented(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += line.ends_with(':') ? line + "\n" : "\t" + line + "\n";
  }
  return text;
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

/// The label before a piece of a trigger's head, or after its last.
std::string piece_label(std::size_t trigger, std::size_t piece) {
  return fmt::format(".Lpiece{}_{}", trigger, piece);
}

std::string head_of(const Instructions& code, std::size_t trigger) {
  const std::vector<HeadPiece>& head = code.triggers[trigger].head;
  std::string text;
  for (std::size_t i = 0; i < head.size(); ++i) {
    text += piece_label(trigger, i) + ":\n" + indented(head[i].lines);
  }
  return text + piece_label(trigger, head.size()) + ":\n";
}

std::string block_of(const Specification& specification, const Instructions& code,
                     std::size_t trigger) {
  std::string text =
      symbol(numbered("skid_trigger", trigger), "\t" + code.triggers[trigger].instruction + "\n");
  const std::string label = numbered(".Lrunway", trigger) + ":\n";
  const std::uint32_t count = runway_nops(specification, trigger);
  // Without a NOP its symbol would share an address.
  if (count == 0) return text + label;
  return text + symbol(numbered("skid_runway", trigger), label + nops(code.nop, count));
}

std::string loop_of(const Specification& specification, const Instructions& code) {
  std::string text = "/* A page of its own: the addresses are the same whatever follows. */\n";
  text += "\t.text\n\t.p2align 12\n";
  // Without a head its symbol would share an address.
  const std::string alone = code.triggers[0].head.empty() ? "\t" + code.nop + "\n" : "";
  text += symbol("skid_loop", ".Lloop:\n" + alone + head_of(code, 0));
  text += symbol("skid_lead_in", nops(code.nop, specification.lead_in_nops));
  text += block_of(specification, code, 0);
  for (std::size_t i = 1; i < code.triggers.size(); ++i) {
    if (!code.triggers[i].head.empty()) text += symbol(numbered("skid_head", i), head_of(code, i));
    text += block_of(specification, code, i);
  }
  text += symbol("skid_runway_end", indented(code.back_edge));
  text += symbol("skid_loop_end", ".Lloop_end:\n" + indented(code.leave) + "\tret\n");
  text += "/* void skid_enter(uint64_t iterations, const void *entry) */\n";
  text += symbol("skid_enter", indented(code.enter) + "\t" + code.jump + "\n");
  if (specification.nops < kTimedNops) {
    text += "/* NOPs like those of the runway, as many as it takes to time them. */\n";
    text += symbol("skid_timed_nops", nops(code.nop, kTimedNops) + "\tret\n");
  }
  return text;
}

std::string datum_of(const Specification& specification) {
  return fmt::format(
      "\n/* The datum has a page of the largest size to itself. */\n"
      "\t.section .bss.skid, \"aw\", %nobits\n"
      "\t.balign {0}\n"
      "\t.globl skid_datum\n\t.type skid_datum, %object\n\t.size skid_datum, {1}\n"
      "skid_datum:\n\t.zero {0}\n",
      kDatumPageBytes, specification.access_bytes);
}

/// The word that the loop begins with, and continues from when it is entered again.
std::string state_of(const Kind& kind) {
  if (kind.state.empty()) return "";
  return fmt::format(
      "\n\t.section .data.skid, \"aw\", %progbits\n\t.balign 8\n"
      "\t.type skid_state, %object\n\t.size skid_state, 8\n"
      "skid_state:\n\t.quad {}\n",
      kind.state);
}

/// The values that the C runtime must know; struct parameters of runtime/runway.h.
std::string parameters_of(const Specification& specification) {
  std::uint64_t iterations = 0;
  std::int64_t nanoseconds = 0;
  if (const auto* count = std::get_if<std::uint64_t>(&specification.length)) {
    iterations = *count;
  } else {
    nanoseconds = std::get<std::chrono::nanoseconds>(specification.length).count();
  }
  const bool is_long = specification.nops >= kTimedNops;
  const unsigned given_back = kind_of(specification.trigger).gives_back_page ? kDatumPageBytes : 0;
  return fmt::format(
      "\n\t.section .rodata.skid, \"a\", %progbits\n\t.balign 8\n"
      "\t.globl skid_parameters\n\t.type skid_parameters, %object\n"
      "\t.size skid_parameters, 64\n"
      "skid_parameters:\n"
      "\t.quad {}\t/* iterations, or 0 */\n"
      "\t.quad {}\t/* nanoseconds, or 0 */\n"
      "\t.quad {}\t/* NOPs to time: the runway, if it is long enough */\n"
      "\t.quad {}\t/* how many */\n"
      "\t.quad {}\t/* bytes of one */\n"
      "\t.quad {}\t/* bytes at skid_datum that each iteration gives back */\n"
      "\t.quad {}\t/* elements of the pointer chase, or 0 */\n"
      "\t.quad {}\t/* bytes from one to the next */\n",
      iterations, nanoseconds,
      is_long ? numbered("skid_runway", specification.gaps.size()) : "skid_timed_nops",
      is_long ? specification.nops : kTimedNops, specification.nop_bytes, given_back,
      elements_of(specification), chase_stride(specification.trigger));
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
  std::string begin, end;
};

/// The instructions of the loop that can cause the trigger's event as well.
std::vector<SymbolRange> other_triggers_of(const Instructions& code) {
  std::vector<SymbolRange> ranges;
  for (std::size_t trigger = 0; trigger < code.triggers.size(); ++trigger) {
    const std::vector<HeadPiece>& head = code.triggers[trigger].head;
    for (std::size_t i = 0; i < head.size(); ++i) {
      if (!head[i].other_trigger) continue;
      ranges.push_back({piece_label(trigger, i), piece_label(trigger, i + 1)});
    }
  }
  if (code.back_edge_is_other_trigger) ranges.push_back({"skid_runway_end", "skid_loop_end"});
  return ranges;
}

std::string note_of(const Specification& specification, const Instructions& code) {
  const std::vector<SymbolRange> others = other_triggers_of(code);
  const auto runway_end = [&](std::size_t trigger) {
    const std::size_t next = trigger + 1;
    if (next == code.triggers.size()) return std::string("skid_runway_end");
    return numbered(code.triggers[next].head.empty() ? "skid_trigger" : "skid_head", next);
  };
  std::vector<std::string> addresses{"skid_loop", "skid_loop_end", "skid_lead_in", "skid_trigger",
                                     ".Lrunway",  runway_end(0),   "skid_datum"};
  for (std::size_t i = 1; i < code.triggers.size(); ++i) {
    addresses.push_back(numbered("skid_trigger", i));
    addresses.push_back(numbered(".Lrunway", i));
    addresses.push_back(runway_end(i));
  }
  for (const SymbolRange& other : others) {
    addresses.push_back(other.begin);
    addresses.push_back(other.end);
  }
  const std::size_t spare = is_chase(specification.trigger) ? kSpareBytes : 0;
  // Name and its terminator take 9 bytes and the descriptor begins at 24, a multiple of 4 and of
  // 8, so that readers that align notes to either find the same.
  return fmt::format(
      "\n/* runway/note.h describes its format. */\n"
      "\t.section {0}, \"a\", %note\n\t.balign 4\n"
      "\t.long {1}\n\t.long 2f - 1f\n\t.long {2}\n\t.asciz \"{3}\"\n\t.balign 4\n"
      "1:\t.long {4}\n\t.long {5}\n\t.quad {6}\n\t.ascii {7}\n"
      "2:\t.balign 4\n",
      kNoteSection, kNoteOwner.size() + 1, kNoteType, kNoteOwner, kNoteVersion, addresses.size(),
      fmt::join(addresses, ", "),
      assembly_string(note_text(specification, others.size()) + std::string(spare, ' ')));
}

}  // namespace

std::string assembly_of(const Specification& specification) {
  check(specification);
  const Instructions code = instructions_of(specification);
  std::string text = fmt::format("/* A skidscan target for {}, trigger {}. */\n",
                                 name_of(specification.arch), name_of(specification.trigger));
  // An unnamed object would have the compiler's temporary file name.
  text += "\t.file \"runway.s\"\n\n";
  text += loop_of(specification, code);
  text += datum_of(specification);
  text += state_of(kind_of(specification.trigger));
  text += parameters_of(specification);
  text += note_of(specification, code);
  text += "\n\t.section .note.GNU-stack, \"\", %progbits\n";
  return text;
}

}  // namespace skid::runway
