#include "src/commands/measurements.h"

#include "analysis/event_identity.h"
#include "analysis/merge.h"
#include "analysis/tally.h"
#include "src/commands/distinct_recordings.h"
#include "src/commands/each_recording.h"
#include "src/commands/inputs.h"
#include "src/commands/output_options.h"
#include "src/commands/terminal.h"
#include "src/measure/measure.h"
#include "src/output/report/report.h"
#include "src/support/cores.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace skid::measure {
class Catalogues;
}  // namespace skid::measure

namespace skid::commands {

namespace {

namespace fs = std::filesystem;

/// Opens a possible report: a regular file, a FIFO or standard input. A FIFO must stay open until
/// it was read, or its writer gets SIGPIPE.
FileDescriptor open_stream(const std::string& input) {
  if (input == "-") {
    if (::isatty(STDIN_FILENO) == 1) return {};
    return FileDescriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0));
  }
  std::error_code ignored;
  const auto status = fs::status(input, ignored);
  if (!fs::is_regular_file(status) && !fs::is_fifo(status)) return {};
  return FileDescriptor(::open(input.c_str(), O_RDONLY | O_CLOEXEC));
}

measure::Measured read_report(const std::string& input, const FileDescriptor& stream,
                              const measure::Choices& choices,
                              std::optional<std::int64_t> bin_width) {
  if (choices.hit_function) {
    throw Error("{}: a report was measured before; --hit and --runway take its recordings", input);
  }
  const std::string text = read_to_end(stream, output::kMostReportBytes, input);
  if (text.size() > output::kMostReportBytes) {
    throw InputError({input, std::nullopt,
                      fmt::format("more than {} bytes", output::kMostReportBytes), "a report",
                      "name its recordings instead"});
  }
  measure::Measured result;
  result.measurements = output::read_report(text, input, bin_width);
  result.read_in_part =
      std::ranges::any_of(result.measurements, [](const auto& one) { return one.read_in_part; });
  return result;
}

measure::Measured read_source(const measure::Source& source, const measure::Choices& choices,
                              std::optional<std::int64_t> bin_width) {
  if (source.run != nullptr) return measure::measure(source, choices);
  const FileDescriptor stream = open_stream(source.file.string());
  if (begins_as_report(stream)) {
    return read_report(source.file.string(), stream, choices, bin_width);
  }
  return measure::measure(source, choices);
}

}  // namespace

Findings read_measurements(std::vector<std::string> inputs, const OutputOptions& shown,
                           measure::Choices choices, std::optional<std::int64_t> bin_width) {
  Cores cores(Cores::usable());
  choices.bin_width = bin_width.value_or(1);
  choices.cores = &cores;
  Findings findings;
  findings.inputs = inputs_or_default_run(std::move(inputs));
  UnusedFiles unused;
  InputSamples samples;
  const auto read = [&](const measure::Source& source, std::size_t input) -> Finish {
    return [&findings, &unused, &samples, &shown, input,
            measured = read_source(source, choices, bin_width)]() mutable {
      samples.add(input, 0, measured.no_samples);  // it may have no event that can be measured
      for (auto& measurement : measured.measurements) {
        samples.add(input, measurement.samples.read(), measurement.event.remark);
        findings.measurements.push_back(std::move(measurement));
        findings.input_of.push_back(input);
      }
      unused.add(measured.unused);
      for (const auto& line : measured.particulars) shown.explain(line);
      for (const auto& fault : measured.faults) print_error(describe(fault));
      return measured.read_in_part;
    };
  };
  const auto done = each_recording(findings.inputs, cores, shown, read);
  unused.note(shown);
  analysis::pool_periods(findings.measurements, findings.input_of);
  findings.read_in_part = done.read_in_part;
  findings.sampled = samples.note(findings.inputs);
  if (findings.measurements.empty() && done.unread.empty()) {
    throw Error("{}: nothing was recorded that could be measured", findings.inputs.front());
  }
  return findings;
}

void refuse_duplicates(const Findings& findings, const std::string& remedy) {
  DistinctRecordings recordings(findings.inputs, remedy);
  for (std::size_t i = 0; i < findings.measurements.size(); ++i) {
    recordings.add(findings.measurements[i], findings.input_of[i]);
  }
}

std::optional<Findings> measured_by(const std::string& run, const OutputOptions& shown,
                                    std::shared_ptr<measure::Catalogues> catalogues) {
  if (run.empty()) return std::nullopt;
  Findings findings = read_measurements({run}, shown, {{.catalogues = std::move(catalogues)}});
  if (findings.measurements.empty()) {
    throw Error("--skid {}: has no measurement that could be read", run);
  }
  return findings;
}

}  // namespace skid::commands
