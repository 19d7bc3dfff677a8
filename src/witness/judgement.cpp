#include "src/witness/judgement.h"

#include "src/support/byte_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

namespace skid::witness {

std::optional<std::uint64_t> Registers::value_of(std::uint8_t number) const {
  // PERF_REG_X86_*, arch/x86/include/uapi/asm/perf_regs.h.
  constexpr std::array<unsigned, 16> kBits{0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23};
  const std::uint64_t bit = std::uint64_t{1} << kBits.at(number);
  if (values.empty() || (mask & ~other_time & bit) == 0) return std::nullopt;
  const auto before = static_cast<std::size_t>(std::popcount(mask & (bit - 1)));
  return ByteReader(values.subspan(before * sizeof(std::uint64_t)), order).u64();
}

std::optional<std::uint64_t> Registers::value_of(const Value& value) const {
  const auto first = value_of(value.from);
  const auto second = value.scale == 0 ? std::optional<std::uint64_t>(0) : value_of(value.second);
  if (!first || !second) return std::nullopt;
  return (*first + static_cast<std::uint64_t>(value.scale) * *second + value.addend) &
         (UINT64_MAX >> (64 - value.bits));
}

std::optional<bool> fits(const Address& access, const Record& record) {
  std::uint64_t begin = access.displacement + (access.from_instruction ? record.ip : 0);
  std::uint64_t compared = UINT64_MAX;
  const auto add = [&](const std::optional<Value>& part, std::uint64_t scale) {
    if (!part) return true;
    const auto value = record.registers.value_of(*part);
    begin += value.value_or(0) * scale;
    constexpr unsigned kUserBits = 47;
    compared = (std::uint64_t{1} << kUserBits) - 1;
    return value.has_value();
  };
  if (!add(access.base, 1) || !add(access.index, access.scale)) return std::nullopt;
  return ((record.address - begin) & compared) < access.bytes ||
         ((begin - record.address) & compared) < record.bytes;
}

Judgement judge(const Accesses& accesses, const Record& record) {
  Unknown reason = accesses.unknown;
  for (const Address& access : accesses.known) {
    const auto fit = fits(access, record);
    if (fit.value_or(false)) return {Verdict::proven, Unknown::none};
    if (!fit && reason == Unknown::none) reason = Unknown::not_recorded;
  }
  if (reason != Unknown::none) return {Verdict::undecided, reason};
  return {Verdict::contradicted, Unknown::none};
}

void Distances::add(std::span<const Candidate> candidates, const Record& record) {
  Fitting fitting{};
  std::set<std::optional<std::uint64_t>> known;
  for (const Candidate& candidate : candidates) {
    const bool fits_record = std::ranges::any_of(candidate.accesses.known, [&](const auto& access) {
      return fits(access, record).value_or(false);
    });
    // Candidates are in order of distance: of each address the nearest counts.
    if (!fits_record || !known.insert(candidate.address).second) continue;
    std::uint8_t& count = fitting.at(candidate.distance);
    count = std::min<std::uint8_t>(2, count + 1);
  }
  ++samples_[fitting];
}

Distances::Located Distances::locate() const {
  // Samples that one instruction explains, by its distance.
  std::array<std::uint64_t, FileAccesses::kLongest + 1> alone{};
  for (const auto& [fitting, samples] : samples_) {
    if (std::accumulate(fitting.begin(), fitting.end(), 0) != 1) continue;
    alone.at(static_cast<std::size_t>(std::ranges::find(fitting, 1) - fitting.begin())) += samples;
  }
  const auto usual = static_cast<std::size_t>(std::ranges::max_element(alone) - alone.begin());
  constexpr std::size_t kNear = 3;
  Located located;
  for (const auto& [fitting, samples] : samples_) {
    // Of the distances at which an instruction fits, the one that most samples have.
    std::optional<std::size_t> likely;
    for (std::size_t distance = 0; distance < fitting.size(); ++distance) {
      if (fitting[distance] == 0) continue;
      if (!likely || alone[distance] > alone[*likely]) likely = distance;
    }
    if (!likely) {
      located.not_found += samples;
    } else if (fitting[*likely] == 1 && alone[*likely] > 0 &&
               (*likely <= kNear || *likely == usual)) {
      located.samples[static_cast<unsigned>(*likely)] += samples;
    } else {
      located.several += samples;
    }
  }
  return located;
}

}  // namespace skid::witness
