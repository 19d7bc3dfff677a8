#include "src/machine/file_tree.h"
#include "src/record/directory.h"
#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "tests/support/error_message.h"
#include "tests/support/prelude.h"
#include "tests/support/temporary_directory.h"

#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

namespace skid::record {
namespace {

class RunDirectoryTest : public ::testing::Test {
 protected:
  /// A directory that counts as a run, told apart by `mark`.
  fs::path put_run(const std::string& name, const std::string& mark) const {
    fs::create_directory(base_ / name);
    std::ofstream(base_ / name / "run.json") << mark;
    return base_ / name;
  }
  std::string mark_of(const std::string& name) const {
    const fs::path file = base_ / name / "run.json";
    return fs::exists(file) ? read_file(file, 10'000) : "nothing";
  }
  std::size_t entries() const { return test::names_in(base_).size(); }
  static std::string fault(const fs::path& path, Displace displace) {
    return test::message_of([&] { check_run_directory(path, displace); });
  }

  const test::TemporaryDirectory directory_;
  const fs::path& base_ = directory_.path();
};

TEST_F(RunDirectoryTest, StaysOnlyOnceKept) {
  {
    const RunDirectory directory = RunDirectory::create(base_ / "run", Displace::refuse);
    EXPECT_TRUE(fs::is_directory(base_ / "run"));
    std::ofstream(directory.path() / "target.load") << "x";
  }
  EXPECT_EQ(entries(), 0U);
  { RunDirectory::create(base_ / "run", Displace::refuse).keep(); }
  EXPECT_TRUE(fs::is_directory(base_ / "run"));
}

TEST_F(RunDirectoryTest, RotatesTheOldRunWhenKept) {
  put_run("run", "old");
  put_run("run.old", "older");
  EXPECT_EQ(RunDirectory::create(base_ / "run", Displace::rotate).keep(),
            "run is now run.old; the previous run.old was removed");
  EXPECT_EQ(mark_of("run"), "");
  EXPECT_EQ(mark_of("run.old"), "old");
  EXPECT_EQ(entries(), 2U);
}

TEST_F(RunDirectoryTest, KeepsOldRunsThatTookMoreThanAMinute) {
  int kept = 0;
  struct Case {
    std::vector<std::string> ended;  ///< all started at 10:00:00
    bool is_kept;
  };
  for (const auto& [all_ended, is_kept] : {Case{{"10:00:15", "10:00:45"}, false},
                                           {{"10:00:15", "10:00:46"}, true},
                                           {{"10:01:01", "09:59:00"}, true},  // clock set back
                                           {{"10:00:15", ""}, true}}) {
    run::Run run;
    for (const std::string& ended : all_ended) {
      run::PlannedMeasurement one;
      one.file = fmt::format("{}.data", run.measurements.size());
      one.state = run::State::finished;
      one.started = "2026-01-02T10:00:00Z";
      if (!ended.empty()) one.ended = "2026-01-02T" + ended + "Z";
      run.measurements.push_back(one);
    }
    put_run("run", "old");
    run::write_run(run, put_run("run.old", "older"));
    const std::string longer = mark_of("run.old");
    if (is_kept) ++kept;
    const std::string numbered = fmt::format("run.old.{}", kept);
    EXPECT_EQ(RunDirectory::create(base_ / "run", Displace::rotate).keep(),
              "run is now run.old; the previous run.old " +
                  (is_kept ? "is now " + numbered : "was removed"))
        << all_ended.back();
    if (is_kept) EXPECT_EQ(mark_of(numbered), longer);
    EXPECT_EQ(mark_of("run.old"), "old");
  }
  put_run("run", "old");
  std::ofstream(put_run("run.old", "{}") / "of another version.data") << "x";
  EXPECT_THAT(RunDirectory::create(base_ / "run", Displace::rotate).keep(),
              HasSubstr("is now run.old.4"));
}

TEST_F(RunDirectoryTest, RestoresTheOldRunWithoutKeep) {
  put_run("run", "old");
  put_run("run.old", "older");
  for (const Displace displace : {Displace::rotate, Displace::replace}) {
    { const RunDirectory directory = RunDirectory::create(base_ / "run", displace); }
    EXPECT_EQ(mark_of("run"), "old");
    EXPECT_EQ(mark_of("run.old"), "older");
    EXPECT_EQ(entries(), 2U);
  }
}

TEST_F(RunDirectoryTest, ReplacesTheOldRunWhenForced) {
  put_run("run", "old");
  { RunDirectory::create(base_ / "run", Displace::replace).keep(); }
  EXPECT_EQ(mark_of("run"), "");
  EXPECT_EQ(entries(), 1U);
}

TEST_F(RunDirectoryTest, ThatExistsIsRefusedWithTheRemedy) {
  const fs::path run = put_run("run", "old");
  EXPECT_EQ(fault(run, Displace::refuse), run.string() + ": exists; name another directory");
  EXPECT_EQ(fault(run.string() + "/", Displace::replace), "no error");
}

TEST_F(RunDirectoryTest, DisplacesRunsAndEmptyDirectoriesOnly) {
  fs::create_directory(base_ / "empty");
  EXPECT_EQ(fault(base_ / "empty", Displace::replace), "no error");
  std::ofstream(base_ / "file") << "x";
  EXPECT_THAT(fault(base_ / "file", Displace::replace), HasSubstr("is not a run"));
  fs::create_directory(base_ / "thesis");
  std::ofstream(base_ / "thesis" / "chapter1") << "x";
  EXPECT_THAT(fault(base_ / "thesis", Displace::replace), HasSubstr("is not a run"));
  EXPECT_THAT(fault(base_ / "thesis", Displace::rotate), HasSubstr("is not a run"));
}

TEST_F(RunDirectoryTest, DoesNotReplaceADirectoryThatIsNoRun) {
  put_run("run", "old");
  fs::create_directory(base_ / "run.old");
  std::ofstream(base_ / "run.old" / "chapter1") << "x";
  EXPECT_THAT(fault(base_ / "run", Displace::rotate),
              HasSubstr("run.old: exists and is not a run"));
}

TEST_F(RunDirectoryTest, ThatIsBeingRecordedIntoIsNotDisplaced) {
  std::optional<RunDirectory> first(RunDirectory::create(base_ / "run", Displace::rotate));
  std::ofstream(base_ / "run" / "run.json") << "x";
  EXPECT_THAT(fault(base_ / "run", Displace::rotate), HasSubstr("another skidscan is recording"));
  EXPECT_THROW(RunDirectory::resume(base_ / "run"), Error);
  first->keep();
  first.reset();
  EXPECT_EQ(fault(base_ / "run", Displace::rotate), "no error");
}

/// Ends without destructors, as a process that is killed.
void create_and_die(const fs::path& path, Displace displace, const std::string& file) {
  const pid_t pid = ::fork();
  if (pid == 0) {
    const RunDirectory directory = RunDirectory::create(path, displace);
    if (!file.empty()) std::ofstream(directory.path() / file) << "x";
    ::_exit(0);
  }
  ASSERT_EQ(::waitpid(pid, nullptr, 0), pid);
}

TEST_F(RunDirectoryTest, OfAKilledProcessCanBeReplaced) {
  create_and_die(base_ / "run", Displace::refuse, "target.load");
  EXPECT_EQ(fault(base_ / "run", Displace::replace), "no error");
  { RunDirectory::create(base_ / "run", Displace::replace).keep(); }
  EXPECT_FALSE(fs::exists(base_ / "run" / "target.load"));
  EXPECT_EQ(entries(), 1U);
}

TEST_F(RunDirectoryTest, GivesTheNameBackThatAKilledProcessTook) {
  for (const Displace displace : {Displace::rotate, Displace::replace}) {
    for (const std::string file : {"", "target.load"}) {
      put_run("run", "old");
      create_and_die(base_ / "run", displace, file);
      EXPECT_EQ(mark_of("run"), "");
      EXPECT_EQ(mark_of("run.replaced"), "old");
      EXPECT_EQ(replaced_run(base_ / "run"), base_ / "run.replaced");
      EXPECT_THAT(fault(base_ / "run", Displace::refuse), HasSubstr("run: exists"));
      EXPECT_EQ(mark_of("run"), "old");
      EXPECT_EQ(entries(), 1U);
    }
  }
  fs::rename(base_ / "run", base_ / "run.replaced");
  { RunDirectory::create(base_ / "run", Displace::rotate).keep(); }
  EXPECT_EQ(mark_of("run.old"), "old");
  EXPECT_EQ(replaced_run(base_ / "run"), fs::path());
}

TEST_F(RunDirectoryTest, KeepsBothRunsOfAKilledProcessWithARecording) {
  put_run("run.replaced", "old");
  put_run("run", "new");
  std::ofstream(base_ / "run" / "access.pp.data") << "x";
  EXPECT_THAT(fault(base_ / "run", Displace::replace),
              HasSubstr("run.replaced: exists, a run that was set aside for "));
  EXPECT_EQ(mark_of("run"), "new");
  EXPECT_EQ(mark_of("run.replaced"), "old");
}

TEST_F(RunDirectoryTest, LeavesOtherFilesThatHaveTheNameOfAReplacedRun) {
  put_run("run", "old");
  fs::create_directory(base_ / "run.replaced");
  std::ofstream(base_ / "run.replaced" / "chapter1") << "x";
  EXPECT_EQ(fault(base_ / "run", Displace::replace), "no error");
  EXPECT_THROW(RunDirectory::create(base_ / "run", Displace::replace), Error);
  EXPECT_EQ(mark_of("run"), "old");
  EXPECT_TRUE(fs::exists(base_ / "run.replaced" / "chapter1"));
}

TEST_F(RunDirectoryTest, DoesNotRestoreARunThatIsBeingReplaced) {
  put_run("run", "old");
  const RunDirectory directory = RunDirectory::create(base_ / "run", Displace::rotate);
  EXPECT_THAT(fault(base_ / "run", Displace::rotate), HasSubstr("another skidscan is recording"));
  EXPECT_EQ(mark_of("run.replaced"), "old");
}

TEST_F(RunDirectoryTest, ThatIsResumedStaysWithoutKeep) {
  put_run("run", "partial");
  { const RunDirectory directory = RunDirectory::resume(base_ / "run"); }
  EXPECT_EQ(mark_of("run"), "partial");
}

TEST_F(RunDirectoryTest, WithoutAParentIsNamed) {
  const fs::path path = base_ / "missing" / "run";
  EXPECT_EQ(test::message_of([&] { RunDirectory::create(path, Displace::refuse); }),
            path.string() + ": cannot be created: no such file or directory");
}

}  // namespace
}  // namespace skid::record
