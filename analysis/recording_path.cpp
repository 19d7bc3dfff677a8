#include "analysis/recording_path.h"

#include <fmt/format.h>

namespace skid::analysis {

std::string describe(const RecordingPath& path) {
  std::string text = path.frequency ? fmt::format("{} samples a second", *path.frequency)
                                    : std::string("fixed period");
  if (path.call_graph || path.branch_stack) {
    text += fmt::format(" with {}{}{}", path.call_graph ? "call graphs" : "",
                        path.call_graph && path.branch_stack ? " and " : "",
                        path.branch_stack ? "branch stacks" : "");
  }
  if (path.batched) {
    text += *path.batched ? ", PEBS records in batches" : ", an interrupt per PEBS record";
  }
  return text;
}

}  // namespace skid::analysis
