// The limit of the work on the code of a recording.
#pragma once

#include <algorithm>
#include <cstdint>

namespace skid::code {

/// The number of instructions of a recording that may still be decoded, or looked at for a sample.
/// The code of compilers needs a fraction of it; code that was made to be slow could need any
/// number.
class CodeBudget {
 public:
  void take(std::uint64_t instructions) noexcept { left_ -= std::min(instructions, left_); }
  bool is_exhausted() const noexcept { return left_ == 0; }

 private:
  std::uint64_t left_ = 50'000'000;
};

}  // namespace skid::code
