// Models as JSON: what they may contain, and how wrong ones are refused.
#include "src/support/error.h"
#include "src/synth/model.h"
#include "tests/support/trigger_kinds.h"

#include <functional>
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace skid::synth {
namespace {

using nlohmann::json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::SizeIs;

json sound_model() {
  return json::parse(R"({
    "schema": "skidscan.model/1", "name": "test", "seed": 5,
    "target": {"arch": "x86_64", "trigger": "store", "nops": 100},
    "events": [{"event": "cycles:u", "period": 7,
                "levels": [{"level": 2, "samples": 10, "hits": 0.5,
                            "offsets": {"kind": "constant", "offset": 3}}]}]})");
}

std::string error_of(const std::function<void(json&)>& change) {
  json model = sound_model();
  change(model);
  try {
    (void)parse_model(model.dump(), "m.json");
  } catch (const InputError& error) {
    return error.what();
  }
  return "none";
}

std::string error_of_level(const std::string& key, const std::string& value) {
  return error_of([&](json& model) { model["events"][0]["levels"][0][key] = json::parse(value); });
}

TEST(SynthModel, IsReadAsWritten) {
  json document = sound_model();
  document["events"][0]["levels"][0]["exact_ip"] = {{"hits", 1}, {"misses", 0.25}};
  document["events"][0]["levels"][0]["precise_ip"] = 1;
  document["buffers"] = {{"cpus", 3}, {"finished_round", false}};
  const Model model = parse_model(document.dump(), "m.json");
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
  const Model model = parse_model(document.dump(), "m.json");
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
  EXPECT_THAT(error_of_level("address", R"({"cause": 0.5, "elsewhere": 0.75})"),
              HasSubstr("at most 1"));
  EXPECT_NE(error_of_level("refused", R"("not here")"), "none") << "with other keys";
}

TEST(SynthModel, SetsExactIpAsTheKernelOfItsMachineDoes) {
  const auto exact = [](const char* rule, int level, const char* event) {
    json document = sound_model();
    document["machine"] = {{"exact_ip", rule}};
    document["events"][0]["event"] = event;
    document["events"][0]["levels"][0]["level"] = level;
    const ExactShares shares = parse_model(document.dump(), "m.json").events[0].levels[0].exact;
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
  const auto code_of = [](const std::function<void(json&)>& change) {
    json model = sound_model();
    change(model["events"][0]);
    return parse_model(model.dump(), "m.json").events[0].recorded;
  };
  EXPECT_EQ(code_of([](json& event) { event["event"] = "r20d1"; }).config, 0x20d1u);
  const auto own = code_of([](json& event) {
    event["event"] = "mem_load_retired.l3_miss:u";
    event["type"] = "raw";
    event["config"] = "0x20d1";
  });
  EXPECT_EQ(own.type, 4u);
  EXPECT_EQ(own.config, 0x20d1u);
  const auto substituted = code_of([](json& event) {
    event["recorded"] = {{"event", "cpu-clock"}};
  });
  EXPECT_EQ(substituted.name, "cpu-clock");
  EXPECT_EQ(substituted.type, 1u);
}

TEST(SynthModel, ReportsFileKeyValueAndExpectedOne) {
  EXPECT_THAT(error_of([](json& model) { model["schema"] = "skidscan.run/1"; }),
              AllOf(HasSubstr("m.json"), HasSubstr("\"skidscan.run/1\" for \"schema\""),
                    HasSubstr("expected \"skidscan.model/1\"")));
  EXPECT_THAT(error_of([](json& model) { model["evnts"] = 1; }),
              AllOf(HasSubstr("the key \"evnts\""), HasSubstr("expected schema, name")));
  EXPECT_THAT(error_of([](json& model) { model["events"] = json::array(); }),
              HasSubstr("0 events and levels for \"events\", expected 1 to 64"));
  EXPECT_THAT(error_of([](json& model) { model["target"]["nops"] = 3; }),
              AllOf(HasSubstr("for \"target\""), HasSubstr("NOPs: 3 given; expected 20 to")));
  EXPECT_THAT(error_of([](json& model) { model["target"]["trigger"] = "lode"; }),
              HasSubstr("trigger kind 'lode' does not exist"));
  EXPECT_THAT(error_of([](json& model) {
                model["buffers"] = {{"cpus", 65}};
              }),
              HasSubstr("65 for \"buffers.cpus\", expected at most 64"));
  EXPECT_THAT(error_of([](json& model) { model["name"] = "a\nb"; }), HasSubstr("printable"));
  EXPECT_THAT(error_of([](json& model) { model["events"][0]["event"] = "cycles:upp"; }),
              HasSubstr("an event without its level"));
  EXPECT_THAT(error_of([](json& model) { model["events"][0]["event"] = "a,b"; }),
              HasSubstr("the name of one event"));
  EXPECT_THAT(error_of([](json& model) { model["events"][0]["event"] = "my_event"; }),
              HasSubstr("no \"type\" and \"config\" of the event \"my_event\""));
  EXPECT_THAT(error_of([](json& model) { model["events"][0]["period"] = 0; }),
              HasSubstr("0 for \"events[0].period\", expected at least 1"));
  EXPECT_THAT(error_of([](json& model) {
                model["events"][0]["levels"].push_back(model["events"][0]["levels"][0]);
              }),
              HasSubstr("level 2 of cycles for the second time"));
  try {
    (void)parse_model("{", "m.json");
    FAIL() << "this is no JSON";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("text that is not JSON"));
  }
}

TEST(SynthModel, ReportsTheKeyWithinALevel) {
  EXPECT_THAT(error_of_level("level", "4"),
              HasSubstr("4 for \"events[0].levels[0].level\", expected 0 to 3"));
  EXPECT_THAT(error_of_level("hits", "1.5"),
              HasSubstr("1.5 for \"events[0].levels[0].hits\", expected 0 to 1"));
  EXPECT_THAT(error_of_level("samples", "10000001"), HasSubstr("expected at most 10000000"));
  EXPECT_THAT(error_of_level("samples", "null"), HasSubstr("no \"samples\""));
  EXPECT_THAT(error_of_level("elsewhere", R"({"kernel": 0.6, "foreign": 0.6})"),
              HasSubstr("shares that add up to 1.2"));
  EXPECT_THAT(error_of_level("elsewhere", R"({"guest": 0.6})"), HasSubstr("the key \"guest\""));
  EXPECT_THAT(error_of_level("triggers", "[0.5, 0.4]"), HasSubstr("expected 1"));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "poisson"})"),
              HasSubstr("expected constant, uniform, empirical, normal_cycles"));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "constant", "offset": 4194305})"),
              HasSubstr("offsets.offset\", expected -4194304 to 4194304"));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "uniform", "lowest": 2, "highest": 1})"),
              HasSubstr("at least \"lowest\", 2"));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "empirical", "counts": [[1]]})"),
              HasSubstr("[offset, count]"));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "empirical", "counts": [[1, 0]]})"),
              HasSubstr("no sample"));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "empirical"})"),
              HasSubstr("nothing for \"events[0].levels[0].offsets.counts\""));
  EXPECT_THAT(error_of_level("offsets", R"({"kind": "normal_cycles", "mean": 1, "stddev": -1})"),
              HasSubstr("stddev\", expected 0 to"));
}

TEST(SynthModel, BuiltInOnesAreSoundAndNamedAsTheirFiles) {
  EXPECT_THAT(built_in_model_names(), Contains("gregg-2017"));
  for (const std::string& name : built_in_model_names()) {
    const Model model = parse_model(built_in_model_text(name), name);
    EXPECT_EQ(model.name, name);
    EXPECT_FALSE(model.description.empty()) << name;
  }
  EXPECT_THROW((void)built_in_model_text("nothing"), UsageError);
}

}  // namespace
}  // namespace skid::synth
