#include "runway/instructions.h"
#include "runway/kinds/kind.h"
#include "runway/note.h"
#include "runway/specification.h"
#include "runway/target.h"
#include "runway/trigger.h"
#include "src/instructions/counted.h"
#include "src/support/address.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "src/support/staged_file.h"
#include "tests/support/error_message.h"
#include "tests/support/facts.h"
#include "tests/unit/runway_fixture.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <ios>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace skid::runway {
namespace {

/// A sound target with a short runway, and copies of it that are damaged.
class Note : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(kHost);
    Specification specification = specification_of("branch-taken"_trigger);
    specification.nops = 20;
    build_target(specification, directory_ / "target");
    sound_ = bytes_of(directory_ / "target");
    // Name and its terminator, padded: the descriptor begins 12 bytes after the name.
    const std::size_t name = sound_.find(std::string("skidscan\0\0\0\0", 12));
    ASSERT_NE(name, std::string::npos);
    note_ = name - 12;
    descriptor_ = name + 12;
  }

  std::optional<Target> read(const std::string& bytes) const {
    const fs::path path = directory_ / "copy";
    std::ofstream(path, std::ios::binary) << bytes;
    return read_target(path);
  }

  /// The message that a copy with `bytes` replaced at `offset` is refused with; empty when it is
  /// not.
  std::string refusal_of(std::size_t offset, const std::string& bytes) const {
    std::string copy = sound_;
    copy.replace(offset, bytes.size(), bytes);
    return refusal_of(copy);
  }

  std::string refusal_of(const std::string& copy) const {
    return test::message_of<InputError>([&] { read(copy); });
  }

  /// The copy whose text has `from` replaced by `to`, of the same length.
  std::string refusal_with_text(const std::string& from, const std::string& to) const {
    EXPECT_EQ(from.size(), to.size());
    const std::size_t offset = sound_.find(from, descriptor_);
    EXPECT_NE(offset, std::string::npos) << from;
    return refusal_of(offset, to);
  }

  template <typename Integer>
  static std::string raw(Integer value) {
    std::string bytes(sizeof value, '\0');
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }

  std::size_t address_offset(std::size_t index) const { return descriptor_ + 8 + 8 * index; }

  Directory directory_;
  std::string sound_;
  std::size_t note_ = 0;
  std::size_t descriptor_ = 0;
};

TEST_F(Note, RefusesANewerFormatWithTheRemedy) {
  const std::string message = refusal_of(descriptor_, raw(std::uint32_t{2}));
  EXPECT_THAT(message, HasSubstr("a skidscan note of format 2"));
  EXPECT_THAT(message, HasSubstr("newer skidscan"));
  EXPECT_THAT(message, HasSubstr("at offset 0x"));
}

TEST_F(Note, RefusesSizesThatItsSegmentDoesNotHave) {
  for (const std::uint32_t addresses : {0U, 6U, 99U, 0xffffffffU}) {
    EXPECT_THAT(refusal_of(descriptor_ + 4, raw(addresses)), HasSubstr(" addresses")) << addresses;
  }
  EXPECT_THAT(refusal_of(descriptor_ + 4, raw(std::uint32_t{8})), HasSubstr("not JSON"))
      << "one more address includes the beginning of the text";
  EXPECT_THAT(refusal_of(note_ + 4, raw(std::uint32_t{0xfffffff0U})), HasSubstr("cut short"));
  EXPECT_THAT(refusal_of(note_ + 4, raw(std::uint32_t{4096})), HasSubstr("cut short"));
  EXPECT_NE(refusal_of(note_ + 4, raw(std::uint32_t{4})), "no error") << "too short for the header";
  EXPECT_NE(refusal_of(sound_.substr(0, descriptor_ + 100)), "no error");
  EXPECT_NE(refusal_of(sound_.substr(0, 100)), "no error");
  EXPECT_THAT(refusal_of(""), HasSubstr("an ELF file"));
}

TEST_F(Note, RefusesAddressesThatTheFileDoesNotHave) {
  const auto target = read(sound_);
  ASSERT_TRUE(target);
  const Layout layout = target->description.layout;
  constexpr std::uint64_t kHighest = ~std::uint64_t{0};
  const std::vector<std::tuple<std::size_t, std::uint64_t, std::string>> damages{
      {0, layout.loop.end, "ascending order"},
      {3, 0, "ascending order"},
      {1, 1, "ascending order"},
      {1, kHighest, "inside an executable segment"},
      {5, layout.runway.end - 1, "a runway of"},
      {6, kHighest - 3, "inside a writable segment"},
      {6, layout.trigger.begin, "inside a writable segment"},
      {7, layout.runway.begin, "another trigger"},
  };
  for (const auto& [index, address, message] : damages) {
    EXPECT_THAT(refusal_of(address_offset(index), raw(address)), HasSubstr(message)) << index;
  }
  std::string shifted = sound_;
  for (const std::size_t index : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U}) {
    std::uint64_t address = 0;
    std::memcpy(&address, shifted.data() + address_offset(index), sizeof address);
    shifted.replace(address_offset(index), 8, raw(address + 0x10000000));
  }
  EXPECT_THAT(refusal_of(shifted), HasSubstr("inside an executable segment"));
}

TEST_F(Note, RefusesTextOutOfBounds) {
  const std::vector<std::tuple<std::string, std::string, std::string>> damages{
      {"\"specification\"", "\"specification'", "not JSON"},
      {"\"nops\":20", "\"nops\":21", "a runway of"},
      {"\"access_bytes\":8", "\"access_bytes\":9", "access bytes: 9"},
      {"\"trigger\":\"branch-taken\"", "\"trigger\":\"brunch-taken\"", "'brunch-taken'"},
      {"\"nops\":20", "\"nops\":-1", "for \"specification.nops\""},
      {"\"nop_bytes\"", "\"nup_bytes\"", "nothing for \"specification.nop_bytes\""},
      {"\"events_per_iteration\":1.0", "\"events_per_iteration\":-10", "events_per_iteration"},
      {"\"runway_end\"", "\"runway_and\"", "other names"},
      {"\"data\":[]", "\"data\":{}", "for \"data\""},
  };
  for (const auto& [from, to, message] : damages) {
    EXPECT_THAT(refusal_with_text(from, to), HasSubstr(message)) << to;
  }
  EXPECT_EQ(refusal_with_text("\"trigger\":\"branch-taken\"", "\"trigger\":\"branch\"      "),
            "no error")
      << "the name in old targets; blanks keep the length of the descriptor";
}

TEST_F(Note, RefusesAnotherArchitectureOrNoBuildId) {
  constexpr std::size_t kMachine = 18;  // e_machine
  EXPECT_THAT(refusal_of(kMachine, raw(std::uint16_t{243})), HasSubstr("for machine 243"));
  const std::size_t gnu = sound_.find(std::string("GNU\0", 4));
  ASSERT_NE(gnu, std::string::npos);
  EXPECT_THAT(refusal_of(gnu, "GNO"), HasSubstr("without build-id"));
}

TEST_F(Note, SurvivesStripping) {
  SKIP_WITHOUT("strip");
  const fs::path copy = directory_ / "stripped";
  fs::copy_file(directory_ / "target", copy);
  ASSERT_TRUE(run_program({"strip", copy.string()}).code.success());
  const auto target = read_target(copy);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->build_id, read(sound_)->build_id);
}

TEST(NoteReading, IsMissingInAnotherElfFile) {
  EXPECT_EQ(read_target("/proc/self/exe"), std::nullopt);
}

TEST(NoteText, DeclaresTheDataThatTriggersAccess) {
  using Data = std::vector<TouchedData>;
  EXPECT_EQ(data_of(specification_of("load"_trigger)), (Data{{true, 0, 8}}));
  EXPECT_EQ(data_of(specification_of("zmm-load"_trigger)), (Data{{true, 0, 64}}));
  EXPECT_EQ(data_of(specification_of("prefetch"_trigger)), (Data{{true, 0, 8}}));
  EXPECT_EQ(data_of(specification_of("string-load"_trigger)), (Data{{true, 0, 16}}));
  EXPECT_EQ(data_of(specification_of("fault"_trigger)), (Data{{true, 0, 8}, {false, 0, 65536}}));
  EXPECT_EQ(data_of(specification_of("div"_trigger)), Data{});
  Specification calls = specification_of("call"_trigger);
  calls.gaps = {100, 200};
  EXPECT_EQ(data_of(calls), (Data{{true, 4096 - 24, 24}}));
  for (const TriggerKind kind : all_trigger_kinds()) {
    EXPECT_EQ(touches_data(kind), !data_of(default_specification(Arch::x86_64, kind)).empty());
  }
}

TEST_F(Note, OfATargetOfOldDeclaresNoData) {
  const std::size_t data = sound_.find("\"data\"", descriptor_);
  ASSERT_NE(data, std::string::npos);
  std::string old = sound_;
  old.replace(data, 6, "\"dota\"");
  const auto target = read(old);
  ASSERT_TRUE(target);
  EXPECT_TRUE(target->description.data.empty());
}

TEST(NoteText, NamesTwoAddressesForEachOtherTrigger) {
  EXPECT_THAT(note_text(specification_of("load"_trigger), 0),
              ::testing::Not(HasSubstr("other_trigger")));
  EXPECT_THAT(note_text(specification_of("branch-taken"_trigger), 1),
              HasSubstr("\"other_trigger\",\"other_trigger_end\"]"));
}

std::string instruction_cell(TriggerKind kind, Arch arch) {
  if (refusal(kind, arch)) return "-";
  const Instructions code = instructions_of(default_specification(arch, kind));
  const std::string& instruction = code.triggers[0].instruction;
  return fmt::format("`{}`", instruction == code.nop ? "nop" : instruction);
}

std::string access_cell(TriggerKind kind) {
  const Specification specification = default_specification(Arch::x86_64, kind);
  const Expectation access = expectations_for(specification).front();
  if (!access.offset) return "none";
  const std::string offset = *access.offset == 0 ? "0" : fmt::format("{:+}", *access.offset);
  if (elements_of(specification) != 0) return offset + ", once a round";
  if (kind_of(kind).repeats) return offset + ", 8 / width";
  return fmt::format("{}, {}", offset, access.events_per_iteration);
}

std::string others_cell(TriggerKind kind) {
  const Instructions code = instructions_of(default_specification(Arch::x86_64, kind));
  std::vector<std::string> others;
  for (const HeadPiece& piece : code.triggers[0].head) {
    if (piece.other_trigger) others.push_back(fmt::format("`{}`", piece.lines.front()));
  }
  if (code.back_edge_is_other_trigger) others.emplace_back("back-edge");
  return others.empty() ? "-" : fmt::format("{}", fmt::join(others, ", "));
}

std::string effects_cell(TriggerKind kind) {
  const Specification specification = default_specification(Arch::x86_64, kind);
  std::vector<std::string> cells;
  for (const auto& [name, counted] : std::initializer_list<std::pair<std::string_view, Counted>>{
           {"loads", Counted::loads},
           {"L1 misses", Counted::l1_misses},
           {"L2 misses", Counted::l2_misses},
           {"L3 misses", Counted::l3_misses},
           {"locked loads", Counted::locked_loads},
           {"stores", Counted::stores},
           {"branches", Counted::branches},
           {"conditional", Counted::conditional_branches},
           {"taken", Counted::taken_branches},
           {"calls", Counted::calls},
           {"returns", Counted::returns},
           {"mispredicted", Counted::mispredicted},
           {"divisions", Counted::divisions},
       }) {
    const std::optional<double> count = events_per_iteration(specification, counted);
    if (!count) cells.push_back(fmt::format("? {}", name));
    if (count && *count != 0) cells.push_back(fmt::format("{} {}", *count, name));
  }
  if (kind_of(kind).gives_back_page) cells.emplace_back("1 page faults");
  return fmt::format("{}", fmt::join(cells, ", "));
}

std::string table() {
  std::string text =
      "| kind | x86-64 | aarch64 | CPU flag | `access` | other triggers | each iteration |\n"
      "| --- | --- | --- | --- | --- | --- | --- |\n";
  for (const TriggerKind kind : all_trigger_kinds()) {
    const std::string_view flag = kind_of(kind).cpu_flag;
    text += fmt::format("| `{}` | {} | {} | {} | {} | {} | {} |\n", name_of(kind),
                        instruction_cell(kind, Arch::x86_64), instruction_cell(kind, Arch::aarch64),
                        flag.empty() ? "-" : fmt::format("`{}`", flag), access_cell(kind),
                        others_cell(kind), effects_cell(kind));
  }
  return text;
}

/// With SKIDSCAN_REFRESH_DOCS set, replaces the table instead of checking it.
TEST(TriggersDocument, ContainsTheTableOfAllKinds) {
  const std::string path = std::string(SKIDSCAN_TEST_DATA) + "/../docs/triggers.md";
  std::string document = read_file(path, 1 << 20);
  const std::size_t begin = document.find("| kind |");
  const std::size_t end = document.find("\n\n", begin) + 1;
  ASSERT_LT(begin, end);
  if (std::getenv("SKIDSCAN_REFRESH_DOCS") != nullptr) {
    write_file_atomically(path, document.replace(begin, end - begin, table()));
    return;
  }
  EXPECT_EQ(document.substr(begin, end - begin), table())
      << "run SKIDSCAN_REFRESH_DOCS=1 unit_tests --gtest_filter=TriggersDocument.*";
}

}  // namespace
}  // namespace skid::runway
