// bare_walk FILE: the yardstick for reading a recording, with the minimum work of any reader. Maps
// a perf.data file, steps over the headers of its records and increments one counter for each
// sample by its address. Checks only that the walk stays inside the file; prints the number of
// samples and the highest count.
#include "src/support/error.h"
#include "src/support/file.h"
#include "src/support/file_descriptor.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <vector>

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/stat.h>

namespace {

/// Addresses with a counter of their own; more share one. 4 MiB, of which a profile touches little.
constexpr std::size_t kCounters = std::size_t{1} << 20U;

/// A whole file mapped for reading.
class MappedFile {
 public:
  explicit MappedFile(const char* path) : file_(skid::open_regular_file(path)) {
    struct stat status {};
    if (::fstat(file_.get(), &status) != 0) throw skid::Error("the size cannot be read");
    size_ = static_cast<std::size_t>(status.st_size);
    address_ = ::mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file_.get(), 0);
    if (address_ == MAP_FAILED) throw skid::Error("the file cannot be mapped");
  }
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  MappedFile(MappedFile&&) = delete;
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile() { ::munmap(address_, size_); }

  std::size_t size() const { return size_; }
  const char* at(std::uint64_t offset) const { return static_cast<const char*>(address_) + offset; }

  template <typename Number>
  Number number(std::uint64_t offset) const {
    if (offset > size_ || size_ - offset < sizeof(Number))
      throw skid::Error("the file is too short");
    Number value;
    std::memcpy(&value, at(offset), sizeof value);
    return value;
  }

 private:
  skid::FileDescriptor file_;
  void* address_ = nullptr;
  std::size_t size_ = 0;
};

/// Offset of the address in a sample record.
std::size_t offset_of_ip(const MappedFile& file) {
  constexpr std::uint64_t kAttributes = 24;  // the section of attributes, in perf_file_header
  constexpr std::uint64_t kSampleType = 24;  // in perf_event_attr
  const auto attributes = file.number<std::uint64_t>(kAttributes);
  const auto sample_type = file.number<std::uint64_t>(attributes + kSampleType);
  return (sample_type & PERF_SAMPLE_IDENTIFIER) != 0 ? 16 : 8;
}

void walk(const char* path) {
  constexpr std::uint64_t kData = 40;  // the section of records, in perf_file_header
  constexpr std::size_t kHeader = 8;
  const MappedFile file(path);
  const std::size_t ip_offset = offset_of_ip(file);
  const auto offset = file.number<std::uint64_t>(kData);
  const auto size = file.number<std::uint64_t>(kData + sizeof(std::uint64_t));
  if (offset > file.size() || size > file.size() - offset)
    throw skid::Error("the file is truncated");

  std::vector<std::uint32_t> counters(kCounters);
  std::uint64_t samples = 0;
  const char* record = file.at(offset);
  const char* const end = record + size;
  while (end - record >= static_cast<std::ptrdiff_t>(kHeader)) {
    std::uint32_t type = 0;
    std::uint16_t record_size = 0;
    std::memcpy(&type, record, sizeof type);
    std::memcpy(&record_size, record + 6, sizeof record_size);
    if (record_size < kHeader || record_size > end - record)
      throw skid::Error("the file is damaged");
    if (type == PERF_RECORD_SAMPLE && record_size >= ip_offset + sizeof(std::uint64_t)) {
      std::uint64_t ip = 0;
      std::memcpy(&ip, record + ip_offset, sizeof ip);
      ++counters[ip % kCounters];
      ++samples;
    }
    record += record_size;
  }
  std::printf("%llu %u\n", static_cast<unsigned long long>(samples),
              *std::max_element(counters.begin(), counters.end()));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: bare_walk FILE\n", stderr);
    return 64;
  }
  try {
    walk(argv[1]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", argv[1], error.what());
    return 1;
  }
}
