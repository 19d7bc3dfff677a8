#include "src/correct/correct.h"

#include "src/correct/corrector.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/measure/profile.h"
#include "src/perfdata/recording.h"

#include <utility>

namespace skid::correct {

std::string_view name_of(By by) {
  constexpr std::array<std::string_view, 4> kNames{"instruction", "line", "block", "function"};
  return kNames.at(static_cast<std::size_t>(by));
}

std::optional<By> by_named(std::string_view name) {
  for (const By by : {By::instruction, By::line, By::block, By::function}) {
    if (name_of(by) == name) return by;
  }
  return std::nullopt;
}

std::string_view name_of(SplitBy by) {
  constexpr std::array<std::string_view, kSplitBys> kNames{"equal_shares", "branch_records"};
  return kNames.at(static_cast<std::size_t>(by));
}

Correction correct(const measure::Source& source, const Choices& choices) {
  auto recording = perfdata::Recording::open(source.file);
  if (!choices.output.empty()) check_rewritable(recording);
  locate::ModuleStore modules(choices.places);
  const measure::Profile profile(source, recording, modules, choices);
  Corrector corrector(profile, choices);
  Correction result;
  result.by = choices.by;
  result.filtered = corrector.filtered();
  Moves moves;
  bool any_corrected = false;
  for (auto& [attribute, event] : corrector.correct()) {
    moves.merge(event.moves);
    any_corrected = any_corrected || is_corrected(event.correction.skid.verdict);
    event.correction.places =
        fold(std::move(event.spreads), choices.by, profile, corrector.blocks());
    result.events.push_back(std::move(event.correction));
  }
  if (!choices.output.empty() && any_corrected) {
    write_corrected(recording, profile.digest, moves, choices.output);
    result.is_written = true;
  }
  profile.summarize(result);
  return result;
}

}  // namespace skid::correct
