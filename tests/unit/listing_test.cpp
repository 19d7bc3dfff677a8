// Sampled code as rows: every sample is in one of them, whatever is folded.

#include "src/output/listing/listing.h"

#include "analysis/sample_class.h"
#include "analysis/target_map.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/events/cpu.h"
#include "src/events/event.h"
#include "src/listing/reader.h"
#include "src/listing/rows.h"
#include "src/listing/sampled_code.h"
#include "src/listing/source_text.h"
#include "src/locate/module_store.h"
#include "src/output/page.h"
#include "src/perfdata/recording_writer.h"
#include "src/support/address.h"
#include "src/support/escape.h"
#include "src/symbols/module.h"
#include "src/synth/model.h"
#include "src/synth/model_fields.h"
#include "src/synth/model_reader.h"
#include "src/synth/recording.h"
#include "src/synth/recording_truth.h"
#include "src/synth/selected.h"
#include "tests/support/facts.h"
#include "tests/support/golden.h"
#include "tests/support/random_models.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/unit/runway_fixture.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>
#include <sys/stat.h>

namespace skid::listing {
namespace {

using analysis::SampleClass;

/// Where samples of a class are.
const std::map<SampleClass, Part> kPlaceOf{{SampleClass::hit, Part::trigger},
                                           {SampleClass::skid, Part::runway},
                                           {SampleClass::before, Part::lead_in},
                                           {SampleClass::censored, Part::censored},
                                           {SampleClass::other_trigger, Part::other_trigger},
                                           {SampleClass::loop, Part::loop}};

class ListingOfTarget : public ::testing::Test {
 protected:
  void SetUp() override { SKIP_WITHOUT_COMPILER(runway::kHost); }

  static runway::Specification specification(runway::TriggerKind trigger, std::uint32_t nops,
                                             std::uint32_t lead_in,
                                             std::vector<std::uint32_t> gaps = {}) {
    auto specification = runway::specification_of(trigger);
    specification.nops = nops;
    specification.lead_in_nops = lead_in;
    specification.gaps = std::move(gaps);
    return specification;
  }

  /// Writes a recording of `model` and reads it.
  const Listing& read(const synth::Model& model, const runway::Target& target,
                      Selection selection = {}) {
    const std::filesystem::path path = directory_ / "synth.data";
    synth::Synthesizer synthesizer(model, target);
    truth_ = synthesizer.write(synth::all_of(model), 1, test::created(path), path, {});
    modules_ = std::make_unique<locate::ModuleStore>();
    reader_ = std::make_unique<Reader>(std::move(selection), *modules_);
    const auto result = reader_->add({path, {}, nullptr, nullptr});
    EXPECT_FALSE(result.read_in_part);
    return reader_->finish();
  }

  test::TemporaryDirectory directory_;
  synth::RecordingTruth truth_;
  std::unique_ptr<locate::ModuleStore> modules_;
  std::unique_ptr<Reader> reader_;
};

TEST_F(ListingOfTarget, ContainsEverySampleOfTheTruthAtItsAddress) {
  const std::vector<
      std::tuple<runway::TriggerKind, std::uint32_t, std::uint32_t, std::vector<std::uint32_t>>>
      kinds{{"load"_trigger, 100, 20, {}},
            {"branch-taken"_trigger, 60, 5, {}},
            {"fault"_trigger, 20, 0, {}},
            {"store"_trigger, 50, 10, {20, 45, 30}}};
  std::uint64_t sampled = 0;
  std::vector<runway::Target> targets;
  for (const auto& [kind, nops, lead_in, gaps] : kinds) {
    targets.push_back(runway::build_target(specification(kind, nops, lead_in, gaps),
                                           directory_ / std::string(runway::name_of(kind))));
  }
  for (std::uint64_t seed = 1; seed <= 24; ++seed) {
    const auto& target = targets[seed % targets.size()];
    const auto& made = target.description.specification;
    const auto& listing =
        read(test::RandomModels(seed).model(made.nops, runway::triggers_of(made),
                                            !target.description.layout.other_triggers.empty()),
             target);
    SCOPED_TRACE(seed);
    const auto is_sampled = [](const auto& one) { return one.truth.samples.read() > 0; };
    if (std::ranges::none_of(truth_.measurements, is_sampled)) continue;
    ASSERT_EQ(listing.columns.size(), truth_.measurements.size());
    if (listing.codes.empty()) continue;  // all samples were elsewhere
    ASSERT_EQ(listing.codes.size(), 1u);
    const Code& code = listing.codes.front();
    EXPECT_EQ(code.kind, Kind::target);
    const auto all = rows(listing, code, code.columns, {.context = 0, .all = true});
    for (std::size_t i = 0; i < code.columns.size(); ++i) {
      const auto& truth = truth_.measurements[code.columns[i]].truth;
      const Column& column = listing.columns[code.columns[i]];
      const auto level = column.described.precise.recorded;
      std::map<std::int64_t, std::uint64_t> offsets;
      std::map<Part, std::uint64_t> parts;
      std::uint64_t exact = 0;
      for (const Row& row : all) {
        ASSERT_EQ(row.kind, RowKind::instruction);
        const auto samples = row.counts[i].samples;
        if (samples > 0 && row.first_offset) offsets[*row.first_offset] += samples;
        parts[row.part] += samples;
        exact += row.counts[i].exact;
      }
      std::map<Part, std::uint64_t> selection;
      for (const auto& [sample_class, part] : kPlaceOf) {
        selection[part] += truth.samples[sample_class];
        sampled += truth.samples[sample_class];
      }
      // A listing shows the places: at levels 0 and 1 the loop, where another trigger precedes it,
      // and at level 0 the lead-in, whose samples are of the trigger before it, round the loop.
      auto expected = truth.offsets;
      for (auto* const all_parts : {&parts, &selection}) {
        if (level > 1) break;
        for (const Part other : {Part::other_trigger, Part::lead_in, Part::censored}) {
          if (level == 1 && other != Part::other_trigger) break;
          (*all_parts)[Part::loop] += std::exchange((*all_parts)[other], 0);
        }
      }
      for (auto* const all_offsets : {&offsets, &expected}) {
        std::erase_if(*all_offsets, [&](const auto& one) {
          return level == 0 && (one.first < 0 || one.first == made.nops);
        });
      }
      EXPECT_EQ(offsets, expected);
      for (const auto& [part, samples] : selection)
        EXPECT_EQ(parts[part], samples) << name_of(part);
      const Count total = code.total(code.columns[i]);
      EXPECT_EQ(total.exact, exact);
      EXPECT_EQ(column.read(), truth.samples.read());
      const auto in = [&](Where where) { return column.samples[static_cast<std::size_t>(where)]; };
      EXPECT_EQ(in(Where::user)-total.samples, truth.samples[SampleClass::other_user]);
      EXPECT_EQ(in(Where::kernel), truth.samples[SampleClass::kernel]);
      EXPECT_EQ(in(Where::unmapped), truth.samples[SampleClass::unmapped]);
    }
    // However it is folded, the rows follow each other without a gap and hold all samples.
    for (const std::size_t context : {0u, 1u, 8u, 1000u}) {
      const auto folded = rows(listing, code, code.columns, {.context = context});
      std::uint64_t next = code.range.begin;
      std::vector<Count> sums(code.columns.size());
      std::size_t instructions = 0;
      for (const Row& row : folded) {
        EXPECT_EQ(row.range.begin, next);
        next = row.range.end;
        instructions += row.instructions;
        for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += row.counts[i];
      }
      EXPECT_EQ(next, code.range.end);
      EXPECT_EQ(instructions, code.starts.size());
      EXPECT_LE(folded.size(), all.size());
      for (std::size_t i = 0; i < sums.size(); ++i) {
        EXPECT_EQ(sums[i], code.total(code.columns[i]));
      }
    }
  }
  EXPECT_GT(sampled, 1000u);
}

/// Two levels of an all-loads event on a Skylake whose samples are on the trigger and elsewhere.
constexpr const char* kModel = R"({
  "schema": "skidscan.model/1", "name": "golden", "seed": 3,
  "machine": {"vendor": "GenuineIntel", "model_name": "a Skylake", "family": 6, "model": 94,
              "stepping": 3, "kernel": "synthetic"},
  "events": [
    {"event": "r81d0", "period": 10007, "levels": [
      {"level": 0, "offsets": {"kind": "empirical",
        "counts": [[-30, 2], [-1, 1], [2, 5], [4, 3], [12, 8], [100, 7], [290, 4]]}},
      {"level": 2, "exact_ip": {"hits": 1}, "offsets": {"kind": "empirical",
        "counts": [[0, 900], [1, 100]]}}]},
    {"event": "cpu-clock", "period": 1000, "levels": [
      {"level": 0, "offsets": {"kind": "empirical", "counts": [[3, 2]]}}]}]})";

class ListingOfModel : public ListingOfTarget {
 protected:
  const Listing& read_model(Selection selection = {}) {
    target_ = std::make_unique<runway::Target>(
        runway::build_target(specification("load"_trigger, 300, 40), directory_ / "target"));
    std::ofstream(directory_ / "model.json") << kModel;
    const auto model = synth::read_model(directory_ / "model.json");
    return read(model, *target_, std::move(selection));
  }
  std::unique_ptr<runway::Target> target_;
};

std::string replaced(std::string text, const std::string& what, const std::string& by) {
  for (auto at = text.find(what); at != std::string::npos; at = text.find(what, at + by.size())) {
    text.replace(at, what.size(), by);
  }
  return text;
}

TEST_F(ListingOfModel, MatchesTheGoldenText) {
  SKIP_WITHOUT("x86-64");
  const auto& listing = read_model();
  std::string text = output::listing_text(listing, {}, {.color = false, .width = 80});
  text = replaced(text, directory_.path().string(), "DIRECTORY");
  text = replaced(text, target_->build_id, "BUILD-ID");
  test::expect_golden("annotate_target.txt", text);
}

TEST_F(ListingOfModel, FitsTheWidthWithAndWithoutColor) {
  const auto& listing = read_model();
  for (const std::size_t width : {60u, 80u, 132u}) {
    const std::string plain = output::listing_text(listing, {}, {.color = false, .width = width});
    for (const std::string& line : test::lines_of(plain)) {
      EXPECT_LE(display_width(line), width) << line;
    }
    const std::string colored = output::listing_text(listing, {}, {.color = true, .width = width});
    EXPECT_THAT(colored, HasSubstr("\x1b["));
    EXPECT_EQ(test::without_color(colored), plain);
  }
}

TEST_F(ListingOfModel, MarksOnlyInstructionsThatCannotCauseTheEvent) {
  SKIP_WITHOUT("x86-64");
  const auto& listing = read_model();
  ASSERT_EQ(listing.columns.size(), 3u);
  EXPECT_THAT(listing.columns[0].not_judged, HasSubstr("precise level 2"));
  EXPECT_THAT(listing.columns[1].causes, Not(IsEmpty()));
  EXPECT_THAT(listing.columns[2].not_judged, HasSubstr("core"));
  const Code& code = listing.codes.front();
  bool has_nops = false;
  for (const Row& row : rows(listing, code, code.columns, {.all = true})) {
    EXPECT_FALSE(row.verdicts[0]);
    EXPECT_FALSE(row.verdicts[2]);
    ASSERT_TRUE(row.verdicts[1]);
    const bool is_load = row.text.find('[') != std::string::npos;
    EXPECT_EQ(*row.verdicts[1] == events::Verdict::never, !is_load) << row.text;
    has_nops = has_nops || row.text == "nop";
  }
  EXPECT_TRUE(has_nops);
}

TEST_F(ListingOfModel, ShowsOnlyTheSelectedEvent) {
  EXPECT_EQ(read_model({{.filter = {.events = {"r81d0"}}}}).columns.size(), 2u);
  EXPECT_EQ(read_model({{.filter = {.events = {"r81d0:pp"}}}}).columns.size(), 1u);
  EXPECT_EQ(read_model({{.filter = {.events = {"cpu-clock"}}}}).columns.size(), 1u);
  const auto& none = read_model({{.filter = {.events = {"cycles"}}}});
  EXPECT_THAT(none.columns, IsEmpty());
  EXPECT_THAT(none.codes, IsEmpty());
  EXPECT_THAT(reader_->filtered().events, ElementsAre("cpu-clock", "r81d0"));
  const std::uint64_t counted = reader_->filtered().all;
  EXPECT_EQ(reader_->filtered().selected, 0U);
  read_model();
  EXPECT_EQ(counted, reader_->filtered().all);
}

TEST_F(ListingOfModel, WritesTheSameCountsAsJsonAndCsv) {
  const auto& listing = read_model();
  for (const bool all : {false, true}) {
    const output::ListingChoices choices{.folding = {.all = all}};
    const auto report = json::parse(output::listing_json(listing, choices));
    EXPECT_EQ(report["schema"], "skidscan.annotate/1");
    const auto& code = report["codes"].at(0);
    std::map<std::size_t, std::uint64_t> sums;
    std::uint64_t from_json = 0;
    for (const auto& row : code["rows"]) {
      for (const auto& count : row["counts"]) {
        sums[count["column"]] += count["samples"].get<std::uint64_t>();
        from_json += count["samples"].get<std::uint64_t>();
      }
    }
    for (const auto& column : code["columns"]) {
      EXPECT_EQ(sums[column["column"]], column["samples"]);
      EXPECT_EQ(report["columns"].at(column["column"].get<std::size_t>())["samples"]["read"],
                column["samples"]);
    }
    const auto lines = test::lines_of(output::listing_csv(listing, choices));
    const auto header = test::fields_of(lines.at(0));
    const auto samples = std::find(header.begin(), header.end(), "samples") - header.begin();
    std::uint64_t from_csv = 0;
    for (std::size_t i = 1; i < lines.size(); ++i) {
      const auto fields = test::fields_of(lines[i]);
      ASSERT_EQ(fields.size(), header.size()) << lines[i];
      from_csv += std::stoull(fields[static_cast<std::size_t>(samples)]);
    }
    EXPECT_EQ(from_csv, from_json);
    EXPECT_EQ(lines.size(), 1 + code["rows"].size() * 3);
    EXPECT_EQ(from_json, 30u + 1000u + 2u);
  }
}

TEST_F(ListingOfModel, ListsFunctionsOfATargetByName) {
  const auto& listing = read_model({.function = "skid_runway"});
  ASSERT_EQ(listing.codes.size(), 1u);
  const Code& code = listing.codes.front();
  EXPECT_EQ(code.kind, Kind::function);
  EXPECT_FALSE(code.map);
  EXPECT_EQ(code.total(1).samples, 100u);
  const auto folded = rows(listing, code, code.columns, {.context = 1});
  ASSERT_FALSE(folded.empty());
  // +1 and +2 to +5 with one more on either side, then the others.
  EXPECT_EQ(folded.front().kind, RowKind::instruction);
  EXPECT_EQ(folded.front().range.begin, target_->description.layout.runway.begin);
  EXPECT_THAT(folded, Contains(::testing::Field(&Row::kind, RowKind::folded)));
  for (const Row& row : folded) {
    if (row.kind != RowKind::folded) continue;
    for (const Count& count : row.counts) EXPECT_EQ(count.samples, 0u);
  }
}

/// The verdicts on code by an event of loads that is judged.
std::vector<std::optional<events::Verdict>> verdicts_on(const std::vector<unsigned>& bytes,
                                                        std::vector<std::uint64_t> starts) {
  const auto module = symbols::Module::open("/proc/self/exe");
  Listing listing;
  listing.columns.emplace_back();
  listing.columns[0].causes = events::causes_of(
      {.name = "MEM_LOAD_RETIRED.L3_MISS", .core = events::Core::skylake, .config = 0x20d1});
  Code& code = listing.codes.emplace_back();
  code.module = &module;
  code.arch = Arch::x86_64;
  code.columns = {0};
  code.range = {starts.front(), starts.front() + bytes.size()};
  for (const unsigned byte : bytes) code.bytes.push_back(static_cast<std::byte>(byte));
  code.starts = std::move(starts);
  return test::mapped(rows(listing, code, code.columns, {.all = true}),
                      [](const Row& row) { return row.verdicts.at(0); });
}

TEST(ListingRows, JudgeAMacroFusedPairAsOne) {
  using enum events::Verdict;
  EXPECT_THAT(verdicts_on({0x48, 0x39, 0x07,  // cmp [rdi], rax
                           0x75, 0x00,        // jne
                           0x90,              // nop
                           0x75, 0x00},       // jne
                          {0x10, 0x13, 0x15, 0x16}),
              ElementsAre(conditional, conditional, never, never));
  EXPECT_THAT(verdicts_on({0x75, 0x00, 0x90}, {0x10, 0x12}), ElementsAre(std::nullopt, never))
      << "the instruction before the jump is not seen";
}

TEST(SourceText, ReturnsLinesOfRegularFilesOnly) {
  const test::TemporaryDirectory directory;
  const std::string path = directory / "a.c", fifo = directory / "fifo";
  std::ofstream(path) << "one\r\n\nthree";
  SourceText sources;
  EXPECT_EQ(sources.line(path, 1), "one");
  EXPECT_EQ(sources.line(path, 2), "");
  EXPECT_EQ(sources.line(path, 3), "three");
  EXPECT_FALSE(sources.line(path, 4));
  EXPECT_FALSE(sources.line(path, 0));
  EXPECT_FALSE(sources.line(path, -1));
  EXPECT_FALSE(sources.line(std::filesystem::relative(path).string(), 1));
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(sources.line(fifo, 1)) << "and it does not wait for a writer";
  EXPECT_FALSE(sources.line("/dev/zero", 1));
  EXPECT_FALSE(sources.line(directory.path(), 1));
  const std::string large = directory / "large";
  std::ofstream(large) << "x";
  std::filesystem::resize_file(large, SourceText::kLargest + 1);
  EXPECT_FALSE(sources.line(large, 1));
}

TEST(SourceText, IsNotOfFilesThatOnlySomeMayRead) {
  const test::TemporaryDirectory directory;
  const std::string secret = directory / "secret", link = directory / "link.c";
  std::ofstream(secret) << "password";
  std::filesystem::permissions(secret, std::filesystem::perms{0640});
  std::filesystem::create_symlink(secret, link);
  SourceText sources;
  EXPECT_FALSE(sources.line(secret, 1));
  EXPECT_FALSE(sources.line(link, 1));
  EXPECT_FALSE(sources.line("/proc/self/status", 1));
  EXPECT_FALSE(sources.line("/missing.c", 1));
  EXPECT_THAT(sources.withheld(), ElementsAre(secret, link, "/proc/self/status"));

  SourceText trusting{directory.path()};
  EXPECT_EQ(trusting.line(link, 1), "password");
  EXPECT_FALSE(trusting.line("/proc/self/status", 1));
  std::filesystem::create_directory(directory / "se");
  EXPECT_FALSE(SourceText(directory / "se").line(secret, 1)) << "no part of a name";
}

}  // namespace
}  // namespace skid::listing
