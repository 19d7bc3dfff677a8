// Small recordings of every kind, cut at every byte, with every bit flipped and numbers
// overwritten: what is before the damage counts, the rest is reported as missing, and nothing
// comes twice.
#include "analysis/basis.h"
#include "src/locate/digest.h"
#include "src/machine/diagnosis.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/metadata.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "tests/support/prelude.h"
#include "tests/support/recording_builder.h"
#include "tests/support/recording_in_memory.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/text.h"
#include "tests/support/zstd_compressor.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace skid::perfdata {
namespace {

using test::RecordingBuilder;

using Addresses = std::vector<std::uint64_t>;

/// A sound recording, and what of it can be read when only its front is left.
struct Specimen {
  /// Where a record ends in `bytes`, and the samples that have come until there.
  struct Mark {
    std::size_t end = 0;
    std::size_t samples = 0;
    bool within_compressed_record = false;  ///< the next packet goes on with a record
  };

  std::string bytes;
  bool big_endian = false;
  std::size_t data_begin = 0, data_end = 0;  ///< records other than those of pipe-mode metadata
  Addresses samples;                         ///< ips in the order of the file
  std::vector<Mark> marks;
  std::size_t decompressed_size = 0;  ///< bytes of all records, compressed ones decompressed
  bool is_compressed = false;

  /// Samples in the records that end at or before `size` bytes.
  Addresses samples_before(std::size_t size) const {
    std::size_t count = 0;
    for (const Mark& mark : marks) {
      if (mark.end <= size) count = mark.samples;
    }
    return {samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(count)};
  }
};

/// What was read of a recording that could be opened.
struct Reading {
  Addresses samples;
  bool in_part = false;
};

/// Builds a specimen record by record.
class SpecimenBuilder {
 public:
  explicit SpecimenBuilder(bool big_endian = false) : builder_(big_endian) {
    specimen_.big_endian = big_endian;
    builder_.attribute_size(64);
    constexpr std::uint64_t kType = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID |
                                    PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN;
    builder_.event({.sample_type = kType, .ids = {11, 12}});
    builder_.event({.sample_type = kType | PERF_SAMPLE_PERIOD, .precise_ip = 2, .ids = {21}});
    auto events = builder_.writer();
    events.u32(2).u32(64);
    events.raw(std::string(64, '\0')).u32(1).counted_text("cycles", 8).u64(11);
    events.raw(std::string(64, '\0')).u32(1).counted_text("cycles:pp", 8).u64(21);
    builder_.feature(HEADER_OSRELEASE, builder_.writer().counted_text("6.1.0", 8).bytes());
    builder_.feature(
        HEADER_CMDLINE,
        builder_.writer().u32(2).counted_text("perf", 8).counted_text("record", 8).bytes());
    builder_.feature(HEADER_EVENT_DESC, events.bytes());
  }

  /// The records of a program that starts, forks and is sampled.
  SpecimenBuilder& program() {
    const auto trailer = [this](std::uint64_t time) {
      return builder_.writer().i32(7).i32(7).u64(time).u64(11).bytes();
    };
    add(PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC,
        builder_.writer().i32(7).i32(7).text("prog").raw(trailer(1)).bytes());
    auto mapping = builder_.writer();
    mapping.i32(7).i32(7).u64(0x1000).u64(0x1000).u64(0).text("/p").raw(trailer(2));
    add(PERF_RECORD_MMAP, 2, mapping.bytes());
    sample(11, 0x1010, 3);
    add(PERF_RECORD_FORK, 0,
        builder_.writer().i32(8).i32(7).i32(8).i32(7).u64(4).raw(trailer(4)).bytes());
    return sample(21, 0x1020, 5).sample(12, 0x1030, 6);
  }

  SpecimenBuilder& sample(std::uint64_t id, std::uint64_t ip, std::uint64_t time) {
    specimen_.samples.push_back(ip);
    auto body = builder_.writer();
    body.u64(id).u64(ip).i32(7).i32(7).u64(time);
    if (id == 21) body.u64(1000);
    add(PERF_RECORD_SAMPLE, 2, body.u64(2).u64(ip).u64(ip + 8).bytes());
    return *this;
  }

  /// What is added from here on is compressed with the rest of `compress`.
  SpecimenBuilder& begin_compression() {
    packing_ = true;
    return *this;
  }
  /// Packs what was added in two packets, the first of which ends inside a record.
  SpecimenBuilder& compress(std::uint32_t type) {
    packing_ = false;
    specimen_.is_compressed = true;
    const std::string records = std::exchange(compressed_, {});
    const std::size_t whole = specimen_.samples.size();
    constexpr std::size_t kMissing = 5;
    const auto first = std::string_view(records).substr(0, records.size() - kMissing);
    add_packet(type, compressor_.compress(first));
    mark(whole - 1, true);
    add_packet(type, compressor_.compress(std::string_view(records).substr(first.size())));
    mark(whole, false);
    return *this;
  }

  /// The same program in two packets, between samples that are not compressed.
  SpecimenBuilder& compressed_program(std::uint32_t type) {
    sample(12, 0x900, 1).begin_compression().program().compress(type);
    return sample(11, 0xa00, 9);
  }

  Specimen file() {
    specimen_.bytes = builder_.bytes();
    specimen_.data_begin = builder_.data_offset();
    return finish();
  }
  Specimen pipe() {
    specimen_.bytes = builder_.pipe_bytes();
    specimen_.data_begin = specimen_.bytes.size() - builder_.records().size();
    return finish();
  }
  /// The records alone, as in a numbered file of a directory.
  Specimen numbered_file() {
    specimen_.bytes = builder_.records();
    return finish();
  }

 private:
  void add(std::uint32_t type, std::uint16_t misc, const std::string& body) {
    specimen_.decompressed_size += body.size() + 8;
    if (packing_) {
      compressed_ += RecordingBuilder(specimen_.big_endian).record(type, misc, body).records();
      return;
    }
    builder_.record(type, misc, body);
    mark(specimen_.samples.size(), false);
  }
  void add_packet(std::uint32_t type, std::string compressed) {
    if (type == PERF_RECORD_COMPRESSED2) {
      const auto size = builder_.writer().u64(compressed.size()).bytes();
      compressed.insert(0, size);
      compressed.resize((compressed.size() + 7) / 8 * 8, '\0');
    }
    builder_.record(type, 0, compressed);
  }
  void mark(std::size_t samples, bool within_compressed_record) {
    specimen_.marks.push_back({builder_.records().size(), samples, within_compressed_record});
  }
  Specimen finish() {
    for (auto& mark : specimen_.marks) mark.end += specimen_.data_begin;
    specimen_.data_end = specimen_.data_begin + builder_.records().size();
    return specimen_;
  }

  RecordingBuilder builder_;
  test::ZstdCompressor compressor_;
  Specimen specimen_;
  bool packing_ = false;
  std::string compressed_;
};

/// Every message about damage names the file, and what was found, in one line.
void expect_sound(const InputFault& fault, const std::string& path, const std::string& what) {
  EXPECT_EQ(fault.file.substr(0, path.size()), path) << what;
  EXPECT_FALSE(fault.found.empty()) << what;
  EXPECT_EQ(describe(fault).find('\n'), std::string::npos) << what;
}

Addresses read_samples(Recording& recording) {
  Addresses ips;
  Record record;
  while (recording.next(record)) {
    if (record.type != PERF_RECORD_SAMPLE) continue;
    const auto decoded = recording.decoder().decode(record);
    if (decoded.problem == SampleDecoder::Problem::none) {
      ips.push_back(decoded.sample.ip);
      (void)recording.decoder().details(record, decoded.sample);
    } else if (decoded.problem == SampleDecoder::Problem::too_short) {
      recording.add_short_record(record);
    }
  }
  return ips;
}

/// Reads a recording record by record and as a digest, which must agree. nullopt: it was refused.
/// `open` is called for each reading.
template <typename Open>
std::optional<Reading> read(const Open& open, const std::string& path, const std::string& what) {
  Reading reading;
  try {
    Recording recording = open();
    reading.samples = read_samples(recording);
    reading.in_part = recording.read_in_part();
    EXPECT_EQ(reading.in_part, !recording.faults().empty()) << what;
    for (const auto& fault : recording.faults()) expect_sound(fault, path, what);
    if (recording.rewindable()) {
      const auto faults = recording.faults().size();
      recording.rewind();
      EXPECT_EQ(read_samples(recording), reading.samples) << what;
      EXPECT_EQ(recording.faults().size(), faults) << what;
    }
  } catch (const InputError& error) {
    expect_sound(error.fault(), path, what);
    return std::nullopt;
  }
  Recording recording = open();
  const auto digest = locate::digest(recording);
  for (const auto& fault : recording.faults()) expect_sound(fault, path, what);
  std::uint64_t counted = 0, located = 0;
  for (const auto& totals : digest.totals) counted += totals.samples;
  digest.located.for_each([&](const auto& place) { located += place.samples; });
  EXPECT_EQ(counted, reading.samples.size()) << what;
  EXPECT_EQ(located, counted) << what;
  // The digest also looks into mappings.
  EXPECT_TRUE(recording.read_in_part() || !reading.in_part) << what;
  return reading;
}

std::optional<Reading> read_as_file(const test::MemoryFile& file, const std::string& bytes,
                                    const std::string& what) {
  file.set(bytes);
  return read([&] { return Recording::open(file.path()); }, file.path().string(), what);
}

std::optional<Reading> read_as_pipe(const std::string& bytes, const std::string& what) {
  std::vector<test::FilledPipe> pipes;  // stay open until all is read
  const auto open = [&] {
    pipes.emplace_back(bytes);
    return Recording::open(pipes.back().path());
  };
  return read(open, "/proc/self/fd/", what);
}

/// Calls `visit(position, bytes, what)` for each way of damaging `bytes` in place, from `begin` on.
template <typename Visit>
void for_each_damage(const std::string& bytes, std::size_t begin, bool big_endian, Visit visit) {
  for (std::size_t bit = begin * 8; bit < bytes.size() * 8; ++bit) {
    std::string damaged = bytes;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    visit(bit / 8, damaged,
          "bit " + std::to_string(bit % 8) + " of byte " + std::to_string(bit / 8));
  }
  constexpr std::uint64_t kAllOnes = ~std::uint64_t{0};
  const auto overwrite = [&](std::size_t width, std::uint64_t value) {
    for (std::size_t at = begin; at + width <= bytes.size(); at += width) {
      const auto writer = test::writer_of(big_endian).u64(value);
      const auto number =
          big_endian ? writer.bytes().substr(8 - width) : writer.bytes().substr(0, width);
      if (bytes.compare(at, width, number) == 0) continue;
      std::string damaged = bytes;
      damaged.replace(at, width, number);
      visit(at, damaged,
            std::to_string(value) + " in " + std::to_string(width) + " bytes at " +
                std::to_string(at));
    }
  };
  for (const std::uint64_t value : {std::uint64_t{0}, std::uint64_t{0xffff}}) {
    for (const std::size_t width : {2u, 4u, 8u}) overwrite(width, value);
  }
  overwrite(4, kAllOnes >> 32);
  overwrite(8, kAllOnes);
  overwrite(8, std::uint64_t{1} << 40);
}

void expect_prefix(const Addresses& all, const Addresses& prefix, const std::string& what) {
  ASSERT_GE(all.size(), prefix.size()) << what;
  EXPECT_TRUE(std::equal(prefix.begin(), prefix.end(), all.begin())) << what;
}

/// No record is smaller than its header, and every damage leaves about as many bytes.
std::size_t most_samples(const Specimen& specimen) {
  return (specimen.bytes.size() + specimen.decompressed_size) / 8;
}

using Reader =
    std::function<std::optional<Reading>(const std::string& bytes, const std::string& what)>;

void expect_whole(const Specimen& specimen, const Reader& reader) {
  const auto reading = reader(specimen.bytes, "undamaged");
  ASSERT_TRUE(reading);
  ASSERT_EQ(reading->samples, specimen.samples);
  ASSERT_FALSE(reading->in_part);
  ASSERT_GE(specimen.samples.size(), 3u);
}

void expect_damage_costs_only_what_follows(const Specimen& specimen, const Reader& reader) {
  // What is before compressed records is before other records, too.
  const std::size_t begin = specimen.is_compressed ? specimen.data_begin : 0;
  for_each_damage(specimen.bytes, begin, specimen.big_endian,
                  [&](std::size_t at, const std::string& bytes, const std::string& what) {
                    const auto reading = reader(bytes, what);
                    if (!reading) {
                      EXPECT_LT(at, specimen.data_begin) << what;
                      return;
                    }
                    EXPECT_LE(reading->samples.size(), most_samples(specimen)) << what;
                    if (at < specimen.data_begin) return;
                    expect_prefix(reading->samples, specimen.samples_before(at), what);
                    if (at >= specimen.data_end) {
                      EXPECT_EQ(reading->samples, specimen.samples) << what;
                    }
                  });
}

/// File mode: the feature sections at the end are missing in every part.
void expect_cut_file_is_read_up_to_the_cut(const Specimen& specimen) {
  const test::MemoryFile file;
  for (std::size_t size = 0; size < specimen.bytes.size(); ++size) {
    const auto what = "cut at " + std::to_string(size);
    const auto reading = read_as_file(file, specimen.bytes.substr(0, size), what);
    if (!reading) {
      EXPECT_LT(size, specimen.data_begin) << what;
      continue;
    }
    EXPECT_TRUE(reading->in_part) << what;
    EXPECT_EQ(reading->samples, specimen.samples_before(size)) << what;
  }
}

/// Pipe mode: the length of the recording is not recorded, so only a cut within a record, or
/// between the packets of a record, can be known to be one.
void expect_cut_pipe_is_read_up_to_the_cut(const Specimen& specimen, const Reader& reader) {
  std::size_t boundary = FileHeader::kPipeSize;  // where the record that holds the cut begins
  for (std::size_t size = 0; size < specimen.bytes.size(); ++size) {
    const auto what = "cut at " + std::to_string(size);
    const auto reading = reader(specimen.bytes.substr(0, size), what);
    if (!reading) {
      EXPECT_LT(size, FileHeader::kPipeSize) << what;
      continue;
    }
    const auto record_size = [&] {
      ByteReader header(std::as_bytes(std::span(specimen.bytes)).subspan(boundary + 6, 2),
                        specimen.big_endian ? ByteOrder::big : ByteOrder::little);
      return header.u16();
    };
    if (size >= boundary + record_size()) boundary += record_size();
    const bool within_compressed_record = std::any_of(
        specimen.marks.begin(), specimen.marks.end(),
        [&](const auto& mark) { return mark.end == size && mark.within_compressed_record; });
    EXPECT_EQ(reading->in_part, size != boundary || within_compressed_record) << what;
    EXPECT_EQ(reading->samples, specimen.samples_before(size)) << what;
  }
}

void expect_file_survives_damage(const Specimen& specimen) {
  const test::MemoryFile file;
  const Reader reader = [&](const auto& bytes, const auto& what) {
    return read_as_file(file, bytes, what);
  };
  ASSERT_NO_FATAL_FAILURE(expect_whole(specimen, reader));
  expect_damage_costs_only_what_follows(specimen, reader);
}
void expect_pipe_survives_damage(const Specimen& specimen) {
  ASSERT_NO_FATAL_FAILURE(expect_whole(specimen, read_as_pipe));
  expect_damage_costs_only_what_follows(specimen, read_as_pipe);
}
void expect_cut_pipe_is_read_both_ways(const Specimen& specimen) {
  const test::MemoryFile file;
  expect_cut_pipe_is_read_up_to_the_cut(specimen, read_as_pipe);
  expect_cut_pipe_is_read_up_to_the_cut(specimen, [&](const auto& bytes, const auto& what) {
    return read_as_file(file, bytes, what);
  });
}

constexpr auto kCompressions = {PERF_RECORD_COMPRESSED, PERF_RECORD_COMPRESSED2};

TEST(DamagedRecording, InAFileIsReadUpToACut) {
  for (const bool big_endian : {false, true}) {
    expect_cut_file_is_read_up_to_the_cut(SpecimenBuilder(big_endian).program().file());
  }
  for (const auto type : kCompressions) {
    expect_cut_file_is_read_up_to_the_cut(SpecimenBuilder().compressed_program(type).file());
  }
}
TEST(DamagedRecording, InPipeModeIsReadUpToACut) {
  for (const bool big_endian : {false, true}) {
    expect_cut_pipe_is_read_both_ways(SpecimenBuilder(big_endian).program().pipe());
  }
}
TEST(DamagedRecording, InACompressedPipeIsReadUpToACut) {
  for (const auto type : kCompressions) {
    expect_cut_pipe_is_read_both_ways(SpecimenBuilder().compressed_program(type).pipe());
  }
}

TEST(DamagedRecording, InAFileLosesOnlyWhatFollowsTheDamage) {
  for (const bool big_endian : {false, true}) {
    expect_file_survives_damage(SpecimenBuilder(big_endian).program().file());
  }
}
TEST(DamagedRecording, InACompressedFileLosesOnlyWhatFollowsTheDamage) {
  for (const auto type : kCompressions) {
    expect_file_survives_damage(SpecimenBuilder().compressed_program(type).file());
  }
}
TEST(DamagedRecording, InPipeModeInAFileLosesOnlyWhatFollowsTheDamage) {
  expect_file_survives_damage(SpecimenBuilder().program().pipe());
}
TEST(DamagedRecording, FromAPipeLosesOnlyWhatFollowsTheDamage) {
  expect_pipe_survives_damage(SpecimenBuilder().program().pipe());
}
TEST(DamagedRecording, FromACompressedPipeLosesOnlyWhatFollowsTheDamage) {
  expect_pipe_survives_damage(SpecimenBuilder().compressed_program(PERF_RECORD_COMPRESSED2).pipe());
}

/// The directory of perf record --threads: mappings and one sample in `data`, samples beside it.
class DamagedDirectory : public ::testing::Test {
 protected:
  /// Files in memory, because they are written thousands of times.
  void SetUp() override {
    for (const auto& [name, file] : files_) {
      std::filesystem::create_symlink(file.path(), directory_ / name);
    }
  }
  void put(const std::string& name, const std::string& bytes) const { files_.at(name).set(bytes); }
  void put_all() const {
    put("data", main_.bytes);
    put("data.0", first_.bytes);
    put("data.1", second_.bytes);
  }
  std::optional<Reading> read_all(const std::string& what) const {
    return read([&] { return Recording::open(directory_.path()); }, directory_.path().string(),
                what);
  }
  static Addresses joined(const std::vector<Addresses>& parts) {
    Addresses all;
    for (const auto& part : parts) all.insert(all.end(), part.begin(), part.end());
    return all;
  }

  test::TemporaryDirectory directory_;
  std::map<std::string, test::MemoryFile> files_ = [] {
    std::map<std::string, test::MemoryFile> files;
    for (const auto* name : {"data", "data.0", "data.1"}) files[name];
    return files;
  }();
  const Specimen main_ = SpecimenBuilder().program().file();
  const Specimen first_ =
      SpecimenBuilder().sample(21, 0xb00, 7).sample(11, 0xb10, 8).numbered_file();
  const Specimen second_ = SpecimenBuilder()
                               .begin_compression()
                               .sample(11, 0xc00, 7)
                               .sample(12, 0xc10, 8)
                               .compress(PERF_RECORD_COMPRESSED2)
                               .numbered_file();
};

TEST_F(DamagedDirectory, IsReadAfterACutInAnyFile) {
  put_all();
  const auto whole = read_all("whole");
  ASSERT_TRUE(whole);
  EXPECT_FALSE(whole->in_part);
  EXPECT_EQ(whole->samples, joined({main_.samples, first_.samples, second_.samples}));
  for (std::size_t size = main_.data_begin; size < main_.bytes.size(); ++size) {
    put("data", main_.bytes.substr(0, size));
    const auto reading = read_all("data cut at " + std::to_string(size));
    ASSERT_TRUE(reading);
    EXPECT_TRUE(reading->in_part);
    EXPECT_EQ(reading->samples,
              joined({main_.samples_before(size), first_.samples, second_.samples}));
  }
  put_all();
  for (std::size_t size = 0; size < first_.bytes.size(); ++size) {
    put("data.0", first_.bytes.substr(0, size));
    const auto reading = read_all("data.0 cut at " + std::to_string(size));
    ASSERT_TRUE(reading);
    const bool between_records = size == 0 || size == first_.marks.front().end;
    EXPECT_EQ(reading->in_part, !between_records) << size;
    EXPECT_EQ(reading->samples,
              joined({main_.samples, first_.samples_before(size), second_.samples}));
  }
}

TEST_F(DamagedDirectory, LosesOnlyWhatFollowsTheDamageInThatFile) {
  put_all();
  for_each_damage(second_.bytes, 0, false,
                  [&](std::size_t at, const std::string& bytes, const std::string& what) {
                    put("data.1", bytes);
                    const auto reading = read_all(what);
                    ASSERT_TRUE(reading) << what;
                    expect_prefix(
                        reading->samples,
                        joined({main_.samples, first_.samples, second_.samples_before(at)}), what);
                  });
}

TEST_F(DamagedDirectory, NamesTheMissingFile) {
  put_all();
  std::filesystem::remove(directory_ / "data.0");
  auto recording = Recording::open(directory_.path());
  EXPECT_EQ(read_samples(recording), joined({main_.samples, second_.samples}));
  EXPECT_TRUE(recording.read_in_part());
  EXPECT_THAT(test::mapped(recording.faults(), &InputFault::file),
              ElementsAre((directory_ / "data.0").string()));
  std::filesystem::remove(directory_ / "data");
  EXPECT_THROW(Recording::open(directory_.path()), InputError) << "without its main file";
}

}  // namespace
}  // namespace skid::perfdata
