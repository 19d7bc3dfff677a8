// Models as JSON: what they may contain, how wrong ones are refused, and the random numbers and
// distributions of offsets that they ask for, the same everywhere.
#include "src/support/error.h"
#include "src/support/random.h"
#include "src/synth/built_in_models.h"
#include "src/synth/model.h"
#include "src/synth/model_reader.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/trigger_kinds.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include <nlohmann/json.hpp>

namespace skid::synth {
namespace {

json sound_model() {
  return json::parse(R"({
    "schema": "skidscan.model/1", "name": "test", "seed": 5,
    "target": {"arch": "x86_64", "trigger": "store", "nops": 100},
    "events": [{"event": "cycles:u", "period": 7,
                "levels": [{"level": 2, "samples": 10, "hits": 0.5,
                            "offsets": {"kind": "constant", "offset": 3}}]}]})");
}

Model read_back(const json& model) {
  return parse_model(model.dump(), "m.json");
}

/// The model with another value.
json changed(const std::string& pointer, const json& value) {
  json model = sound_model();
  model[json::json_pointer(pointer)] = value;
  return model;
}

/// Why such a model is refused.
std::string error_of(const std::string& pointer, const json& value) {
  return test::message_of<InputError>([&] { return read_back(changed(pointer, value)); });
}

std::string error_of_level(const std::string& key, const std::string& value) {
  return error_of("/events/0/levels/0/" + key, json::parse(value));
}

TEST(SynthModel, IsReadAsWritten) {
  json document = sound_model();
  document["events"][0]["levels"][0]["exact_ip"] = {{"hits", 1}, {"misses", 0.25}};
  document["events"][0]["levels"][0]["precise_ip"] = 1;
  document["buffers"] = {{"cpus", 3}, {"finished_round", false}};
  const Model model = read_back(document);
  EXPECT_EQ(model.seed, 5u);
  EXPECT_EQ(model.target.trigger, "store"_trigger);
  EXPECT_EQ(model.target.nops, 100u);
  EXPECT_EQ(model.buffers.cpus, 3u);
  EXPECT_FALSE(model.buffers.finished_round);
  ASSERT_THAT(model.events, SizeIs(1));
  EXPECT_EQ(model.events[0].name, "cycles");
  EXPECT_EQ(model.events[0].modifiers, "u");
  EXPECT_EQ(model.events[0].recorded.type, 0u);
  const LevelModel& level = model.events[0].levels.at(0);
  EXPECT_EQ(level.level, 2);
  EXPECT_EQ(level.precise_ip, 1);
  EXPECT_EQ(level.samples, 10u);
  EXPECT_EQ(level.exact.hits, 1);
  EXPECT_EQ(level.exact.misses, 0.25);
  EXPECT_EQ(level.exact.elsewhere, 0);
  EXPECT_EQ(std::get<OffsetTable>(level.offsets).counts(),
            (std::map<std::int64_t, std::uint64_t>{{3, 1}}));
}

TEST(SynthModel, ReadsCausesAddressesAndRefusals) {
  json document = sound_model();
  json& level = document["events"][0]["levels"][0];
  level["other_triggers"] = 0.5;
  level["shadow"] = {{"lowest", 2}, {"highest", 300}};
  level["address"] = {{"cause", 0.5}, {"elsewhere", 0.25}};
  level["elsewhere"] = {{"iteration", 0.125}};
  document["events"][0]["levels"].push_back({{"level", 3}, {"refused", "not here"}});
  document["events"][0]["events_per_iteration"] = 2;
  document["machine"] = {{"core_pmus", {{{"name", "cpu_atom"}, {"type", 10}, {"max_precise", 3}}}}};
  const Model model = read_back(document);
  const LevelModel& read = model.events[0].levels[0];
  EXPECT_EQ(read.other_triggers, 0.5);
  EXPECT_EQ(read.shadow->lowest, 2U);
  EXPECT_EQ(read.shadow->highest, 300U);
  EXPECT_EQ(read.address->cause, 0.5);
  EXPECT_EQ(read.address->elsewhere, 0.25);
  EXPECT_EQ(read.elsewhere.iteration, 0.125);
  EXPECT_EQ(model.events[0].levels[1].refused, "not here");
  EXPECT_EQ(model.events[0].events_per_iteration, 2);
  ASSERT_THAT(model.machine.core_pmus, SizeIs(1));
  EXPECT_EQ(model.machine.core_pmus[0].type, 10U);
  EXPECT_EQ(model.machine.core_pmus[0].max_precise, 3);

  EXPECT_THAT(error_of_level("shadow", R"({"lowest": 3, "highest": 2})"), HasSubstr("at least"));
  EXPECT_THAT(error_of_level("distance", "0"), HasSubstr("at least 1"));
  json in_turn = changed("/events/0/levels/0/distance", 1009);
  EXPECT_EQ(read_back(in_turn).events[0].levels[0].distance, 1009U);
  in_turn["events"][0]["levels"][0]["other_triggers"] = 0.5;
  EXPECT_THAT(test::message_of<InputError>([&] { read_back(in_turn); }), HasSubstr("a shadow"));
  EXPECT_THAT(error_of_level("address", R"({"cause": 0.5, "elsewhere": 0.75})"),
              HasSubstr("at most 1"));
  EXPECT_NE(error_of_level("refused", R"("not here")"), "no error") << "with other keys";
}

TEST(SynthModel, SetsExactIpAsTheKernelOfItsMachineDoes) {
  const auto exact = [](const char* rule, int level, const char* event) {
    json document = sound_model();
    document["machine"] = {{"exact_ip", rule}};
    document["events"][0]["event"] = event;
    document["events"][0]["levels"][0]["level"] = level;
    const ExactShares shares = read_back(document).events[0].levels[0].exact;
    return std::vector{shares.hits, shares.misses, shares.elsewhere};
  };
  const std::vector<double> none{0, 0, 0}, all{1, 1, 1}, rewound{1, 0, 1};
  EXPECT_EQ(exact("never", 2, "r81d0"), none);
  EXPECT_EQ(exact("rewound", 1, "r81d0"), none);
  EXPECT_EQ(exact("rewound", 2, "r81d0"), rewound);
  EXPECT_EQ(exact("requested", 1, "r81d0"), none);
  EXPECT_EQ(exact("requested", 3, "r81d0"), all);
  EXPECT_EQ(exact("always", 0, "r81d0"), none);
  EXPECT_EQ(exact("always", 1, "r81d0"), all);
  EXPECT_EQ(exact("always", 2, "access"), none);
  EXPECT_EQ(exact("always", 2, "cpu-clock"), none);
}

TEST(SynthModel, AcceptsRawCodesAndEventsWithTypeAndConfig) {
  EXPECT_EQ(read_back(changed("/events/0/event", "r20d1")).events[0].recorded.config, 0x20d1u);
  json own = changed("/events/0/event", "mem_load_retired.l3_miss:u");
  own["events"][0]["type"] = "raw";
  own["events"][0]["config"] = "0x20d1";
  EXPECT_EQ(read_back(own).events[0].recorded.type, 4u);
  EXPECT_EQ(read_back(own).events[0].recorded.config, 0x20d1u);
  const auto substituted =
      read_back(changed("/events/0/recorded", {{"event", "cpu-clock"}})).events[0].recorded;
  EXPECT_EQ(substituted.name, "cpu-clock");
  EXPECT_EQ(substituted.type, 1u);
}

TEST(SynthModel, ReportsFileKeyValueAndExpectedOne) {
  const json level = sound_model()["events"][0]["levels"][0];
  for (const auto& [pointer, value, messages] :
       std::vector<std::tuple<std::string, json, std::vector<std::string>>>{
           {"/schema",
            "skidscan.run/1",
            {"m.json", "\"skidscan.run/1\" for \"schema\"", "expected \"skidscan.model/1\""}},
           {"/evnts", 1, {"the key \"evnts\"", "expected schema, name"}},
           {"/events", json::array(), {"0 events and levels for \"events\", expected 1 to 64"}},
           {"/target/nops", 3, {"for \"target\"", "NOPs: 3 given; expected 20 to"}},
           {"/target/trigger", "lode", {"trigger kind 'lode' does not exist"}},
           {"/buffers", {{"cpus", 65}}, {"65 for \"buffers.cpus\", expected at most 64"}},
           {"/name", "a\nb", {"printable"}},
           {"/events/0/event", "cycles:upp", {"an event without its level"}},
           {"/events/0/event", "a,b", {"the name of one event"}},
           {"/events/0/event",
            "my_event",
            {"no \"type\" and \"config\" of the event \"my_event\""}},
           {"/events/0/period", 0, {"0 for \"events[0].period\", expected at least 1"}},
           {"/events/0/levels",
            json::array({level, level}),
            {"level 2 of cycles for the second time"}}}) {
    for (const std::string& message : messages) {
      EXPECT_THAT(error_of(pointer, value), HasSubstr(message));
    }
  }
  EXPECT_THAT(test::message_of<InputError>([] { return parse_model("{", "m.json"); }),
              HasSubstr("text that is not JSON"));
}

TEST(SynthModel, ReportsTheKeyWithinALevel) {
  for (const auto& [key, value, message] : std::vector<std::array<const char*, 3>>{
           {"level", "4", "4 for \"events[0].levels[0].level\", expected 0 to 3"},
           {"hits", "1.5", "1.5 for \"events[0].levels[0].hits\", expected 0 to 1"},
           {"samples", "10000001", "expected at most 10000000"},
           {"elsewhere", R"({"kernel": 0.6, "foreign": 0.6})", "shares that add up to 1.2"},
           {"elsewhere", R"({"guest": 0.6})", "the key \"guest\""},
           {"triggers", "[0.5, 0.4]", "expected 1"},
           {"offsets", R"({"kind": "poisson"})",
            "expected constant, uniform, empirical, normal_cycles"},
           {"offsets", R"({"kind": "constant", "offset": 4194305})",
            "offsets.offset\", expected -4194304 to 4194304"},
           {"offsets", R"({"kind": "uniform", "lowest": 2, "highest": 1})",
            "at least \"lowest\", 2"},
           {"offsets", R"({"kind": "empirical", "counts": [[1]]})", "[offset, count]"},
           {"offsets", R"({"kind": "empirical", "counts": [[1, 0]]})", "no sample"},
           {"offsets", R"({"kind": "empirical"})",
            "nothing for \"events[0].levels[0].offsets.counts\""},
           {"offsets", R"({"kind": "normal_cycles", "mean": 1, "stddev": -1})",
            "stddev\", expected 0 to"},
           {"samples", "null", "no \"samples\""}}) {
    EXPECT_THAT(error_of_level(key, value), HasSubstr(message)) << key << value;
  }
}

TEST(SynthModel, BuiltInOnesAreSoundAndNamedAsTheirFiles) {
  EXPECT_THAT(built_in_model_names(), Contains("gregg-2017"));
  for (const std::string& name : built_in_model_names()) {
    const Model model = parse_model(built_in_model_text(name), name);
    EXPECT_EQ(model.name, name);
    EXPECT_FALSE(model.description.empty()) << name;
  }
  EXPECT_THROW((void)built_in_model_text("nothing"), Error);
}

std::map<std::int64_t, std::uint64_t> drawn(const Distribution& distribution, int samples,
                                            std::uint64_t seed = 1) {
  Random random(seed);
  const OffsetSampler sampler(distribution);
  std::map<std::int64_t, std::uint64_t> counts;
  for (int i = 0; i < samples; ++i) ++counts[sampler.draw(random)];
  return counts;
}

TEST(SynthRandom, IsTheSameOnEveryMachine) {
  Random random(42);
  std::vector<std::uint64_t> numbers;
  for (int i = 0; i < 6; ++i) numbers.push_back(random.below(1000));
  // std::mt19937_64 with seed 42, each number modulo 1000.
  EXPECT_THAT(numbers, ElementsAre(406, 824, 450, 662, 381, 428));
  EXPECT_EQ(Random(42).share(), 0.755155532954539);
}

TEST(SynthRandom, DrawsBelowABoundEvenly) {
  constexpr std::uint64_t kBound = 3ULL << 62U;  // three quarters of all numbers
  Random random(1);
  std::array<int, 3> thirds{};
  for (int i = 0; i < 30'000; ++i) {
    const std::uint64_t number = random.below(kBound);
    ASSERT_LT(number, kBound);
    ++thirds.at(static_cast<std::size_t>(number / (1ULL << 62U)));
  }
  for (const int third : thirds) EXPECT_NEAR(third, 10'000, 400);
}

TEST(SynthRandom, DrawsNormalDeviates) {
  constexpr int kSamples = 200'000;
  constexpr int kBins = 40;  // of a width of 0.2, from -4 to 4
  Random random(7);
  std::array<double, kBins> seen{};
  double sum = 0, squares = 0, fourth = 0;
  for (int i = 0; i < kSamples; ++i) {
    const double deviate = random.normal();
    sum += deviate;
    squares += deviate * deviate;
    fourth += deviate * deviate * deviate * deviate;
    const double bin = std::clamp(std::floor(deviate * 5) + 20, 0.0, kBins - 1.0);
    ++seen.at(static_cast<std::size_t>(bin));
  }
  EXPECT_NEAR(sum / kSamples, 0, 0.01);
  EXPECT_NEAR(squares / kSamples, 1, 0.015);
  EXPECT_NEAR(fourth / kSamples, 3, 0.1);
  const auto below = [](double z) { return std::erfc(-z / std::sqrt(2.0)) / 2; };
  double chi_square = 0;
  for (int bin = 0; bin < kBins; ++bin) {
    const double low = bin == 0 ? 0 : below((bin - 20) / 5.0);
    const double high = bin == kBins - 1 ? 1 : below((bin - 19) / 5.0);
    const double expected = kSamples * (high - low);
    chi_square += std::pow(seen.at(static_cast<std::size_t>(bin)) - expected, 2) / expected;
  }
  EXPECT_LT(chi_square, 72.1);  // 39 degrees of freedom, p = 0.001
}

TEST(SynthOffsets, AreDrawnAsOftenAsInTheTable) {
  EXPECT_THAT(drawn(always(-7), 100), ElementsAre(Pair(-7, 100)));
  const auto counts = drawn(OffsetTable{{{-3, -3, 1}, {5, 6, 6}, {9, 9, 3}}}, 10'000);
  EXPECT_THAT(counts, ElementsAre(Pair(-3, ::testing::_), Pair(5, ::testing::_),
                                  Pair(6, ::testing::_), Pair(9, ::testing::_)));
  EXPECT_NEAR(static_cast<double>(counts.at(-3)), 1000, 150);
  EXPECT_NEAR(static_cast<double>(counts.at(5)), 3000, 250);
  EXPECT_NEAR(static_cast<double>(counts.at(9)), 3000, 250);
}

TEST(SynthOffsets, OfACycleDelayAreThoseOfTheInstructionNextToRetire) {
  const auto only = [](const NormalCycles& delay) { return drawn(delay, 10).begin()->first; };
  // 10 cycles at 4 instructions a cycle: 40 have retired, the 41st is next.
  EXPECT_EQ(only({.mean = 10, .stddev = 0, .cycles_per_nop = 0.25, .retire_group = 1}), 41);
  // 10.9 cycles are 43 instructions, of which ten groups of four have retired.
  EXPECT_EQ(only({.mean = 10.9, .stddev = 0, .cycles_per_nop = 0.25, .retire_group = 4}), 41);
  EXPECT_EQ(only({.mean = -3, .stddev = 0, .cycles_per_nop = 0.25, .retire_group = 1}), 1);
  EXPECT_EQ(only({.mean = 1e9, .stddev = 0, .cycles_per_nop = 0.01, .retire_group = 1}),
            kFurthestOffset);
  const auto counts = drawn(NormalCycles{.mean = 100, .stddev = 10, .retire_group = 4}, 20'000);
  double mean = 0;
  for (const auto& [offset, count] : counts) {
    EXPECT_EQ((offset - 1) % 4, 0) << offset;
    mean += static_cast<double>(offset) * static_cast<double>(count) / 20'000;
  }
  EXPECT_NEAR(mean, 399,
              1.5);  // 1 more than 400 less the 2 that a group is on average from its end
}

}  // namespace
}  // namespace skid::synth
