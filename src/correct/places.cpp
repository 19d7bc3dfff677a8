#include "src/correct/places.h"

#include <algorithm>
#include <tuple>

namespace skid::correct {
namespace {

/// Identifies one place by the chosen unit.
struct Key {
  std::string module, symbol;
  bool has_address = false;
  std::uint64_t address = 0;
  std::string source_file;
  int source_line = 0;

  friend auto operator<=>(const Key&, const Key&) = default;
};

class Folder {
 public:
  Folder(By by, const measure::Profile& profile, const Blocks& blocks)
      : by_(by), profile_(profile), blocks_(blocks) {}

  /// The sum that samples at a place belong to.
  Place& sum_of(const SpreadPlace& place) {
    const auto known = known_.find(place);
    if (known != known_.end()) return *known->second;
    auto [key, described] = describe(place);
    const auto [entry, is_new] = sums_.emplace(std::move(key), described);
    Place& sum = entry->second;
    if (by_ == By::line && !sum.source_file.empty()) {  // instructions of one or more functions
      if (sum.symbol != described.symbol) sum.symbol.clear();
      sum.address.reset();
      sum.offset = 0;
    }
    return *known_.emplace(place, &sum).first->second;
  }

  std::vector<Place> places() {
    std::vector<Place> places;
    for (auto& [key, place] : sums_) places.push_back(std::move(place));
    std::stable_sort(places.begin(), places.end(), [](const Place& a, const Place& b) {
      return std::tie(b.corrected, b.recorded, b.high) < std::tie(a.corrected, a.recorded, a.high);
    });
    return places;
  }

 private:
  std::pair<Key, Place> describe(const SpreadPlace& at) {
    Place place;
    Key key;
    const symbols::Module* module = nullptr;
    if (at.file != symbols::Region::kNoFile) {
      const symbols::MappedFile& file = profile_.digest.spaces.file(at.file);
      place.module = file.path;
      if (at.is_linked) module = profile_.modules.find(file).module;
    }
    std::uint64_t begin = at.address;
    if (module != nullptr) {
      if (auto function = module->function_at(at.address)) {
        place.symbol = std::move(function->name);
        begin = function->range.begin;
      }
    }
    place.address = address_of(at, place, begin);
    if (module != nullptr && by_ != By::function) {
      if (auto line = module->line_at(place.address.value_or(at.address))) {
        place.source_file = std::move(line->file);
        place.source_line = line->line;
      }
    }
    key.module = place.module;
    key.symbol = place.symbol;
    if (by_ == By::line && !place.source_file.empty()) {
      key.source_file = place.source_file;
      key.source_line = place.source_line;
      key.symbol.clear();
    } else {
      key.has_address = place.address.has_value();
      key.address = place.address.value_or(0);
    }
    if (place.address && !place.symbol.empty()) place.offset = *place.address - begin;
    return {std::move(key), std::move(place)};
  }

  /// The first byte of the unit that a place is part of; nullopt: that unit has no address.
  std::optional<std::uint64_t> address_of(const SpreadPlace& at, const Place& place,
                                          std::uint64_t begin) const {
    if (at.file == symbols::Region::kNoFile) return std::nullopt;
    if (by_ == By::function) {
      return place.symbol.empty() ? std::nullopt : std::optional(begin);
    }
    if (by_ == By::block) {
      const auto block = blocks_.find({at.file, at.address});
      return at.is_linked && block != blocks_.end() ? block->second : at.address;
    }
    return at.address;
  }

  By by_;
  const measure::Profile& profile_;
  const Blocks& blocks_;
  std::map<Key, Place> sums_;
  std::map<SpreadPlace, Place*> known_;
};

}  // namespace

std::vector<Place> fold(const std::vector<Spread>& spreads, By by, const measure::Profile& profile,
                        const Blocks& blocks) {
  Folder folder(by, profile, blocks);
  add_up(spreads, [&](const SpreadPlace& place) -> Counts& { return folder.sum_of(place); });
  return folder.places();
}

}  // namespace skid::correct
