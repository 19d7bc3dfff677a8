// The verdict of an audit on samples that are all at one place.
#pragma once

#include "src/audit/audit.h"

#include <cstddef>
#include <cstdint>
#include <string>

#include <gtest/gtest.h>

namespace skid::audit {

/// How many samples tests put at a place.
inline constexpr std::uint64_t kSamplesAtAPlace = 7;

/// The verdict on all of them, "never", "conditional", … or the reason not to judge.
inline std::string answer_of(const EventAudit& event) {
  EXPECT_EQ(event.samples, kSamplesAtAPlace);
  for (std::size_t i = 0; i < analysis::kNotJudged; ++i) {
    if (event.not_judged.at(i) == kSamplesAtAPlace) {
      return std::string(name_of(static_cast<NotJudged>(i)));
    }
  }
  for (std::size_t i = 0; i < event.verdicts.size(); ++i) {
    if (event.verdicts.at(i) == kSamplesAtAPlace) {
      return std::string(events::name_of(static_cast<events::Verdict>(i)));
    }
  }
  return "several";
}

}  // namespace skid::audit
