// The classes of sampled addresses.
#pragma once

#include "src/support/names.h"

#include <cstddef>

namespace skid::analysis {

/// The part of the target, or other code, that a sampled address is in (docs/method.md, "The sample
/// breakdown").
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
/// For each class, its key in JSON and CSV, and its words in texts.
SKID_WORDS(SampleClass, {"hit", "hit"}, {"skid", "skid"}, {"before", "before the trigger"},
           {"censored", "censored (end of runway)"}, {"other_trigger", "other trigger"},
           {"loop", "loop"}, {"other_user", "other user"}, {"kernel", "kernel"}, {"guest", "guest"},
           {"unmapped", "unmapped"})

/// The number of classes whose samples have an offset: hit, skid, before and censored, which come
/// first in SampleClass.
inline constexpr std::size_t kLocatedClasses = 4;

/// Whether samples of a class can be evidence of skid: hit, skid, before, censored, loop.
constexpr bool is_judged(SampleClass sample_class) {
  return sample_class <= SampleClass::censored || sample_class == SampleClass::loop;
}

}  // namespace skid::analysis
