// What people want to sample ("L3 misses"), and what a CPU has for it: events of its core PMU, and
// the samplers IBS of AMD and SPE of Arm.
#pragma once

#include "src/events/event.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace skid::events {

class Catalogue;

/// Something to sample.
struct Question;

/// One way to sample it.
struct Answer {
  std::string pmu;              ///< PMU in sysfs: "cpu", "cpu_atom", "ibs_op", "arm_spe_0"
  std::string perf;             ///< argument of perf record -e, with the level: "cpu/…/pp"
  std::optional<bool> precise;  ///< whether samples are of the instruction in question
  std::string remark;           ///< what restricts it, or what to do with the samples; may be empty
  std::optional<Event> event = {};  ///< event of the core PMU; nullopt: IBS or SPE
};

/// Finds what is meant by a text such as "llc misses", by its words in any order, in singular or
/// plural; where no question has them, without words such as "cache", then by the beginnings of
/// words ("div"). Returns null if nothing or more than one is.
const Question* find_question(std::string_view text);

/// Returns the name of a question: "L3 misses".
std::string_view name_of(const Question& question);

/// Lists the names of all questions.
std::vector<std::string> question_names();

/// Lists the ways to sample it on a CPU, the best one of each PMU first: precise events, IBS or
/// SPE, then an event that is not precise. Empty: the CPU has none that this program knows.
std::vector<Answer> answers_to(const Question& question, const Catalogue& catalogue);

}  // namespace skid::events
