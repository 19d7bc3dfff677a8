#include "src/witness/judgement.h"

#include "src/instructions/instruction.h"
#include "src/support/byte_reader.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace skid::witness {

std::optional<std::uint64_t> Registers::value_of(std::uint8_t number) const {
  // PERF_REG_X86_*, arch/x86/include/uapi/asm/perf_regs.h.
  constexpr std::array<unsigned, 16> kBits{0, 2, 3, 1, 7, 6, 4, 5, 16, 17, 18, 19, 20, 21, 22, 23};
  const std::uint64_t bit = std::uint64_t{1} << kBits.at(number);
  if (values.empty() || (mask & bit) == 0) return std::nullopt;
  const auto before = static_cast<std::size_t>(std::popcount(mask & (bit - 1)));
  return ByteReader(values.subspan(before * sizeof(std::uint64_t)), order).u64();
}

std::optional<bool> fits(const instructions::AddressFormula& access, const Record& record) {
  std::uint64_t begin = access.displacement + (access.from_instruction ? record.ip : 0);
  const std::array<std::pair<std::optional<std::uint8_t>, std::uint64_t>, 2> parts{
      {{access.base, 1}, {access.index, access.scale}}};
  std::uint64_t compared = UINT64_MAX;
  for (const auto& [number, scale] : parts) {
    if (!number) continue;
    const auto value = record.registers.value_of(*number);
    if (!value) return std::nullopt;
    begin += *value * scale;
    constexpr unsigned kUserBits = 47;
    compared = (std::uint64_t{1} << kUserBits) - 1;
  }
  return ((record.address - begin) & compared) < access.bytes;
}

Judgement judge(const Accesses& accesses, const Record& record) {
  Unknown reason = accesses.unknown;
  for (const instructions::AddressFormula& access : accesses.known) {
    const auto fit = fits(access, record);
    if (fit.value_or(false)) return {Verdict::proven, Unknown::none};
    if (!fit && reason == Unknown::none) reason = Unknown::not_recorded;
  }
  if (reason != Unknown::none) return {Verdict::undecided, reason};
  return {Verdict::contradicted, Unknown::none};
}

void Distances::add(std::span<const Candidate> candidates, const Record& record) {
  std::map<std::optional<std::uint64_t>, unsigned> nearest;
  for (const Candidate& candidate : candidates) {
    const bool is_fitting = std::ranges::any_of(candidate.accesses.known, [&](const auto& access) {
      return fits(access, record).value_or(false);
    });
    // The nearest come first.
    if (is_fitting) nearest.emplace(candidate.address, candidate.distance);
  }
  std::vector<unsigned> distances;
  for (const auto& [address, distance] : nearest) distances.push_back(distance);
  std::ranges::sort(distances);
  ++samples_[std::move(distances)];
}

Distances::Located Distances::locate() const {
  std::map<unsigned, std::uint64_t> alone;  // samples that one instruction explains
  for (const auto& [distances, samples] : samples_) {
    if (distances.size() == 1) alone[distances.front()] += samples;
  }
  const auto samples_at = [&](unsigned distance) {
    const auto found = alone.find(distance);
    return found != alone.end() ? found->second : 0;
  };
  const auto most =
      std::ranges::max_element(alone, {}, &std::pair<const unsigned, std::uint64_t>::second);
  constexpr unsigned kNear = 3;
  Located located;
  for (const auto& [distances, samples] : samples_) {
    if (distances.empty()) {
      located.not_found += samples;
      continue;
    }
    const unsigned likely = *std::ranges::max_element(distances, {}, samples_at);
    const bool is_only = std::ranges::count(distances, likely) == 1 && samples_at(likely) > 0;
    if (is_only && (likely <= kNear || likely == most->first)) {
      located.samples[likely] += samples;
    } else {
      located.several += samples;
    }
  }
  return located;
}

}  // namespace skid::witness
