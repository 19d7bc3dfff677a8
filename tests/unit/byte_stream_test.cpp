// Bytes come out as in the file, however they are read.
#include "src/perfdata/byte_stream.h"

#include "src/support/file.h"
#include "tests/support/temporary_directory.h"

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <unistd.h>

namespace skid::perfdata {
namespace {

class ByteStreamTest : public ::testing::Test {
 protected:
  int file_of(const std::string& bytes) {
    std::ofstream(directory_ / "file", std::ios::binary) << bytes;
    file_ = open_regular_file(directory_ / "file");
    return file_.get();
  }
  static std::string noise(std::size_t size) {
    std::mt19937 random(1);
    std::string bytes(size, '\0');
    for (auto& byte : bytes) byte = static_cast<char>(random());
    return bytes;
  }

  test::TemporaryDirectory directory_;
  FileDescriptor file_;
};

std::string text(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Reads everything in pieces of random sizes up to a record's.
std::string read_in_pieces(ByteStream& stream, std::uint64_t begin) {
  std::mt19937 random(2);
  std::string all;
  for (;;) {
    EXPECT_EQ(stream.position(), begin + all.size());
    const std::size_t wanted = 1 + random() % ByteStream::kLargestFill;
    const bool whole = stream.fill(wanted);
    const std::size_t piece = whole ? wanted : stream.buffered().size();
    all += text(stream.buffered().first(piece));
    stream.consume(piece);
    if (!whole) return all;
  }
}

TEST_F(ByteStreamTest, ReadsARangeOfAFile) {
  const auto bytes = noise(3'000'000);
  const int fd = file_of(bytes);
  for (const std::uint64_t end : {100u, 300'000u, 1'000'000u, 2'999'999u, 3'000'000u}) {
    auto stream = ByteStream::of_file(fd, 17, end);
    EXPECT_EQ(read_in_pieces(stream, 17), bytes.substr(17, end - 17)) << end;
    EXPECT_EQ(stream.read_error(), 0);
  }
}

TEST_F(ByteStreamTest, EndsWithAShorterFile) {
  const auto bytes = noise(1'500'000);
  auto stream = ByteStream::of_file(file_of(bytes), 0, 4'000'000);
  EXPECT_EQ(read_in_pieces(stream, 0), bytes);
  EXPECT_EQ(stream.left(), 2'500'000u);
}

TEST_F(ByteStreamTest, ReadsAPipeUntilItIsClosed) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const FileDescriptor reading(ends[0]);
  FileDescriptor writing(ends[1]);
  ASSERT_EQ(::write(writing.get(), "abcdef", 6), 6);
  writing = FileDescriptor();
  auto stream = ByteStream::of_pipe(reading.get(), 0);
  ASSERT_TRUE(stream.fill(4));
  EXPECT_FALSE(stream.left());
  stream.consume(2);
  EXPECT_TRUE(stream.skip(3));
  EXPECT_EQ(text(stream.buffered()), "f");
  EXPECT_FALSE(stream.fill(2));
  EXPECT_FALSE(stream.skip(2));
}

TEST_F(ByteStreamTest, SkipsNearAndFar) {
  const auto bytes = noise(3'000'000);
  auto stream = ByteStream::of_file(file_of(bytes), 0, bytes.size());
  ASSERT_TRUE(stream.fill(100));
  ASSERT_TRUE(stream.skip(50));
  EXPECT_EQ(text(stream.buffered().first(50)), bytes.substr(50, 50));
  ASSERT_TRUE(stream.skip(2'000'000));
  ASSERT_TRUE(stream.fill(1000));
  EXPECT_EQ(text(stream.buffered().first(1000)), bytes.substr(2'000'050, 1000));
  EXPECT_FALSE(stream.skip(1'000'000));
  EXPECT_FALSE(stream.fill(1));
  EXPECT_EQ(stream.left(), 0u);
}

}  // namespace
}  // namespace skid::perfdata
