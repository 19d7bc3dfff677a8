#include "src/correct/correct.h"

#include "src/correct/corrector.h"
#include "src/correct/places.h"
#include "src/correct/rewrite.h"
#include "src/locate/digest.h"
#include "src/measure/event_knowledge.h"
#include "src/measure/target_geometry.h"
#include "src/perfdata/recording.h"

#include <utility>

#include <fmt/format.h>

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
  const auto digest =
      locate::digest(recording, {.cores = choices.cores, .filter = &choices.filter});
  const auto recorded = measure::recorded_machine(recording.features(), source.run);
  locate::ModuleStore modules(choices.places);
  modules.expect_machine(recorded.cpu.arch);
  measure::add_targets(source, modules);
  measure::RecordedCpu cpu(recorded, choices.perfmon, choices.catalogues);
  Corrector corrector({source, recording, digest, modules, cpu}, choices);
  Correction result;
  result.run = source.run_directory.string();
  result.file = source.file.string();
  result.by = choices.by;
  result.synthetic = perfdata::is_synthetic(recording.features()) ||
                     (source.run != nullptr && source.run->synthetic);
  result.filtered = corrector.filtered();
  Moves moves;
  bool any_corrected = false;
  for (auto& [attribute, event] : corrector.correct()) {
    moves.merge(event.moves);
    any_corrected = any_corrected || is_corrected(event.correction.skid.verdict);
    event.correction.places =
        fold(event.spreads, choices.by, {digest.spaces, modules, corrector.blocks()});
    result.events.push_back(std::move(event.correction));
  }
  if (!choices.output.empty() && any_corrected) {
    write_corrected(recording, digest, moves, choices.output);
    result.is_written = true;
  }
  result.cpu = cpu.machine().cpu;
  result.kernel = cpu.machine().kernel;
  for (const auto& remark : modules.remarks()) result.remarks.push_back(remark.text);
  result.faults = recording.faults();
  result.read_in_part = recording.read_in_part();
  result.particulars.push_back(fmt::format("{}: {}", result.file, cpu.catalogue_name()));
  return result;
}

}  // namespace skid::correct
