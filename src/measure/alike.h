// Events of different CPUs that count the same.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
struct Comparison;
}  // namespace skid::analysis

namespace skid::measure {

class Catalogues;

/// Lists pairs of labels of events that count the same by the catalogues of their CPUs, on the same
/// trigger: one of the baseline and one of another side, each event in one pair at most. IBS and
/// SPE, which sample any operation, count as the event that their trigger is best suited for.
/// Throws what Catalogues::of() throws.
std::vector<std::pair<std::string, std::string>> events_alike(
    const analysis::Comparison& comparison, const std::shared_ptr<Catalogues>& catalogues);

}  // namespace skid::measure
