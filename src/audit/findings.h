// What an audit finds in the samples of a recording.
#pragma once

#include "analysis/event_identity.h"
#include "analysis/not_judged.h"
#include "analysis/share.h"
#include "src/audit/block_bias.h"
#include "src/audit/branch_records.h"
#include "src/audit/contradictions.h"
#include "src/audit/data_addresses.h"
#include "src/audit/rule.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/measure/measure.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace skid::audit {

/// The samples at one instruction, and the verdict on them.
struct InstructionFinding : SampledPlace {
  std::uint64_t judged_address = 0;  ///< address of the instruction that should be the cause
  std::string text;                  ///< disassembly of the judged instruction, or fused pair
  std::string source_file;           ///< source file of the judged instruction; empty: unknown
  int source_line = 0;
  instructions::Categories categories;  ///< categories of the judged instruction, or fused pair
  instructions::Verdict verdict = instructions::Verdict::unknown;
};

/// Why no measured delay holds for an event.
struct MissingDelay {
  std::string run;  ///< run of the last measurement that does not match; empty: none of the event
  std::vector<std::string> differing;  ///< what of it is not as in the profile
};

struct FunctionFinding {
  std::string module;                        ///< path as recorded
  std::string function;                      ///< empty: all code of the file that is in no function
  std::uint64_t judged = 0, impossible = 0;  ///< samples
};

/// The audit of one event of a recording. judged + the sum of not_judged = samples.
struct EventAudit {
  analysis::EventIdentity identity;
  int level = 0;                        ///< as recorded
  std::optional<std::uint64_t> period;  ///< requested; nullopt with a frequency
  std::string catalogue;  ///< catalogue that contains the event: "libpfm4, skl"; empty: none
  Rule rule = Rule::none;
  std::string advice;  ///< how to record it so that it can be judged; empty: as it is, or not known
  std::uint64_t samples = 0;
  std::uint64_t judged = 0;
  analysis::Share impossible;  ///< share of the judged samples
  /// Samples by instructions::Verdict. Those with an unknown verdict are also among `not_judged`,
  /// as NotJudged::unknown_cause.
  std::array<std::uint64_t, 5> verdicts = {};
  std::array<std::uint64_t, analysis::kNotJudged> not_judged = {};  ///< samples by NotJudged
  /// Functions with judged samples, those with most impossible samples first.
  std::vector<FunctionFinding> functions;
  /// Instructions with impossible samples, most of them first; then, if all were requested, the
  /// others.
  std::vector<InstructionFinding> instructions;
  std::optional<Contradictions> data_source;  ///< nullopt: no sample to judge
  std::optional<DataAddresses> data_address;  ///< nullopt: no sample to judge
  /// Share of the samples, judged by their instruction or decided by their data address, whose IP
  /// is wrong by one or the other.
  analysis::Share wrong;
  std::optional<Contradictions> ibs_record, spe_record;  ///< nullopt: no sample to judge
  /// Number of functions with judged samples, those that `functions` leaves out included.
  std::size_t all_functions = 0;
  std::size_t impossible_functions = 0;  ///< number of functions with impossible samples
  std::size_t impossible_instructions = 0;
  BlockBias bias;
  std::vector<std::string> warnings;
  std::optional<MissingDelay> missing_delay;    ///< nullopt: one holds, or none was looked for
  std::optional<BranchRecords> branch_records;  ///< nullopt: no branch stacks
};

/// A missing file, without which samples or branch records could not be judged.
struct MissingFile {
  std::string file;      ///< path as recorded
  std::string build_id;  ///< as recorded; empty: none
  std::string remark;    ///< why it is missing, one of Audit::remarks; empty: not known
  std::uint64_t samples = 0, branch_records = 0;
};

/// The audit of one recording.
struct Audit : measure::RecordingSummary {
  std::vector<EventAudit> events;
  std::vector<MissingFile> missing;  ///< most samples first
};

}  // namespace skid::audit
