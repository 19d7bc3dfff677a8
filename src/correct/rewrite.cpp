#include "src/correct/rewrite.h"

#include "src/locate/visit_records.h"
#include "src/perfdata/attribute.h"
#include "src/perfdata/bytes.h"
#include "src/perfdata/features.h"
#include "src/perfdata/file_header.h"
#include "src/perfdata/format.h"
#include "src/perfdata/record.h"
#include "src/perfdata/recording.h"
#include "src/perfdata/sample.h"
#include "src/support/byte_order.h"
#include "src/support/byte_reader.h"
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"
#include "src/support/staged_file.h"

#include <algorithm>
#include <bit>
#include <bitset>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace skid::correct {
namespace {

namespace fs = std::filesystem;
using perfdata::ByteOrder;
using perfdata::FileHeader;
using perfdata::FileSection;

constexpr std::uint64_t kUserDeferred =
    static_cast<std::uint64_t>(-640);  // PERF_CONTEXT_USER_DEFERRED
/// Returns the bytes of a number in the byte order of a recording.
template <typename Number>
std::string bytes_of(Number value, ByteOrder order) {
  std::string bytes(sizeof value, '\0');
  std::memcpy(bytes.data(), &value, sizeof value);
  const bool is_little = std::endian::native == std::endian::little;
  if (is_little != (order == ByteOrder::little)) std::ranges::reverse(bytes);
  return bytes;
}

/// A copy of a recording in which bytes can be replaced.
class Copy {
 public:
  Copy(const FileDescriptor& original, const fs::path& path) : name_(path.string()) {
    struct stat status {};
    if (::fstat(original.get(), &status) != 0) fail();
    size_ = static_cast<std::uint64_t>(status.st_size);
    staged_.emplace(path, (status.st_mode & kFileMode) | S_IRUSR | S_IWUSR);
    copy_data(original);
    mapping_ = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, file().get(), 0);
    if (mapping_ == MAP_FAILED) fail();
  }
  Copy(const Copy&) = delete;
  Copy& operator=(const Copy&) = delete;
  ~Copy() {
    if (mapping_ != MAP_FAILED) ::munmap(mapping_, size_);
  }

  std::uint64_t size() const noexcept { return size_; }
  const FileDescriptor& file() const noexcept { return staged_->file(); }

  /// Replaces bytes of the copy.
  void put(std::uint64_t offset, std::string_view bytes) const {
    if (offset > size_ || bytes.size() > size_ - offset) fail_shortened();
    std::memcpy(static_cast<char*>(mapping_) + offset, bytes.data(), bytes.size());
  }
  /// Adds bytes to the end of the copy.
  void append(std::string_view bytes) const { write_all(file(), bytes, name_); }

  void complete() { staged_->complete(); }

 private:
  /// Copies the original. Its holes are also holes of the copy.
  void copy_data(const FileDescriptor& original) const {
    std::string bytes(std::size_t{1} << 20, '\0');
    const auto size = static_cast<off_t>(size_);
    off_t at = 0;
    while (at < size && (at = ::lseek(original.get(), at, SEEK_DATA)) >= 0) {
      const off_t hole = ::lseek(original.get(), at, SEEK_HOLE);
      if (hole < 0 || ::lseek(file().get(), at, SEEK_SET) < 0) fail();
      const off_t end = std::min(hole, size);
      while (at < end) {
        const std::size_t most = std::min(bytes.size(), static_cast<std::size_t>(end - at));
        const std::size_t got =
            read_at(original, std::as_writable_bytes(std::span(bytes.data(), most)),
                    static_cast<std::uint64_t>(at));
        if (got == 0) fail_shortened();
        write_all(file(), std::string_view(bytes).substr(0, got), name_);
        at += static_cast<off_t>(got);
      }
    }
    if (at < 0 && errno != ENXIO) fail();  // ENXIO: the rest is a hole
    struct stat status {};
    if (::fstat(original.get(), &status) != 0) fail();
    if (status.st_size < size) fail_shortened();
    if (::ftruncate(file().get(), size) != 0 || ::lseek(file().get(), 0, SEEK_END) < 0) fail();
  }
  [[noreturn]] void fail_shortened() const {
    throw Error(name_ + ": the original became shorter while it was read");
  }
  [[noreturn]] void fail() const {
    throw Error("{}: cannot be written: {}", name_, describe_errno(errno));
  }

  std::string name_;
  std::optional<StagedFile> staged_;
  std::uint64_t size_ = 0;      ///< bytes of the original
  void* mapping_ = MAP_FAILED;  ///< mapping of the first `size_` bytes of the copy
};

/// Returns the index of the first entry of a call chain that is in user mode; without one the
/// number of entries.
std::size_t first_user_entry(std::span<const std::byte> chain, ByteOrder order) {
  perfdata::ByteReader reader(chain, order);
  const std::size_t entries = chain.size() / sizeof(std::uint64_t);
  bool in_user = true;
  for (std::size_t i = 0; i < entries; ++i) {
    const std::uint64_t entry = reader.u64();
    if (entry >= PERF_CONTEXT_MAX) {
      in_user = entry == PERF_CONTEXT_USER;
    } else if (in_user) {
      return i;
    }
  }
  return entries;
}

/// Returns the cookie of a call chain of which a PERF_RECORD_CALLCHAIN_DEFERRED has the user part;
/// nullopt: of another one.
std::optional<std::uint64_t> cookie_of(std::span<const std::byte> chain, ByteOrder order) {
  constexpr std::size_t kEnd = 2 * sizeof(std::uint64_t);
  if (chain.size() < kEnd) return std::nullopt;
  perfdata::ByteReader reader(chain.last(kEnd), order);
  if (reader.u64() != kUserDeferred) return std::nullopt;
  return reader.u64();
}

/// Returns the index of the instruction pointer among the recorded registers (x86); an index beyond
/// the last one if it was not recorded.
std::size_t entry_of_ip(std::uint64_t recorded) {
  constexpr unsigned kIp = 8;  // PERF_REG_X86_IP, arch/x86/include/uapi/asm/perf_regs.h
  const std::uint64_t before = recorded & ((std::uint64_t{1} << kIp) - 1);
  const bool has_ip = (recorded >> kIp & 1) != 0;
  return static_cast<std::size_t>(std::popcount(has_ip ? before : ~std::uint64_t{0}));
}

/// Appends perf's version with the mark, and makes the header's feature section refer to it.
void mark(const Copy& copy, const perfdata::Recording& recording) {
  std::vector<std::byte> bytes(FileHeader::kLargestSize);
  bytes.resize(read_at(copy.file(), bytes, 0));
  const FileHeader header = perfdata::parse_file_header(bytes, recording.path());
  const auto bit = std::ranges::find(header.features, unsigned{perfdata::HEADER_VERSION});
  const auto entry = static_cast<std::uint64_t>(bit - header.features.begin());
  std::string version = fmt::format("{}{} {}", recording.features().perf_version,
                                    perfdata::kCorrectedMark, SKIDSCAN_VERSION);
  version.append(8 - version.size() % 8, '\0');
  const ByteOrder order = header.order;
  const std::string content = bytes_of(static_cast<std::uint32_t>(version.size()), order) + version;
  const std::uint64_t end = (copy.size() + 7) / 8 * 8;
  copy.append(std::string(end - copy.size(), '\0') + content);
  copy.put(header.data.offset + header.data.size + entry * FileSection::kEntrySize,
           bytes_of(end, order) + bytes_of(std::uint64_t{content.size()}, order));
}

}  // namespace

void check_rewritable(const perfdata::Recording& recording) {
  const auto refuse = [&](std::string found, std::string allowed, std::string remedy) {
    throw InputError(
        {recording.path().string(), {}, std::move(found), std::move(allowed), std::move(remedy)});
  };
  if (recording.mode() == perfdata::StorageMode::directory) {
    refuse("a directory", "a file, which can be copied with corrections",
           "record without --threads");
  }
  if (recording.path() == "-")
    refuse("standard input", "a file, which can be copied with corrections", "name the recording");
  if (recording.mode() == perfdata::StorageMode::pipe || !recording.rewindable()) {
    refuse("pipe mode", "a file, which can be copied with corrections", "record into a file");
  }
  if (recording.features().compression)
    refuse("compressed records", "plain ones, which can be copied", "record without -z");
  if (!recording.features().present[perfdata::HEADER_VERSION]) {
    refuse("no version of perf", "one, to mark the copy as corrected", "record again");
  }
  // A section beyond the end of the original would be read from what is appended to the copy.
  if (!recording.faults().empty()) {
    InputFault fault = recording.faults().front();
    fault.remedy = "a copy would be damaged as well; correct without a copy, or record again";
    throw InputError(std::move(fault));
  }
}

void write_corrected(perfdata::Recording& recording, const locate::Digest& digest,
                     const MoveOf& move_of, const fs::path& path) {
  Copy copy(recording.first_file(), path);
  const ByteOrder order = recording.byte_order();
  const auto& layouts = recording.decoder().layouts();
  struct Moved {
    std::uint64_t from = 0, to = 0;
  };
  std::map<std::uint64_t, Moved> deferred;  // samples whose call chain follows, by its cookie
  // Replaces an entry of a field of a record if it is the address of a moved sample.
  const auto replace = [&](const perfdata::Record& record, std::span<const std::byte> field,
                           std::size_t entry, const Moved& moved) {
    const std::size_t at = entry * sizeof(std::uint64_t);
    if (at >= field.size()) return;
    perfdata::ByteReader reader(field.subspan(at), order);
    if (reader.u64() != moved.from) return;
    const auto begin = static_cast<std::uint64_t>(field.data() - record.body.data());
    copy.put(record.offset + perfdata::kRecordHeader + begin + at, bytes_of(moved.to, order));
  };
  locate::visit_records(recording, digest, [&](const locate::VisitedRecord& visited) {
    const perfdata::Record& record = visited.record;
    if (record.type == perfdata::PERF_RECORD_CALLCHAIN_DEFERRED) {
      perfdata::ByteReader reader(record.body, order);
      const auto moved = deferred.find(reader.u64());
      const std::uint64_t entries = reader.u64();
      if (moved == deferred.end() || entries > reader.remaining() / sizeof entries) return;
      const auto chain = reader.take(entries * sizeof entries);
      replace(record, chain, first_user_entry(chain, order), moved->second);
      deferred.erase(moved);
      return;
    }
    const perfdata::Sample* sample = visited.sample;
    if (sample == nullptr || !visited.location || sample->mode != perfdata::CpuMode::user) return;
    const auto move = move_of(visited);
    if (!move) return;
    const Moved moved{sample->ip, sample->ip + *move};
    replace(record, record.body.subspan(layouts[sample->attribute].ip), 0, moved);
    const auto details = recording.decoder().details(record, *sample);
    if (!details) return;
    const perfdata::Attribute& attribute = recording.attributes()[sample->attribute];
    const auto& chain = details->callchain;
    replace(record, chain, first_user_entry(chain, order), moved);
    replace(record, details->user_registers, entry_of_ip(attribute.sample_regs_user), moved);
    replace(record, details->interrupt_registers, entry_of_ip(attribute.sample_regs_intr), moved);
    if (const auto cookie = cookie_of(chain, order)) deferred[*cookie] = moved;
  });
  mark(copy, recording);
  copy.complete();
}

}  // namespace skid::correct
