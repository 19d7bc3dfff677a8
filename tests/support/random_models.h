// Random models of synthetic recordings, by seed.
#pragma once

#include "src/synth/model.h"

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <variant>

namespace skid::test {

class RandomModels {
 public:
  explicit RandomModels(std::uint64_t seed) : engine_(seed) {}

  /// A model of up to three events at up to four levels for a target with that many NOPs after its
  /// last trigger; with a share for other triggers if the target has any.
  synth::Model model(std::int64_t nops, std::size_t triggers, bool has_other_triggers) {
    triggers_ = triggers;
    synth::Model model;
    model.name = "random";
    model.seed = engine_();
    model.machine.cpu.arch = "x86_64";
    model.machine.cpu.model_name = "random";
    model.machine.kernel = model.machine.hostname = "synthetic";
    model.buffers.cpus = static_cast<unsigned>(1 + below(8));
    model.buffers.round_samples = 1 + below(300);
    model.buffers.finished_round = below(2) == 0;
    const std::uint64_t events = 1 + below(3);
    for (std::uint64_t i = 0; i < events; ++i) {
      synth::EventModel event;
      event.name = "r" + std::to_string(100 + i);
      event.recorded = {event.name, 4, 0x100 + i};
      event.period = 1 + below(10'000);
      for (int number = 0; number < 4; ++number) {
        if (below(2) == 0) event.levels.push_back(level(number, nops, has_other_triggers));
      }
      if (event.levels.empty()) event.levels.push_back(level(2, nops, has_other_triggers));
      model.events.push_back(std::move(event));
    }
    return model;
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return engine_() % bound; }
  double share() { return static_cast<double>(below(1001)) / 1000; }
  std::int64_t between(std::int64_t lowest, std::int64_t highest) {
    return lowest +
           static_cast<std::int64_t>(below(static_cast<std::uint64_t>(highest - lowest + 1)));
  }

  synth::LevelModel level(int number, std::int64_t nops, bool has_other_triggers) {
    synth::LevelModel level;
    level.level = number;
    level.precise_ip = static_cast<int>(below(4));
    level.offsets = distribution(nops);
    const bool is_table = std::holds_alternative<synth::OffsetTable>(level.offsets);
    if (!is_table || below(2) == 0) {
      level.samples = below(1500);
      level.hits = below(2) == 0 ? 0 : share();
      level.elsewhere = {.kernel = share() / 6,
                         .foreign = share() / 6,
                         .unmapped = share() / 6,
                         .loop = share() / 6,
                         .other_trigger = has_other_triggers ? share() / 6 : 0,
                         .iteration = share() / 6};
    }
    level.exact = {share(), share(), share()};
    if (triggers_ > 1 && below(2) == 0) {
      level.triggers.assign(triggers_, 0.5 / static_cast<double>(triggers_ - 1));
      level.triggers[below(triggers_)] = 0.5;
    }
    if (has_other_triggers && below(2) == 0) level.other_triggers = share();
    if (below(2) == 0) level.shadow = {below(100), 100 + below(1000)};
    if (below(2) == 0) level.address = {share() / 2, share() / 2};
    level.lost = below(2) * below(100);
    level.lost_samples = below(2) * below(100);
    level.throttled = below(2) * below(10);
    return level;
  }

  /// Offsets extend past both ends of the iteration, several times around.
  synth::Distribution distribution(std::int64_t nops) {
    if (below(3) == 0) {
      return synth::NormalCycles{.mean = 1000 * share(),
                                 .stddev = 500 * share(),
                                 .cycles_per_nop = 0.25 + share(),
                                 .retire_group = 1 + below(8)};
    }
    synth::OffsetTable table;
    for (std::uint64_t rows = 1 + below(5); rows > 0; --rows) {
      const std::int64_t lowest = between(-4 * nops, 2 * nops);
      const std::int64_t highest = below(3) == 0 ? lowest : between(lowest, 4 * nops);
      table.rows.push_back({lowest, highest, 1 + below(400)});
    }
    return table;
  }

  std::mt19937_64 engine_;
  std::size_t triggers_ = 1;
};

}  // namespace skid::test
