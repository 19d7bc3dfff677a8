#include "src/audit/data_addresses.h"

#include "analysis/addresses.h"
#include "analysis/not_judged.h"
#include "analysis/share.h"
#include "src/audit/rule.h"
#include "src/audit/sampled_file.h"
#include "src/code/branches.h"
#include "src/code/by_function.h"
#include "src/code/control_flow.h"
#include "src/code/file_code.h"
#include "src/locate/digest.h"
#include "src/locate/located_counts.h"
#include "src/locate/module_store.h"
#include "src/locate/visit_records.h"
#include "src/measure/address_event.h"
#include "src/measure/profile.h"
#include "src/perfdata/sample.h"
#include "src/support/address.h"
#include "src/symbols/address_space.h"
#include "src/symbols/file_location.h"
#include "src/symbols/mapped_file.h"
#include "src/symbols/module.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace skid::measure {
struct RecordedEvent;
}  // namespace skid::measure

namespace skid::audit {
namespace {

using analysis::AddressSource;
using witness::Accesses;
using witness::Moment;
using witness::Unknown;

/// The memory from which jumps and calls of sampled files read where to go (Branches::slots()), by
/// the processes that execute these files.
class JumpSlots {
 public:
  void add(symbols::FileIndex file, std::vector<AddressRange> slots) {
    if (!slots.empty()) slots_.insert_or_assign(file, std::move(slots));
  }
  /// Notes where a process mapped a file. `bias`: what is added to link-time addresses.
  void note(std::int32_t pid, symbols::FileIndex file, std::uint64_t bias) {
    constexpr std::size_t kMostMapped = std::size_t{1} << 16;
    const Mapped mapped{pid, file, bias};
    if (mapped == last_ || !slots_.contains(file) || biases_.size() > kMostMapped) return;
    last_ = mapped;
    biases_.insert_or_assign({pid, file}, bias);
  }
  /// Whether an address is in a slot of one of the first 64 files of a process.
  bool has(std::int32_t pid, std::uint64_t address) const {
    constexpr int kMostFiles = 64;
    auto mapped = biases_.lower_bound({pid, 0});
    for (int i = 0; i < kMostFiles && mapped != biases_.end(); ++i, ++mapped) {
      const auto& [of, bias] = *mapped;
      if (of.first != pid) break;
      if (contains(slots_.at(of.second), address - bias)) return true;
    }
    return false;
  }

 private:
  using Mapped = std::tuple<std::int32_t, symbols::FileIndex, std::uint64_t>;  // process, bias

  std::map<symbols::FileIndex, std::vector<AddressRange>> slots_;
  std::map<std::pair<std::int32_t, symbols::FileIndex>, std::uint64_t> biases_;
  Mapped last_;  ///< noted last: most samples repeat it
};

class AddressAuditor {
 public:
  AddressAuditor(const measure::Profile& profile, code::CodeBudget& budget)
      : profile_(profile), budget_(budget) {
    for (const measure::RecordedEvent& event : profile.events) {
      auto& compared = events_.emplace_back(measure::address_event(event));
      // Its own rule judges a breakpoint: it has one address.
      if (compared && compared->source == AddressSource::request) compared.reset();
    }
  }

  /// Whether an event recorded data addresses.
  bool reads() const {
    return std::ranges::any_of(events_, [](const auto& event) { return event.has_value(); });
  }

  /// Returns the visitor, after which audit() may be called. Reads the code of the sampled places.
  locate::Visitor visitor() {
    note_places();
    read_files([](witness::FileAccesses& file, std::uint64_t address, Moment moment, Place& place) {
      place.address = address;
      place.accesses = file.of_sample(address, moment);
    });
    return visitor_with([this](const Compared& compared) { count(compared); });
  }

  AddressAudits audit() {
    std::erase_if(places_, [](const auto& entry) { return !entry.second.is_contradicted; });
    if (!places_.empty()) find_distances();
    places_.clear();
    return std::move(audits_);
  }

 private:
  struct Place {
    std::uint64_t address = 0;  ///< link-time
    Accesses accesses = {{}, Unknown::no_code};
    bool is_entry = false;         ///< the first instruction of a function
    bool is_contradicted = false;  ///< a sample is
    std::vector<witness::Candidate> before;
  };
  struct Key : symbols::FileLocation {
    Moment moment = Moment::unrelated;

    friend auto operator<=>(const Key&, const Key&) = default;
  };

  void note_places() {
    const locate::Digest& digest = profile_.digest;
    digest.located.for_each([&](const locate::LocatedSamples& located) {
      const auto& event = events_[located.attribute];
      if (!located.location || !event || !event->takes(located.kind)) return;
      Place& place = places_[{*located.location, event->moment}];
      if (digest.spaces.file(located.location->file).build_id.empty()) {
        place.accesses.unknown = Unknown::no_build_id;
      }
    });
  }

  /// Calls `read(FileAccesses&, address, moment, Place&)` for the places in x86-64 code that may be
  /// read.
  template <typename Read>
  void read_files(const Read& read) {
    code::for_each_file(places_, [&](symbols::FileIndex index, auto begin, auto end) {
      const symbols::MappedFile& file = profile_.digest.spaces.file(index);
      const auto found = profile_.modules.find(file);
      const bool is_read = reason_of_file(file, found) == analysis::NotJudged::none &&
                           found.module->arch() == Arch::x86_64 && !file.build_id.empty();
      if (!is_read) return;
      code::ControlFlow flow(*found.module, loop_of(found.path), budget_);
      witness::FileAccesses accesses(flow);
      code::visit_by_function(flow.file(), begin, end, [&](auto& place, std::uint64_t address) {
        const AddressRange function = flow.file().range_around(address);
        place.second.is_entry = function.begin == address && function.size() > 1;
        read(accesses, address, place.first.moment, place.second);
      });
      const bool any_next = std::any_of(
          begin, end, [](const auto& place) { return place.first.moment == Moment::successor; });
      if (any_next) slots_.add(index, flow.file().branches().slots());
    });
  }

  /// A sample that is compared.
  struct Compared {
    const measure::AddressEvent& event;
    const perfdata::Sample& sample;
    witness::Record record;
    std::optional<symbols::FileLocation> location;
    Place* place = nullptr;  ///< null: it is not known, or was erased
  };

  /// Returns a visitor that calls `take(compared)` for each sample that is compared.
  template <typename Take>
  locate::Visitor visitor_with(Take take) {
    return [this, take](const locate::VisitedRecord& visited) {
      const perfdata::Sample* sample = visited.sample;
      if (sample == nullptr) return;
      const auto& event = events_[sample->attribute];
      if (!event || !event->takes({sample->mode, sample->exact})) return;
      Compared compared{
          *event, *sample,
          measure::address_record(profile_.recording, visited.record, *sample, *event),
          visited.location};
      if (visited.location) {
        const auto found = places_.find({*visited.location, event->moment});
        if (found != places_.end()) {
          compared.place = &found->second;
          slots_.note(sample->pid, visited.location->file, sample->ip - found->second.address);
        }
      }
      take(compared);
    };
  }

  witness::Judgement judge(const Compared& compared) const {
    if (compared.place == nullptr) return {witness::Verdict::undecided, Unknown::no_code};
    const auto judgement =
        measure::judge(compared.place->accesses, compared.record, compared.event);
    // A jump or call that is not known read where to go. A return, to any other place, does not.
    const bool is_slot = judgement.reason == Unknown::predecessor && compared.place->is_entry &&
                         compared.event.moment == Moment::successor &&
                         slots_.has(compared.sample.pid, compared.record.address);
    return is_slot ? witness::Judgement{witness::Verdict::proven, Unknown::none} : judgement;
  }

  void count(const Compared& compared) {
    if (!analysis::is_data_address(compared.record.address)) {
      // Not every operation that IBS tags accesses memory, and a fault may be at address 0.
      const bool is_missing =
          compared.record.address == 0 && compared.event.source == AddressSource::pebs;
      if (is_missing) ++audits_[compared.sample.attribute].without;
      return;
    }
    DataAddresses& found = audits_[compared.sample.attribute];
    found.expects_next = compared.event.moment == Moment::successor;
    ++found.samples;
    const witness::Judgement judgement = judge(compared);
    if (judgement.verdict == witness::Verdict::undecided) {
      ++found.reasons[static_cast<std::size_t>(judgement.reason)];
      return;
    }
    JudgedSamples& here = found.places[*compared.location];
    ++here.decided;
    ++found.share.total;
    if (judgement.verdict == witness::Verdict::proven) return;
    ++here.contradicted;
    ++found.share.count;
    compared.place->is_contradicted = true;
  }

  void find_distances() {
    // Candidates and their accesses, some 80 bytes each.
    constexpr std::size_t kMostKept = std::size_t{1} << 20;
    std::size_t kept = 0;
    read_files(
        [&](witness::FileAccesses& file, std::uint64_t address, Moment moment, Place& place) {
          if (kept > kMostKept) return;
          place.before = file.before(address, moment);
          std::erase_if(place.before, [](const auto& one) { return one.accesses.known.empty(); });
          place.before.shrink_to_fit();
          for (const auto& one : place.before) kept += 1 + one.accesses.known.size();
        });
    std::map<std::uint32_t, witness::Distances> distances;
    profile_.visit({visitor_with([&](const Compared& compared) {
      const bool is_contradicted = compared.place != nullptr &&
                                   analysis::is_data_address(compared.record.address) &&
                                   judge(compared).verdict == witness::Verdict::contradicted;
      if (is_contradicted)
        distances[compared.sample.attribute].add(compared.place->before, compared.record);
    })});
    for (const auto& [attribute, found] : distances) {
      audits_[attribute].located = found.locate();
    }
  }

  const measure::Profile& profile_;
  code::CodeBudget& budget_;
  std::vector<std::optional<measure::AddressEvent>> events_;  ///< by attribute
  std::map<Key, Place> places_;
  JumpSlots slots_;
  AddressAudits audits_;
};

}  // namespace

locate::RecordCheck<AddressAudits> audit_data_addresses(const measure::Profile& profile,
                                                        code::CodeBudget& budget) {
  const auto auditor = std::make_shared<AddressAuditor>(profile, budget);
  return {auditor->reads() ? auditor->visitor() : locate::Visitor(),
          [auditor] { return auditor->audit(); }};
}

}  // namespace skid::audit
