#include "src/commands/read_measurements.h"

#include "src/commands/each_recording.h"
#include "src/commands/messages.h"
#include "src/support/error.h"

#include <utility>

#include <fmt/format.h>

namespace skid::commands {
namespace {

void add(Findings& findings, measure::Measured measured) {
  for (auto& measurement : measured.measurements) {
    findings.measurements.push_back(std::move(measurement));
  }
  for (const auto& fault : measured.faults) say(describe(fault));
}

}  // namespace

Findings read_measurements(std::vector<std::string> inputs, const measure::Choices& choices) {
  Findings findings;
  findings.inputs = inputs_or_default_run(std::move(inputs));
  for (std::size_t number = 0; number < findings.inputs.size(); ++number) {
    const auto read = each_recording({findings.inputs[number]}, [&](const measure::Source& source) {
      auto measured = measure::measure(source, choices);
      const bool in_part = measured.read_in_part;
      add(findings, std::move(measured));
      return in_part;
    });
    findings.read_in_part = findings.read_in_part || read.read_in_part;
    findings.has_unreadable = findings.has_unreadable || read.has_unreadable;
    findings.input_of.resize(findings.measurements.size(), number);
  }
  if (findings.measurements.empty() && !findings.has_unreadable) {
    throw Error(
        fmt::format("{}: nothing was recorded that could be measured", findings.inputs.front()));
  }
  return findings;
}

}  // namespace skid::commands
