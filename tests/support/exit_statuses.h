// What the program ends with, as its help and docs promise it to scripts.
#pragma once

namespace skid::test {

inline constexpr int kDone = 0, kFailed = 1, kInPart = 2, kGateFailed = 4, kUsage = 64;

}  // namespace skid::test
