// How many samples of a recording are at instructions that cannot have caused their event.
#pragma once

#include "analysis/not_judged.h"
#include "analysis/statistics.h"
#include "src/audit/block_bias.h"
#include "src/audit/branch_records.h"
#include "src/audit/file_judge.h"
#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/measure/event_description.h"
#include "src/measure/measure.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::audit {

class CodeBudget;

/// Samples at one instruction, and its verdict.
struct InstructionFinding {
  std::string module;         ///< path as recorded
  std::string function;       ///< empty: no symbol
  std::uint64_t offset = 0;   ///< from the function's first byte; from the file's link-time 0 else
  std::uint64_t address = 0;  ///< sampled, link-time; as recorded where there is no file
  std::uint64_t judged_address = 0;  ///< of the instruction that should have caused the event
  std::string text;                  ///< disassembly of that instruction; of both of a fused pair
  std::string source_file;           ///< of that instruction; empty: unknown
  int source_line = 0;
  instructions::Categories categories;  ///< all of them, of a fused pair of both
  events::Verdict verdict = events::Verdict::unknown;
  std::uint64_t samples = 0;
};

struct FunctionFinding {
  std::string module;    ///< path as recorded
  std::string function;  ///< empty: all of the file that is in no function
  std::uint64_t judged = 0, impossible = 0;
};

/// Samples of one event that record something which their instruction can contradict.
struct Contradictions {
  std::uint64_t samples = 0;  ///< in user mode
  analysis::Share share;      ///< of those judged: contradicted by the instruction

  std::uint64_t undecided() const noexcept { return samples - share.total; }
};

/// The audit of one event of a recording. judged + the sum of not_judged = samples.
struct EventAudit : measure::EventSummary {
  std::string catalogue;  ///< that contains it: "libpfm4, skl"; empty: none does
  Rule rule = Rule::none;
  std::uint64_t samples = 0;
  std::uint64_t judged = 0;
  analysis::Share impossible;  ///< of the judged
  /// By events::Verdict. Samples with an unknown verdict are also among not_judged, as
  /// NotJudged::unknown_cause.
  std::array<std::uint64_t, 5> verdicts = {};
  std::array<std::uint64_t, analysis::kNotJudged> not_judged = {};  ///< by NotJudged
  std::vector<FunctionFinding> functions;  ///< with judged samples; most impossible ones first
  /// Instructions with impossible samples, most of them first; then, if all were requested, the
  /// others.
  std::vector<InstructionFinding> instructions;
  /// Found by check_data_sources() and check_data_addresses(); nullopt: no sample to judge.
  std::optional<Contradictions> data_source, data_address;
  std::size_t all_functions = 0;         ///< with judged samples, those left out included
  std::size_t impossible_functions = 0;  ///< of these, with impossible samples
  std::size_t impossible_instructions = 0;
  BlockBias bias;
  std::vector<std::string> warnings;
  std::optional<BranchRecords> branch_records;  ///< nullopt: without branch stacks
};

/// A file without which samples or branch records could not be judged.
struct MissingFile {
  std::string file;      ///< path as recorded
  std::string build_id;  ///< as recorded; empty: none
  std::string remark;    ///< why it is missing, one of Audit::remarks; empty: no more is known
  std::uint64_t samples = 0, branch_records = 0;
};

/// The audit of one recording.
struct Audit : measure::RecordingSummary {
  std::vector<EventAudit> events;
  std::vector<MissingFile> missing;  ///< most samples first
};

struct Choices : measure::ReadingChoices {
  std::size_t top = 20;  ///< functions, instructions and blocks of an event at most
  double min_share = 0;  ///< of the judged samples that must be impossible ones at what is listed
  /// Instructions from overflow to record; nullopt: the delay is taken from `measured`.
  std::optional<std::uint64_t> delay = {};
  /// The measurements of a run. The delay of each holds for its own event.
  std::optional<std::span<const analysis::Measurement>> measured = {};
  bool all = false;  ///< instructions whose samples are possible, too
};

/// Reads and judges a recording. Several threads may do so at once. Memory grows with distinct
/// (event, place), and with samples of events with a fixed period up to a million. Throws
/// InputError when nothing of it can be read.
Audit audit(const measure::Source& source, const Choices& choices);

// What else a sample records, compared with the instruction that it is at.

/// By attribute, samples with EXACT_IP in user mode whose data source (PERF_SAMPLE_DATA_SRC) is a
/// load, a store or a prefetch, where there are any. An instruction contradicts what cannot cause a
/// retired load or store by name (events::causes_by_name); code of aarch64 is not judged. Reads the
/// recording once more, unless no event recorded data sources.
std::map<std::uint32_t, Contradictions> check_data_sources(const measure::Profile& profile,
                                                           CodeBudget& budget);

/// By attribute, samples in user mode with the data address of an access, where there are any: of
/// page faults, and with EXACT_IP of PEBS and IBS. An instruction contradicts an address outside of
/// its one memory operand, where its constants, or its constants and the registers that the sample
/// recorded, give that operand; docs/audit.md has the rules. Reads the recording once more, unless
/// no event recorded such addresses.
std::map<std::uint32_t, Contradictions> check_data_addresses(const measure::Profile& profile,
                                                             CodeBudget& budget);

}  // namespace skid::audit
