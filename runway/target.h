// A built target and its description in its ELF note.
#pragma once

#include "runway/specification.h"
#include "runway/trigger.h"
#include "src/support/address.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

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
  AddressRange trigger;  ///< exactly one instruction; the first of several triggers
  AddressRange runway;   ///< NOPs after the trigger; begins where the trigger ends
  /// The triggers after the first, ascending. Between a runway and the next trigger is the head of
  /// that trigger, if it has any.
  std::vector<TriggerBlock> further;
  std::uint64_t datum = 0;  ///< the watched datum; `Specification::access_bytes` wide
  /// Other instructions of the loop that can cause the event of this trigger kind.
  std::vector<AddressRange> other_triggers;

  /// Lists all triggers with their runways, ascending.
  std::vector<TriggerBlock> trigger_blocks() const;

  friend bool operator==(const Layout&, const Layout&) = default;
};

/// The result that a built-in event must give on this target (docs/method.md, "Events whose skid is
/// known").
struct Expectation {
  std::string event;                   ///< "access", "execute" or "faults"
  std::optional<std::int64_t> offset;  ///< instructions from the trigger; nullopt: no event
  double events_per_iteration = 0.0;

  friend bool operator==(const Expectation&, const Expectation&) = default;
};

/// Data that a trigger accesses, in bytes from the datum on.
struct TouchedData {
  bool of_trigger = true;  ///< false: another instruction that can cause the event accesses it
  std::uint64_t offset = 0, bytes = 0;

  friend bool operator==(const TouchedData&, const TouchedData&) = default;
};

/// The content of a target's ELF note: all that is needed to read a recording of it years later.
struct TargetDescription {
  Specification specification;
  Layout layout;
  std::vector<Expectation> expectations;
  /// Data that the triggers access, without the elements of a pointer chase, which are in memory
  /// that the target asks for when it runs. Empty if they access none, and in targets built by
  /// older versions.
  std::vector<TouchedData> data;
  std::string tool_version;  ///< version of the skidscan that built it

  /// Returns the expectation for an event, or null.
  const Expectation* expectation_of(std::string_view event) const;
};

/// A built target.
struct Target {
  std::filesystem::path path;
  std::string build_id;  ///< lower-case hexadecimal
  TargetDescription description;
};

/// Size limit of a file that is read as a target, bytes.
inline constexpr std::uint64_t kLargestTarget = std::uint64_t{64} << 20;

/// Builds `specification` into an ELF file at `path`: from a target that comes with the program
/// (runway/shipped.h), else with the system's compiler (for aarch64 on another machine:
/// aarch64-linux-gnu-gcc). The same specification, compiler and skidscan give the same bytes
/// whatever the path. Throws ValueError for a specification out of bounds, Error when no compiler
/// is installed (naming the package, and what makes it necessary) or it fails (with its first
/// message).
Target build_target(const Specification& specification, const std::filesystem::path& path);

/// Returns the bytes of `target`, a pointer chase of this version, with another working set
/// (bytes): number of elements and note change. The first 8 bytes of the build-id are combined with
/// both sizes by exclusive or. Throws ValueError for a working set out of bounds.
std::string with_working_set(const Target& target, std::uint64_t working_set);

/// Reads the note of a target. nullopt when the file is an ELF file without one; InputError when it
/// is not a regular ELF file, or its note is damaged or of a newer format.
std::optional<Target> read_target(const std::filesystem::path& path);

/// Like read_target(), but a file without the note is an InputError.
Target require_target(const std::filesystem::path& path);

/// Whether a trigger accesses memory.
bool touches_data(TriggerKind kind);

/// Whether a trigger accesses the stack, as instructions before it do.
bool touches_stack(TriggerKind kind);
/// Whether each iteration of a kind has a page fault, whose time is the kernel's.
bool has_page_fault(TriggerKind kind);

/// Writes the assembly of a specification (GNU as syntax): lead-in, trigger, runway, loop and note.
std::string assembly_of(const Specification& specification);

}  // namespace skid::runway
