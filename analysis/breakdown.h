// Each sample in exactly one class; the classes add up to the samples read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace skid::analysis {

enum class SampleClass {
  hit,
  skid,
  before,
  censored,
  other_trigger,
  loop,
  other_user,
  kernel,
  guest,
  unmapped,
};
inline constexpr std::size_t kSampleClasses = 10;

/// The key of the class in JSON and CSV.
std::string_view name_of(SampleClass sample_class);

/// The same in texts: "other trigger", "before the trigger".
std::string_view words_for(SampleClass sample_class);

/// Whether samples of the class can be evidence of skid: hit, skid, before, censored, loop.
bool is_judged(SampleClass sample_class);

class Breakdown {
 public:
  void add(SampleClass sample_class, std::uint64_t samples) {
    counts_[static_cast<std::size_t>(sample_class)] += samples;
  }
  std::uint64_t operator[](SampleClass sample_class) const {
    return counts_[static_cast<std::size_t>(sample_class)];
  }

  /// Samples read: the sum of all classes.
  std::uint64_t read() const;
  /// The sum of the classes that is_judged().
  std::uint64_t judged() const;
  /// hit + skid + before + censored: the samples that have a distance.
  std::uint64_t located() const;

  Breakdown& operator+=(const Breakdown& other);
  friend bool operator==(const Breakdown&, const Breakdown&) = default;

 private:
  std::array<std::uint64_t, kSampleClasses> counts_{};
};

}  // namespace skid::analysis
