
#include "src/support/file.h"

#include "src/machine/file_tree.h"
#include "src/support/error.h"
#include "src/support/staged_file.h"
#include "tests/support/device.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid {
namespace {

class File : public ::testing::Test {
 protected:
  fs::path write(const std::string& name, const std::string& content) const {
    return directory_.write(name, content);
  }
  std::size_t entries() const { return test::names_in(directory_.path()).size(); }
  static std::string fault_of(const fs::path& path, std::uint64_t limit = 1000) {
    return test::message_of<InputError>([&] { read_file(path, limit); });
  }
  static std::string failure_to_write(const fs::path& path) {
    return test::message_of([&] { write_file_atomically(path, "x"); });
  }

  test::TemporaryDirectory directory_;
};

TEST_F(File, IsReadWhole) {
  std::string content(300'000, 'x');
  content[5] = '\0';
  EXPECT_EQ(read_file(write("a", content), 300'000), content);
  EXPECT_EQ(read_file(write("empty", ""), 0), "");
}

TEST_F(File, OfProcIsReadThoughItCallsItselfEmpty) {
  EXPECT_THAT(read_file("/proc/self/status", 1 << 20), HasSubstr("Pid:"));
}

TEST_F(File, BeyondTheLimitIsRefusedWithBothSizes) {
  const fs::path path = write("a", "12345");
  EXPECT_EQ(read_file(path, 5), "12345");
  EXPECT_EQ(fault_of(path, 4), path.string() + ": a file of 5 bytes, expected at most 4");
  EXPECT_THAT(fault_of("/proc/self/status", 10), HasSubstr("more than 10 bytes"));
}

TEST_F(File, ThatIsNoneIsRefusedByItsKind) {
  EXPECT_THAT(fault_of(directory_ / "missing"), HasSubstr("missing: no such file"));
  EXPECT_THAT(fault_of(directory_.path()), HasSubstr("a directory, expected a regular file"));
  EXPECT_THAT(fault_of("/dev/zero"), HasSubstr("a device"));
  const fs::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_THAT(fault_of(fifo), HasSubstr("a FIFO"));  // and the read did not block
}

TEST_F(File, DescriptorIsClosedOnceByItsLastOwner) {
  const int fd = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ASSERT_GE(fd, 0);
  {
    FileDescriptor first(fd);
    FileDescriptor second = std::move(first);
    EXPECT_EQ(second.get(), fd);
    FileDescriptor third;
    third = std::move(second);
    EXPECT_TRUE(third);
    EXPECT_NE(::fcntl(fd, F_GETFD), -1);
  }
  EXPECT_EQ(::fcntl(fd, F_GETFD), -1);
}

TEST_F(File, WrittenReplacesTheOldContentAndLeavesNothingElse) {
  const fs::path path = write("a", "old content that is longer");
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path, 100), "new");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, WrittenIsReadableByWhomTheUmaskAllows) {
  const mode_t before = ::umask(022);
  write_file_atomically(directory_ / "a", "x");
  ::umask(before);
  struct stat status {};
  ASSERT_EQ(::stat((directory_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0644U);
}

TEST_F(File, WrittenThroughASymbolicLinkIsWhereItPoints) {
  fs::create_symlink("a", directory_ / "link");
  for (const char* content : {"made", "replaced"}) {
    write_file_atomically(directory_ / "link", content);
    EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
    EXPECT_EQ(read_file(directory_ / "a", 100), content);
  }
}

TEST_F(File, WrittenToAnOpenFileIsAddedToIt) {
  const fs::path log = directory_ / "log";
  std::ofstream(log) << "before";
  const FileDescriptor open(::open(log.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
  const fs::path link = directory_ / "stdout";
  fs::create_symlink("/proc/self/fd/" + std::to_string(open.get()), link);
  write_file_atomically(link, " and after");
  EXPECT_EQ(read_file(log, 100), "before and after");
  EXPECT_TRUE(fs::is_symlink(link));
}

TEST_F(File, WrittenToADeviceLeavesTheDevice) {
  const fs::path null = directory_ / "null", full = directory_ / "full";
  if (!test::make_device(null, test::MemoryDevice::null) ||
      !test::make_device(full, test::MemoryDevice::full)) {
    GTEST_SKIP() << "no permission to make device nodes";
  }
  fs::create_symlink("null", directory_ / "link");
  for (const char* name : {"null", "link"}) write_file_atomically(directory_ / name, "x");
  EXPECT_TRUE(fs::is_character_file(fs::symlink_status(null)));
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(failure_to_write(full), full.string() + ": cannot be written: no space left on device");
  EXPECT_TRUE(fs::is_character_file(full));
  EXPECT_EQ(entries(), 3U);
}

TEST_F(File, StagedForAFifoArrivesWholeWhateverTheOrderOfItsParts) {
  const fs::path fifo = directory_ / "fifo";
  ASSERT_EQ(::mkfifo(fifo.c_str(), 0600), 0);
  const FileDescriptor reader(::open(fifo.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  {
    StagedFile staged(fifo);
    write_all(staged.file(), "0123", "");
    ASSERT_EQ(::pwrite(staged.file().get(), "ab", 2, 1), 2);
    staged.complete();
  }
  EXPECT_EQ(read_to_end(reader, 100, "fifo"), "0ab3");
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(File, StagedButNotCompletedLeavesTheOldOne) {
  const fs::path path = write("a", "old");
  {
    const StagedFile staged(path);
    write_all(staged.file(), "new", "");
    EXPECT_EQ(read_file(path, 100), "old");
  }
  EXPECT_EQ(read_file(path, 100), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, StagedLeavesNothingWhenTheProcessIsKilled) {
  const fs::path path = write("a", "old");
  const pid_t child = ::fork();
  if (child == 0) {
    const StagedFile replacing(path), adding(directory_ / "b");
    write_all(adding.file(), "new", "");
    ::raise(SIGKILL);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(read_file(path, 100), "old");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, StagedDoesNotFollowALinkWithItsTemporaryName) {
  const fs::path other = write("other", "theirs"), path = write("a", "old");
  for (int attempt = 0; attempt < 3; ++attempt) {
    fs::create_symlink(other, directory_ / fmt::format(".skidscan.{}.{}.tmp", ::getpid(), attempt));
  }
  write_file_atomically(path, "new");
  EXPECT_EQ(read_file(path, 100), "new");
  EXPECT_EQ(read_file(other, 100), "theirs");
}

TEST_F(File, WrittenMayHaveTheLongestName) {
  const std::string name(NAME_MAX, 'a');
  write_file_atomically(directory_ / name, "x");
  write_file_atomically(directory_ / name, "y");
  EXPECT_EQ(read_file(directory_ / name, 100), "y");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(File, ThatCannotBeWrittenIsNamedWithTheReason) {
  const fs::path missing = directory_ / "missing/a";
  EXPECT_EQ(failure_to_write(missing),
            missing.string() + ": cannot be written: no such file or directory");
  EXPECT_EQ(failure_to_write(directory_.path()),
            directory_.path().string() + ": cannot be written: is a directory");
  fs::create_symlink("loop", directory_ / "loop");
  EXPECT_THAT(failure_to_write(directory_ / "loop"),
              HasSubstr("too many levels of symbolic links"));
}

TEST_F(File, LeavesWhatWasPeekedAtForTheNextReader) {
  const FileDescriptor file = open_regular_file(write("a", "abcdef"));
  EXPECT_EQ(peek(file, 3), "abc");
  EXPECT_EQ(peek(file, 3), "abc");
  EXPECT_EQ(read_to_end(file, 100, "a"), "abcdef");
  EXPECT_EQ(peek(file, 3), "");

  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const FileDescriptor out(ends[0]);
  {
    const FileDescriptor in(ends[1]);
    ASSERT_EQ(::write(in.get(), "abcdef", 6), 6);
    EXPECT_EQ(peek(out, 3), "abc");
    EXPECT_EQ(peek(out, 100), "abcdef");
  }
  EXPECT_EQ(read_to_end(out, 100, "pipe"), "abcdef");
  EXPECT_EQ(peek(out, 3), "") << "at its end";
  EXPECT_EQ(peek(FileDescriptor(::open("/dev/null", O_RDONLY | O_CLOEXEC)), 3), "");
}

TEST_F(File, IsReadToItsEndOrBeyondTheLimit) {
  const std::string content(300'000, 'x');
  const FileDescriptor file = open_regular_file(write("a", content));
  EXPECT_GT(read_to_end(file, 1000, "a").size(), 1000u);
  EXPECT_LT(read_to_end(file, 1000, "a").size(), content.size());
  const auto refused = test::message_of<InputError>([&] {
    const auto path = directory_.path();
    (void)read_to_end(FileDescriptor(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), 9, "dir");
  });
  EXPECT_THAT(refused, HasSubstr("dir: at offset 0x0: is a directory"));
}

TEST_F(File, SizeIsThatOfItsContentWithoutHoles) {
  constexpr std::uint64_t kBlock = 65536;
  const fs::path path = directory_ / "holes";
  FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT, 0600));
  EXPECT_EQ(size_without_holes(file), 0);
  write_all(file, std::string(kBlock, 'x'), path);
  EXPECT_EQ(size_without_holes(file), kBlock);
  fs::resize_file(path, 100 * kBlock);
  ::lseek(file.get(), 50 * kBlock, SEEK_SET);
  write_all(file, std::string(kBlock, 'y'), path);
  const auto size = size_without_holes(file);
  if (size == 100 * kBlock) GTEST_SKIP() << "the file system does not report holes";
  EXPECT_EQ(size, 2 * kBlock);
}

TEST(DescribeErrno, StartsInLowerCaseUnlessWithAnAcronym) {
  EXPECT_EQ(describe_errno(ENOSPC), "no space left on device");
  EXPECT_EQ(describe_errno(EIO), "input/output error");
  EXPECT_EQ(describe_errno(EXDEV), "invalid cross-device link");
}

}  // namespace
}  // namespace skid
