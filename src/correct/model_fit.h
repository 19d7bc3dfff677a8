// Whether the samples of an event can have skidded as they are assumed to.
#pragma once

#include "src/correct/corrected_event.h"

namespace skid::correct {

/// Refuses an event whose samples contradict the model: too many have no explanation, or the
/// sampled instructions explain them better than the preceding ones. Only one that is corrected.
void refuse_misfit(CorrectedEvent& event);

}  // namespace skid::correct
