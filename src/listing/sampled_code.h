// Sampled code: a function or the loop of a target, and the samples at each of its addresses.
#pragma once

#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/events/causes.h"
#include "src/support/address.h"
#include "src/support/names.h"
#include "src/symbols/location.h"

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::listing {

/// Samples of one event at one level.
struct Count {
  std::uint64_t samples = 0;
  std::uint64_t exact = 0;  ///< samples with PERF_RECORD_MISC_EXACT_IP

  Count& operator+=(const Count& other) {
    samples += other.samples;
    exact += other.exact;
    return *this;
  }
  friend bool operator==(const Count&, const Count&) = default;
};

/// The places of an event's samples, by CPU mode. Their counts add up to the samples read.
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
  /// Whether samples are at the instruction after their cause, as those of x86's data breakpoints.
  bool follows_cause = false;

  std::uint64_t read() const {
    return std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  }
};

enum class Kind { target, function, kernel_function };
SKID_NAMES(Kind, "target", "function", "kernel_function")

/// Code that was sampled, and its samples.
struct Code {
  Kind kind = Kind::function;
  std::string name;   ///< name of the function, as requested; for a target its trigger kind
  std::string alias;  ///< the function's name in samples, if it is another
  std::string dso;    ///< as recorded
  std::string build_id;
  std::filesystem::path file;  ///< where it was opened; empty for the kernel
  /// Addresses of the code: link-time virtual addresses in a file; for the kernel as recorded.
  AddressRange range;
  std::optional<Arch> arch;
  const symbols::Module* module = nullptr;  ///< owned by the ModuleStore; null for the kernel
  std::string no_code;                      ///< why there are no instructions; else empty
  std::vector<std::byte> bytes;             ///< contents of `range`, up to the end of the file
  std::vector<std::uint64_t> starts;  ///< addresses of instructions, decoded from the first byte on
  /// The places of the trigger and the runway in a target; nullopt for other code.
  std::optional<analysis::TargetMap> map;
  std::optional<runway::TargetDescription> description;
  /// Columns of recordings in which this code was found, ascending.
  std::vector<std::size_t> columns;
  /// Samples by address and column.
  std::map<std::uint64_t, std::map<std::size_t, Count>> samples;

  /// Returns the samples of a column at all addresses.
  Count total(std::size_t column) const;
};

/// What samples are added up by.
enum class By { module, function, line };
SKID_NAMES(By, "module", "function", "line")

/// A place with samples: a module, a function or a source line.
struct Place {
  std::string function;  ///< name of the function; empty: none is known, or all of the module
  std::string module;    ///< as recorded; empty: nothing was mapped there
  /// Link-time address of the function's first byte, if it has no name but its range is known.
  std::optional<std::uint64_t> address;
  std::optional<symbols::SourceLine> source;
  /// Names of the functions that were inlined there into `function`, the innermost first.
  std::vector<std::string> inlined;
  bool in_kernel = false;
  bool is_missing = false;  ///< its functions and lines are not known because its file is missing

  /// Returns the name of the function, or "0x1350" if only its range is known; may be empty.
  std::string label() const;
  friend auto operator<=>(const Place&, const Place&) = default;
};

/// The code that was selected, of all recordings read.
struct Listing {
  std::vector<Column> columns;
  std::vector<Code> codes;
  /// Samples by place and column, of the recordings in which the selected code was not found, or
  /// of all if places were selected.
  std::map<Place, std::map<std::size_t, Count>> places;

  /// Returns what each column is of.
  std::vector<analysis::Measurement> described() const;
  /// Returns the indices of the columns of one event: the one with the most samples, of which
  /// `samples_of` returns those of a column. Samples of different events are not added up.
  std::vector<std::size_t> most_sampled_event(
      const std::function<std::uint64_t(std::size_t)>& samples_of) const;
  /// The same, by all samples read.
  std::vector<std::size_t> most_sampled_event() const;
};

}  // namespace skid::listing
