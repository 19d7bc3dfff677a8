#include "src/correct/rewrite.h"

#include "src/locate/digest.h"
#include "src/perfdata/recording.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"

namespace skid::correct {
namespace {

class CorrectedCopy : public ::testing::Test {
 protected:
  static std::string recorded_at(std::uint64_t ip) {
    test::RecordingBuilder recording;
    recording.event({}).sample(ip, 7, 1);
    const auto version = recording.writer().counted_text("6.1.187").bytes();
    return recording.feature(perfdata::HEADER_VERSION, version).bytes();
  }
  /// Writes a copy without corrections of what `path_` was when it was opened.
  std::string copied() {
    write_corrected(*recording_, *digest_, {}, copy_);
    return read_file(copy_, 1 << 20);
  }
  void open(const std::string& bytes) {
    write_file_atomically(path_, bytes);
    recording_.emplace(perfdata::Recording::open(path_));
    digest_.emplace(locate::digest(*recording_));
  }
  /// The copy's records are the original's; perf's version, which the header refers to, is marked.
  static void expect_copy(const std::string& copy, const std::string& original) {
    const auto records = test::RecordingBuilder().event({}).data_offset();
    EXPECT_EQ(copy.substr(records, 32), original.substr(records, 32));
    EXPECT_THAT(copy.substr(original.size()),
                HasSubstr("6.1.187" + std::string(perfdata::kCorrectedMark)));
  }

  const test::TemporaryDirectory directory_;
  const fs::path path_ = directory_ / "perf.data", copy_ = directory_ / "copy.data";
  std::optional<perfdata::Recording> recording_;
  std::optional<locate::Digest> digest_;
};

TEST_F(CorrectedCopy, IsOfWhatWasReadThoughAnotherRecordingTookTheName) {
  const std::string original = recorded_at(0x1000);
  open(original);
  write_file_atomically(path_, recorded_at(0x2000) + std::string(1000, 'x'));
  expect_copy(copied(), original);
}

TEST_F(CorrectedCopy, IsNotMadeOfAFileThatBecameShorter) {
  open(recorded_at(0x1000));
  fs::resize_file(path_, 200);
  EXPECT_THROW(write_corrected(*recording_, *digest_, {}, copy_), Error);
  EXPECT_FALSE(fs::exists(copy_));
}

TEST_F(CorrectedCopy, OfASparseFileIsSparse) {
  constexpr off_t kSize = off_t{64} << 20;
  const std::string original = recorded_at(0x1000);
  open(original);
  fs::resize_file(path_, kSize);
  write_corrected(*recording_, *digest_, {}, copy_);
  struct stat status {};
  ASSERT_EQ(::stat(copy_.c_str(), &status), 0);
  EXPECT_GT(status.st_size, kSize);
  EXPECT_LT(status.st_blocks * 512, 1 << 20);
}

}  // namespace
}  // namespace skid::correct
