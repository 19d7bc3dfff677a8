// Folding of sampled code into rows.
//
// A function can have 100,000 instructions and a target's runway thousands, of which few are
// sampled. Rows show the instructions of interest one by one, and all others as ranges ("folded"),
// so that the counts of the rows still add up to all samples.
//
// In a function, an instruction of interest has samples or is an anchor. It is shown with `context`
// instructions on either side; each range between has no samples.
//
// In a target, the skid is of interest, so ranges depend on the distance from a trigger. With 8
// instructions of context, a runway of 1,000 NOPs of one length, and samples at +1 and +20, the
// rows are
//
//     0             the trigger                        always a row
//     +1            nop          40 samples            sampled, near the trigger
//     +2 to +16     15 x nop                           no samples: near and far range are merged
//     +17 to +32    16 x nop      3 samples            far: ranges 9 to 16, 17 to 32, 33 to 64, …
//     +33 to +950   918 x nop                          ranges without samples, merged
//     +951 to +1000 50 x nop    censored end: another part of the target
//
// First each instruction becomes a piece or joins the piece before it: near a trigger if both are
// equal, farther away if both are in the same range of doubling length. Then adjacent pieces
// without samples are merged. At last pieces that are too short are unfolded.
#include "src/listing/rows.h"

#include "analysis/classified.h"
#include "analysis/sample_class.h"
#include "analysis/target_map.h"
#include "src/code/function_code.h"
#include "src/events/causes.h"
#include "src/instructions/counted.h"
#include "src/listing/sampled_code.h"
#include "src/support/address.h"
#include "src/symbols/disassembler.h"
#include "src/symbols/location.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace skid::listing {
namespace {

/// The minimum length of a folded range near a trigger: equal instructions without samples.
constexpr std::size_t kShortestRun = 3;
/// The minimum length of a folded range in the rest of a target's loop.
constexpr std::size_t kShortestOfLoop = 5;
/// The rest of a loop is shown one by one if it was sampled and has at most so many instructions.
constexpr std::size_t kMostOfLoop = 64;

/// Instructions between two indices, shown one by one or as one range.
struct Piece {
  std::size_t begin = 0, end = 0;
  bool is_folded = false;

  std::size_t size() const { return end - begin; }
};

/// The place of an instruction in a target.
struct Spot {
  Part part = Part::function;
  std::optional<std::int64_t> offset;
  std::optional<std::size_t> trigger;

  bool is_in_same(const Spot& other) const {
    return part == other.part && trigger == other.trigger;
  }
};

Part part_of(analysis::SampleClass sample_class) {
  constexpr std::array kParts{Part::trigger, Part::runway, Part::lead_in, Part::censored,
                              Part::other_trigger};
  const auto index = static_cast<std::size_t>(sample_class);
  return index < kParts.size() ? kParts.at(index) : Part::loop;
}

class Folder {
 public:
  Folder(const Listing& listing, const Code& code, std::span<const std::size_t> columns,
         const Folding& folding)
      : listing_(listing), code_(code), columns_(columns), folding_(folding) {
    if (code.starts.empty()) return;
    decoder_.emplace(*code.arch);
    instructions_.emplace(*code.arch, code.range.begin, code.bytes);
    for (const auto& [address, by_column] : code.samples) {
      auto counts = counts_of(by_column);
      if (!any(counts)) continue;
      const auto after = std::ranges::upper_bound(code.starts, address);
      const bool is_decoded = address - code.range.begin < code.bytes.size();
      if (!is_decoded) {
        add(counts, not_decoded_);
      } else if (*std::prev(after) != address) {
        add(counts, inside_);
      } else {
        sampled_.emplace_back(static_cast<std::size_t>(after - code.starts.begin()) - 1,
                              std::move(counts));
      }
    }
  }

  std::vector<Row> rows() const {
    std::vector<Row> result;
    if (code_.starts.empty()) {
      for (const auto& [address, by_column] : code_.samples) {
        auto counts = counts_of(by_column);
        if (!any(counts)) continue;
        result.push_back(bare_row(RowKind::address, address, std::move(counts)));
        if (code_.module != nullptr) result.back().source = code_.module->line_at(address);
      }
      return result;
    }
    for (const Piece& piece : code_.map ? pieces_of_target() : pieces_of_function()) {
      if (piece.is_folded) {
        result.push_back(folded_row(piece));
      } else {
        for (std::size_t i = piece.begin; i < piece.end; ++i) result.push_back(instruction(i));
      }
    }
    if (any(inside_)) result.push_back(bare_row(RowKind::inside, 0, inside_));
    if (any(not_decoded_)) result.push_back(bare_row(RowKind::not_decoded, 0, not_decoded_));
    return result;
  }

 private:
  using Counts = std::vector<Count>;

  Counts counts_of(const std::map<std::size_t, Count>& by_column) const {
    Counts counts;
    for (const std::size_t column : columns_) {
      const auto found = by_column.find(column);
      counts.push_back(found == by_column.end() ? Count{} : found->second);
    }
    return counts;
  }
  static bool any(const Counts& counts) {
    return std::ranges::any_of(counts, [](const Count& count) { return count.samples > 0; });
  }
  static void add(const Counts& some, Counts& sum) {
    sum.resize(some.size());
    for (std::size_t i = 0; i < some.size(); ++i) sum[i] += some[i];
  }

  std::size_t count() const { return code_.starts.size(); }
  std::uint64_t end_of(std::size_t index) const {
    return index + 1 < count() ? code_.starts[index + 1] : code_.range.begin + code_.bytes.size();
  }
  std::span<const std::byte> bytes_of(std::size_t index) const {
    return std::span(code_.bytes)
        .subspan(code_.starts[index] - code_.range.begin, end_of(index) - code_.starts[index]);
  }
  bool are_equal(std::size_t a, std::size_t b) const {
    const auto first = bytes_of(a);
    const auto second = bytes_of(b);
    return std::equal(first.begin(), first.end(), second.begin(), second.end());
  }
  Counts counts_between(std::size_t begin, std::size_t end) const {
    Counts sum(columns_.size());
    auto next =
        std::ranges::lower_bound(sampled_, begin, {}, [](const auto& one) { return one.first; });
    for (; next != sampled_.end() && next->first < end; ++next) add(next->second, sum);
    return sum;
  }
  bool is_sampled(std::size_t begin, std::size_t end) const {
    return any(counts_between(begin, end));
  }

  Spot spot(std::size_t index) const {
    if (!code_.map) return {};
    const auto classified = code_.map->classify(code_.starts[index]);
    Spot result{part_of(classified.sample_class), std::nullopt, classified.trigger};
    if (classified.offset) result.offset = classified.offset->instructions;
    return result;
  }

  std::vector<Piece> pieces_of_function() const {
    if (folding_.all) return {{0, count(), false}};
    std::set<std::size_t> anchors;
    for (const auto& [index, counts] : sampled_) anchors.insert(index);
    for (std::size_t i = 0; i < count() && !folding_.anchors.empty(); ++i) {
      if (folding_.anchors.contains(code_.starts[i])) anchors.insert(i);
    }
    std::vector<Piece> shown;
    for (const std::size_t index : anchors) {
      const std::size_t begin = index - std::min(index, folding_.context);
      const std::size_t end = index + 1 + std::min(count() - index - 1, folding_.context);
      // Show a gap of one instruction as that instruction, not as a range.
      const std::size_t before = shown.empty() ? 0 : shown.back().end;
      if (!shown.empty() && begin <= before + 1) {
        shown.back().end = std::max(shown.back().end, end);
      } else {
        shown.push_back({begin == 1 && shown.empty() ? 0 : begin, end, false});
      }
    }
    if (!shown.empty() && shown.back().end + 1 == count()) shown.back().end = count();
    std::vector<Piece> pieces;
    std::size_t next = 0;
    for (const Piece& piece : shown) {
      if (next < piece.begin) pieces.push_back({next, piece.begin, true});
      pieces.push_back(piece);
      next = piece.end;
    }
    if (next < count()) pieces.push_back({next, count(), true});
    return pieces;
  }

  /// Marks the instructions near a trigger, which are folded only if they are equal and not
  /// sampled.
  std::vector<bool> near_triggers() const {
    std::vector<bool> near(count(), folding_.all);
    if (folding_.all) return near;
    const auto mark = [&near](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; ++i) near[i] = true;
    };
    std::size_t loop_begin = 0;
    for (std::size_t i = 0; i < count(); ++i) {
      const Part part = spot(i).part;
      if (part == Part::other_trigger) near[i] = true;
      if (part == Part::trigger) {
        mark(i - std::min(i, folding_.context),
             i + 1 + std::min(count() - i - 1, folding_.context));
      }
      if (part != Part::loop) {
        loop_begin = i + 1;
      } else if (i + 1 == count() || spot(i + 1).part != Part::loop) {
        if (i + 1 - loop_begin <= kMostOfLoop && is_sampled(loop_begin, i + 1)) {
          mark(loop_begin, i + 1);
        }
      }
    }
    return near;
  }

  /// Numbers the ranges of distances far from a trigger, which double in length: 9 to 16, 17 to 32,
  /// 33 to 64, ….
  static int doubling_bin(const Spot& spot) {
    if (!spot.offset || *spot.offset == 0) return 0;
    const auto distance =
        static_cast<std::uint64_t>(*spot.offset < 0 ? -*spot.offset : *spot.offset);
    return static_cast<int>(std::bit_width(distance - 1));
  }

  std::vector<Piece> pieces_of_target() const {
    if (folding_.all) return {{0, count(), false}};
    const auto near = near_triggers();
    std::vector<Piece> pieces;
    // First the ranges that may be folded, of one part and distance each.
    for (std::size_t i = 0; i < count(); ++i) {
      const Spot here = spot(i);
      const bool is_marked = here.part == Part::trigger || here.part == Part::other_trigger;
      const bool is_shown = is_marked || (near[i] && is_sampled(i, i + 1));
      if (is_shown) {
        pieces.push_back({i, i + 1, false});
        continue;
      }
      const bool may_join = !pieces.empty() && pieces.back().is_folded;
      if (may_join) {
        const std::size_t last = pieces.back().begin;
        const Spot before = spot(last);
        const bool is_alike = near[i] || near[last] ? are_equal(last, i) && near[i] == near[last]
                                                    : doubling_bin(before) == doubling_bin(here);
        if (before.is_in_same(here) && is_alike) {
          ++pieces.back().end;
          continue;
        }
      }
      pieces.push_back({i, i + 1, true});
    }
    // Then neighbours without samples are merged, and short ones unfolded.
    std::vector<Piece> merged;
    for (const Piece& piece : pieces) {
      const bool joins = !merged.empty() && merged.back().is_folded && piece.is_folded &&
                         spot(merged.back().begin).is_in_same(spot(piece.begin)) &&
                         !is_sampled(merged.back().begin, merged.back().end) &&
                         !is_sampled(piece.begin, piece.end) &&
                         (!near[merged.back().begin] && !near[piece.begin]
                              ? true
                              : are_all_equal(merged.back().begin, piece.end));
      if (joins) {
        merged.back().end = piece.end;
      } else {
        merged.push_back(piece);
      }
    }
    for (Piece& piece : merged) {
      if (!piece.is_folded) continue;
      std::size_t shortest = near[piece.begin] ? kShortestRun : 2;
      if (spot(piece.begin).part == Part::loop) shortest = kShortestOfLoop;
      piece.is_folded = piece.size() >= shortest;
    }
    return merged;
  }

  bool are_all_equal(std::size_t begin, std::size_t end) const {
    for (std::size_t i = begin + 1; i < end; ++i) {
      if (!are_equal(begin, i)) return false;
    }
    return true;
  }

  std::string text_of(std::size_t index) const {
    return decoder_->text(bytes_of(index), code_.starts[index]);
  }

  std::vector<std::optional<events::Verdict>> verdicts_on(std::size_t index) const {
    std::vector<std::optional<events::Verdict>> verdicts(columns_.size());
    const bool is_known = code_.arch == Arch::x86_64 && instructions_->steps()[index].decodes;
    for (std::size_t i = 0; i < columns_.size() && is_known; ++i) {
      const auto& causes = listing_.columns[columns_[i]].causes;
      if (!causes.empty()) verdicts[i] = instructions_->verdict_on(causes, index);
    }
    return verdicts;
  }

  std::string destination_of(std::size_t index) const {
    const auto target = instructions_->target_of(index);
    // Destinations within the listing are visible in it.
    if (!target || (code_.range.contains(*target) && *target != code_.range.begin)) return {};
    const auto function = code_.module->function_at(*target);
    if (!function) return {};
    const std::uint64_t offset = *target - function->range.begin;
    return offset == 0 ? function->name : fmt::format("{}+{:#x}", function->name, offset);
  }

  Row row_at(RowKind kind, std::size_t begin, std::size_t end) const {
    Row row;
    row.kind = kind;
    row.range = {code_.starts[begin], end_of(end - 1)};
    row.instructions = end - begin;
    const Spot first = spot(begin);
    row.part = first.part;
    row.trigger = first.trigger;
    row.first_offset = first.offset;
    row.last_offset = spot(end - 1).offset;
    row.counts = counts_between(begin, end);
    return row;
  }

  Row instruction(std::size_t index) const {
    Row row = row_at(RowKind::instruction, index, index + 1);
    row.text = text_of(index);
    row.destination = destination_of(index);
    row.source = code_.module->line_at(code_.starts[index]);
    row.verdicts = verdicts_on(index);
    return row;
  }

  Row folded_row(const Piece& piece) const {
    Row row = row_at(RowKind::folded, piece.begin, piece.end);
    row.verdicts.resize(columns_.size());
    if (are_all_equal(piece.begin, piece.end)) {
      row.text = text_of(piece.begin);
      row.verdicts = verdicts_on(piece.begin);
    }
    return row;
  }

  Row bare_row(RowKind kind, std::uint64_t address, Counts counts) const {
    Row row;
    row.kind = kind;
    row.range = {address, address};
    row.instructions = kind == RowKind::address ? 1 : 0;
    row.counts = std::move(counts);
    row.verdicts.resize(columns_.size());
    return row;
  }

  const Listing& listing_;
  const Code& code_;
  std::span<const std::size_t> columns_;
  Folding folding_;
  std::optional<symbols::Disassembler> decoder_;
  std::optional<code::FunctionCode> instructions_;       ///< at `code_.starts`
  std::vector<std::pair<std::size_t, Counts>> sampled_;  ///< indices of instructions, ascending
  Counts inside_, not_decoded_;
};

}  // namespace

std::vector<Row> rows(const Listing& listing, const Code& code,
                      std::span<const std::size_t> columns, const Folding& folding) {
  return Folder(listing, code, columns, folding).rows();
}

}  // namespace skid::listing
