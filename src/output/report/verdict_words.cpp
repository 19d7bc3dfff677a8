#include "src/output/report/verdict_words.h"

#include "analysis/addresses.h"
#include "analysis/evenness.h"
#include "analysis/figures.h"
#include "analysis/not_judged.h"
#include "analysis/offset_counts.h"
#include "analysis/remedy.h"
#include "analysis/share.h"
#include "analysis/skid_in_events.h"
#include "analysis/wording.h"

#include <array>
#include <cstddef>
#include <optional>
#include <vector>

#include <fmt/format.h>

namespace skid::output {

using namespace analysis;

std::string verdict_words(const Figures& figures) {
  const Contract& contract = figures.contract;
  const Verdict verdict = verdict_of(figures);
  std::string words(name_of(verdict));
  if (verdict == contract.verdict) {
    if (contract.certified == true) words += ", certified";
    if (contract.same_as_level_2) words += ", same as level 2";
    words += not_corrected_words(contract.not_corrected.count, contract.not_corrected.total);
  }
  if (figures.evenness && figures.evenness->verdict != Evenness::Verdict::undecided) {
    words += fmt::format(", {}", name_of(figures.evenness->verdict));
  }
  return words;
}

std::string not_corrected_words(std::uint64_t not_corrected, std::uint64_t judged) {
  if (not_corrected == 0) return {};
  return fmt::format(", {} of {} ({}) not corrected", not_corrected, judged,
                     percent(static_cast<double>(not_corrected) / static_cast<double>(judged)));
}

std::string_view cause_words(Verdict verdict) {
  static constexpr std::array<std::string_view, 4> kWords{"confirmed", "contradicted", "undecided",
                                                          "not judged"};
  return kWords.at(static_cast<std::size_t>(verdict));
}

std::string_view cause_words(const Addresses& addresses) {
  if (addresses.source == AddressSource::request) return "repeats the request";
  if (addresses.source == AddressSource::none) return "no addresses";
  if (addresses.declared.empty()) return "none declared";
  return cause_words(cause_of(addresses).verdict);
}

std::string remedy_text(const Remedy& remedy) {
  constexpr const char* kFewerNops =
      "fewer --nops and --lead-in give the trigger more of the samples";
  const auto more_samples = [&remedy] {
    const std::uint64_t samples = remedy.samples.value();
    return fmt::format("record about {} samples (--samples {})", in_thousands(samples), samples);
  };
  switch (remedy.kind) {
    case Remedy::Kind::more_samples:
      return more_samples();
    case Remedy::Kind::more_of_tagged:
      return more_samples() + "; " + kFewerNops;
    case Remedy::Kind::fewer_nops:
      return kFewerNops;
    case Remedy::Kind::sum_of_recordings:
      return fmt::format("the share is too near {}: add up many recordings (skidscan merge --pool)",
                         percent(kRequiredShare));
    case Remedy::Kind::level_1:
      return "the kernel corrected none of the samples, and more of them do not help: compare "
             "level 1";
    case Remedy::Kind::user_mode:
      return "all samples are in the kernel: record user mode alone (:u)";
    case Remedy::Kind::longer_run:
      return "no sample is in the target's loop: record more iterations";
    case Remedy::Kind::another_period:
      return "all samples are at other triggers: record another period (-c)";
    case Remedy::Kind::period_or_gaps:
      return "all samples are at other triggers: record another period (-c), or fewer triggers "
             "with larger gaps (--triggers, --gaps)";
    case Remedy::Kind::resonating_period:
      return fmt::format(
          "{} of {} are at other triggers: record another period (-c), which does not resonate "
          "with the loop",
          remedy.others, counted(remedy.read, "sample"));
    case Remedy::Kind::another_cause:
      break;
  }
  return "something else causes the event, and more samples do not help: record another event or "
         "target";
}

std::string resonance_text(const Resonance& resonance) {
  if (resonance.frequency) {
    return "not judged: with a frequency the kernel sets the periods, and overflows are only "
           "roughly even; record with -c";
  }
  const std::uint64_t distance = resonance.distance;
  return fmt::format(
      "not judged: the period resonates with the loop: one event in {} is sampled, and an "
      "iteration has {}, with the common factor {}, so that some are never sampled; record with "
      "another -c",
      resonance.may_be_one_later ? fmt::format("{} or {}", distance, distance + 1)
                                 : fmt::format("{}", distance),
      resonance.events, resonance.factor);
}

std::string skid_in_events_text(const SkidInEvents& skid) {
  if (!skid.refused.empty()) return "not derived: " + skid.refused;
  const OffsetCounts& overshoots = skid.overshoots;
  const std::string left_out =
      skid.left_out == 0
          ? std::string()
          : fmt::format(", {} left out: the multiple of the period is not known", skid.left_out);
  if (overshoots.empty()) return fmt::format("no samples{}", left_out);
  return fmt::format("p50 {}, p99 {}, max {} events past the overflow ({}{})",
                     overshoots.quantile(0.50), overshoots.quantile(0.99), overshoots.quantile(1),
                     counted(overshoots.total(), "sample"), left_out);
}

}  // namespace skid::output
