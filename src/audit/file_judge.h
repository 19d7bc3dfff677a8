// By which rule the samples of an event are judged, and whether the code at a sampled place of a
// file can have caused it.
#pragma once

#include "analysis/not_judged.h"
#include "src/audit/file_code.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/locate/module_store.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/support/names.h"
#include "src/symbols/module.h"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::symbols {
struct MappedFile;
}  // namespace skid::symbols

namespace skid::audit {

using analysis::NotJudged;

enum class Rule : std::uint8_t {
  none,
  sampled,           ///< the sampled instruction caused the event: levels 2 and 3
  predecessor,       ///< the preceding one did: level 1
  data_breakpoint,   ///< x86 traps after the instruction that accessed the datum
  write_breakpoint,  ///< the same for a breakpoint on writes
  data_watchpoint,   ///< aarch64 stops before the instruction that accesses the datum
  write_watchpoint,  ///< the same for a breakpoint on writes
  execute_breakpoint,
  page_fault,
};

SKID_WORDS(Rule, {"none", "not judged"}, {"sampled", "the sampled instruction"},
           {"predecessor", "the instruction before the sampled one"},
           {"data_breakpoint", "the instruction before the sampled one has to access memory"},
           {"write_breakpoint", "the instruction before the sampled one has to write to memory"},
           {"data_watchpoint", "the sampled instruction has to access memory"},
           {"write_watchpoint", "the sampled instruction has to write to memory"},
           {"execute_breakpoint", "the sampled address has to be that of the breakpoint"},
           {"page_fault", "the sampled instruction accesses memory, or could not be fetched"})

struct EventRule {
  Rule rule = Rule::none;
  NotJudged reason = NotJudged::no_core_event;  ///< of all samples, where `rule` is none
};

/// The rule of all samples of an event. Where the architecture was not recorded, breakpoints are
/// taken for those of x86 until `rule_on` is called with the file's.
EventRule rule_of(const measure::RecordedEvent& event);

/// A rule for code of an architecture: data breakpoints of aarch64 are watchpoints.
Rule rule_on(Rule rule, Arch arch);

/// Why samples of a CPU mode are not judged; none: they are.
NotJudged reason_of_mode(perfdata::CpuMode mode);

/// The iteration of a target that skidscan built; nullopt for all other files.
std::optional<AddressRange> loop_of(const std::filesystem::path& file);

/// Why the code of a file cannot be used: no module of it may be, or it has no code.
/// NotJudged::none: it can.
NotJudged reason_of_file(const symbols::MappedFile& file, const locate::ModuleStore::Found& found);

/// A verdict and the instructions that it is about, or why there is none.
struct Judgement {
  NotJudged not_judged = NotJudged::none;
  events::Verdict verdict = events::Verdict::unknown;
  std::uint64_t address = 0;  ///< of the first instruction judged
  std::uint64_t end = 0;      ///< after the last one
  instructions::Categories categories = {};
};

/// Judges the places of one file. Keeps the code of the last function.
class FileJudge {
 public:
  /// `recorded`: the architecture of the recording; nullopt if it has none. `loop` and `budget`: as
  /// of FileCode.
  FileJudge(const symbols::Module& module, std::optional<Arch> recorded,
            std::optional<AddressRange> loop, CodeBudget& budget)
      : module_(module),
        arch_(module.arch()),
        recorded_(recorded),
        file_(module, arch_.value_or(Arch::x86_64), loop, budget) {}

  /// Of the function or target's loop at a place; the place's own address where there is none.
  std::uint64_t begin_of_function(std::uint64_t file_offset) const;

  /// A rule as it is on the code of this file.
  Rule rule_here(Rule rule) const { return arch_ ? rule_on(rule, *arch_) : rule; }

  /// By a rule that takes code. `causes`: of the event, for Rule::sampled and Rule::predecessor.
  Judgement judge(std::span<const events::Cause> causes, Rule rule, std::uint64_t file_offset);

  /// A function with its blocks.
  struct Blocks {
    std::string function;
    const FunctionCode* code = nullptr;  ///< until the next place is judged
    FunctionBlocks blocks;
  };
  /// Of the function at a link-time address; nullopt where there is none, or its code cannot be
  /// judged.
  std::optional<Blocks> blocks_around(std::uint64_t address);
  /// Whether code of the last place's function or of its file was too much to decode.
  bool is_cut() const { return without_function_ == NotJudged::too_much_code || file_.is_cut(); }

 private:
  NotJudged go_to(std::uint64_t address);
  NotJudged why_no_predecessor() const {
    return is_cut() ? NotJudged::too_much_code : NotJudged::no_only_predecessor;
  }
  /// The index of the only instruction that can precede the sampled one: the one before it in the
  /// code, if it falls through and nothing else leads there. nullopt at function entries and
  /// possible destinations of branches and computed jumps, and after calls, instructions that do
  /// not fall through, and the padding that follows these, because exception handlers begin there.
  std::optional<std::size_t> predecessor();
  Judgement by_predecessor(std::span<const events::Cause> causes);
  Judgement by_catalogue(std::span<const events::Cause> causes, std::size_t index) const;
  Judgement by_breakpoint(bool writes_only);

  const symbols::Module& module_;
  std::optional<Arch> arch_, recorded_;
  FileCode file_;
  std::shared_ptr<const Function> function_;  ///< the last one
  std::optional<Paths> paths_;                ///< of it
  NotJudged without_function_ = NotJudged::none;
  std::optional<FunctionCode> alone_;   ///< the code at the last place without a function
  const FunctionCode* code_ = nullptr;  ///< around the sampled address
  std::size_t index_ = 0;               ///< of the sampled instruction
};

}  // namespace skid::audit
