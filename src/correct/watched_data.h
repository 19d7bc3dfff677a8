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

namespace skid::correct {

class WatchedData {
 public:
  WatchedData(const symbols::AddressSpaces& spaces, locate::ModuleStore& modules)
      : spaces_(spaces), modules_(modules) {}

  /// Learns from samples in a file where processes mapped it.
  void add_mappings(const symbols::Module& module, std::span<const Sampled> samples);

  /// What can have caused samples of `event` at a link-time address of a file.
  Suspicion suspicion_of(const CorrectedEvent& event, const Sampled& one, std::uint64_t address);

 private:
  bool is_data_of_file(std::uint64_t watched, symbols::FileIndex file, std::uint64_t bias);

  const symbols::AddressSpaces& spaces_;
  locate::ModuleStore& modules_;
  /// Of a file, addresses in processes less those of the file.
  std::map<symbols::FileIndex, std::set<std::uint64_t>> biases_;
  std::map<std::tuple<std::uint32_t, symbols::FileIndex, std::uint64_t>, bool> stack_is_elsewhere_;
};

}  // namespace skid::correct
