// The first sentence of a report: the answer of all measurements, the worst first.
#include "analysis/basis.h"
#include "analysis/contract.h"
#include "analysis/distributions.h"
#include "analysis/evenness.h"
#include "analysis/event_identity.h"
#include "analysis/figures.h"
#include "analysis/measurement.h"
#include "analysis/remedy.h"
#include "analysis/share.h"
#include "analysis/wording.h"
#include "src/machine/machine.h"
#include "src/output/cell.h"
#include "src/output/next_step.h"
#include "src/output/number_text.h"
#include "src/output/report/event_levels.h"
#include "src/output/report/evidence.h"
#include "src/output/report/grouping.h"
#include "src/output/report/parts.h"
#include "src/output/report/report.h"
#include "src/output/report/verdict_words.h"
#include "src/support/escape.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::output {
namespace {

using analysis::Measurement;
using analysis::Verdict;

/// The measurements that a part of the sentence is about.
struct Named {
  std::size_t count = 0;
  EventLevels events;
  std::set<const MachineGroup*> machines;

  void add(const MachineGroup& machine, const EventGroup& event, const Column& column) {
    ++count;
    events.add(event.event, level_name(column.level));
    machines.insert(&machine);
  }
  /// Lists the events with their levels: "r81d0 p, pp"; if there are several machines "r81d0 p, pp,
  /// on 1 of 2 machines".
  std::string text(std::size_t all_machines) const { return events.text() + where(all_machines); }
  /// Lists the events without levels: "access, execute, on 1 of 2 machines".
  std::string names(std::size_t all_machines) const { return events.names() + where(all_machines); }

 private:
  std::string where(std::size_t all_machines) const {
    if (all_machines < 2) return {};
    return fmt::format(", on {} of {} machines", machines.size(), all_machines);
  }
};

/// Whether the samples of a breakpoint or software event are at its known offset. Other events do
/// not have a known offset.
bool is_as_expected(const Measurement& m) {
  const auto& offset = m.basis.known_offset;
  return offset && m.constant_skid && m.constant_skid->offset == *offset &&
         m.constant_skid->verdict == Verdict::kept;
}

/// Whether samples are spread unevenly over triggers that cause the event equally often, and the
/// verdict on the contract does not report it.
bool is_biased(const Measurement& m) {
  return m.bias && m.bias->p < 0.01 && (!m.evenness || !m.evenness->required) &&
         m.bias->largest_ratio.value_or(2) >= 1.5;
}

class Answer {
 public:
  explicit Answer(const std::vector<MachineGroup>& machines) : machines_(machines.size()) {
    for (const MachineGroup& machine : machines) {
      for (const EventGroup& event : machine.events) {
        for (const Column& column : event.columns) add(machine, event, column);
      }
      for (const EventGroup& event : machine.unsampled) {
        for (const Column& column : event.columns) {
          unsampled_.add(machine, event, column);
          read_in_part_ |= column.measurement->read_in_part;
          if (no_samples_.empty()) no_samples_ = column.measurement->event.remark;
        }
      }
    }
  }

  std::pair<std::string, Ink> text() const {
    const Named& broken = by_verdict_[static_cast<std::size_t>(Verdict::broken)];
    const Named& undecided = by_verdict_[static_cast<std::size_t>(Verdict::undecided)];
    const Named& kept = by_verdict_[static_cast<std::size_t>(Verdict::kept)];
    const std::size_t judged = broken.count + kept.count;
    if (sampled_ == 0 && read_in_part_) {
      return {"no samples were read: the recording is damaged", Ink::yellow};
    }
    if (sampled_ == 0) {
      const std::string of = unsampled_.count > 0 ? " of " + unsampled_.names(machines_) : "";
      return {
          no_samples_.empty() ? "no samples were recorded" + of : escape_for_terminal(no_samples_),
          Ink::yellow};
    }
    if (!has_target_) {
      return {std::string(read_in_part_ ? "read in part: " : "") +
                  "no target of skidscan is among the sampled files that were found; 'skidscan "
                  "audit' judges a profile of any program",
              Ink::yellow};
    }
    std::string text;
    Ink ink = Ink::green;
    const auto caution = [&](const std::string& words) {
      text += "; " + words;
      if (ink == Ink::green) ink = Ink::yellow;
    };
    if (broken.count > 0) {
      text =
          fmt::format("the skid constraint of precise_ip is not met by {} of {}: {}", broken.count,
                      analysis::counted(judged, "judged measurement"), broken.text(machines_));
      ink = Ink::red;
    } else if (judged > 0) {
      text = judged == 1
                 ? fmt::format(
                       "the skid constraint of precise_ip is met by the one judged measurement: {}",
                       kept.text(machines_))
                 : fmt::format(
                       "the skid constraint of precise_ip is met by all {} judged measurements",
                       judged);
    } else if (undecided.count > 0) {
      text = "the samples do not decide whether the skid constraint of precise_ip is met";
    } else if (!reason_.empty()) {
      text = fmt::format("no precise level could be judged: {}", reason_);
      ink = Ink::yellow;
    } else {
      text = "no event of a PMU was recorded, so no precise level of a PMU is judged";
      ink = built_in_wrong_.count > 0 ? Ink::red : Ink::dim;
    }
    if (undecided.count > 0) {
      caution(fmt::format("{} {} undecided: {}; {}",
                          analysis::counted(undecided.count, "measurement"),
                          undecided.count == 1 ? "is" : "are", undecided.text(machines_),
                          remedy_text(remedy_.value())));
    }
    if (not_corrected_.count > 0) {
      caution(fmt::format("the kernel did not correct {} of {} samples ({}) of {}",
                          samples_not_corrected_, samples_of_these_,
                          percent_of(samples_not_corrected_, samples_of_these_),
                          not_corrected_.text(machines_)));
    }
    if (built_in_wrong_.count > 0) {
      text += fmt::format("; breakpoints and software events are not at their known offset: {}",
                          built_in_wrong_.text(machines_));
      ink = Ink::red;
    } else if (built_in_.count > 0 && judged + undecided.count == 0) {
      text += fmt::format("; as expected, samples of {} are at the known offset",
                          built_in_.names(machines_));
    }
    if (unsampled_.count > 0) {
      caution(fmt::format("no samples came of {} ({} of {})", unsampled_.names(machines_),
                          unsampled_.count,
                          analysis::counted(unsampled_.count + sampled_, "measurement")));
    }
    if (!judging_.empty() && judging_.size() < machines_) {
      caution(fmt::format("nothing is judged on {} of {} machines", machines_ - judging_.size(),
                          machines_));
    }
    if (biased_.count > 0) {
      caution(fmt::format(
          "samples differ among equal triggers{}: {}",
          largest_ratio_ > 0 ? fmt::format(" up to {} times", number_text(largest_ratio_)) : "",
          biased_.text(machines_)));
    }
    if (!read_in_part_) return {text, ink};
    return {"read in part: " + text, ink == Ink::red ? ink : Ink::yellow};
  }

 private:
  void add(const MachineGroup& machine, const EventGroup& event, const Column& column) {
    const Measurement& m = *column.measurement;
    const Verdict verdict = verdict_of(m);
    has_target_ = has_target_ || m.basis.geometry;
    read_in_part_ |= m.read_in_part;
    ++sampled_;
    if (verdict != Verdict::not_judged) judging_.insert(&machine);
    if (m.basis.ignores_level) {
      // A software event without a known offset shows nothing.
      if (!m.basis.known_offset) return;
      if (verdict == Verdict::broken) {
        built_in_wrong_.add(machine, event, column);
      } else if (is_as_expected(m)) {
        built_in_.add(machine, event, column);
      }
      return;
    }
    by_verdict_.at(static_cast<std::size_t>(verdict)).add(machine, event, column);
    if (verdict == Verdict::not_judged && column.level > reason_level_) {
      reason_ = short_reason(m);
      const std::string step =
          next_step(analysis::reason_not_judged(m.basis), m.cpu, m.read_in_part);
      if (!step.empty()) reason_ += fmt::format("; {}", step);
      reason_level_ = column.level;
    }
    // Remedies without a number of samples come first, then the largest number.
    if (const auto& remedy = m.contract.remedy; remedy && verdict == Verdict::undecided) {
      const bool is_larger =
          remedy_ && remedy_->samples && (!remedy->samples || *remedy->samples > *remedy_->samples);
      if (!remedy_ || is_larger) remedy_ = remedy;
    }
    if (const analysis::Share& late = m.contract.not_corrected; late.count > 0) {
      not_corrected_.add(machine, event, column);
      samples_not_corrected_ += late.count;
      samples_of_these_ += late.total;
    }
    if (is_biased(m)) {
      biased_.add(machine, event, column);
      largest_ratio_ = std::max(largest_ratio_, m.bias->largest_ratio.value_or(0));
    }
  }

  std::size_t machines_;
  std::array<Named, 4> by_verdict_;  ///< measurements of events of PMUs
  Named built_in_, built_in_wrong_, biased_, not_corrected_, unsampled_;
  /// Of the measurements of `not_corrected_`.
  std::uint64_t samples_not_corrected_ = 0, samples_of_these_ = 0;
  std::optional<analysis::Remedy> remedy_;  ///< of the undecided ones, that which needs the most
  std::set<const MachineGroup*> judging_;   ///< machines with a verdict
  std::size_t sampled_ = 0;                 ///< number of measurements
  bool has_target_ = false, read_in_part_ = false;
  /// Why the highest level is not judged; empty: all levels are, or no event is of a PMU.
  std::string reason_;
  int reason_level_ = -1;
  std::string no_samples_;  ///< why the first recording without samples has none; or empty
  double largest_ratio_ = 0;
};

}  // namespace

std::pair<std::string, Ink> report_answer(const std::vector<MachineGroup>& machines) {
  return Answer(machines).text();
}

std::string report_answer(const std::vector<Measurement>& measurements) {
  return report_answer(group_sampled(measurements)).first;
}

}  // namespace skid::output
