// Sampled code: a function or the loop of a target, and the samples at each of its addresses.
#pragma once

#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/events/event.h"
#include "src/support/address.h"
#include "src/support/names.h"
#include "src/symbols/module.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace skid::listing {

/// Samples of one event at one level.
struct Count {
  std::uint64_t samples = 0;
  std::uint64_t exact = 0;  ///< of these, with PERF_RECORD_MISC_EXACT_IP

  Count& operator+=(const Count& other) {
    samples += other.samples;
    exact += other.exact;
    return *this;
  }
  friend bool operator==(const Count&, const Count&) = default;
};

/// Where the samples of an event were, by CPU mode; they add up to the samples read.
enum class Where {
  user,
  kernel,
  guest,     ///< guest and hypervisor modes
  unmapped,  ///< user mode, where nothing was mapped, or of unknown mode
};
inline constexpr std::size_t kWheres = 4;

SKID_NAMES(Where, "user", "kernel", "guest", "unmapped")

/// One event at one level of one recording.
struct Column {
  analysis::Measurement described;  ///< as measure::Profile::described() fills it
  std::array<std::uint64_t, kWheres> samples{};
  /// Causes of the event by the catalogue, if a sample of it can be an impossible attribution.
  /// Otherwise empty, with the reason in `not_judged`.
  std::vector<events::Cause> causes;
  std::string not_judged;
  bool of_core_pmu = false;  ///< an event of a core's PMU

  std::uint64_t read() const;
};

enum class Kind { target, function, kernel_function };

/// Code that was sampled, and how often.
struct Code {
  Kind kind = Kind::function;
  std::string name;   ///< of the function, as requested; of a target its trigger kind
  std::string alias;  ///< the name that samples show, if it is another
  std::string dso;    ///< as recorded
  std::string build_id;
  std::filesystem::path file;  ///< where it was opened; empty for the kernel
  /// Of a file: link-time virtual addresses; of the kernel: as recorded.
  AddressRange range;
  std::optional<Arch> arch;
  const symbols::Module* module = nullptr;  ///< of the ModuleStore; null for the kernel
  std::string no_code;                      ///< why there are no instructions; else empty
  std::vector<std::byte> bytes;             ///< of `range`, up to the end of the file
  std::vector<std::uint64_t> starts;        ///< of instructions, decoded from the first byte on
  /// Of a target where its trigger and runway are.
  std::optional<analysis::TargetMap> map;
  std::optional<runway::TargetDescription> description;
  /// Columns of recordings in which this code was found, ascending.
  std::vector<std::size_t> columns;
  /// By address and column.
  std::map<std::uint64_t, std::map<std::size_t, Count>> samples;

  /// Of all addresses.
  Count total(std::size_t column) const;
};

struct Listing {
  std::vector<Column> columns;
  std::vector<Code> codes;
};

}  // namespace skid::listing
