// Whether the samples of an event can have skidded as they are assumed to.
#pragma once

#include "src/correct/corrected_event.h"

namespace skid::correct {

/// The final verdict on an event that is corrected. Refuses one whose samples contradict the model,
/// because too many have no explanation, or the sampled instructions explain them better than the
/// preceding ones; and one of which no sample was placed.
void judge_fit(CorrectedEvent& event);

}  // namespace skid::correct
