// Drawing of samples, and the shares of the causes of events.
//
// Each sample starts at a cause, an instruction of the iteration that causes the event, and is put
// an offset of instructions after it. Without a shadow a cause gets its share of the samples.
//
// A shadow (docs/synth.md, docs/method.md "Shadow") is the time between the overflow of the counter
// and the arming of PEBS, which samples the first event from then on. The gaps between causes then
// decide the shares. Three causes in an iteration of 100 instructions, each overflowing as often
// as the others, with delays of 0 to 19 instructions (20 numbers, equally likely):
//
//     instruction   0    10                       60                          100 = 0
//                   A ---- B ---------------------- C ------------------------- A
//
//     overflow at   A sampled   B sampled     C sampled
//     A             delay 0     delays 1-10   delays 11-19
//     B                         delay 0       delays 1-19
//     C             1-19                      delay 0
//     share         20/60       11/60         29/60
//
// The cause after the longest gap in which events are rare gets most samples: the shares are even
// only if the gaps are.
#include "src/synth/draw.h"

#include "analysis/sample_class.h"
#include "analysis/tally.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/random.h"
#include "src/synth/code_places.h"
#include "src/synth/drawn_sample.h"
#include "src/synth/loop_path.h"
#include "src/synth/model.h"
#include "src/synth/offsets.h"
#include "src/synth/sample_truth.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>
#include <variant>

#include <fmt/format.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;
using perfdata::CpuMode;

constexpr std::uint64_t kUnmappedBegin = 0x6000'0000'0000;
constexpr std::uint64_t kPage = 0x1000;
/// Addresses of data: the target's stack, and data that it does not access.
constexpr std::uint64_t kStackBegin = 0x7ffc'0000'0000;
constexpr std::uint64_t kElsewhereBegin = 0x5555'0000'0000;
/// The number of places sampled in code outside the target, and the distance between them.
constexpr std::uint64_t kPlaces = 1000, kPlaceBytes = 16;

/// Counts the delays of a shadow from `least` to `most`.
std::uint64_t delays_between(const Shadow& shadow, std::uint64_t least, std::uint64_t most) {
  const std::uint64_t lowest = std::max(shadow.lowest, least);
  const std::uint64_t highest = std::min(shadow.highest, most);
  return highest < lowest ? 0 : highest - lowest + 1;
}

/// Returns the causes with their shares of the samples, computed from their shares of the events.
/// `length`: instructions of an iteration.
std::vector<Cause> shadowed(const std::vector<Cause>& causes, const Shadow& shadow,
                            std::size_t length) {
  std::vector<Cause> result = causes;
  for (Cause& cause : result) cause.share = 0;
  const auto delays = static_cast<double>(shadow.highest - shadow.lowest + 1);
  for (std::size_t overflow = 0; overflow < causes.size(); ++overflow) {
    // Visit the cause that overflows, the next one and so on, through as many iterations as needed.
    std::uint64_t least = 0;
    for (std::size_t k = overflow; least <= shadow.highest; ++k) {
      const std::size_t sampled = k % causes.size();
      const std::uint64_t distance =
          k / causes.size() * length + causes[sampled].step - causes[overflow].step;
      const auto here = static_cast<double>(delays_between(shadow, least, distance));
      result[sampled].share += causes[overflow].share * here / delays;
      least = distance + 1;
    }
  }
  return result;
}

class Drawer {
 public:
  Drawer(const LevelModel& level, const LoopPath& path, std::uint64_t seed, const std::string& name,
         bool is_interrupted)
      : level_(level),
        path_(path),
        counted_(is_interrupted ? path.steps_of_interrupts() : path.steps()),
        random_(seed),
        offsets_(level.offsets),
        causes_(causes_of(level, path, name)),
        is_even_(level.triggers.empty() && level.other_triggers == 0 && !level.shadow) {
    drawn_.truth.triggers.resize(path.triggers());
    drawn_.truth.trigger_shares.resize(path.triggers());
    for (const Cause& cause : causes_) {
      if (cause.trigger) drawn_.truth.trigger_shares[*cause.trigger] = cause.share;
    }
    if (level.address) drawn_.truth.data.emplace();
    for (const Step& step : path.steps()) {
      if (step.sample_class == SampleClass::loop) loop_.push_back(&step);
      if (step.sample_class == SampleClass::other_trigger) others_.push_back(&step);
    }
    if (level.elsewhere.other_trigger > 0 && others_.empty()) {
      throw Error("{}: the model has a share for other triggers, the target declares none", name);
    }
    if (level.elsewhere.loop > 0 && loop_.empty()) {
      throw Error("{}: the model has a share for the loop, of which the target has nothing else",
                  name);
    }
  }

  Drawn draw() && {
    if (level_.samples) {
      drawn_.samples.reserve(static_cast<std::size_t>(*level_.samples));
      for (std::uint64_t i = 0; i < *level_.samples; ++i) draw_one();
    } else {
      for (const auto& [offset, count] : std::get<OffsetTable>(level_.offsets).counts()) {
        for (std::uint64_t i = 0; i < count; ++i) land(offset);
      }
    }
    return std::move(drawn_);
  }

 private:
  void draw_one() {
    const Elsewhere& elsewhere = level_.elsewhere;
    double left = random_.share();
    const auto falls_on = [&left](double share) {
      const bool falls = left < share;
      left -= share;
      return falls;
    };
    if (falls_on(elsewhere.kernel)) {
      return add_elsewhere(SampleClass::kernel, kCodeOfKernel.begin, Origin::target,
                           CpuMode::kernel);
    }
    if (falls_on(elsewhere.foreign)) return add_foreign();
    if (falls_on(elsewhere.unmapped)) {
      return add_elsewhere(SampleClass::unmapped, kUnmappedBegin, Origin::target, CpuMode::user);
    }
    if (falls_on(elsewhere.loop)) return add(*any_of(loop_), level_.exact.elsewhere, 0);
    if (falls_on(elsewhere.other_trigger)) return add(*any_of(others_), level_.exact.elsewhere, 0);
    if (falls_on(elsewhere.iteration)) {
      const Step& step = path_.steps()[any_step()];
      return add(step, level_.exact.elsewhere, data_of(step));
    }
    land(random_.share() < level_.hits ? 0 : offsets_.draw(random_));
  }

  const Step* any_of(const std::vector<const Step*>& steps) {
    return steps[static_cast<std::size_t>(random_.below(steps.size()))];
  }

  std::size_t any_step() { return static_cast<std::size_t>(random_.below(path_.steps().size())); }

  const Cause& next_cause() {
    if (level_.distance) {
      const Cause& cause = causes_[next_];
      next_ = static_cast<std::size_t>((next_ + *level_.distance) % causes_.size());
      return cause;
    }
    if (is_even_) return causes_[static_cast<std::size_t>(random_.below(causes_.size()))];
    double left = random_.share();
    std::size_t cause = 0;
    while (cause + 1 < causes_.size() && left >= causes_[cause].share) {
      left -= causes_[cause++].share;
    }
    return causes_[cause];
  }

  void land(std::int64_t offset) {
    const Cause& cause = next_cause();
    const LoopPath::Landing landing = path_.from(cause.step, offset);
    ++drawn_.truth.drawn[offset];
    if (landing.wrapped) ++drawn_.truth.wrapped;
    const bool is_hit = landing.step->sample_class == SampleClass::hit || offset == 0;
    add(*landing.step, is_hit ? level_.exact.hits : level_.exact.misses,
        data_of(path_.steps()[cause.step]));
  }

  /// Returns the address that an instruction accesses; 0 if it accesses no memory.
  std::uint64_t accessed_by(const Step& step) {
    const TriggerData& data = path_.data();
    if (!step.accesses_memory) return 0;
    if (step.sample_class != SampleClass::hit) return kStackBegin;
    if (data.elements == 0) return data.datum;
    const std::uint64_t element = random_.below(data.elements);
    return element == 0 ? data.datum : kChaseBegin + element * data.stride;
  }

  /// Draws the data address of a sample whose event was caused by an instruction.
  std::uint64_t data_of(const Step& cause) {
    if (!level_.address) return 0;
    const double drawn = random_.share();
    const AddressShares& shares = *level_.address;
    std::uint64_t address = 0;
    if (drawn < shares.cause) {
      address = accessed_by(cause);
      drawn_.truth.data->cause += address == 0 ? 0 : 1;
    } else if (drawn < shares.cause + shares.elsewhere) {
      constexpr std::uint64_t kWordBytes = 8;
      address = kElsewhereBegin + kWordBytes * random_.below(kPlaces);
      ++drawn_.truth.data->elsewhere;
    }
    return address;
  }

  void add_foreign() {
    if (random_.below(2) == 0) {
      return add_elsewhere(SampleClass::other_user, kCodeOfOther.begin, Origin::other,
                           CpuMode::user);
    }
    // Before its exec the process had other code where the target is mapped afterwards.
    const Step& step = path_.steps()[any_step()];
    add({step.address, Origin::before_exec, CpuMode::user, is_exact(level_.exact.elsewhere), 0},
        SampleClass::other_user);
  }

  void add_elsewhere(SampleClass sample_class, std::uint64_t begin, Origin origin, CpuMode mode) {
    const std::uint64_t address = begin + kPlaceBytes * random_.below(kPlaces);
    add({address, origin, mode, is_exact(level_.exact.elsewhere), 0}, sample_class);
  }

  /// Whether a sample is counted in the class of other triggers although its instruction is not.
  /// Level 1 samples the next instruction, so this is true on a trigger or the loop directly after
  /// a trigger, and on the loop directly after another trigger.
  bool is_successor(const Step& step) const {
    const bool is_loop = step.sample_class == SampleClass::loop;
    if (level_.precise_ip != 1 || (!is_loop && step.sample_class != SampleClass::hit)) return false;
    const auto index = static_cast<std::size_t>(&step - path_.steps().data());
    const SampleClass before = path_.from(index, -1).step->sample_class;
    return before == SampleClass::hit || (is_loop && before == SampleClass::other_trigger);
  }

  bool is_exact(double share) { return random_.share() < share; }

  void add(const Step& drawn, double exact_share, std::uint64_t data) {
    const Step& step = counted_[static_cast<std::size_t>(&drawn - path_.steps().data())];
    const DrawnSample sample{step.address, Origin::target, CpuMode::user, is_exact(exact_share),
                             data};
    if (is_successor(drawn)) return add(sample, SampleClass::other_trigger);
    if (step.offset) ++drawn_.truth.offsets[*step.offset];
    if (step.trigger) {
      const bool is_hit = step.sample_class == SampleClass::hit;
      drawn_.truth.triggers[*step.trigger] += {is_hit ? 1U : 0U, 1};
    }
    add(sample, step.sample_class);
  }

  void add(const DrawnSample& sample, SampleClass sample_class) {
    Truth& truth = drawn_.truth;
    truth.samples.add(sample_class, 1);
    if (truth.data && sample.data == 0) ++truth.data->none;
    ++truth.places[sample];
    if (sample.exact) {
      ++truth.exact_ip_samples;
      if (sample_class == SampleClass::hit) {
        ++truth.exact_hits;
      } else if (is_judged(sample_class)) {
        ++truth.exact_off_trigger;
      }
    }
    drawn_.samples.push_back(sample);
  }

  const LevelModel& level_;
  const LoopPath& path_;
  std::vector<Step> counted_;  ///< the steps as their samples are counted
  Random random_;
  OffsetSampler offsets_;
  std::vector<Cause> causes_;
  bool is_even_;          ///< all shares are equal
  std::size_t next_ = 0;  ///< index of the next cause, with a distance
  std::vector<const Step*> loop_, others_;
  Drawn drawn_;
};

}  // namespace

std::uint64_t seed_of(std::uint64_t model_seed, std::initializer_list<std::uint64_t> stream) {
  // The finalizer of SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014) after each number.
  constexpr std::uint64_t kGamma = 0x9e37'79b9'7f4a'7c15;
  std::uint64_t state = model_seed;
  for (const std::uint64_t number : stream) {
    state += kGamma * (number + 1);
    state = (state ^ state >> 30U) * 0xbf58'476d'1ce4'e5b9;
    state = (state ^ state >> 27U) * 0x94d0'49bb'1331'11eb;
    state ^= state >> 31U;
  }
  return state;
}

AddressRange code_before_exec(const LoopPath& path) {
  const std::uint64_t begin = path.steps().front().address / kPage * kPage;
  const std::uint64_t end = (path.steps().back().address / kPage + 1) * kPage;
  return {begin, end};
}

std::vector<Cause> causes_of(const LevelModel& level, const LoopPath& path,
                             const std::string& name) {
  if (!level.triggers.empty() && level.triggers.size() != path.triggers()) {
    throw Error("{}: the model has shares for {} triggers, the target has {}", name,
                level.triggers.size(), path.triggers());
  }
  const std::vector<std::size_t>& others = path.other_causes();
  if (level.other_triggers > 0 && others.empty()) {
    throw Error("{}: the model has a share for other triggers, the target declares none", name);
  }
  std::vector<Cause> causes;
  for (std::size_t i = 0; i < path.triggers(); ++i) {
    const double share =
        level.triggers.empty() ? 1 / static_cast<double>(path.triggers()) : level.triggers[i];
    causes.push_back({path.step_of(i), i, (1 - level.other_triggers) * share});
  }
  if (level.other_triggers > 0) {
    for (const std::size_t step : others) {
      causes.push_back(
          {step, std::nullopt, level.other_triggers / static_cast<double>(others.size())});
    }
    std::ranges::sort(causes, [](const Cause& a, const Cause& b) { return a.step < b.step; });
  }
  if (level.distance) {
    // Causes whose number is no multiple of a common factor are never sampled.
    const std::size_t factor = std::gcd(*level.distance, causes.size());
    for (std::size_t i = 0; i < causes.size(); ++i) {
      causes[i].share *= i % factor == 0 ? static_cast<double>(factor) : 0;
    }
  }
  return level.shadow ? shadowed(causes, *level.shadow, path.steps().size()) : causes;
}

Drawn draw(const LevelModel& level, const LoopPath& path, std::uint64_t seed,
           const std::string& name, bool is_interrupted) {
  return Drawer(level, path, seed, name, is_interrupted).draw();
}

}  // namespace skid::synth
