// Events of different CPUs that count the same.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace skid::analysis {
struct Measurement;
}  // namespace skid::analysis

namespace skid::measure {

class Catalogues;

/// Lists pairs of labels of events that count the same by the catalogues of their CPUs, on the same
/// trigger: one of the input number `baseline` and one of another, each event in one pair at most.
/// IBS and SPE, which sample any operation, count as the event that their trigger is best suited
/// for. `input_of`: the number of the input of each measurement. Throws what Catalogues::of()
/// throws.
std::vector<std::pair<std::string, std::string>> events_alike(
    const std::vector<analysis::Measurement>& measurements,
    const std::vector<std::size_t>& input_of, std::size_t baseline,
    const std::shared_ptr<Catalogues>& catalogues);

}  // namespace skid::measure
