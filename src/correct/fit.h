// Whether the samples of an event fit the model of a constant skid.
#pragma once

namespace skid::correct {

struct CorrectedEvent;

/// If more than this share of the samples have no explanation, the model does not fit: 5%.
inline constexpr double kMostUnexplained = 0.05;
/// If more than this share of the samples stay for any reason, the event is corrected only in part:
/// 5%.
inline constexpr double kMostUnplaced = 0.05;

/// Decides the final verdict on an event that is corrected. Refuses an event whose samples
/// contradict the model, because too many have no explanation, or the sampled instructions explain
/// them better than the preceding ones. Also refuses an event of which no sample was placed.
void judge_fit(CorrectedEvent& event);

}  // namespace skid::correct
