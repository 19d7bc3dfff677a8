#include "runway/note.h"
#include "src/support/error.h"
#include "tests/unit/runway_fixture.h"

#include <cstring>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace skid::runway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// A sound target with a short runway, and copies of it that are damaged.
class Note : public ::testing::Test {
 protected:
  void SetUp() override {
    SKIP_WITHOUT_COMPILER(kHost);
    Specification specification = specification_of(TriggerKind::branch_taken);
    specification.nops = 20;
    build_target(specification, directory_ / "target");
    sound_ = bytes_of(directory_ / "target");
    // Name and its terminator, padded: the descriptor begins 12 bytes behind the name.
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
    try {
      read(copy);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
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

TEST_F(Note, OfASoundTargetIsRead) {
  const auto target = read(sound_);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->description.specification.nops, 20U);
}

TEST_F(Note, OfANewerFormatIsRefusedWithTheRemedy) {
  const std::string message = refusal_of(descriptor_, raw(std::uint32_t{2}));
  EXPECT_THAT(message, HasSubstr("a skidscan note of format 2, allowed 1"));
  EXPECT_THAT(message, HasSubstr("newer skidscan"));
  EXPECT_THAT(message, HasSubstr("at offset 0x"));
}

TEST_F(Note, WithAnAbsurdNumberOfAddressesIsRefused) {
  for (const std::uint32_t count : {0U, 6U, 99U, 0xffffffffU}) {
    EXPECT_THAT(refusal_of(descriptor_ + 4, raw(count)), HasSubstr(" addresses")) << count;
  }
  // One more swallows the beginning of the text.
  EXPECT_THAT(refusal_of(descriptor_ + 4, raw(std::uint32_t{8})), HasSubstr("not JSON"));
}

TEST_F(Note, LongerThanItsSegmentIsRefused) {
  EXPECT_THAT(refusal_of(note_ + 4, raw(std::uint32_t{0xfffffff0U})), HasSubstr("cut short"));
  EXPECT_THAT(refusal_of(note_ + 4, raw(std::uint32_t{4096})), HasSubstr("cut short"));
}

TEST_F(Note, TooShortForItsHeaderIsRefused) {
  // Filled up with a note of nobody's, or the segment would be cut short instead.
  EXPECT_NE(refusal_of(note_ + 4, raw(std::uint32_t{4})), "");
}

TEST_F(Note, WithAddressesOutOfOrderIsRefused) {
  const Layout layout = read(sound_)->description.layout;
  EXPECT_THAT(refusal_of(address_offset(0), raw(layout.loop.end)), HasSubstr("ascending order"));
  EXPECT_THAT(refusal_of(address_offset(3), raw(std::uint64_t{0})), HasSubstr("ascending order"));
  EXPECT_THAT(refusal_of(address_offset(1), raw(std::uint64_t{1})), HasSubstr("ascending order"));
}

TEST_F(Note, WithALoopOutsideTheCodeIsRefused) {
  std::string copy = sound_;
  for (const std::size_t index : {0U, 1U, 2U, 3U, 4U, 5U, 7U, 8U}) {
    std::uint64_t address = 0;
    std::memcpy(&address, copy.data() + address_offset(index), sizeof address);
    copy.replace(address_offset(index), 8, raw(address + 0x10000000));
  }
  EXPECT_THAT(refusal_of(copy), HasSubstr("inside an executable segment"));
}

TEST_F(Note, WhoseLoopEndsFarBehindTheCodeIsRefused) {
  EXPECT_THAT(refusal_of(address_offset(1), raw(~std::uint64_t{0})),
              HasSubstr("inside an executable segment"));
}

TEST_F(Note, WithARunwayOfAnotherLengthThanItSaysIsRefused) {
  const Layout layout = read(sound_)->description.layout;
  EXPECT_THAT(refusal_of(address_offset(5), raw(layout.runway.end - 1)), HasSubstr("a runway of"));
  EXPECT_THAT(refusal_with_text("\"nops\":20", "\"nops\":21"), HasSubstr("a runway of"));
}

TEST_F(Note, WithADatumOutsideTheDataIsRefused) {
  EXPECT_THAT(refusal_of(address_offset(6), raw(~std::uint64_t{0} - 3)),
              HasSubstr("inside a writable segment"));
  const Layout layout = read(sound_)->description.layout;
  EXPECT_THAT(refusal_of(address_offset(6), raw(layout.trigger.begin)),
              HasSubstr("inside a writable segment"));
}

TEST_F(Note, WithAnotherTriggerOnTheRunwayIsRefused) {
  const Layout layout = read(sound_)->description.layout;
  EXPECT_THAT(refusal_of(address_offset(7), raw(layout.runway.begin)),
              HasSubstr("another trigger"));
}

TEST_F(Note, WithTextThatIsNoJsonIsRefused) {
  EXPECT_THAT(refusal_with_text("\"specification\"", "\"specification'"), HasSubstr("not JSON"));
}

TEST_F(Note, WithValuesOutOfBoundsIsRefused) {
  EXPECT_THAT(refusal_with_text("\"access_bytes\":8", "\"access_bytes\":9"),
              HasSubstr("access bytes: 9"));
  EXPECT_THAT(refusal_with_text("\"trigger\":\"branch-taken\"", "\"trigger\":\"brunch-taken\""),
              HasSubstr("'brunch-taken'"));
  EXPECT_THAT(refusal_with_text("\"nops\":20", "\"nops\":-1"), HasSubstr("no whole number"));
  EXPECT_THAT(refusal_with_text("\"nop_bytes\"", "\"nup_bytes\""), HasSubstr("without"));
  EXPECT_THAT(refusal_with_text("\"events_per_iteration\":1.0", "\"events_per_iteration\":-10"),
              HasSubstr("events_per_iteration"));
  EXPECT_THAT(refusal_with_text("\"runway_end\"", "\"runway_and\""), HasSubstr("other names"));
}

TEST_F(Note, OfAnOlderTargetSaysBranchForATakenOne) {
  // Blanks keep the length of the descriptor.
  EXPECT_EQ(refusal_with_text("\"trigger\":\"branch-taken\"", "\"trigger\":\"branch\"      "), "");
}

TEST_F(Note, OfAnotherArchitectureThanTheFileIsRefused) {
  constexpr std::size_t kMachine = 18;  // e_machine
  EXPECT_THAT(refusal_of(kMachine, raw(std::uint16_t{243})), HasSubstr("for machine 243"));
}

TEST_F(Note, InATargetWithoutBuildIdIsRefused) {
  const std::size_t gnu = sound_.find(std::string("GNU\0", 4));
  ASSERT_NE(gnu, std::string::npos);
  EXPECT_THAT(refusal_of(gnu, "GNO"), HasSubstr("without build-id"));
}

TEST_F(Note, OfAFileCutShortAnywhereIsRefusedOrWhole) {
  const std::size_t code_end = sound_.size();
  for (std::size_t size = 0; size < code_end; size += 97) {
    const std::string message = refusal_of(sound_.substr(0, size));
    const bool complete = message.empty();
    // What is behind the code (sections, symbols) is not needed to read it.
    if (complete) {
      EXPECT_GT(size, std::size_t{4096});
    }
  }
  EXPECT_NE(refusal_of(sound_.substr(0, descriptor_ + 100)), "");
  EXPECT_NE(refusal_of(sound_.substr(0, 100)), "");
  EXPECT_THAT(refusal_of(""), HasSubstr("no ELF header"));
}

TEST_F(Note, WithAnyByteFlippedIsRefusedOrStillPossible) {
  const std::size_t end = sound_.find("\"tool_version\"", descriptor_) + 30;
  for (std::size_t offset = note_; offset < end; ++offset) {
    for (const unsigned mask : {0x01U, 0x80U, 0xffU}) {
      std::string copy = sound_;
      copy[offset] = static_cast<char>(static_cast<unsigned char>(copy[offset]) ^ mask);
      try {
        const auto target = read(copy);
        if (!target) continue;  // another owner's note
        const Layout& layout = target->description.layout;
        EXPECT_NO_THROW(check(target->description.specification)) << offset;
        EXPECT_TRUE(layout.loop.begin <= layout.trigger.begin &&
                    layout.trigger.end <= layout.loop.end)
            << offset;
      } catch (const InputError& error) {
        EXPECT_THAT(error.what(), HasSubstr("copy: ")) << offset;
      }
    }
  }
}

TEST_F(Note, SurvivesStripping) {
  if (!find_program("strip")) GTEST_SKIP() << "no strip in PATH";
  const fs::path copy = directory_ / "stripped";
  fs::copy_file(directory_ / "target", copy);
  ASSERT_TRUE(run_program({"strip", copy.string()}).code.success());
  const auto target = read_target(copy);
  ASSERT_TRUE(target);
  EXPECT_EQ(target->build_id, read(sound_)->build_id);
}

TEST(NoteReading, FindsNoneInAnotherElfFile) {
  EXPECT_EQ(read_target("/proc/self/exe"), std::nullopt);
}

TEST(NoteReading, RefusesWhatIsNoRegularElfFile) {
  const Directory directory;
  write_file_atomically(directory / "text", "not ELF");
  EXPECT_THROW(read_target(directory / "text"), InputError);
  EXPECT_THROW(read_target(directory / "missing"), InputError);
  EXPECT_THROW(read_target(directory.path()), InputError);
  EXPECT_THROW(read_target("/dev/null"), InputError);
}

TEST(NoteText, NamesTwoAddressesForEachOtherTrigger) {
  EXPECT_THAT(note_text(specification_of(TriggerKind::load), 0),
              ::testing::Not(HasSubstr("other_trigger")));
  EXPECT_THAT(note_text(specification_of(TriggerKind::branch_taken), 1),
              HasSubstr("\"other_trigger\",\"other_trigger_end\"]"));
}

}  // namespace
}  // namespace skid::runway
