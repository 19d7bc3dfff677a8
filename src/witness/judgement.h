// Whether the IP of a sample agrees with its data address, and by how many instructions it is
// wrong.
#pragma once

#include "src/support/byte_order.h"
#include "src/witness/accesses.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace skid::witness {

/// General-purpose registers of a sample of x86-64. Empty: none were recorded.
struct Registers {
  std::uint64_t mask = 0;  ///< perf_event_attr.sample_regs_user or sample_regs_intr
  std::span<const std::byte> values;
  ByteOrder order = ByteOrder::little;
  std::uint64_t other_time = 0;  ///< those of `mask` whose values are of another time

  /// Returns the value of a register; nullopt: it was not recorded, or at another time.
  /// `number`: see instructions::AddressFormula.
  std::optional<std::uint64_t> value_of(std::uint8_t number) const;
  /// Returns a value by them; nullopt: one of them was not recorded, or at another time.
  std::optional<std::uint64_t> value_of(const Value& value) const;
};

/// What a sample recorded.
struct Record {
  std::uint64_t ip = 0;
  std::uint64_t address = 0;  ///< PERF_SAMPLE_ADDR
  Registers registers = {};
  std::uint64_t bytes = 1;  ///< from `address` on; the event was caused by one of them
};

/// Whether an access overlaps the data of a sample. nullopt: a register was not recorded.
/// By registers the low 47 bits are compared, because with linear address masking programs keep
/// data in the bits above (Intel SDM Vol. 1, "Linear Address Masking").
std::optional<bool> fits(const Address& access, const Record& record);

/// What the data address of a sample shows about its IP.
enum class Verdict : std::uint8_t {
  proven,        ///< the instruction accessed that address
  contradicted,  ///< the instruction accessed other addresses, or none
  undecided,
};

struct Judgement {
  Verdict verdict = Verdict::undecided;
  Unknown reason = Unknown::none;  ///< why it is undecided
};

/// Judges a sample by the accesses of the instruction that caused it if its IP is right.
Judgement judge(const Accesses& accesses, const Record& record);

/// How many instructions contradicted samples of one event are after the one that accessed their
/// data address.
class Distances {
 public:
  /// Notes a contradicted sample, with all instructions before it.
  void add(std::span<const Candidate> candidates, const Record& record);

  struct Located {
    /// Samples by the number of instructions from the cause to the sampled one.
    std::map<unsigned, std::uint64_t> samples;
    std::uint64_t several = 0;    ///< samples that several instructions explain
    std::uint64_t not_found = 0;  ///< samples that no instruction explains

    friend bool operator==(const Located&, const Located&) = default;
  };
  /// Returns where the samples come from. Where one instruction fits, it is the cause if it is at
  /// most three instructions away, or as many as most samples of this event with one fitting
  /// instruction; where several fit, that one of them which is at the distance that most of these
  /// samples have. Addresses repeat: further away an instruction often fits by accident.
  Located locate() const;

 private:
  /// How many instructions fit at each distance: 0, 1, or 2 for more.
  using Fitting = std::array<std::uint8_t, FileAccesses::kLongest + 1>;

  std::map<Fitting, std::uint64_t> samples_;
};

}  // namespace skid::witness
