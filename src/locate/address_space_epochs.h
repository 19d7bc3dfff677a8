// Numbers for the ranges of time between the changes of what is mapped at an address.
#pragma once

#include "src/support/address.h"
#include "src/symbols/address_space.h"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace skid::locate {

/// A pipe cannot be read twice, so places whose mapping changes are separated while it is read:
/// samples are counted by a number for their address space (a process, or the kernel)
/// and for the last event that concerned their address. What a process maps elsewhere does not
/// matter:
///
///     address 0x1000   a a a a a|a a a a      a: number of the time before,
///     address 0x2000   a a a a a|b b b b      b: number of the mapping of 0x2000
class AddressSpaceEpochs {
 public:
  /// The address space and time of a number.
  struct Numbered {
    std::int32_t address_space = 0;
    std::uint64_t since = 0;  ///< AddressSpaces::last_change
    /// Earliest and latest time for which the number was given.
    std::uint64_t first = std::numeric_limits<std::uint64_t>::max(), last = 0;
  };

  /// `spaces` must outlive the epochs. Events are entered there too, and sealed before `number` is
  /// asked.
  explicit AddressSpaceEpochs(const symbols::AddressSpaces& spaces)
      : spaces_(spaces), recent_(kRecent) {}

  /// An event of `address_space` came, of that time.
  void changed(std::int32_t address_space, std::uint64_t time);

  /// The number for a sample of that time at `address` in `address_space`.
  std::int32_t number(std::int32_t address_space, std::uint64_t address, std::uint64_t time);

  /// Whether every event of the address space came before the samples after it: then nothing
  /// changed at the address of a sample between the samples of its number.
  bool is_certain(std::int32_t number) const {
    return by_address_space_.at(numbered_[static_cast<std::size_t>(number)].address_space)
        .late.empty();
  }
  /// After all events: between which times the samples at `address` were that were given `number`.
  /// Nothing changed there in that time, except by events that came too late.
  std::pair<std::uint64_t, std::uint64_t> times_of(std::int32_t number,
                                                   std::uint64_t address) const;

  /// By number.
  const std::vector<Numbered>& numbered() const noexcept { return numbered_; }

 private:
  static constexpr std::size_t kRecent = 4096;

  struct Changes {
    std::uint32_t changes = 0;
    std::uint64_t newest_change = 0;
    std::optional<std::uint64_t> newest_sample;
    std::set<std::uint64_t>
        late;  ///< times of events that came after a sample of that time or later
  };
  /// A number given before, which holds for all samples after the newest change of the address
  /// space.
  struct Recent {
    AddressRange addresses;
    Changes* of = nullptr;
    std::int32_t address_space = 0;
    std::int32_t number = 0;
    std::uint32_t changes = 0;  ///< of the address space, when the number was given

    bool holds(std::int32_t for_address_space, std::uint64_t address, std::uint64_t time) const {
      return of != nullptr && address_space == for_address_space && addresses.contains(address) &&
             changes == of->changes && time >= of->newest_change;
    }
  };

  std::int32_t number_anew(std::int32_t address_space, std::uint64_t address, std::uint64_t time);

  const symbols::AddressSpaces& spaces_;
  std::map<std::int32_t, Changes> by_address_space_;
  std::map<std::pair<std::int32_t, std::uint64_t>, std::int32_t>
      numbers_;  ///< by address space and since
  std::vector<Numbered> numbered_;
  std::vector<Recent> recent_;  ///< by a hash of the address space and the page
};

}  // namespace skid::locate
