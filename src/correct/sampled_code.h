// The candidates of samples in the code of one file.
#pragma once

#include "src/correct/candidates.h"
#include "src/symbols/file_location.h"
#include "src/witness/accesses.h"

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace skid::code {
class CodeBudget;
class ControlFlow;
}  // namespace skid::code

namespace skid::events {
struct Cause;
}  // namespace skid::events

namespace skid::measure {
struct Profile;
}  // namespace skid::measure

namespace skid::symbols {
class Module;
}  // namespace skid::symbols

namespace skid::correct {

/// Samples of one event at one place of a file. In recordings with a breakpoint they have one `ip`,
/// so that their processes map the file at the same address; else it is 0.
struct SampledAt {
  symbols::FileLocation location;
  std::uint64_t ip = 0;
  std::uint32_t attribute = 0;

  friend auto operator<=>(const SampledAt&, const SampledAt&) = default;
};

/// The addresses at which processes mapped files.
///
/// Example: a sample at 0x555555555139 is at the link-time address 0x1139 of its file. So the file
/// has the bias 0x555555554000, and a breakpoint at 0x555555558028 watches the link-time address
/// 0x4028.
class FileBiases {
 public:
  explicit FileBiases(const measure::Profile& profile) : profile_(profile) {}

  /// Notes where the process of a sample mapped its file.
  void add(const SampledAt& at);

  /// Whether a byte in a process with this bias of `file` is data of that file, or of another one
  /// that all processes mapped at the same address.
  bool is_data_of_file(std::uint64_t byte, symbols::FileIndex file, std::uint64_t bias) const;

 private:
  const measure::Profile& profile_;
  /// The differences between the addresses in processes and those of the file.
  std::map<symbols::FileIndex, std::set<std::uint64_t>> biases_;
};

/// The code of one file. The arguments of the constructor must outlive this.
class SampledCode {
 public:
  /// `biases`: with the samples of all files.
  SampledCode(const measure::Profile& profile, const FileBiases& biases,
              const symbols::Module& module, code::ControlFlow& flow, code::CodeBudget& budget);

  /// Notes a sample that skidded, before candidates_of(): a conditional jump whose samples only the
  /// instruction before it explains is not fused with that. `causes`: of its event.
  void note_sample(const SampledAt& at, std::span<const events::Cause> causes);

  /// Returns the candidates of samples at the link-time `address`, see find_candidates().
  Candidates candidates_of(const SampledAt& at, std::uint64_t address,
                           std::span<const events::Cause> causes);

 private:
  const measure::Profile& profile_;
  const FileBiases& biases_;
  const symbols::Module& module_;
  code::ControlFlow& flow_;
  witness::FileAccesses accesses_;
  std::set<std::uint64_t> unfused_;  ///< conditional jumps, see Suspicion
  /// Whether the watched data is that of a file, by event and bias of this file.
  std::map<std::pair<std::uint32_t, std::uint64_t>, bool> is_data_of_file_;
};

}  // namespace skid::correct
