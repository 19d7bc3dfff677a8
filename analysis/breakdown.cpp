#include "analysis/breakdown.h"

#include <numeric>

namespace skid::analysis {
namespace {

struct ClassText {
  std::string_view name, words;
  bool judged;
};

/// By SampleClass.
constexpr std::array<ClassText, kSampleClasses> kClasses{
    {{"hit", "hit", true},
     {"skid", "skid", true},
     {"before", "before the trigger", true},
     {"censored", "censored (end of runway)", true},
     {"other_trigger", "other trigger", false},
     {"loop", "loop", true},
     {"other_user", "other user", false},
     {"kernel", "kernel", false},
     {"guest", "guest", false},
     {"unmapped", "unmapped", false}}};

const ClassText& text_of(SampleClass sample_class) {
  return kClasses.at(static_cast<std::size_t>(sample_class));
}

}  // namespace

std::string_view name_of(SampleClass sample_class) {
  return text_of(sample_class).name;
}

std::string_view words_for(SampleClass sample_class) {
  return text_of(sample_class).words;
}

bool is_judged(SampleClass sample_class) {
  return text_of(sample_class).judged;
}

std::uint64_t Breakdown::read() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t Breakdown::judged() const {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    if (is_judged(static_cast<SampleClass>(i))) samples += counts_[i];
  }
  return samples;
}

std::uint64_t Breakdown::located() const {
  return (*this)[SampleClass::hit] + (*this)[SampleClass::skid] + (*this)[SampleClass::before] +
         (*this)[SampleClass::censored];
}

Breakdown& Breakdown::operator+=(const Breakdown& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

}  // namespace skid::analysis
