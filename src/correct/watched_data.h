// The bytes that breakpoints on data watch, at the addresses of the files that processes map.
#pragma once

#include "src/correct/candidates.h"
#include "src/correct/corrected_event.h"
#include "src/locate/module_store.h"
#include "src/symbols/address_space.h"
#include "src/symbols/module.h"

#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

namespace skid::correct {

class WatchedData {
 public:
  WatchedData(const symbols::AddressSpaces& spaces, locate::ModuleStore& modules)
      : spaces_(spaces), modules_(modules) {}

  /// Notes where processes mapped the file that the samples are in.
  void add_mappings(const symbols::Module& module, std::span<const Sampled> samples);

  /// What can have caused samples of `event` at a link-time address of a file. To be called after
  /// all add_mappings().
  Suspicion suspicion_of(const CorrectedEvent& event, const Sampled& one, std::uint64_t address);

 private:
  /// Read-only parts of a file that processes have at its own addresses; empty if the watched bytes
  /// are in one.
  std::vector<AddressRange> read_only(std::uint64_t watched, symbols::FileIndex file,
                                      std::uint64_t bias);
  bool is_data_of_file(std::uint64_t watched, symbols::FileIndex file, std::uint64_t bias);

  const symbols::AddressSpaces& spaces_;
  locate::ModuleStore& modules_;
  /// The addresses in processes less those of the file, by file.
  std::map<symbols::FileIndex, std::set<std::uint64_t>> biases_;
  /// As in Suspicion.
  struct Place {
    bool stack_is_elsewhere = false;
    std::vector<AddressRange> read_only;
  };
  /// By event, file and bias.
  std::map<std::tuple<std::uint32_t, symbols::FileIndex, std::uint64_t>, Place> places_;
};

}  // namespace skid::correct
