#include "src/correct/places.h"

#include "src/locate/digest.h"
#include "src/locate/module_store.h"
#include "src/measure/profile.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"
#include "src/symbols/region.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <utility>

namespace skid::correct {
namespace {

class Folder {
 public:
  Folder(By by, const measure::Profile& profile) : by_(by), profile_(profile), units_(Before{by}) {}

  /// Returns the sum to which samples at a place belong.
  Place& sum_of(const SpreadPlace& at) {
    const auto known = known_.find(at);
    if (known != known_.end()) return *known->second;
    sums_.push_back(describe(at));
    const auto [unit, is_new] = units_.insert(&sums_.back());
    Place& sum = **unit;
    if (is_source_line(by_, sum)) {  // instructions of one or more functions
      if (sum.symbol != sums_.back().symbol) sum.symbol.clear();
      sum.address.reset();
      sum.offset = 0;
    }
    if (!is_new) sums_.pop_back();
    return *known_.emplace(at, &sum).first->second;
  }

  /// Returns the sums, and ends the folding.
  std::deque<Place> take_places() {
    known_.clear();
    units_.clear();
    std::ranges::sort(sums_, [this](const Place& a, const Place& b) {
      const auto counts = std::tie(a.corrected, a.recorded, a.high);
      const auto others = std::tie(b.corrected, b.recorded, b.high);
      return counts != others ? others < counts : Before{by_}(&a, &b);
    });
    return std::move(sums_);
  }

 private:
  static bool is_source_line(By by, const Place& place) {
    return by == By::line && !place.source_file.empty();
  }
  /// Orders places; those of one unit are equal.
  struct Before {
    By by;

    bool operator()(const Place* a, const Place* b) const { return key_of(*a) < key_of(*b); }
    std::tuple<const std::string&, const std::string&, std::optional<std::uint64_t>,
               const std::string&, int>
    key_of(const Place& place) const {
      static const std::string kNone;
      if (is_source_line(by, place)) {
        return {place.module, kNone, std::nullopt, place.source_file, place.source_line};
      }
      return {place.module, place.symbol, place.address, kNone, 0};
    }
  };

  Place describe(const SpreadPlace& at) const {
    Place place;
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
    // Of a function its first address; without a name, and where nothing is mapped, it has none.
    const bool has_address = by_ != By::function || !place.symbol.empty();
    if (has_address && at.file != symbols::Region::kNoFile) {
      place.address = by_ == By::function ? begin : at.address;
    }
    if (module != nullptr && by_ != By::function) {
      if (auto line = module->line_at(place.address.value_or(at.address))) {
        place.source_file = std::move(line->file);
        place.source_line = line->line;
      }
    }
    if (place.address && !place.symbol.empty()) place.offset = *place.address - begin;
    return place;
  }

  By by_;
  const measure::Profile& profile_;
  std::deque<Place> sums_;
  std::set<Place*, Before> units_;
  std::map<SpreadPlace, Place*> known_;
};

}  // namespace

std::deque<Place> fold(std::vector<Spread> spreads, By by, const measure::Profile& profile) {
  Folder folder(by, profile);
  add_up(spreads, [&](const SpreadPlace& place) -> Counts& { return folder.sum_of(place); });
  spreads = {};
  return folder.take_places();
}

}  // namespace skid::correct
