// What `skidscan doctor` prints.
#pragma once

#include "src/machine/diagnosis.h"

#include <string>

#include <nlohmann/json.hpp>

namespace skid::output {

/// The page for people, `width` columns wide. Names that come from files are escaped.
std::string diagnosis_text(const machine::SamplingSupport& support,
                           const machine::Diagnosis& diagnosis, bool color, unsigned width);

/// Everything of the page and more, by the keys of docs/formats.md.
nlohmann::ordered_json diagnosis_json(const machine::SamplingSupport& support,
                                      const machine::Diagnosis& diagnosis);

}  // namespace skid::output
