// What samples record beside their IP, which the instruction there can contradict.
#pragma once

#include "src/audit/contradictions.h"
#include "src/audit/findings.h"
#include "src/output/audit/clause.h"

#include <array>
#include <optional>
#include <string_view>

namespace skid::output {

/// A rule that compares such a record with the instruction, in words.
struct RecordRule {
  std::optional<audit::Contradictions> audit::EventAudit::*finding;
  std::string_view name;  ///< heads its lines
  Clause contradicted;    ///< what contradicted samples are
  std::string_view lack;  ///< what is said of samples without the record; empty: none lack it
};

inline constexpr std::array<RecordRule, 3> kRecordRules{
    {{&audit::EventAudit::data_source,
      "sources",
      {"are at instructions that do not load or store as in their data source",
       "is at an instruction that does not load or store as in its data source"},
      ""},
     {&audit::EventAudit::ibs_record,
      "IBS",
      {"are at instructions that cannot be that of their IBS record",
       "is at an instruction that cannot be that of its IBS record"},
      "have raw data that is no IBS record"},
     {&audit::EventAudit::spe_record,
      "SPE",
      {"are at instructions that cannot be that of their SPE record",
       "is at an instruction that cannot be that of its SPE record"},
      "have no SPE record"}}};

}  // namespace skid::output
