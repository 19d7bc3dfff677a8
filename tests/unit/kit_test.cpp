// A kit: shell quoting, measurement lines, tar and directory.
#include "src/record/kit/kit.h"

#include "src/run/run.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/process.h"
#include "tests/support/prelude.h"

namespace skid::kit {
namespace {

run::PlannedMeasurement measurement_of(const std::string& event, const std::string& file) {
  run::PlannedMeasurement measurement;
  measurement.event = event;
  measurement.requested = event;
  measurement.perf_event = event;
  measurement.period = 7;
  measurement.trigger = "load";
  measurement.length = std::uint64_t{500};
  measurement.file = file;
  return measurement;
}

Kit kit_of(std::vector<run::PlannedMeasurement> measurements) {
  Kit kit;
  kit.plan.samples = 5000;
  kit.plan.machine.cpu.arch = "x86_64";
  kit.plan.targets = {{.trigger = "load", .file = "target.load", .build_id = "00"}};
  kit.plan.measurements = std::move(measurements);
  return kit;
}

TEST(MeasurementLine, ContainsTheCommandOfPerf) {
  auto access = measurement_of("access", "access.none.data");
  EXPECT_EQ(
      measurement_line(access, "1/2 access", "target.load"),
      "measure '1/2 access' access.none.data 0 0 \"$perf\" record --no-buildid-cache "
      "${perf_5_1:+--no-bpf-event} -e access -c 7 -o access.none.data.partial ${perf_5_10:+-D "
      "-1 --control \"fifo:$work/access.none.data.control,$work/access.none.data.acknowledge\"} "
      "-- ./target.load --iterations 500 --cpu \"$cpu\" ${perf_5_10:+--control "
      "\"$work/access.none.data.control\" --ack \"$work/access.none.data.acknowledge\"}\n");
  access.length = std::chrono::milliseconds(1500);
  access.samples = 5000;
  access.cross_check = "exceptions:page_fault_user";
  const std::string line = measurement_line(access, "2/2 access", "target.load");
  EXPECT_THAT(line, HasSubstr(" access.none.data 5000 1.500000000 "));
  EXPECT_THAT(line, HasSubstr(" --seconds @seconds "));
  EXPECT_THAT(line,
              HasSubstr(" ${cross_check:+-e access/period=7/ -e exceptions:page_fault_user -c 1} "
                        "${no_cross_check:+-e access -c 7} "));
}

TEST(Script, RefusesControlCharactersInEventNames) {
  EXPECT_THROW(script_of(kit_of({measurement_of("a\nb", "a.data")})), UsageError);
  EXPECT_THROW(script_of(kit_of({measurement_of("a\x1b[2J", "a.data")})), UsageError);
}

TEST(Script, PassesShellcheck) {
  SKIP_WITHOUT("shellcheck");
  const test::TemporaryDirectory directory;
  auto faults = measurement_of("it's", "its.data");
  faults.cross_check = "exceptions:page_fault_user";
  Kit kit = kit_of({faults, measurement_of("cycles", "cycles.data")});
  kit.pmus = {"cpu_core"};
  std::ofstream(directory / "run.sh") << script_of(kit);
  std::ofstream(directory / "submit.sh") << submit_script();
  for (const std::string script : {"run.sh", "submit.sh"}) {
    const Completed done = run_program({"shellcheck", (directory / script).string()});
    EXPECT_TRUE(done.code.success()) << done.out << done.err;
  }
}

TEST(NamedPmus, ListsPmusOfEventsWithoutBreakpoints) {
  EXPECT_THAT(named_pmus(kit_of({measurement_of("cpu_core/cycles/u", "a"),
                                 measurement_of("cpu_core/config=0x1,name=x/", "b"),
                                 measurement_of("mem:0x1000/8:rw", "c"),
                                 measurement_of("cycles", "d"), measurement_of("ibs_op//", "e")})
                             .plan),
              ElementsAre("cpu_core", "ibs_op"));
}

TEST(Tar, IsExtractedByTarPrograms) {
  const std::vector<File> files{{.name = "run.sh", .content = "#!/bin/sh\n", .executable = true},
                                {.name = "empty", .content = {}, .executable = false},
                                {.name = "block", .content = std::string(512, 'b')},
                                {.name = "big", .content = std::string(100'000, '\0')}};
  const std::string tar = tar_of(files, "skidscan-kit");
  for (const std::vector<std::string>& program :
       {std::vector<std::string>{"tar"}, {"busybox", "tar"}}) {
    if (!find_program(program.front())) continue;
    const test::TemporaryDirectory directory;
    write_file_atomically(directory / "kit.tar", tar);
    std::vector<std::string> command = program;
    command.insert(command.end(), {"-xf", "kit.tar"});
    const Completed extracted = run_program(command, directory.path());
    ASSERT_TRUE(extracted.code.success()) << extracted.err;
    EXPECT_EQ(extracted.err, "");
    for (const File& file : files) {
      const fs::path path = directory / "skidscan-kit" / file.name;
      EXPECT_EQ(read_file(path, tar.size()), file.content);
      const auto execute = fs::status(path).permissions() & fs::perms::owner_exec;
      EXPECT_EQ(execute != fs::perms::none, file.executable) << path;
    }
  }
}

TEST(Tar, HasNoOwnerAndNoTime) {
  const test::TemporaryDirectory directory;
  write_file_atomically(directory / "kit.tar", tar_of({{.name = "a", .content = "text"}}, "kit"));
  const Completed listed =
      run_program({"tar", "--utc", "--numeric-owner", "-tvf", "kit.tar"}, directory.path());
  EXPECT_EQ(listed.out,
            "drwxr-xr-x 0/0               0 1970-01-01 00:00 kit/\n"
            "-rw-r--r-- 0/0               4 1970-01-01 00:00 kit/a\n");
}

TEST(Tar, RefusesNamesThatItCannotHave) {
  const std::string most(96, 'n');
  EXPECT_NO_THROW(tar_of({{.name = most, .content = {}}}, "kit"));
  EXPECT_THAT(test::message_of([&] { (void)tar_of({{.name = most + "n", .content = {}}}, "kit"); }),
              HasSubstr("101 bytes long"));
}

TEST(KitDirectory, ReplacesOnlyKitsWithForce) {
  const test::TemporaryDirectory base;
  const std::vector<File> files{{.name = "plan.json", .content = "{}"},
                                {.name = "run.sh", .content = "new", .executable = true}};
  write_directory(files, base / "kit/", false);
  EXPECT_TRUE(is_kit(base / "kit"));
  EXPECT_EQ(fs::status(base / "kit" / "run.sh").permissions(), fs::perms{0755});
  EXPECT_THROW(write_directory(files, base / "kit", false), Error);
  write_directory(files, base / "kit", true);

  fs::create_directory(base / "mine");
  std::ofstream(base / "mine" / "letter") << "dear";
  EXPECT_THROW(write_directory(files, base / "mine", true), Error);
  EXPECT_EQ(read_file(base / "mine" / "letter", 100), "dear");
  EXPECT_THROW(write_directory(files, base / "missing/kit", false), Error);
  // submit.sh keeps runs there.
  fs::create_directory(base / "kit" / "results");
  EXPECT_THROW(write_directory(files, base / "kit", true), Error);
  fs::remove(base / "kit" / "results");
  // A directory with recordings is a run.
  std::ofstream(base / "kit" / "session") << "format=1\n";
  EXPECT_FALSE(is_kit(base / "kit"));
  EXPECT_THROW(write_directory(files, base / "kit", true), Error);
}

}  // namespace
}  // namespace skid::kit
