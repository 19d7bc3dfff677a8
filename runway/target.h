// A built target and its description in its ELF note.
#pragma once

#include "runway/specification.h"
#include "src/support/command_words.h"

#include <filesystem>

namespace skid::runway {

/// A trigger and the runway after it.
struct TriggerBlock {
  AddressRange trigger, runway;

  friend bool operator==(const TriggerBlock&, const TriggerBlock&) = default;
};

/// The addresses of the parts of an iteration: link-time virtual addresses, which are also the
/// run-time ones because targets are not position-independent.
struct Layout {
  AddressRange loop;     ///< the whole iteration; contains all but the datum
  AddressRange lead_in;  ///< NOPs before the trigger
  AddressRange trigger;  ///< exactly one instruction; of several the first
  AddressRange runway;   ///< NOPs after the trigger; begins where the trigger ends
  /// The triggers after the first, ascending. Between a runway and the next trigger is the head of
  /// that trigger, if it has any.
  std::vector<TriggerBlock> further;
  std::uint64_t datum = 0;  ///< the watched datum; `Specification::access_bytes` wide
  /// Other instructions of the loop that can cause the event of this trigger kind.
  std::vector<AddressRange> other_triggers;

  /// All triggers with their runways, ascending.
  std::vector<TriggerBlock> trigger_blocks() const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The result that a built-in event must give on this target (METHOD: events whose skid is known).
struct Expectation {
  std::string event;                   ///< "access", "execute" or "faults"
  std::optional<std::int64_t> offset;  ///< instructions from the trigger; nullopt: no event
  double events_per_iteration = 0.0;

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// Data that a trigger accesses, in bytes from the datum on.
struct TouchedData {
  bool of_trigger = true;  ///< else an instruction that can cause the event too does
  std::uint64_t offset = 0, bytes = 0;

  friend bool operator==(const TouchedData&, const TouchedData&) = default;
};

/// The content of a target's ELF note: all that is needed to read a recording of it years later.
struct TargetDescription {
  Specification specification;
  Layout layout;
  std::vector<Expectation> expectations;
  /// Without the elements of a pointer chase, which are in memory that the target asks for when it
  /// runs. Empty where they access none, and in targets of old.
  std::vector<TouchedData> data;
  std::string tool_version;  ///< of the skidscan that built it

  const Expectation* expectation_of(std::string_view event) const;
};

struct Target {
  std::filesystem::path path;
  std::string build_id;  ///< lower-case hexadecimal
  TargetDescription description;
};

/// Bytes of the largest file that is read as a target.
inline constexpr std::uint64_t kLargestTarget = std::uint64_t{64} << 20;

/// Builds `specification` into an ELF file at `path`: of a target that comes with the program
/// (runway/shipped.h), else with the system's compiler (for aarch64 on another machine:
/// aarch64-linux-gnu-gcc). The same specification, compiler and skidscan give the same bytes
/// whatever the path. Throws UsageError for a specification out of bounds, Error when no compiler
/// is installed (naming the package, and what makes it necessary) or it fails (with its first
/// message).
Target build_target(const Specification& specification, const std::filesystem::path& path);

/// The bytes of `target`, a pointer chase of this version, with another working set (bytes): number
/// of elements and note. The first 8 bytes of the build-id are combined with both sizes by
/// exclusive or. Throws UsageError for a working set out of bounds.
std::string with_working_set(const Target& target, std::uint64_t working_set);

/// Reads the note of a target. nullopt when the file is an ELF file without one; InputError when it
/// is not a regular ELF file, or its note is damaged or of a newer format.
std::optional<Target> read_target(const std::filesystem::path& path);

/// The same where only a target will do: an ELF file without a note is an InputError, too.
Target require_target(const std::filesystem::path& path);

/// Whether the trigger accesses memory.
bool touches_data(TriggerKind kind);

/// Whether it accesses the stack, as instructions before it do.
bool touches_stack(TriggerKind kind);
/// Whether each iteration has a page fault, whose time is the kernel's.
bool has_page_fault(TriggerKind kind);

/// The assembly of a specification (GNU as syntax): lead-in, trigger, runway, loop and note.
std::string assembly_of(const Specification& specification);

/// A text in the report line of every target that ran to its end.
inline constexpr std::string_view kReportMarker = "skidscan_target_report";

/// The last line that a target prints on standard output, one JSON object.
struct TargetReport {
  std::uint64_t iterations = 0;       ///< done after counting began
  double elapsed_seconds = 0.0;       ///< of those iterations
  double ticks_per_nop = 0.0;         ///< TSC (x86) or CNTVCT (aarch64) ticks per runway NOP
  double ticks_per_second = 0.0;      ///< of that counter, measured against the monotonic clock
  int cpu = -1;                       ///< the CPU it was pinned to, or -1
  std::optional<AddressRange> chase;  ///< the elements of its pointer chase, but for the datum
  std::vector<std::string> warnings;  ///< "mlockall refused (errno 12)"
};

/// Finds and parses the report line. nullopt when the output has none: the target died before its
/// end.
std::optional<TargetReport> parse_target_report(std::string_view standard_output);

/// How a target is run. A target also runs with no arguments at all, for its specified length.
struct TargetRun {
  std::optional<RunLength> length;  ///< nullopt: as specified
  std::optional<int> cpu;           ///< CPU to pin to; nullopt: the one it starts on
  /// FIFOs of `perf record --control fifo:CONTROL,ACK`, both or neither: the target writes
  /// "enable\n" once it is warm and waits for the acknowledgement before it begins to count
  /// iterations, and does the same with "disable\n" after the last.
  std::filesystem::path control, acknowledge;
};

/// The words of a target's command line before the values are known: `target` (its path),
/// `seconds`, `cpu`. A number of iterations is known; nullopt: as specified.
std::vector<CommandWord> command_words(const std::optional<RunLength>& length, bool with_cpu);
/// The words after them for a perf that counts on command: `control`, `acknowledge`.
std::vector<CommandWord> control_words();
/// The value of `seconds`: "1.500000000".
std::string seconds_text(std::chrono::nanoseconds duration);

/// The command line for it: --iterations N | --seconds S, --cpu N, --control F --ack F.
std::vector<std::string> command_line(const Target& target, const TargetRun& run);

}  // namespace skid::runway
