#include "analysis/ledger.h"

#include <numeric>

namespace skid::analysis {

std::string_view name_of(SampleClass sample_class) {
  switch (sample_class) {
    case SampleClass::hit:
      return "hit";
    case SampleClass::skid:
      return "skid";
    case SampleClass::before:
      return "before";
    case SampleClass::censored:
      return "censored";
    case SampleClass::other_trigger:
      return "other_trigger";
    case SampleClass::loop:
      return "loop";
    case SampleClass::other_user:
      return "other_user";
    case SampleClass::kernel:
      return "kernel";
    case SampleClass::guest:
      return "guest";
    case SampleClass::unmapped:
      return "unmapped";
  }
  return "unknown";
}

std::string_view words_for(SampleClass sample_class) {
  switch (sample_class) {
    case SampleClass::other_trigger:
      return "other trigger";
    case SampleClass::other_user:
      return "other user";
    case SampleClass::censored:
      return "censored (end of runway)";
    case SampleClass::before:
      return "before the trigger";
    default:
      return name_of(sample_class);
  }
}

bool is_judged(SampleClass sample_class) {
  switch (sample_class) {
    case SampleClass::hit:
    case SampleClass::skid:
    case SampleClass::before:
    case SampleClass::censored:
    case SampleClass::loop:
      return true;
    default:
      return false;
  }
}

std::uint64_t Ledger::read() const {
  return std::accumulate(counts_.begin(), counts_.end(), std::uint64_t{0});
}

std::uint64_t Ledger::judged() const {
  std::uint64_t samples = 0;
  for (std::size_t i = 0; i < kSampleClasses; ++i) {
    if (is_judged(static_cast<SampleClass>(i))) samples += counts_[i];
  }
  return samples;
}

std::uint64_t Ledger::located() const {
  return (*this)[SampleClass::hit] + (*this)[SampleClass::skid] + (*this)[SampleClass::before] +
         (*this)[SampleClass::censored];
}

Ledger& Ledger::operator+=(const Ledger& other) {
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

}  // namespace skid::analysis
