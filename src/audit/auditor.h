// Judges the samples of a recording, event by event, at the code that they are at.
#pragma once

#include "src/audit/audit.h"
#include "src/audit/event_blocks.h"
#include "src/audit/event_rule.h"
#include "src/audit/file_judge.h"
#include "src/audit/ordered_samples.h"
#include "src/events/causes.h"
#include "src/perfdata/attribute.h"
#include "src/symbols/address_space.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::audit {

/// An event, its rule and its causes.
struct EventToJudge {
  perfdata::Attribute attribute;
  EventRule rule;
  std::vector<events::Cause> causes;  ///< of Rule::sampled and Rule::predecessor
  EventBlocks blocks = {};
};

class Auditor {
 public:
  /// All must outlive the auditor.
  Auditor(const measure::Profile& profile, const Choices& choices, CodeBudget& budget)
      : profile_(profile), choices_(choices), budget_(budget) {}

  void add(std::uint32_t attribute, EventToJudge event, EventAudit audit);

  /// Of events with a fixed period.
  std::map<std::uint32_t, BlockRule> rules_of_order() const;

  /// `ordered`: of the events of rules_of_order().
  std::vector<EventAudit> audit(std::span<const OrderedSample> ordered);

  /// Samples that were not judged because no file with their code was found.
  const std::map<symbols::FileIndex, std::uint64_t>& missing() const { return missing_; }

 private:
  enum class InBlocks : std::uint8_t {
    no,
    judged,
    inexact,  ///< blocks with such samples are not judged
  };
  /// Samples of one event that are judged by one rule at one place of a file.
  struct PlaceToJudge {
    symbols::FileIndex file = 0;
    std::uint64_t offset = 0;
    std::uint32_t attribute = 0;
    Rule rule = Rule::none;  ///< none: the samples are judged by their blocks alone
    InBlocks in_blocks = InBlocks::no;
    std::uint64_t samples = 0;

    auto key() const { return std::tie(file, offset, attribute, rule, in_blocks); }
    bool needs_code() const { return rule != Rule::none || in_blocks == InBlocks::judged; }
  };
  /// Places of a file by where their functions begin.
  using ByFunction = std::vector<std::pair<std::uint64_t, const PlaceToJudge*>>;
  struct Found {
    symbols::FileIndex file = 0;
    std::uint64_t offset = 0;  ///< sampled, in the file; of an execute breakpoint the address
    bool is_place = true;      ///< whether `file` and `offset` are set
    Judgement judgement;
    std::uint64_t samples = 0;
  };
  struct Event {
    EventToJudge to_judge;
    EventAudit audit;
    std::vector<Found> found;  ///< one a place that was judged
  };
  struct Position {
    std::string function;
    std::uint64_t begin = 0;  ///< of the function; of the file without one
    std::uint64_t address = 0;
    const symbols::Module* module = nullptr;
    std::string path;
  };

  static InBlocks in_blocks_of(const BlockRule& rule, const locate::LocatedSamples& located);
  static void enter(Event& event, const Found& found);
  void take(const locate::LocatedSamples& located);
  void add_place(const locate::LocatedSamples& located, Rule rule, InBlocks in_blocks);
  void judge_places();
  void merge_equal_places();
  void judge_file(std::span<const PlaceToJudge> places);
  void judge_function(FileJudge& judge, std::span<const ByFunction::value_type> places);
  void find_blocks(FileJudge& judge, std::span<const ByFunction::value_type> places,
                   const std::string& path, const symbols::Module& module);

  Position position_of(const Found& found);
  bool is_shown(const EventAudit& audit, std::uint64_t impossible) const;
  EventAudit finish(Event& event);
  void add_functions(Event& event);
  void add_instructions(Event& event);
  InstructionFinding describe(const Found& found);

  const measure::Profile& profile_;
  const Choices& choices_;
  std::map<std::uint32_t, Event> events_;  ///< by attribute
  std::vector<PlaceToJudge> places_;
  CodeBudget& budget_;
  std::map<symbols::FileIndex, std::uint64_t> missing_;
};

}  // namespace skid::audit
