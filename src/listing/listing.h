// Sampled code: a function or the loop of a target, the samples at each of its addresses, and the
// rows that show it: instructions of interest with their context, and ranges of the others.
#pragma once

#include "analysis/measurement.h"
#include "analysis/target_map.h"
#include "runway/target.h"
#include "src/events/causes.h"
#include "src/instructions/counted.h"
#include "src/locate/filter.h"
#include "src/locate/mapping_name.h"
#include "src/locate/symbolizer.h"
#include "src/measure/measure.h"
#include "src/support/address.h"
#include "src/support/names.h"
#include "src/symbols/location.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid {
class FileDescriptor;
}  // namespace skid

namespace skid::locate {
class ModuleStore;
struct LocatedSamples;
}  // namespace skid::locate

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

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

  std::uint64_t read() const {
    return std::accumulate(samples.begin(), samples.end(), std::uint64_t{0});
  }
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

struct Selection : measure::ReadingChoices {
  /// As samples show it, with its parameters, or as in the symbol table; nullopt: the generated
  /// target.
  std::optional<std::string> function = {};
  std::string module = {};  ///< path or file name of a mapped file; empty: any
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

  /// Decodes what was collected; lives as long as this. Nothing can be added afterwards.
  const Listing& finish();

  /// Remarks for the user, a line each, such as files that were not used.
  std::vector<std::string> remarks() const;

  /// The samples that the filter selected of all recordings.
  const locate::Filtered& filtered() const noexcept { return filtered_; }
  /// Samples by function name, of recordings without selected code; only of the selected module.
  const std::map<std::string, std::uint64_t>& other_functions() const noexcept {
    return other_functions_;
  }
  /// Sampled files that contain the selected function, without a sample in it.
  const std::set<std::string>& unsampled_in() const noexcept { return unsampled_in_; }

 private:
  /// Names kept for `other_functions` at most.
  static constexpr std::size_t kMostNames = 100'000;
  /// Bytes of a function that are decoded; a symbol table may give it any size. A row takes up to
  /// 0.6 KiB.
  static constexpr std::uint64_t kMostDecoded = std::uint64_t{3} << 19U;

  struct Reading;
  bool is_selected_module(const std::string& dso) const {
    return selection_.module.empty() || locate::is_dso_named(dso, selection_.module);
  }
  bool add_target(Reading& reading);
  bool add_function(Reading& reading);
  void add_names(Reading& reading);
  void count(Code& code, const Reading& reading, const locate::LocatedSamples& located,
             std::uint64_t address);
  void decode(Code& code) const;

  Selection selection_;
  locate::ModuleStore& modules_;
  locate::KernelFiles kernel_files_;
  Listing listing_;
  locate::Filtered filtered_;
  std::map<std::string, std::uint64_t> other_functions_;
  std::set<std::string> unsampled_in_;
  std::vector<std::string> remarks_;
};

/// The part of a target.
enum class Part { function, lead_in, trigger, runway, censored, other_trigger, loop };
SKID_NAMES(Part, "function", "lead_in", "trigger", "runway", "censored", "other_trigger", "loop")

enum class RowKind {
  instruction,
  folded,       ///< a range of instructions
  address,      ///< a sampled address of which the code is not known
  inside,       ///< addresses that are not the first byte of an instruction
  not_decoded,  ///< addresses past the end of the file, or after the decoded part of a function
};
/// "stretch" is a folded range in JSON and CSV.
SKID_NAMES(RowKind, "instruction", "stretch", "address", "inside", "not_decoded")

struct Row {
  RowKind kind = RowKind::instruction;
  Part part = Part::function;
  AddressRange range;            ///< empty for `inside` and `not_decoded`
  std::size_t instructions = 1;  ///< of a range
  /// The instruction, or the repeated instruction of a range; else empty.
  std::string text;
  /// Destination of a direct jump or call out of the function: "memcpy+0x10"; else empty.
  std::string destination;
  /// Of a target, distances of the first and the last instruction from the trigger.
  std::optional<std::int64_t> first_offset, last_offset;
  std::optional<std::size_t> trigger;         ///< which of a target's, from 0; with `part` trigger
  std::optional<symbols::SourceLine> source;  ///< of an instruction or address
  std::vector<Count> counts;                  ///< by requested column
  /// Verdict on the instruction, or the repeated instruction of a range; nullopt if not judged. By
  /// requested column.
  std::vector<std::optional<events::Verdict>> verdicts;
};

struct Folding {
  /// Instructions that are shown on either side of a target's trigger, or of a sampled instruction.
  std::size_t context = 8;
  bool all = false;                      ///< nothing is folded
  std::set<std::uint64_t> anchors = {};  ///< addresses that are shown as sampled ones are
};

/// The code of some columns (indices of `listing.columns`) as rows by address, followed by the
/// samples that are not at an instruction. The counts of all rows add up to `code.total(column)`.
///
/// In a function, sampled instructions are shown with their context; the ranges between them have
/// no samples. In a target, the triggers are shown with their context, in which consecutive equal
/// instructions without samples become one range; farther away, ranges double in length with the
/// distance and include their samples. The rest of a target's loop is shown where it was sampled.
std::vector<Row> rows(const Listing& listing, const Code& code,
                      std::span<const std::size_t> columns, const Folding& folding);

// Lines of source files that can be read.

/// Reads each file once, as it is now, not as it was compiled. The names come from a binary that is
/// not trusted: only regular files of at most kLargest bytes with an absolute path are read that
/// are not in /proc, /sys or /dev and whose mode lets others read them, or that are below
/// `trusted`.
class SourceText {
 public:
  static constexpr std::uint64_t kLargest = std::uint64_t{16} << 20U;
  /// The most files whose text is kept; further files are not read.
  static constexpr std::size_t kMostFiles = 256;

  /// `trusted`: empty, or a directory of which all files may be shown. Throws
  /// std::filesystem::filesystem_error if it is missing.
  explicit SourceText(const std::filesystem::path& trusted = {});

  /// Line `line` (from 1) of `file`, not escaped and without its end; nullopt when there is none.
  /// Valid as long as this.
  std::optional<std::string_view> line(const std::string& file, int line);

  /// Files that exist and were not read because of their mode, or because of where they are.
  const std::vector<std::string>& withheld() const noexcept { return withheld_; }

 private:
  struct File {
    std::string text;
    std::vector<std::size_t> begins;  ///< of the lines
  };
  const File& open(const std::string& path);
  bool may_be_shown(const FileDescriptor& file) const;

  std::filesystem::path trusted_;
  std::map<std::string, File> files_;
  std::vector<std::string> withheld_;
};

}  // namespace skid::listing
