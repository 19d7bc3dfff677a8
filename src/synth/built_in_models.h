// The models that are part of skidscan.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace skid::synth {

/// Lists the models by name.
std::vector<std::string> built_in_model_names();
/// Returns the JSON of a model. Throws Error for an unknown name.
std::string_view built_in_model_text(std::string_view name);

}  // namespace skid::synth
