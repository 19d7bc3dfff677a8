// The catalogues of the CPUs that recordings are of, each made once.
#pragma once

#include "src/events/catalogue.h"
#include "src/machine/machine.h"

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>

namespace skid::measure {

/// Makes a catalogue when the first recording of its CPU needs it, for all threads: libpfm4 needs
/// longer to list a CPU's events than it takes to read a recording.
class Catalogues {
 public:
  /// `perfmon`: directory of Intel's event files; empty: libpfm4.
  explicit Catalogues(std::filesystem::path perfmon = {}) : perfmon_(std::move(perfmon)) {}

  /// Null where there is none for this CPU. Throws what events::open_catalogue() throws for a
  /// directory.
  std::shared_ptr<const events::Catalogue> of(const machine::Machine& machine);

 private:
  std::filesystem::path perfmon_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<const events::Catalogue>> known_;  ///< by CPU
};

}  // namespace skid::measure
