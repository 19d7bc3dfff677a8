// make_seeds CORPUS: writes the inputs of tests/fuzz/corpus that cannot be recorded here: the other
// byte order, layouts that need a PMU, damage, and single feature sections.
#include "src/perfdata/byte_writer.h"
#include "src/perfdata/format.h"
#include "src/support/address.h"
#include "src/support/file.h"
#include "src/symbols/kallsyms.h"
#include "tests/fuzz/sampled_program.h"
#include "tests/support/recording_builder.h"
#include "tests/support/spe_to_build.h"

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <ios>
#include <string>
#include <string_view>
#include <vector>

namespace {

using namespace skid::perfdata;
using skid::test::ByteWriter;
using skid::test::EventToBuild;
using skid::test::RecordingBuilder;

constexpr std::uint16_t kUser = 2;

/// A process that starts, is named, maps a file, forks, and is sampled twice.
RecordingBuilder& add_life(RecordingBuilder& builder) {
  const auto trailer = builder.writer().i32(7).i32(7).u64(20).bytes();
  builder.mmap(7, 0x400000, 0x2000, 0, "/usr/bin/program", 10)
      .record(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
              builder.writer().i32(7).i32(7).text("program").raw(trailer).bytes())
      .mmap(7, 0x401000, 0x1000, 0x3000, "/usr/lib/library.so", 30)
      .record(PERF_RECORD_FORK, 0,
              builder.writer().i32(8).i32(7).i32(8).i32(7).u64(40).raw(trailer).bytes())
      .sample(0x401010, 7, 25)
      .sample(0x401010, 7, 35)
      .sample(0x401010, 8, 50)
      .record(PERF_RECORD_LOST, 0, builder.writer().u64(1).u64(3).raw(trailer).bytes())
      .record(PERF_RECORD_EXIT, 0,
              builder.writer().i32(8).i32(7).i32(8).i32(7).u64(60).raw(trailer).bytes());
  return builder;
}

std::string build_ids(const RecordingBuilder& builder) {
  return builder.build_id_entry("/usr/bin/program", std::string(20, '\x5a'),
                                PERF_RECORD_MISC_BUILD_ID_SIZE, 20);
}

/// Samples with all fields of variable length.
RecordingBuilder with_details() {
  RecordingBuilder builder;
  EventToBuild event{.type = PERF_TYPE_RAW, .config = 0x1cd, .ids = {5, 6}};
  event.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME |
                      PERF_SAMPLE_ADDR | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN |
                      PERF_SAMPLE_RAW | PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_REGS_USER |
                      PERF_SAMPLE_STACK_USER | PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC |
                      PERF_SAMPLE_AUX;
  event.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID;
  event.branch_sample_type = PERF_SAMPLE_BRANCH_HW_INDEX;
  event.sample_regs_user = 3;
  event.precise_ip = 2;
  auto sample = builder.writer();
  sample.u64(5).u64(0x401010).i32(7).i32(7).u64(25).u64(0x1000);  // to ADDR
  sample.u64(1).u64(99).u64(5);                                   // READ
  sample.u64(2).u64(0xfffffffffffffe00).u64(0x401010);            // CALLCHAIN
  sample.u32(4).u32(7);                                           // RAW
  sample.u64(1).u64(0).u64(0x401000).u64(0x401010).u64(1);        // BRANCH_STACK
  sample.u64(2).u64(1).u64(2);                                    // REGS_USER
  sample.u64(8).u64(0x1234).u64(4);                               // STACK_USER
  sample.u64(3).u64(0x68100142).u64(8).u64(0x5555555555555555);   // WEIGHT, DATA_SRC, AUX
  builder.event(event).record(PERF_RECORD_SAMPLE, kUser | PERF_RECORD_MISC_EXACT_IP,
                              sample.bytes());
  return builder;
}

/// Reads of two groups of counters, inherited by a thread, with all other fields.
RecordingBuilder with_groups() {
  RecordingBuilder builder;
  EventToBuild event{.type = PERF_TYPE_HARDWARE, .config = 0, .ids = {5, 6}};
  event.sample_type |= PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_READ;
  event.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_ID | PERF_FORMAT_LOST |
                      PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  event.inherit = true;
  EventToBuild member = event;
  member.config = 1;
  member.ids = {7, 8};
  builder.event(event).event(member);
  for (std::uint64_t i = 1; i <= 4; ++i) {
    const std::uint64_t cpu = i % 2;
    auto sample = builder.writer();
    sample.u64(5 + cpu).u64(0x401010).i32(7).i32(7 + static_cast<std::int32_t>(cpu)).u64(i * 10);
    sample.u64(2).u64(i * 10).u64(i * 10);  // counters, times
    sample.u64(i * 1000).u64(5 + cpu).u64(0).u64(i / 2).u64(7 + cpu).u64(0);
    builder.record(PERF_RECORD_SAMPLE, kUser, sample.bytes());
  }
  return builder;
}

/// As simpleperf records: with its tracing data inside a record.
RecordingBuilder from_simpleperf() {
  RecordingBuilder builder;
  builder.event({});
  builder.record(PERF_RECORD_HEADER_TRACING_DATA, 0,
                 builder.writer().u32(10).raw("\x17\x08\x44tracing").u16(0).bytes());
  builder.sample(0x401010, 7, 10).sample(0x401010, 7, 20);
  builder.feature(HEADER_SIMPLEPERF_META_INFO, std::string("simpleperf_version\0001.7\0", 23));
  return builder;
}

void write_file(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// Packets of all kinds.
skid::test::SpePackets spe_records() {
  skid::test::SpePackets packets;
  packets.pc(0x401000).load(0x0e).events(0x16).data(0xb400'0000'0000'1000).physical(0x2000);
  packets.latency(0, 30).latency(1, 4).latency(2, 1).source(8).context(7).timestamp(20);
  packets.padding(3).pc(0xffff'8000'0000'1000, 1).store(4).events(0x603f3, 4).context(8);
  packets.timestamp(21).pc(0x401004).branch(1).events(0x42).target(0x401000).end();
  packets.raw({"\x22\x00", 2}).padding(2).pc(0x401008).raw("\xff").other(8).end();
  return packets.raw("\x21\x98\x01\x02").pc(0x40100c).raw("\xb2");
}

void write_recordings(const std::filesystem::path& directory) {
  for (const bool big_endian : {false, true}) {
    RecordingBuilder builder(big_endian);
    add_life(builder.event({.ids = {5}}));
    builder.feature(HEADER_BUILD_ID, build_ids(builder));
    builder.feature(HEADER_EVENT_DESC, builder.event_description("cpu-clock:u", {5}));
    builder.write(directory / (big_endian ? "life-big-endian.data" : "life.data"));
  }
  with_details().write(directory / "details.data");
  with_groups().write(directory / "groups.data");
  from_simpleperf().write(directory / "simpleperf.data");

  RecordingBuilder two;
  two.event({.sample_type = EventToBuild{}.sample_type | PERF_SAMPLE_IDENTIFIER, .ids = {1}});
  two.event({.sample_type = EventToBuild{}.sample_type | PERF_SAMPLE_IDENTIFIER, .ids = {2}});
  two.record(PERF_RECORD_SAMPLE, kUser,
             two.writer().u64(2).u64(0x1000).i32(7).i32(7).u64(10).bytes());
  two.record(PERF_RECORD_SAMPLE, kUser,
             two.writer().u64(3).u64(0x1000).i32(7).i32(7).u64(10).bytes());
  two.write(directory / "unknown-id.data");

  RecordingBuilder trace;
  trace.event({}).sample(0x1000, 7, 10);
  trace.record(PERF_RECORD_AUXTRACE, 0, trace.writer().u64(16).u64(0).u64(0).u64(0).bytes());
  trace.record(PERF_RECORD_FINISHED_ROUND, 0, trace.writer().u64(0).bytes());
  trace.sample(0x1000, 7, 20).write(directory / "auxtrace.data");

  // AUX data of SPE, also malformed and cut off, before and after the records of its threads.
  skid::test::SpeRecording spe;
  spe.comm(7, 7, 1).map(7, 0x400000, 0x10000, "/bin/x", 2).trace(spe_records());
  spe.fork(7, 8, 3).switch_in(7, 8, 10, 1).aux(0, 64, PERF_AUX_FLAG_PARTIAL, 40);
  spe.trace(skid::test::SpePackets().raw(spe_records().bytes().substr(5, 70)), 1);
  spe.finished().write(directory / "spe.data");

  RecordingBuilder cut;
  cut.event({}).sample(0x1000, 7, 10).record(PERF_RECORD_SAMPLE, kUser, "", 4);
  cut.write(directory / "record-of-4-bytes.data");
}

void write_features(const std::filesystem::path& directory) {
  const auto write = [&](std::string_view name, unsigned bit, std::string_view content,
                         bool big_endian = false) {
    const unsigned kind = bit < HEADER_SIMPLEPERF ? bit : bit - HEADER_SIMPLEPERF / 2;
    std::string input(1, static_cast<char>(kind | (big_endian ? 0x80U : 0U)));
    write_file(directory / name, input.append(content));
  };
  const RecordingBuilder little, big(true);
  write("hostname", HEADER_HOSTNAME, ByteWriter().counted_text("example").bytes());
  write("cpuid", HEADER_CPUID, ByteWriter().counted_text("AuthenticAMD,25,17,1").bytes());
  write("command-line", HEADER_CMDLINE,
        ByteWriter().u32(2).counted_text("perf").counted_text("record").bytes());
  write("event-description", HEADER_EVENT_DESC, little.event_description("cycles:ppp", {5}));
  write("event-description-big-endian", HEADER_EVENT_DESC, big.event_description("cycles", {5}),
        true);
  write("build-ids", HEADER_BUILD_ID, build_ids(little));
  write("build-ids-big-endian", HEADER_BUILD_ID, build_ids(big), true);
  write("pmu-mappings", HEADER_PMU_MAPPINGS,
        ByteWriter().u32(1).u32(4).counted_text("cpu").bytes());
  write("meta-info", HEADER_SIMPLEPERF_META_INFO,
        std::string_view("simpleperf_version\0001.7\0clock\0perf\0", 34));
  write("sample-time", HEADER_SAMPLE_TIME, ByteWriter().u64(10).u64(20).bytes());
}

/// Counts for rates, as perf prints them with a PMU.
void write_counts(const std::filesystem::path& directory) {
  write_file(directory / "separated",
             "# started on Thu Jan  1 00:00:00 1970\n\n"
             "2481003377,,r01d1,2066000000,100.00,,\n11000321,,r08d1,2066000000,100.00,,\n"
             "32110021,,r40d1,2066000000,100.00,,\n<not counted>,,r10d1,0,100.00,,\n"
             "3127,,cpu/event=0x24,umask=0x21/u,2066000000,83.33,,\n"
             "9127,,l2_rqsts.references,2066000000,83.33,,\n0.55,msec,cpu-clock,9,100.00,,\n");
  write_file(directory / "intervals-and-cpus",
             "     0.010097717,CPU0,76,,r01d1,663401,100.00,,\n"
             "     0.010097717,CPU1,11,,r01d1,663401,100.00,,\n"
             "     0.020262865,CPU0,<not counted>,,r01d1,0,100.00,,\n");
  write_file(directory / "json",
             "{\"counter-value\" : \"955.000000\", \"unit\" : \"\", \"event\" : \"r81d0\", "
             "\"event-runtime\" : 4932686, \"pcnt-running\" : 100.00, \"metric-value\" : 0.1, "
             "\"metric-unit\" : \"K/sec\"}\n"
             "{\"cpu\" : \"0\", \"counter-value\" : \"<not counted>\", "
             "\"unit\" : \"\", \"cgroup\" : \"\", \"event\" : \"r20d1\", \"variance\" : 0.5, "
             "\"event-runtime\" : 0, \"pcnt-running\" : 0.00}\n");
}

/// Sampled code: flags, functions, instructions (fuzz_code.cpp).
void write_code(const std::filesystem::path& directory, const std::string& all_kinds) {
  const auto repeated = [](std::string_view instruction, int times) {
    std::string code;
    for (int i = 0; i < times; ++i) code += instruction;
    return code;
  };
  const auto code_of = [](const std::vector<std::uint8_t>& code) {
    return std::string(code.begin(), code.end());
  };
  const auto function = [](std::size_t begin, std::size_t size) {
    ByteWriter symbol;
    symbol.u16(static_cast<std::uint16_t>(begin)).u16(static_cast<std::uint16_t>(size));
    return std::string(symbol.bytes());
  };
  const auto write = [&](const char* name, char flags, const std::vector<std::string>& functions,
                         const std::string& code) {
    std::string content{flags, static_cast<char>(functions.size())};
    for (const std::string& symbol : functions) content += symbol;
    write_file(directory / name, content + code);
  };
  const std::string stores = code_of(skid::fuzz::StoringProgram().code);
  const std::string jumps = repeated("\xff\xe0", 20) + repeated("\x90", 8) + "\xeb\xee";
  write("all-kinds", 0x02, {function(0, all_kinds.size())}, all_kinds);
  write("stores", 0x22, {function(0, stores.size())}, stores);
  write("stores-alone", 0x32, {function(0, 264)}, stores.substr(0, 64) + stores.substr(0, 64));
  write("indirect-jumps", 0x24, {function(0, jumps.size()), function(8, 30)}, jumps);
  write("aarch64", 0x01, {function(0, 64)},
        repeated(std::string_view("\x20\x00\x00\xf9\x41\x00\x40\xf9\xc0\xff\xff\x54", 12), 8));
}

/// Recordings of the storing program.
void write_corrected(const std::filesystem::path& directory) {
  const skid::fuzz::StoringProgram program;
  write_file(directory / "stores", skid::fuzz::recording_of(skid::Arch::x86_64, program.code.size(),
                                                            program.after_stores, program.code));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: make_seeds CORPUS\n", stderr);
    return 64;
  }
  const std::filesystem::path corpus = argv[1];
  write_recordings(corpus / "recording");
  write_features(corpus / "features");
  write_file(corpus / "spe" / "all-packets", "\x04" + spe_records().bytes());
  write_counts(corpus / "perfstat");
  write_code(corpus / "code", skid::read_file(corpus / "instructions" / "all-kinds", 1U << 16U));
  write_corrected(corpus / "corrected");
  return 0;
}
