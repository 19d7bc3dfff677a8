#include "src/synth/draw.h"

#include "src/support/error.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace skid::synth {
namespace {

using analysis::SampleClass;
using perfdata::CpuMode;

/// Where Linux has nothing, on x86-64 and on aarch64: perf would give names of the running kernel
/// to addresses of its text.
constexpr std::uint64_t kKernelBegin = 0xffff'ffff'4000'0000;
constexpr std::uint64_t kKernelBytes = 0x100'0000;
constexpr std::uint64_t kOtherBegin = 0x7f00'0000'0000;
constexpr std::uint64_t kOtherBytes = 0x10'0000;
constexpr std::uint64_t kUnmappedBegin = 0x6000'0000'0000;
constexpr std::uint64_t kPage = 0x1000;
/// Places in code outside the target.
constexpr std::uint64_t kPlaces = 1000, kPlaceBytes = 16;

/// e^x without libm, whose last bits differ between machines: a Taylor series of x / 1024, squared
/// ten times. Constant below -500 and above 500.
double exponential(double x) {
  constexpr double kFurthest = 500;
  constexpr int kSquarings = 10, kTerms = 12;
  const double part = std::clamp(x, -kFurthest, kFurthest) * 0x1p-10;
  double sum = 1;
  for (int term = kTerms; term > 0; --term) sum = 1 + sum * part / term;
  for (int i = 0; i < kSquarings; ++i) sum *= sum;
  return sum;
}

class Drawer {
 public:
  Drawer(const LevelModel& level, const LoopPath& path, std::uint64_t seed, const std::string& name,
         const RunShift& shift)
      : level_(level),
        path_(path),
        shift_(shift.offsets),
        hits_(shifted_share(level.hits, shift.hits_logit)),
        random_(seed),
        offsets_(level.offsets) {
    drawn_.truth.run_shift = shift;
    drawn_.truth.hits = hits_;
    drawn_.truth.triggers.resize(path.triggers());
    if (!level.triggers.empty() && level.triggers.size() != path.triggers()) {
      throw Error(fmt::format("{}: the model has shares for {} triggers, the target has {}", name,
                              level.triggers.size(), path.triggers()));
    }
    for (const Step& step : path.steps()) {
      if (step.sample_class == SampleClass::loop) loop_.push_back(&step);
      if (step.sample_class == SampleClass::other_trigger) others_.push_back(&step);
    }
    if (level.elsewhere.other_trigger > 0 && others_.empty()) {
      throw Error(fmt::format(
          "{}: the model has a share for other triggers, the target declares none", name));
    }
    if (level.elsewhere.loop > 0 && loop_.empty()) {
      throw Error(fmt::format(
          "{}: the model has a share for the loop, of which the target has nothing else", name));
    }
  }

  Drawn draw() && {
    if (level_.samples) {
      drawn_.samples.reserve(static_cast<std::size_t>(*level_.samples));
      for (std::uint64_t i = 0; i < *level_.samples; ++i) draw_one();
    } else {
      for (const auto& [offset, count] : std::get<Empirical>(level_.offsets.kind).counts()) {
        for (std::uint64_t i = 0; i < count; ++i) land(shifted(offset));
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
      return add_elsewhere(SampleClass::kernel, kKernelBegin, Origin::target, CpuMode::kernel);
    }
    if (falls_on(elsewhere.foreign)) return add_foreign();
    if (falls_on(elsewhere.unmapped)) {
      return add_elsewhere(SampleClass::unmapped, kUnmappedBegin, Origin::target, CpuMode::user);
    }
    if (falls_on(elsewhere.loop)) return add(*any_of(loop_), level_.exact.elsewhere);
    if (falls_on(elsewhere.other_trigger)) return add(*any_of(others_), level_.exact.elsewhere);
    land(random_.share() < hits_ ? 0 : shifted(offsets_.draw(random_)));
  }

  std::int64_t shifted(std::int64_t offset) const {
    return std::clamp(offset + shift_, -kFurthestOffset, kFurthestOffset);
  }

  const Step* any_of(const std::vector<const Step*>& steps) {
    return steps[static_cast<std::size_t>(random_.below(steps.size()))];
  }

  std::size_t any_trigger() {
    if (level_.triggers.empty()) {
      return static_cast<std::size_t>(random_.below(path_.triggers()));
    }
    double left = random_.share();
    std::size_t trigger = 0;
    while (trigger + 1 < level_.triggers.size() && left >= level_.triggers[trigger]) {
      left -= level_.triggers[trigger++];
    }
    return trigger;
  }

  void land(std::int64_t offset) {
    const LoopPath::Landing landing = path_.at(any_trigger(), offset);
    ++drawn_.truth.drawn[offset];
    if (landing.wrapped) ++drawn_.truth.wrapped;
    const bool is_hit = landing.step->sample_class == SampleClass::hit;
    add(*landing.step, is_hit ? level_.exact.hits : level_.exact.misses);
  }

  void add_foreign() {
    if (random_.below(2) == 0) {
      return add_elsewhere(SampleClass::other_user, code_of_other().begin, Origin::other,
                           CpuMode::user);
    }
    // Before its exec the process had other code where the target is mapped afterwards.
    const auto& steps = path_.steps();
    const Step& step = steps[static_cast<std::size_t>(random_.below(steps.size()))];
    add({step.address, Origin::before_exec, CpuMode::user, is_exact(level_.exact.elsewhere)},
        SampleClass::other_user);
  }

  void add_elsewhere(SampleClass sample_class, std::uint64_t begin, Origin origin, CpuMode mode) {
    const std::uint64_t address = begin + kPlaceBytes * random_.below(kPlaces);
    add({address, origin, mode, is_exact(level_.exact.elsewhere)}, sample_class);
  }

  bool is_exact(double share) { return random_.share() < share; }

  void add(const Step& step, double exact_share) {
    const DrawnSample sample{step.address, Origin::target, CpuMode::user, is_exact(exact_share)};
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
  std::int64_t shift_;
  double hits_;
  Random random_;
  OffsetSampler offsets_;
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

AddressRange code_of_other() {
  return {kOtherBegin, kOtherBegin + kOtherBytes};
}

AddressRange code_of_kernel() {
  return {kKernelBegin, kKernelBegin + kKernelBytes};
}

RunShift draw_run_shift(const RunEffect& effect, std::uint64_t seed) {
  Random random(seed);
  RunShift shift;
  shift.hits_logit = effect.hits * random.normal();
  // The model bounds the deviation, and a normal deviate is far below 100.
  shift.offsets = static_cast<std::int64_t>(std::floor(effect.offsets * random.normal() + 0.5));
  return shift;
}

double shifted_share(double share, double shift) {
  if (shift == 0 || share <= 0 || share >= 1) return share;
  const double odds = share / (1 - share) * exponential(shift);
  // Only so many bits: the last ones of a double may differ where the compiler fuses operations.
  constexpr double kSteps = 0x1p30;
  return std::floor(odds / (1 + odds) * kSteps + 0.5) / kSteps;
}

Drawn draw(const LevelModel& level, const LoopPath& path, std::uint64_t seed,
           const std::string& name, const RunShift& shift) {
  return Drawer(level, path, seed, name, shift).draw();
}

}  // namespace skid::synth
