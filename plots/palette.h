// The colours of figures.
#pragma once

namespace skid::plots {

// Okabe and Ito's palette, told apart with any colour vision (jfly.uni-koeln.de/color).
inline constexpr const char* kBlack = "#000000";
inline constexpr const char* kOrange = "#E69F00";
inline constexpr const char* kSkyBlue = "#56B4E9";
inline constexpr const char* kGreen = "#009E73";
inline constexpr const char* kBlue = "#0072B2";
inline constexpr const char* kVermillion = "#D55E00";
inline constexpr const char* kPurple = "#CC79A7";
inline constexpr const char* kYellow = "#F0E442";
inline constexpr const char* kGrey = "#777777";

}  // namespace skid::plots
