// The verdicts on an event while they are being decided.
#pragma once

#include "src/events/causes.h"
#include "src/instructions/category.h"
#include "src/instructions/counted.h"
#include "src/support/text.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::events {

/// The verdicts on an event by category, all `unknown` at first.
class CauseTable {
 public:
  CauseTable() {
    for (const Category category : instructions::kCategories) {
      causes_.push_back({category, Verdict::unknown, {}});
    }
  }
  /// Sets all categories but those of microcode, of which nothing else is known.
  void set_all_but_microcode(Verdict verdict) {
    constexpr std::array kMicrocode{Category::mfence, Category::cpuid, Category::io,
                                    Category::flush, Category::other};
    for (Cause& cause : causes_) {
      const bool is_known = !contains(kMicrocode, cause.category);
      if (is_known) cause.verdict = verdict;
    }
  }
  void set(std::initializer_list<Category> categories, Verdict verdict,
           std::string_view note = {}) {
    for (const Category category : categories) {
      causes_[static_cast<std::size_t>(category)] = {category, verdict, note};
    }
  }
  std::vector<Cause> take() { return std::move(causes_); }

 private:
  std::vector<Cause> causes_;
};

}  // namespace skid::events
