// Distributions of offsets: distances of samples from their trigger, in instructions.
#pragma once

#include "src/support/random.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace skid::synth {

/// Offsets of a model are within this distance: two times the longest runway and lead-in.
inline constexpr std::int64_t kFurthestOffset = std::int64_t{1} << 22;

struct Distribution;

/// Every sample at one offset.
struct Constant {
  std::int64_t offset = 0;  ///< instructions
};

/// Each offset from `lowest` to `highest` equally likely.
struct Uniform {
  std::int64_t lowest = 0, highest = 0;  ///< instructions
};

/// A table of what was seen.
struct Empirical {
  struct Row {
    std::int64_t lowest = 0, highest = 0;  ///< instructions; the count is spread evenly over them
    std::uint64_t count = 0;
  };
  std::vector<Row> rows;

  /// The counts of single offsets: row by row, offset i of w has floor((i+1) c / w) - floor(i c /
  /// w) of its count c.
  std::map<std::int64_t, std::uint64_t> counts() const;
  std::uint64_t total() const;
  /// Offsets of all rows together: `counts` needs time and memory for them.
  std::uint64_t span() const;
};
/// What `Empirical::span` of a model may be.
inline constexpr std::uint64_t kWidestTable = std::uint64_t{1} << 24;

/// A delay in core cycles after the trigger, normal, converted to instructions by the speed of the
/// runway: the sample is at the instruction that is next to retire when the delay is over. A
/// delay below 0 is none. In c cycles floor(c / cycles_per_nop) instructions retire, in whole
/// groups; the offset is 1 more.
struct NormalCycles {
  double mean = 0, stddev = 0;     ///< core cycles
  double cycles_per_nop = 0.25;    ///< core cycles per instruction of the runway
  std::uint64_t retire_group = 1;  ///< instructions that retire together
};

/// Each sample from one of several distributions.
struct Mixture {
  std::vector<double> shares;  ///< of the parts; they add up to 1
  std::vector<Distribution> parts;
};

struct Distribution {
  std::variant<Constant, Uniform, Empirical, NormalCycles, Mixture> kind;
};

/// Draws offsets from a distribution, which it copies what it needs of.
class OffsetSampler {
 public:
  explicit OffsetSampler(const Distribution& distribution);

  /// Instructions from the trigger, within kFurthestOffset.
  std::int64_t draw(Random& random) const;

 private:
  struct Cumulated {
    std::vector<std::int64_t> offsets;
    std::vector<std::uint64_t> counts;  ///< up to and including each offset
  };
  struct Parts {
    std::vector<double> shares;
    std::vector<OffsetSampler> samplers;
  };
  std::variant<Constant, Uniform, NormalCycles, Cumulated, Parts> kind_;
};

/// Reads a table of comma-separated values: a header line with the columns `count` and either
/// `offset` or both `bin_lo` and `bin_hi` (bin_lo <= offset < bin_hi), in any order, among others
/// or not, so that the output of `report --format csv` will do. Empty lines and lines that begin
/// with
/// '#' are skipped. Only rows whose column has the wanted value count, for each entry of
/// `where`. Throws InputError naming file, line, what was found and what is allowed.
Empirical read_offset_table(const std::filesystem::path& path,
                            const std::map<std::string, std::string>& where);
/// The same for a text; `name` replaces the file in messages.
Empirical parse_offset_table(std::string_view text, const std::string& name,
                             const std::map<std::string, std::string>& where);

}  // namespace skid::synth
