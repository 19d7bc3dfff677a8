// A reader that collects the selected code and its samples from recordings.
#pragma once

#include "src/listing/sampled_code.h"
#include "src/locate/filter.h"
#include "src/locate/kernel_symbols.h"
#include "src/locate/mapping_name.h"
#include "src/measure/measure.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace skid::locate {
class ModuleStore;
struct LocatedSamples;
}  // namespace skid::locate

namespace skid::listing {

/// The code to collect.
struct Selection : measure::ReadingChoices {
  /// A function as samples show it, with its parameters, or as in the symbol table; "0x1350": the
  /// one that begins at this link-time address; nullopt: the generated target.
  std::optional<std::string> function = {};
  std::string module = {};  ///< path or file name of a mapped file; empty: any
  /// Adds up the samples by this, and collects no code.
  std::optional<By> by = {};
};

/// Collects the selected code of one recording after the other.
class Reader {
 public:
  /// `modules` must outlive the listing. `kernel_files`: where the kernel's symbols are.
  Reader(Selection selection, locate::ModuleStore& modules,
         locate::KernelFiles kernel_files = locate::KernelFiles::of_this_machine())
      : selection_(std::move(selection)),
        modules_(modules),
        kernel_files_(std::move(kernel_files)) {}

  /// Reads a recording. Throws InputError when nothing of it can be read.
  measure::ReadResult add(const measure::Source& source);

  /// Decodes the collected code. The result lives as long as this. Nothing can be added afterwards.
  const Listing& finish();

  /// Returns remarks for the user, a line each, such as files that were not used.
  std::vector<std::string> remarks() const;

  /// Returns the samples that the filter selected in all recordings.
  const locate::Filtered& filtered() const noexcept { return filtered_; }
  /// Returns samples by function (Place::label()), from Listing::places. `columns`: those that are
  /// counted; nullopt: all.
  std::map<std::string, std::uint64_t> sampled_functions(
      const std::optional<std::vector<std::size_t>>& columns = {}) const;
  /// Samples of the same recordings in code whose function is not known.
  struct Unnamed {
    std::uint64_t all = 0;        ///< samples in any code, named or not
    std::uint64_t in_kernel = 0;  ///< in kernel mode
    std::uint64_t elsewhere = 0;
    std::uint64_t sum() const noexcept { return in_kernel + elsewhere; }
  };
  Unnamed unnamed() const;
  /// Returns the sampled files that contain the selected function, but no sample in it.
  const std::set<std::string>& unsampled_in() const noexcept { return unsampled_in_; }

 private:
  /// The maximum number of bytes of a function that are decoded: a symbol table may give it any
  /// size. A row takes up to 0.6 KiB.
  static constexpr std::uint64_t kMostDecoded = std::uint64_t{3} << 19U;

  struct Reading;
  bool is_selected_module(const std::string& dso) const {
    return selection_.module.empty() || locate::is_dso_named(dso, selection_.module);
  }
  bool add_target(Reading& reading);
  bool add_function(Reading& reading);
  void add_places(Reading& reading);
  void count(Code& code, const Reading& reading, const locate::LocatedSamples& located,
             std::uint64_t address);
  void decode(Code& code) const;

  Selection selection_;
  locate::ModuleStore& modules_;
  locate::KernelFiles kernel_files_;
  Listing listing_;
  locate::Filtered filtered_;
  std::set<std::string> unsampled_in_;
  std::vector<std::string> remarks_;
};

}  // namespace skid::listing
