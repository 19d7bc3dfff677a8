// Exit statuses as documented.
#pragma once

namespace skid::test {

inline constexpr int kDone = 0, kFailed = 1, kInPart = 2, kGateFailed = 4, kUsage = 64;

}  // namespace skid::test
